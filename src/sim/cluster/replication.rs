//! Followers fetch.
//!
//! One fetcher for each ordered pair of brokers (`num.replica.fetchers` = 1) carries all partitions
//! between them in one request at a time. A fetch that finds nothing waits at the leader and is
//! answered by the next append. A partition that begins to be fetched comes in with the next
//! request, so it waits while the one before does, up to `replica.fetch.wait.max.ms`. The leader
//! then looks whether its log and the follower's are one, by leader epochs; if not, the follower
//! cuts its tail first.
//! Source: `AbstractFetcherThread`, `DelayedFetch`, `Partition.readFromLocalLog`.
//!
//! Simplification: a waiting fetch is not renewed as long as no partition joins; nothing that can
//! be observed depends on it.

use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Process;
use crate::sim::cluster::isr::IsrChange;
use crate::sim::context::Context;
use crate::sim::event::{Event, Fetcher, Message};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::network::{Lane, Way};
use crate::sim::partition::Source;
use crate::sim::queue::Rank;
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};

/// A fetch request, whose session lists only partitions that changed (KIP-227): an estimate.
const FETCH_REQUEST_BYTES: u32 = 120;
/// Header of a fetch response, and of each partition in it: an estimate.
const FETCH_RESPONSE_BYTES: u32 = 60;

/// One fetcher thread.
#[derive(Clone, Debug, Default)]
pub struct FetcherState {
    turn: u32,
    state: Fetching,
    /// When the request that waits at the leader came there.
    arrived: SimTime,
    /// Partitions that the next request brings in.
    joining: Vec<PartitionIndex>,
    /// Partitions that the request under way brings in.
    brought: Vec<PartitionIndex>,
    /// Partitions with records that the follower lacks.
    dirty: Vec<PartitionIndex>,
    /// What is on its way.
    taking: Vec<Taken>,
    bytes: u64,
    /// Where the follower has to cut logs before it can go on.
    diverging: Vec<(PartitionIndex, u64)>,
}

/// One partition's records in a fetch response.
#[derive(Clone, Copy, Debug)]
struct Taken {
    partition: PartitionIndex,
    /// The end offset that the follower will have.
    end_offset: u64,
    /// The leader's high watermark.
    high_watermark: u64,
}

/// Where a fetcher's one request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fetching {
    /// There is none.
    #[default]
    Idle,
    /// At the leader, waiting for records.
    Parked,
    /// On its way, there or back, or on the follower's disk.
    UnderWay,
}

impl FetcherState {
    /// A fetcher whose request waits at the leader since the beginning.
    pub(super) fn parked() -> Self {
        Self {
            state: Fetching::Parked,
            ..Self::default()
        }
    }
}

impl Cluster {
    /// A produce request appended to partitions: their followers have something to fetch.
    pub(super) fn kick_followers(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        for place in 0..ctx.requests.get(id).parts.len() {
            let part = &ctx.requests.get(id).parts[place];
            if part.base_offset.is_some() {
                self.mark_dirty(part.partition, at);
            }
        }
        self.serve_fetchers_of(ctx, at);
    }

    /// All waiting fetches at a leader that have something to take are answered.
    pub(super) fn serve_fetchers_of(&mut self, ctx: &mut Context<'_>, leader: BrokerIndex) {
        for follower in 0..self.brokers.len() as u16 {
            let fetcher = self.fetcher_place(BrokerIndex(follower), leader);
            let state = &self.fetchers[fetcher];
            if state.state == Fetching::Parked && !state.dirty.is_empty() {
                self.serve(ctx, BrokerIndex(follower), leader);
            }
        }
    }

    /// Every follower of this partition has something to fetch from its leader.
    pub(super) fn mark_dirty(&mut self, index: PartitionIndex, leader: BrokerIndex) {
        let brokers = self.brokers.len();
        let partition = &mut self.partitions[index.index()];
        if let [only] = partition.replicas.as_slice()
            && only.broker == leader
        {
            return;
        }
        let end_offset = partition.replica_end(leader);
        for replica in &mut partition.replicas {
            let fetches = matches!(replica.source, Source::Fetching(from, _) if from == leader);
            if fetches && replica.end_offset < end_offset && !replica.fetch_pending {
                replica.fetch_pending = true;
                let place = replica.broker.index() * brokers + leader.index();
                self.fetchers[place].dirty.push(index);
            }
        }
    }

    // === A follower turns to a leader

    /// A follower is to fetch these partitions from their leaders, by the metadata that it knows;
    /// it begins with the next request of each fetcher.
    pub(super) fn follow(
        &mut self,
        ctx: &mut Context<'_>,
        follower: BrokerIndex,
        partitions: &[PartitionIndex],
    ) {
        let mut leaders = Vec::new();
        for &index in partitions {
            let Some(state) = self.brokers[follower.index()].image.find(index) else {
                continue;
            };
            let (leader, epoch) = (state.leader, state.epoch);
            let Some(replica) = self.partitions[index.index()].replica_mut(follower) else {
                continue;
            };
            let Some(leader) = leader.filter(|&leader| leader != follower) else {
                replica.source = Source::Nobody;
                continue;
            };
            replica.source = Source::Joining(leader, epoch);
            replica.fetch_pending = false;
            let place = self.fetcher_place(follower, leader);
            let joining = &mut self.fetchers[place].joining;
            if !joining.contains(&index) {
                joining.push(index);
            }
            if !leaders.contains(&leader) {
                leaders.push(leader);
            }
        }
        for leader in leaders {
            self.bring_in(ctx, follower, leader);
        }
    }

    /// The partitions that join go with the next request: now, if there is none under way; when
    /// the one that waits has waited long enough; or else when it is back.
    fn bring_in(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        match self.fetchers[place].state {
            Fetching::Idle => self.send_fetch(ctx, follower, leader),
            Fetching::Parked => {
                let limits = self.brokers[follower.index()].settings.replication;
                let wait = SimSpan::from_millis(limits.fetch_wait_max_ms.max(1));
                // A fetch that nothing answers is renewed again and again.
                let waited = ctx.now.since(self.fetchers[place].arrived).as_nanos();
                let left = wait.as_nanos() - waited % wait.as_nanos();
                let event = Event::FetchWaited(self.fetcher(follower, leader));
                let over = ctx.now + SimSpan::from_nanos(left);
                ctx.queue.push(over, Rank::broker(leader), event);
            }
            Fetching::UnderWay => {}
        }
    }

    fn send_fetch(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let joining = std::mem::take(&mut self.fetchers[place].joining);
        let still = |index: &PartitionIndex| {
            let replica = self.partitions[index.index()].replica(follower);
            matches!(replica.map(|r| r.source), Some(Source::Joining(from, _)) if from == leader)
        };
        let brought: Vec<_> = joining.into_iter().filter(still).collect();
        let state = &mut self.fetchers[place];
        state.brought.extend(brought);
        state.state = Fetching::UnderWay;
        let fetcher = self.fetcher(follower, leader);
        let ends = (follower, leader);
        carry(ctx, ends, Message::Fetch(fetcher), FETCH_REQUEST_BYTES);
    }

    // === A fetch at the leader

    /// A follower's fetch arrives: it has what it took last; what is new goes out, or it waits.
    pub(super) fn on_fetch(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let Fetcher {
            follower, leader, ..
        } = fetcher;
        let place = self.fetcher_place(follower, leader);
        if self.fetchers[place].turn != fetcher.turn {
            return;
        }
        if !self.brokers[leader.index()].is_serving() {
            // Nobody is there: it tries again when somebody is.
            let state = &mut self.fetchers[place];
            let mut brought = std::mem::take(&mut state.brought);
            state.joining.append(&mut brought);
            state.state = Fetching::Idle;
            return;
        }
        for taken in std::mem::take(&mut self.fetchers[place].taking) {
            self.note_fetch(ctx, fetcher, taken.partition);
        }
        for index in std::mem::take(&mut self.fetchers[place].brought) {
            self.admit(ctx, fetcher, index);
        }
        let state = &mut self.fetchers[place];
        (state.state, state.arrived) = (Fetching::Parked, ctx.now);
        self.serve(ctx, follower, leader);
        let state = &self.fetchers[place];
        if state.state == Fetching::Parked && !state.joining.is_empty() {
            self.bring_in(ctx, follower, leader);
        }
    }

    /// A partition's first fetch by this follower: whether this broker leads it in that epoch, and
    /// whether the follower's log is a beginning of its own.
    fn admit(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher, index: PartitionIndex) {
        let Fetcher {
            follower, leader, ..
        } = fetcher;
        let place = self.fetcher_place(follower, leader);
        let partition = &mut self.partitions[index.index()];
        let office = partition.office_of(leader);
        let source = partition.replica(follower).map(|replica| replica.source);
        let Some(Source::Joining(from, epoch)) = source else {
            return;
        };
        if from != leader {
            return;
        }
        if office != Some(epoch) {
            // `FENCED_LEADER_EPOCH`, `UNKNOWN_LEADER_EPOCH` or `NOT_LEADER_OR_FOLLOWER`.
            let backoff = self.brokers[follower.index()]
                .settings
                .replication
                .fetch_backoff_ms;
            let event = Event::FetchRetried {
                follower,
                partition: index.name(),
            };
            let at = ctx.now + SimSpan::from_millis(backoff.max(1));
            ctx.queue.push(at, Rank::broker(follower), event);
            return;
        }
        if let Some(offset) = partition.divergence(leader, follower) {
            self.fetchers[place].diverging.push((index, offset));
            return;
        }
        if let Some(replica) = partition.replica_mut(follower) {
            replica.source = Source::Fetching(leader, epoch);
        }
        self.note_fetch(ctx, fetcher, index);
        self.mark_dirty(index, leader);
    }

    /// The leader notes how far a follower is (`Replica.updateFetchStateOrThrow`).
    fn note_fetch(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher, index: PartitionIndex) {
        let partition = &mut self.partitions[index.index()];
        let end_offset = partition.log.end_offset();
        let is_led = partition.is_led_by(fetcher.leader);
        let Some(replica) = partition.replica_mut(fetcher.follower) else {
            return;
        };
        // Who has turned to another leader may hold other records by now.
        if !matches!(replica.source, Source::Fetching(from, _) if from == fetcher.leader) {
            return;
        }
        if !is_led {
            return self.note_stale_fetch(ctx, fetcher, index);
        }
        replica.known_end_offset = Some(replica.end_offset);
        if replica.end_offset >= end_offset {
            replica.caught_up = ctx.now;
        } else if replica.end_offset >= replica.previous_fetch.0 {
            replica.caught_up = replica.caught_up.max(replica.previous_fetch.1);
        }
        replica.previous_fetch = (end_offset, ctx.now);
        if !partition.isr.contains(&fetcher.follower) {
            self.propose_isr(ctx, (fetcher.leader, index), IsrChange::Expand);
        }
        if end_offset > self.partitions[index.index()].replica_end(fetcher.follower) {
            self.mark_dirty(index, fetcher.leader);
        }
        if self.partitions[index.index()].advance_high_watermark() {
            self.check_purgatory(ctx, index);
        }
    }

    /// A leader that does not know of its fall notes how far a follower is that does not either.
    fn note_stale_fetch(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher, index: PartitionIndex) {
        let partition = &mut self.partitions[index.index()];
        if partition.stale_leader(fetcher.leader).is_none() {
            return;
        }
        let moved = partition.note_stale_fetch(fetcher.leader, fetcher.follower);
        self.mark_dirty(index, fetcher.leader);
        if moved {
            self.check_stale_purgatory(ctx, (fetcher.leader, index));
        }
    }

    /// Sends a follower what it lacks, within the fetch limits, and where it has to cut; or lets
    /// its fetch wait.
    fn serve(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let limits = self.brokers[follower.index()].settings.replication;
        let dirty = std::mem::take(&mut self.fetchers[place].dirty);
        let (mut taking, mut left, mut bytes) = (Vec::new(), Vec::new(), 0);
        for index in dirty {
            let may_send = self.may_send(ctx, (follower, leader), index);
            let partition = &mut self.partitions[index.index()];
            let Some(replica) = partition.replica_mut(follower) else {
                continue;
            };
            let from = replica.end_offset;
            if !matches!(replica.source, Source::Fetching(from, _) if from == leader) {
                continue;
            }
            let room = u64::from(limits.fetch_response_max_bytes).saturating_sub(bytes);
            replica.fetch_pending = room == 0 || !may_send;
            if replica.fetch_pending {
                left.push(index);
                continue;
            }
            let limit = room.min(u64::from(limits.fetch_max_bytes));
            let (end_offset, taken) = partition.reach_at(leader, from, limit);
            if end_offset > from {
                taking.push(Taken {
                    partition: index,
                    end_offset,
                    high_watermark: partition.high_watermark_at(leader),
                });
                bytes += taken;
                self.note_sent(ctx.now, (follower, leader), (index, taken));
            }
        }
        let state = &mut self.fetchers[place];
        state.dirty = left;
        if taking.is_empty() && state.diverging.is_empty() {
            return;
        }
        (state.taking, state.bytes) = (taking, bytes);
        self.respond(ctx, follower, leader);
    }

    fn respond(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let fetcher = self.fetcher(follower, leader);
        let state = &mut self.fetchers[place];
        state.state = Fetching::UnderWay;
        let wire = state.bytes.min(u64::from(u32::MAX / 2)) as u32 + FETCH_RESPONSE_BYTES;
        carry(ctx, (leader, follower), Message::Fetched(fetcher), wire);
    }

    /// A fetch has waited as long as it may: it goes back empty, and the next one brings in what
    /// joins.
    pub(super) fn on_fetch_waited(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        let state = &mut self.fetchers[place];
        let waits = state.turn == fetcher.turn && state.state == Fetching::Parked;
        if !waits || state.joining.is_empty() || !self.brokers[fetcher.leader.index()].is_serving()
        {
            return;
        }
        self.fetchers[place].bytes = 0;
        self.respond(ctx, fetcher.follower, fetcher.leader);
    }

    // === The answer at the follower

    /// Records reach a follower: its disk takes them. Tails that its leader does not have go first.
    pub(super) fn on_fetched(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        let broker = &mut self.brokers[fetcher.follower.index()];
        if self.fetchers[place].turn != fetcher.turn || broker.process == Process::Down {
            return;
        }
        for (index, offset) in std::mem::take(&mut self.fetchers[place].diverging) {
            self.cut_tail(ctx, fetcher, (index, offset));
        }
        let (bytes, done) = (self.fetchers[place].bytes, ctx.now);
        let broker = &mut self.brokers[fetcher.follower.index()];
        let done = if bytes == 0 {
            done
        } else {
            broker.disk.write(ctx.now, bytes)
        };
        let rank = Rank::broker(fetcher.follower);
        ctx.queue.push(done, rank, Event::FollowerAppended(fetcher));
    }

    /// A follower cuts what its leader does not have, and joins again.
    fn cut_tail(
        &mut self,
        ctx: &mut Context<'_>,
        fetcher: Fetcher,
        (index, offset): (PartitionIndex, u64),
    ) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        let partition = &mut self.partitions[index.index()];
        let source = partition.replica(fetcher.follower).map(|r| r.source);
        if !source.is_some_and(|source| source.is_from(fetcher.leader)) {
            return;
        }
        let records = partition.cut_replica(fetcher.follower, offset);
        self.fetchers[place].joining.push(index);
        if records > 0 {
            let fact = Fact::TailCut {
                partition: index,
                broker: fetcher.follower,
                from_offset: offset,
                records,
            };
            ctx.fact(Rank::broker(fetcher.follower), fact);
        }
    }

    /// A follower has written what it fetched, and asks for more.
    pub(super) fn on_follower_appended(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let Fetcher {
            follower, leader, ..
        } = fetcher;
        let place = self.fetcher_place(follower, leader);
        if self.fetchers[place].turn != fetcher.turn {
            return;
        }
        for taken in &self.fetchers[place].taking {
            let partition = &mut self.partitions[taken.partition.index()];
            let source = partition.replica(follower).map(|replica| replica.source);
            if !matches!(source, Some(Source::Fetching(from, _)) if from == leader) {
                continue;
            }
            partition.extend(follower, leader, taken.end_offset);
            if let Some(replica) = partition.replica_mut(follower) {
                let high_watermark = taken.high_watermark.min(replica.end_offset);
                replica.high_watermark = replica.high_watermark.max(high_watermark);
            }
        }
        self.send_fetch(ctx, follower, leader);
    }

    /// A follower asks again after its leader refused it.
    pub(super) fn on_fetch_retried(
        &mut self,
        ctx: &mut Context<'_>,
        follower: BrokerIndex,
        index: PartitionIndex,
    ) {
        let source = self.partitions[index.index()].replica(follower);
        let waits = matches!(source.map(|r| r.source), Some(Source::Joining(..)));
        if waits && self.brokers[follower.index()].is_serving() {
            self.follow(ctx, follower, &[index]);
        }
    }

    // === Connections between brokers end

    /// A broker's process is gone: what is on its way to and from it does not count any more. Who
    /// fetched from it tries again until it is told otherwise.
    pub(super) fn drop_fetchers(&mut self, broker: BrokerIndex) {
        for other in (0..self.brokers.len() as u16).map(BrokerIndex) {
            self.drop_fetcher(broker, other);
            self.drop_fetcher(other, broker);
        }
        for index in self.brokers[broker.index()].replica_of.clone() {
            if let Some(replica) = self.partitions[index.index()].replica_mut(broker) {
                replica.source = Source::Nobody;
            }
        }
    }

    fn drop_fetcher(&mut self, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let was_parked = self.fetchers[place].state == Fetching::Parked;
        let turn = self.fetchers[place].turn + 1;
        let mut joining = Vec::new();
        for &index in &self.brokers[follower.index()].replica_of {
            let partition = &mut self.partitions[index.index()];
            let high_watermark = partition.high_watermark_at(leader);
            let Some(replica) = partition.replica_mut(follower) else {
                continue;
            };
            let (Source::Fetching(from, epoch) | Source::Joining(from, epoch)) = replica.source
            else {
                continue;
            };
            if from == leader {
                if was_parked {
                    // A follower that waits has heard of the high watermark.
                    let known = high_watermark.min(replica.end_offset);
                    replica.high_watermark = replica.high_watermark.max(known);
                }
                replica.source = Source::Joining(leader, epoch);
                replica.fetch_pending = false;
                joining.push(index);
            }
        }
        self.fetchers[place] = FetcherState {
            turn,
            joining,
            ..FetcherState::default()
        };
    }

    /// A broker is there (again): those that wait for it come.
    pub(super) fn welcome_fetchers(&mut self, ctx: &mut Context<'_>, leader: BrokerIndex) {
        for follower in (0..self.brokers.len() as u16).map(BrokerIndex) {
            self.start_fetcher(ctx, follower, leader);
        }
    }

    fn start_fetcher(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let state = &self.fetchers[self.fetcher_place(follower, leader)];
        let waits = state.state == Fetching::Idle && !state.joining.is_empty();
        if waits && self.brokers[follower.index()].is_serving() {
            self.send_fetch(ctx, follower, leader);
        }
    }

    /// The link between two brokers lost what was on it, or held it for longer than a fetcher
    /// waits (`replica.socket.timeout.ms`): both fetchers connect anew after a pause.
    pub fn on_replica_link_restored(
        &mut self,
        ctx: &mut Context<'_>,
        (a, b): (BrokerIndex, BrokerIndex),
    ) {
        for (follower, leader) in [(a, b), (b, a)] {
            self.drop_fetcher(follower, leader);
            let settings = self.brokers[follower.index()].settings.replication;
            let at = ctx.now + SimSpan::from_millis(settings.fetch_backoff_ms.max(1));
            let event = Event::FetcherStarted(self.fetcher(follower, leader));
            ctx.queue.push(at, Rank::broker(follower), event);
        }
    }

    /// A broker goes on after a pause, in which its timers ran out unheard: the fetches that wait
    /// at it are renewed, and its own go out.
    pub(super) fn wake_fetchers(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        for follower in (0..self.brokers.len() as u16).map(BrokerIndex) {
            let state = &self.fetchers[self.fetcher_place(follower, broker)];
            if state.state == Fetching::Parked && !state.joining.is_empty() {
                self.bring_in(ctx, follower, broker);
            }
        }
        let mut left_out = self.brokers[broker.index()].replica_of.clone();
        left_out.retain(|index| {
            let replica = self.partitions[index.index()].replica(broker);
            matches!(replica.map(|r| r.source), Some(Source::Joining(..)))
        });
        self.follow(ctx, broker, &left_out);
        self.serve_fetchers_of(ctx, broker);
    }

    /// A fetcher connects anew.
    pub(super) fn on_fetcher_started(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        if self.fetchers[place].turn == fetcher.turn {
            self.start_fetcher(ctx, fetcher.follower, fetcher.leader);
        }
    }

    fn fetcher(&self, follower: BrokerIndex, leader: BrokerIndex) -> Fetcher {
        Fetcher {
            follower,
            leader,
            turn: self.fetchers[self.fetcher_place(follower, leader)].turn,
        }
    }

    pub(super) fn fetcher_place(&self, follower: BrokerIndex, leader: BrokerIndex) -> usize {
        follower.index() * self.brokers.len() + leader.index()
    }
}

/// Sends a message from one broker to another.
fn carry(
    ctx: &mut Context<'_>,
    (from, to): (BrokerIndex, BrokerIndex),
    message: Message,
    bytes: u32,
) {
    let link = ctx.network.replica(from, to);
    let way = if from < to { Way::Forth } else { Way::Back };
    let transit = ctx
        .network
        .transmit((link, Lane::Regular), way, ctx.now, bytes);
    ctx.queue
        .push(transit.arrives, Rank::broker(from), Event::Deliver(message));
}
