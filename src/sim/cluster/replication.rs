//! Followers fetch, high watermarks rise, replicas leave and join the ISR.
//!
//! One fetcher for each ordered pair of brokers (`num.replica.fetchers` = 1) carries all partitions
//! between them. A fetch that finds nothing waits at the leader and is answered by the next append.
//! Source: `AbstractFetcherThread`, `DelayedFetch`, `Partition.maybeShrinkIsr`/`maybeExpandIsr`.
//!
//! Simplification: a waiting fetch is not renewed every `replica.fetch.wait.max.ms`; nothing that
//! can be observed depends on it.

use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Process;
use crate::sim::context::Context;
use crate::sim::event::{Event, Fetcher, Message};
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::network::{Lane, Way};
use crate::sim::queue::Rank;
use crate::sim::request::RequestId;
use crate::sim::time::SimSpan;

/// A fetch request, whose session lists only partitions that changed (KIP-227): an estimate.
const FETCH_REQUEST_BYTES: u32 = 120;
/// Header of a fetch response, and of each partition in it: an estimate.
const FETCH_RESPONSE_BYTES: u32 = 60;

/// One fetcher thread.
#[derive(Clone, Debug, Default)]
pub struct FetcherState {
    turn: u32,
    state: Fetching,
    /// Partitions with records that the follower lacks.
    dirty: Vec<PartitionIndex>,
    /// What is on its way, with the end offset that the follower will have.
    taking: Vec<(PartitionIndex, u64)>,
    bytes: u64,
}

/// Where a fetcher's one request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fetching {
    /// At the leader, waiting for records.
    #[default]
    Parked,
    /// On its way, there or back, or on the follower's disk.
    UnderWay,
}

impl Cluster {
    /// A produce request appended to partitions: their followers have something to fetch.
    pub(super) fn kick_followers(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        for place in 0..ctx.requests.get(id).parts.len() {
            let part = ctx.requests.get(id).parts[place];
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
        let end_offset = partition.log.end_offset();
        for replica in &mut partition.replicas {
            // One that is not in sync fetches even if there is nothing new: so it is let in.
            let lacks = replica.broker != leader
                && (replica.end_offset < end_offset || !partition.isr.contains(&replica.broker));
            if lacks && !replica.fetch_pending {
                replica.fetch_pending = true;
                let place = replica.broker.index() * brokers + leader.index();
                self.fetchers[place].dirty.push(index);
            }
        }
    }

    /// A follower's fetch arrives: it has what it took last; what is new goes out, or it waits.
    pub(super) fn on_fetch(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        if self.fetchers[place].turn != fetcher.turn {
            return;
        }
        let taken = std::mem::take(&mut self.fetchers[place].taking);
        for &(index, _) in &taken {
            self.note_fetch(ctx, fetcher, index);
        }
        self.fetchers[place].state = Fetching::Parked;
        if self.brokers[fetcher.leader.index()].is_serving() {
            self.serve(ctx, fetcher.follower, fetcher.leader);
        }
    }

    /// The leader notes how far a follower is (`Replica.updateFetchStateOrThrow`).
    fn note_fetch(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher, index: PartitionIndex) {
        let partition = &mut self.partitions[index.index()];
        if !partition.is_led_by(fetcher.leader) {
            return;
        }
        let end_offset = partition.log.end_offset();
        let Some(replica) = partition.replica_mut(fetcher.follower) else {
            return;
        };
        replica.known_end_offset = replica.end_offset;
        if replica.end_offset >= end_offset {
            replica.caught_up = ctx.now;
        } else if replica.end_offset >= replica.previous_fetch.0 {
            replica.caught_up = replica.caught_up.max(replica.previous_fetch.1);
        }
        replica.previous_fetch = (end_offset, ctx.now);
        let has_caught_up = replica.end_offset >= partition.high_watermark;
        if has_caught_up && !partition.isr.contains(&fetcher.follower) {
            self.ask_isr_change(ctx, fetcher.leader, index);
        }
        if end_offset > self.partitions[index.index()].replica_end(fetcher.follower) {
            self.mark_dirty(index, fetcher.leader);
        }
        if self.partitions[index.index()].advance_high_watermark() {
            self.check_purgatory(ctx, index);
        }
    }

    /// Sends a follower what it lacks, within the fetch limits; or parks its fetch.
    fn serve(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let limits = self.brokers[follower.index()].settings.replication;
        let dirty = std::mem::take(&mut self.fetchers[place].dirty);
        let (mut taking, mut left, mut bytes) = (Vec::new(), Vec::new(), 0);
        for index in dirty {
            let partition = &mut self.partitions[index.index()];
            let is_led = partition.is_led_by(leader);
            let room = u64::from(limits.fetch_response_max_bytes).saturating_sub(bytes);
            let from = partition.replica_end(follower);
            if !is_led || room == 0 {
                left.extend(is_led.then_some(index));
                if let Some(replica) = partition.replica_mut(follower) {
                    replica.fetch_pending = is_led;
                }
                continue;
            }
            let limit = room.min(u64::from(limits.fetch_max_bytes));
            let (end_offset, taken) = partition.log.reach(from, limit);
            if let Some(replica) = partition.replica_mut(follower) {
                replica.fetch_pending = false;
            }
            if end_offset > from || !partition.isr.contains(&follower) {
                taking.push((index, end_offset));
                bytes += taken;
            }
        }
        let state = &mut self.fetchers[place];
        state.dirty = left;
        if taking.is_empty() {
            return;
        }
        (state.taking, state.bytes, state.state) = (taking, bytes, Fetching::UnderWay);
        let fetcher = Fetcher {
            follower,
            leader,
            turn: state.turn,
        };
        let wire = bytes.min(u64::from(u32::MAX / 2)) as u32 + FETCH_RESPONSE_BYTES;
        carry(ctx, (leader, follower), Message::Fetched(fetcher), wire);
    }

    /// Records reach a follower: its disk takes them.
    pub(super) fn on_fetched(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        let broker = &mut self.brokers[fetcher.follower.index()];
        if self.fetchers[place].turn != fetcher.turn || broker.process == Process::Down {
            return;
        }
        let done = broker.disk.write(ctx.now, self.fetchers[place].bytes);
        let rank = Rank::broker(fetcher.follower);
        ctx.queue.push(done, rank, Event::FollowerAppended(fetcher));
    }

    /// A follower has written what it fetched, and asks for more.
    pub(super) fn on_follower_appended(&mut self, ctx: &mut Context<'_>, fetcher: Fetcher) {
        let place = self.fetcher_place(fetcher.follower, fetcher.leader);
        if self.fetchers[place].turn != fetcher.turn {
            return;
        }
        for &(index, end_offset) in &self.fetchers[place].taking {
            let partition = &mut self.partitions[index.index()];
            let limit = partition.log.end_offset();
            if let Some(replica) = partition.replica_mut(fetcher.follower) {
                replica.end_offset = replica.end_offset.max(end_offset.min(limit));
            }
        }
        let ends = (fetcher.follower, fetcher.leader);
        carry(ctx, ends, Message::Fetch(fetcher), FETCH_REQUEST_BYTES);
    }

    /// Sets up the fetchers between this broker and all others anew, after it came (back) or
    /// leaders moved: nothing on its way counts any more.
    pub(super) fn renew_fetchers(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        for other in 0..self.brokers.len() as u16 {
            let other = BrokerIndex(other);
            for (follower, leader) in [(broker, other), (other, broker)] {
                self.renew_fetcher(ctx, follower, leader);
            }
        }
    }

    fn renew_fetcher(&mut self, ctx: &mut Context<'_>, follower: BrokerIndex, leader: BrokerIndex) {
        let place = self.fetcher_place(follower, leader);
        let turn = self.fetchers[place].turn + 1;
        self.fetchers[place] = FetcherState {
            turn,
            ..FetcherState::default()
        };
        let both_serve = self.brokers[follower.index()].is_serving()
            && self.brokers[leader.index()].is_serving();
        for index in self.brokers[follower.index()].replica_of.clone() {
            let partition = &mut self.partitions[index.index()];
            if partition.is_led_by(leader) {
                if let Some(replica) = partition.replica_mut(follower) {
                    replica.fetch_pending = false;
                }
                if both_serve {
                    self.mark_dirty(index, leader);
                }
            }
        }
        if both_serve && !self.fetchers[place].dirty.is_empty() {
            self.serve(ctx, follower, leader);
        }
    }

    /// Task `isr-expiration`: followers that have not caught up for `replica.lag.time.max.ms`
    /// leave the ISR.
    pub(super) fn on_isr_expiration(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        let lag_time = SimSpan::from_millis(broker.settings.replication.lag_time_max_ms);
        let event = Event::IsrExpiration {
            broker: at,
            incarnation,
        };
        let period = SimSpan::from_nanos((lag_time.as_nanos() / 2).max(1_000_000));
        ctx.queue.push(ctx.now + period, Rank::broker(at), event);
        if !broker.is_serving() {
            return;
        }
        for index in broker.replica_of.clone() {
            let partition = &self.partitions[index.index()];
            if !partition.is_led_by(at) {
                continue;
            }
            let is_whole = partition.isr.len() == partition.replicas.len();
            if partition.laggards(ctx.now, lag_time).next().is_some() {
                self.ask_isr_change(ctx, at, index);
            }
            if !is_whole {
                // Followers that are not in sync fetch all the time: here, every so often.
                self.mark_dirty(index, at);
            }
        }
        self.serve_fetchers_of(ctx, at);
    }

    /// Sends an `AlterPartition` to the controller, if it can be reached.
    fn ask_isr_change(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, index: PartitionIndex) {
        let link = ctx.network.controller(at);
        let Some((_, leader_epoch)) = self.partitions[index.index()].serving else {
            return;
        };
        if ctx.network.is_open(link) {
            let arrives = ctx.now + ctx.network.latency(link);
            let event = Event::AlterPartition {
                partition: index.name(),
                leader_epoch,
            };
            ctx.queue.push(arrives, Rank::broker(at), event);
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
