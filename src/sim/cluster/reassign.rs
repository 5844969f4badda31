//! Partitions that move to other brokers (`kafka-reassign-partitions.sh`).
//!
//! New replicas fetch the whole log; when all of the target are in sync the others leave, and who
//! led among those gives its office up. A throttle limits the bytes per second that a broker
//! sends to, and takes as, replicas of these partitions that are not in sync.
//!
//! Source: `ReplicationControlManager.alterPartitionReassignments`,
//! `PartitionReassignmentReplicas`, `ReplicationQuotaManager`,
//! `ReplicaManager.shouldLeaderThrottle`.
//!
//! Simplifications: leaders know of new replicas at once; a throttle spaces fetches so that their
//! mean is the rate, where a real one lets through what keeps the mean of 11 s below it.

use std::borrow::Cow;

use crate::kafka::message::REASSIGNMENT_EXISTS;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::election::Election;
use crate::sim::cluster::quorum::NO_CONTROLLER;
use crate::sim::command::{EarlierMoves, Placement, Reassign, Throttles};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::metadata::Image;
use crate::sim::partition::{Reassignment, Replica};
use crate::sim::queue::Rank;
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// What a broker may send to, or take as, replicas that are not in sync.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplicationQuota {
    /// Bytes per second; without one there is no limit.
    rate: Option<u64>,
    /// When what was let through is paid for.
    free_at: SimTime,
    /// When the broker looks again.
    wakes: SimTime,
}

impl ReplicationQuota {
    fn is_free(&self, now: SimTime) -> bool {
        self.rate.is_none() || self.free_at <= now
    }

    fn take(&mut self, now: SimTime, bytes: u64) {
        let Some(rate) = self.rate else { return };
        let span = u128::from(bytes) * u128::from(NANOS_PER_SECOND) / u128::from(rate.max(1));
        let span = SimSpan::from_nanos(u64::try_from(span).unwrap_or(u64::MAX));
        self.free_at = self.free_at.max(now) + span;
    }
}

impl Cluster {
    /// Kafka's tool at work.
    pub fn on_reassign(
        &mut self,
        ctx: &mut Context<'_>,
        command: &Reassign,
    ) -> Result<(), Cow<'static, str>> {
        if !self.is_controlled(ctx) {
            return Err(NO_CONTROLLER.into());
        }
        match command {
            Reassign::Execute {
                plan,
                throttle_bytes_per_second,
                earlier,
            } => {
                if *earlier == EarlierMoves::Forbidden && self.moves().next().is_some() {
                    return Err(REASSIGNMENT_EXISTS.into());
                }
                self.reassign(ctx, plan, *throttle_bytes_per_second)
            }
            Reassign::Verify { plan, throttles } => {
                if *throttles == Throttles::Lifted {
                    self.remove_throttles(plan);
                }
                Ok(())
            }
            Reassign::Cancel { plan, throttles } => {
                self.cancel_reassignments(ctx, plan);
                if *throttles == Throttles::Lifted {
                    self.remove_throttles(plan);
                }
                Ok(())
            }
        }
    }

    /// Partitions that move.
    pub fn moves(&self) -> impl Iterator<Item = PartitionIndex> + '_ {
        self.indices()
            .filter(|index| self.partitions[index.index()].reassignment.is_some())
    }

    /// Begins to move partitions; those that have nothing to copy are done at once.
    fn reassign(
        &mut self,
        ctx: &mut Context<'_>,
        plan: &[Placement],
        throttle: Option<u64>,
    ) -> Result<(), Cow<'static, str>> {
        let mut image = (*self.controller.image).clone();
        let mut indices = Vec::new();
        for placement in plan {
            let index = self.find(placement.partition);
            let index = index.ok_or("there is no such partition yet")?;
            indices.push(index);
        }
        for (placement, &index) in plan.iter().zip(&indices) {
            self.begin_reassignment(index, &placement.replicas);
            if throttle.is_some() {
                self.partitions[index.index()].is_throttled = true;
            }
            self.complete_reassignment(&mut image, index);
        }
        if throttle.is_some() {
            for broker in &mut self.brokers {
                broker.replication_quota.rate = throttle;
            }
        }
        self.publish(ctx, image);
        Ok(())
    }

    /// Gives moves up: new replicas go again.
    fn cancel_reassignments(&mut self, ctx: &mut Context<'_>, plan: &[Placement]) {
        let found: Vec<_> = plan.iter().filter_map(|p| self.find(p.partition)).collect();
        let mut image = (*self.controller.image).clone();
        for index in found {
            let Some(reassignment) = self.partitions[index.index()].reassignment.take() else {
                continue;
            };
            let state = &mut image.partitions[index.index()];
            state
                .isr
                .retain(|member| reassignment.original.contains(member));
            if state
                .leader
                .is_some_and(|leader| !reassignment.original.contains(&leader))
            {
                self.elect(&mut image, index, Election::Online);
            }
            self.partitions[index.index()].arrange(&reassignment.original);
        }
        self.publish(ctx, image);
    }

    /// Nothing is throttled any more, if none of these partitions moves.
    fn remove_throttles(&mut self, plan: &[Placement]) {
        let found = plan.iter().filter_map(|p| self.find(p.partition));
        let found: Vec<_> = found.collect();
        let moves = |index: &PartitionIndex| {
            let partition = &self.partitions[index.index()];
            partition.reassignment.is_some()
        };
        if found.iter().any(moves) {
            return;
        }
        for index in found {
            self.partitions[index.index()].is_throttled = false;
        }
        for broker in &mut self.brokers {
            broker.replication_quota.rate = None;
        }
    }

    fn begin_reassignment(&mut self, index: PartitionIndex, target: &[BrokerIndex]) {
        let partition = &mut self.partitions[index.index()];
        let original: Vec<_> = match partition.reassignment.take() {
            Some(earlier) => earlier.original,
            None => partition.assignment().collect(),
        };
        let start_offset = partition.log.start_offset();
        for &broker in target {
            if partition.replica(broker).is_none() {
                partition.replicas.push(Replica::new(broker, start_offset));
                self.brokers[broker.index()].replica_of.push(index);
            }
        }
        let others = original.iter().filter(|broker| !target.contains(broker));
        let all: Vec<_> = target.iter().chain(others).copied().collect();
        let partition = &mut self.partitions[index.index()];
        partition.arrange(&all);
        partition.reassignment = Some(Reassignment {
            target: target.to_vec(),
            original,
        });
    }

    /// A move whose target is in sync is over: the others leave the ISR, and their offices.
    pub(super) fn complete_reassignment(&self, image: &mut Image, index: PartitionIndex) {
        let Some(reassignment) = &self.partitions[index.index()].reassignment else {
            return;
        };
        let target = &reassignment.target;
        let state = &mut image.partitions[index.index()];
        if !target.iter().all(|broker| state.isr.contains(broker)) {
            return;
        }
        state.isr.retain(|member| target.contains(member));
        state.elr.retain(|member| target.contains(member));
        if state.leader.is_some_and(|leader| !target.contains(&leader)) {
            self.elect(image, index, Election::Online);
        }
    }

    /// Moves that the controller has completed: who is no longer wanted goes when it hears of it.
    pub(super) fn settle_reassignments(&mut self) {
        let image = self.controller.image.clone();
        for (partition, state) in self.partitions.iter_mut().zip(&image.partitions) {
            let Some(reassignment) = &partition.reassignment else {
                continue;
            };
            let target = reassignment.target.clone();
            let is_done = target.iter().all(|broker| state.isr.contains(broker))
                && state.isr.iter().all(|member| target.contains(member));
            if is_done {
                partition.reassignment = None;
                partition.arrange(&target);
            }
        }
    }

    /// A broker hears that it holds a replica no more: it deletes its log.
    pub(super) fn delete_replicas(&mut self, at: BrokerIndex) {
        let unwanted: Vec<_> = self.brokers[at.index()]
            .replica_of
            .iter()
            .copied()
            .filter(|index| self.partitions[index.index()].is_leaving(at))
            .collect();
        for index in unwanted {
            self.partitions[index.index()].delete_replica(at);
            self.brokers[at.index()]
                .replica_of
                .retain(|&other| other != index);
        }
    }

    // === Throttles

    /// Whether a leader may send this partition to a follower now; if not, it looks again when it
    /// may.
    pub(super) fn may_send(
        &mut self,
        ctx: &mut Context<'_>,
        (follower, leader): (BrokerIndex, BrokerIndex),
        index: PartitionIndex,
    ) -> bool {
        if !self.is_limited(follower, index) {
            return true;
        }
        let quotas = [leader, follower].map(|b| self.brokers[b.index()].replication_quota);
        if quotas.iter().all(|quota| quota.is_free(ctx.now)) {
            return true;
        }
        let free_at = quotas.map(|quota| quota.free_at);
        let free_at = free_at[0].max(free_at[1]);
        let broker = &mut self.brokers[leader.index()];
        let wakes = broker.replication_quota.wakes;
        if wakes <= ctx.now || free_at < wakes {
            broker.replication_quota.wakes = free_at;
            let event = Event::ReplicationQuota {
                broker: leader,
                incarnation: broker.incarnation,
            };
            ctx.queue.push(free_at, Rank::broker(leader), event);
        }
        false
    }

    /// These bytes go to a replica that may be limited.
    pub(super) fn note_sent(
        &mut self,
        now: SimTime,
        (follower, leader): (BrokerIndex, BrokerIndex),
        (index, bytes): (PartitionIndex, u64),
    ) {
        if self.is_limited(follower, index) {
            for broker in [leader, follower] {
                self.brokers[broker.index()]
                    .replication_quota
                    .take(now, bytes);
            }
        }
    }

    fn is_limited(&self, follower: BrokerIndex, index: PartitionIndex) -> bool {
        let partition = &self.partitions[index.index()];
        partition.is_throttled && !partition.isr.contains(&follower)
    }

    /// What a broker sent is paid for: waiting fetches are looked at again.
    pub(super) fn on_replication_quota(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation == incarnation && broker.is_serving() {
            self.serve_fetchers_of(ctx, at);
        }
    }
}
