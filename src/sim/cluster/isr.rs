//! In-sync replicas: who leaves, who joins, and how the controller is asked.
//!
//! A leader proposes a whole new ISR. One request of each broker is under way, with all partitions
//! that waited for it; until the answer is there a partition's ISR cannot change again, and a
//! replica that is on its way in or out counts as a member.
//! Source: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `AlterPartitionManager`,
//! `ReplicationControlManager.alterPartition`.
//!
//! Simplifications: who has caught up joins when the leader hears that it is alive, where a real
//! leader looks at the next fetch; a leader that cannot reach the controller looks again after
//! [`REACH_AGAIN`], where a real one repeats its request until it is answered.

use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Fencing;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::metadata::{Image, Recovery};
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;

/// How long a leader waits that could not reach the controller.
const REACH_AGAIN: SimSpan = SimSpan::from_millis(100);

/// A request that no controller answered is repeated (`AlterPartitionManager`).
const REQUEST_AGAIN: SimSpan = SimSpan::from_millis(50);

/// What a leader wants of an ISR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsrChange {
    /// Who fell behind leaves.
    Shrink,
    /// Who has caught up joins.
    Expand,
}

/// A broker's requests to change ISRs.
#[derive(Clone, Debug, Default)]
pub struct IsrRequests {
    /// Partitions in the request under way; none if there is no request.
    sent: Vec<Proposal>,
    /// Partitions that go with the next one.
    waiting: Vec<Proposal>,
    /// Whether the broker will look again because it could not reach the controller.
    again: Again,
}

/// Whether something is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Again {
    #[default]
    No,
    Planned,
}

/// What a leader proposes for one partition.
#[derive(Clone, Debug)]
struct Proposal {
    partition: PartitionIndex,
    leader_epoch: u32,
    isr: Vec<BrokerIndex>,
}

impl Cluster {
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
            if partition.is_led_by(at) && partition.laggards(ctx.now, lag_time).next().is_some() {
                self.propose_isr(ctx, (at, index), IsrChange::Shrink);
            }
        }
    }

    /// The leader looks who is in sync, and asks the controller for another ISR if that is
    /// somebody else than before.
    pub(super) fn propose_isr(
        &mut self,
        ctx: &mut Context<'_>,
        (at, index): (BrokerIndex, PartitionIndex),
        change: IsrChange,
    ) {
        let partition = &self.partitions[index.index()];
        let Some((_, leader_epoch)) = partition.serving else {
            return;
        };
        if partition.pending_isr.is_some() {
            return;
        }
        if !self.reaches_controller(ctx, at) {
            return self.reach_again(ctx, at);
        }
        let isr = match change {
            IsrChange::Shrink => self.without_laggards(ctx, at, index),
            IsrChange::Expand => self.with_caught_up(at, index),
        };
        if isr == self.partitions[index.index()].isr {
            return;
        }
        self.partitions[index.index()].pending_isr = Some(isr.clone());
        let requests = &mut self.brokers[at.index()].isr_requests;
        requests.waiting.push(Proposal {
            partition: index,
            leader_epoch,
            isr,
        });
        if requests.sent.is_empty() {
            self.send_proposals(ctx, at);
        }
    }

    fn reach_again(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let broker = &mut self.brokers[at.index()];
        if std::mem::replace(&mut broker.isr_requests.again, Again::Planned) == Again::No {
            let event = Event::IsrLook {
                broker: at,
                incarnation: broker.incarnation,
            };
            ctx.queue
                .push(ctx.now + REACH_AGAIN, Rank::broker(at), event);
        }
    }

    /// A broker that could not reach the controller looks whom it would have asked for.
    pub(super) fn on_isr_look(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, incarnation: u32) {
        let broker = &mut self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        broker.isr_requests.again = Again::No;
        if !broker.is_serving() {
            return;
        }
        for index in broker.replica_of.clone() {
            let partition = &self.partitions[index.index()];
            if partition.is_led_by(at) && partition.isr.len() < partition.replicas.len() {
                self.propose_isr(ctx, (at, index), IsrChange::Expand);
            }
        }
    }

    /// The ISR without those that fell behind.
    fn without_laggards(
        &self,
        ctx: &Context<'_>,
        at: BrokerIndex,
        index: PartitionIndex,
    ) -> Vec<BrokerIndex> {
        let partition = &self.partitions[index.index()];
        let settings = &self.brokers[at.index()].settings.replication;
        let lag_time = SimSpan::from_millis(settings.lag_time_max_ms);
        let laggards: Vec<_> = partition.laggards(ctx.now, lag_time).collect();
        let members = partition.isr.iter();
        members
            .filter(|member| !laggards.contains(member))
            .copied()
            .collect()
    }

    /// The ISR with those that have caught up with the high watermark and with the beginning of
    /// the leader's epoch, and are alive.
    fn with_caught_up(&self, at: BrokerIndex, index: PartitionIndex) -> Vec<BrokerIndex> {
        let partition = &self.partitions[index.index()];
        let broker = &self.brokers[at.index()];
        let epoch_start = partition.epochs.latest().map_or(0, |e| e.start_offset);
        let needed = partition.high_watermark.max(epoch_start);
        let mut isr = partition.isr.clone();
        for replica in &partition.replicas {
            let has_caught_up = replica.known_end_offset.is_some_and(|end| end >= needed);
            let is_alive = broker.image.unfenced[replica.broker.index()]
                && !self.controller.leaving[replica.broker.index()];
            let is_wanted = has_caught_up && is_alive && !partition.is_leaving(replica.broker);
            if is_wanted && !isr.contains(&replica.broker) {
                isr.push(replica.broker);
            }
        }
        isr
    }

    fn send_proposals(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let broker = &mut self.brokers[at.index()];
        broker.isr_requests.sent = std::mem::take(&mut broker.isr_requests.waiting);
        if broker.isr_requests.sent.is_empty() {
            return;
        }
        let event = Event::AlterPartition {
            broker: at,
            incarnation: broker.incarnation,
        };
        let arrives = ctx.now + ctx.network.latency(ctx.network.controller(at));
        ctx.queue.push(arrives, Rank::broker(at), event);
    }

    /// A broker's proposals reach the controller.
    pub(super) fn on_alter_partition(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        if !self.is_controlled(ctx) {
            let event = Event::AlterPartition {
                broker: at,
                incarnation,
            };
            let again = ctx.now + REQUEST_AGAIN;
            return ctx.queue.push(again, Rank::broker(at), event);
        }
        let mut image: Option<Image> = None;
        for proposal in &broker.isr_requests.sent {
            let current = image.as_ref().unwrap_or(&self.controller.image);
            if !self.may_be_isr(current, at, proposal) {
                continue;
            }
            let image = image.get_or_insert_with(|| (*self.controller.image).clone());
            let state = &mut image.partitions[proposal.partition.index()];
            let was = std::mem::replace(&mut state.isr, proposal.isr.clone());
            state.recovery = Recovery::Recovered;
            self.track_eligible(image, proposal.partition, &was);
            self.complete_reassignment(image, proposal.partition);
        }
        let linger = SimSpan::from_millis(broker.settings.controller.append_linger_ms);
        let answered = ctx.now + linger + ctx.network.latency(ctx.network.controller(at));
        let event = Event::IsrAltered {
            broker: at,
            incarnation,
        };
        if let Some(image) = image {
            self.publish(ctx, image);
        }
        ctx.queue.push(answered, Rank::CONTROLLER, event);
    }

    /// The controller's checks (`validateAlterPartitionData`): the broker leads in that epoch, and
    /// whoever shall join is alive.
    fn may_be_isr(&self, image: &Image, at: BrokerIndex, proposal: &Proposal) -> bool {
        let state = image.partition(proposal.partition);
        let joins = proposal.isr.iter().filter(|b| !state.isr.contains(b));
        let mut joins = joins.copied();
        state.leader == Some(at)
            && state.epoch == proposal.leader_epoch
            && joins.all(|broker| {
                self.controller.fencing(broker) == Fencing::Unfenced
                    && !self.controller.leaving[broker.index()]
            })
    }

    /// The controller's answer reaches the leader: what it confirmed holds, and partitions that
    /// waited meanwhile are asked for.
    pub(super) fn on_isr_altered(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &mut self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        for proposal in std::mem::take(&mut broker.isr_requests.sent) {
            let index = proposal.partition;
            let partition = &mut self.partitions[index.index()];
            if partition.serving != Some((at, proposal.leader_epoch)) {
                continue;
            }
            let state = self.controller.image.partition(index);
            partition.pending_isr = None;
            if state.leader == Some(at) && state.epoch == proposal.leader_epoch {
                partition.isr.clone_from(&state.isr);
            }
            if partition.advance_high_watermark() {
                self.check_purgatory(ctx, index);
            }
            self.propose_isr(ctx, (at, index), IsrChange::Expand);
        }
        if self.brokers[at.index()].isr_requests.sent.is_empty() {
            self.send_proposals(ctx, at);
        }
    }
}
