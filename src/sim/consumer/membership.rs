//! Being a member of a group: finding its coordinator, joining, heartbeats, leaving.
//!
//! Source: `AbstractCoordinator`, `ConsumerCoordinator.onJoinPrepare` and `onJoinComplete`. Joining
//! happens inside `poll()`; heartbeats come from a thread of their own, which also notices that
//! `poll()` has not been called for `max.poll.interval.ms` and leaves the group.

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::{Assignor, ConsumerSettings};
use crate::sim::consumer::Consumer;
use crate::sim::consumer::application::Stage as Loop;
use crate::sim::consumer::assignor::assign;
use crate::sim::consumer::call::{Answer, Ask, Identity, Join, Joined, Leaving, MemberId};
use crate::sim::consumer::connections::{About, Sent};
use crate::sim::consumer::fetcher::Assigned;
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::network::Lane;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::MemberStage;

/// Bytes of a group request without what it lists, of each member and of each partition in it:
/// estimates.
const GROUP_BYTES: u32 = 120;
const GROUP_MEMBER_BYTES: u32 = 60;
const GROUP_PARTITION_BYTES: u32 = 4;

/// A consumer as a member.
#[derive(Clone, Debug)]
pub(super) struct Membership {
    pub(super) coordinator: Option<BrokerIndex>,
    pub(super) stage: MemberStage,
    member: MemberId,
    generation: i32,
    rejoin: Rejoin,
    held: Held,
    /// What the leader assigned by: partitions of each topic.
    snapshot: Option<Vec<(TopicIndex, u32)>>,
    /// What it was assigned last: what sticky assignors remember over an eager rebalance.
    last_assignment: Vec<PartitionIndex>,
    heartbeat_at: SimTime,
    pub(super) last_heartbeat: SimTime,
    not_before: SimTime,
    failed_attempts: u32,
    /// Requests about offsets wait until then.
    pub(super) offsets_not_before: SimTime,
    rebalance_since: Option<SimTime>,
    eagerness: Eagerness,
}

/// Whether the member has to join again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejoin {
    No,
    Wanted,
}

/// Whether what is assigned still belongs to the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Kept,
    /// The group has gone on without it.
    Lost,
}

/// Whether partitions are given up before a rebalance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Eagerness {
    Eager,
    Cooperative,
}

impl Membership {
    pub(super) fn new(settings: &ConsumerSettings) -> Self {
        Self {
            coordinator: None,
            stage: MemberStage::Unjoined,
            member: 0,
            generation: -1,
            rejoin: Rejoin::No,
            held: Held::Kept,
            snapshot: None,
            last_assignment: Vec::new(),
            heartbeat_at: SimTime::NEVER,
            last_heartbeat: SimTime::ZERO,
            not_before: SimTime::ZERO,
            failed_attempts: 0,
            offsets_not_before: SimTime::ZERO,
            rebalance_since: None,
            eagerness: if settings.is_eager() {
                Eagerness::Eager
            } else {
                Eagerness::Cooperative
            },
        }
    }

    /// The generation that it is in; -1 outside the group.
    pub(super) fn generation(&self) -> i32 {
        self.generation
    }

    fn forget(&mut self) {
        self.generation = -1;
        self.held = Held::Lost;
        self.stage = MemberStage::Unjoined;
        self.snapshot = None;
    }
}

impl Consumer {
    /// As the coordinator knows it.
    pub(super) fn identity(&self) -> Identity {
        Identity {
            group: self.group,
            member: self.membership.member,
            generation: self.membership.generation,
        }
    }

    /// Whether `poll()` waits for the group and returns nothing.
    pub(super) fn is_held_up(&self) -> bool {
        let is_joining = self.membership.stage != MemberStage::Stable
            || self.membership.rejoin == Rejoin::Wanted;
        is_joining && self.membership.eagerness == Eagerness::Eager
    }

    /// Does what keeps the consumer in its group.
    pub(super) fn keep_membership(&mut self, ctx: &mut Context<'_>) {
        self.watch_poll_interval(ctx);
        let Some(coordinator) = self.membership.coordinator else {
            return self.find_coordinator(ctx);
        };
        let is_polling = self.application.stage == Loop::Polling;
        if is_polling {
            self.drop_lost();
        }
        if self.membership.stage == MemberStage::Stable {
            self.heartbeat(ctx, coordinator);
            if is_polling && self.membership.rejoin == Rejoin::Wanted {
                self.prepare_to_join(ctx);
            }
        }
        if is_polling && self.membership.stage == MemberStage::Unjoined {
            self.send_join(ctx, coordinator);
        }
    }

    fn find_coordinator(&mut self, ctx: &mut Context<'_>) {
        if self.is_asking(About::FindCoordinator) || self.metadata.image.is_none() {
            return;
        }
        if self.membership.not_before > ctx.now {
            let at = self.membership.not_before;
            return self.wake_by(at);
        }
        let Some(broker) = self.least_loaded() else {
            return;
        };
        if self.approach(ctx, broker, Lane::Regular) {
            let ask = (About::FindCoordinator, Ask::FindCoordinator(self.group));
            self.call(ctx, (broker, Lane::Regular), ask, GROUP_BYTES);
        }
    }

    /// Partitions that the group has given to others are forgotten (`onPartitionsLost`).
    fn drop_lost(&mut self) {
        if self.membership.held == Held::Lost {
            self.membership.held = Held::Kept;
            self.assigned.clear();
            self.buffered.clear();
        }
    }

    /// `onJoinPrepare`: commits, and gives everything up unless the protocol is cooperative.
    fn prepare_to_join(&mut self, ctx: &mut Context<'_>) {
        self.membership.rebalance_since.get_or_insert(ctx.now);
        if self.is_asking(About::Commit) {
            return;
        }
        let is_sent = self.commit_positions(ctx);
        if is_sent && self.membership.eagerness == Eagerness::Eager {
            self.membership.stage = MemberStage::Preparing;
        } else {
            self.give_up_assignment();
        }
    }

    fn give_up_assignment(&mut self) {
        self.membership.stage = MemberStage::Unjoined;
        if self.membership.eagerness == Eagerness::Eager {
            self.assigned.clear();
            self.buffered.clear();
        }
    }

    /// The commit before joining is through, or failed.
    pub(super) fn go_on_joining(&mut self, _ctx: &mut Context<'_>) {
        if self.membership.stage == MemberStage::Preparing {
            self.give_up_assignment();
        }
    }

    fn send_join(&mut self, ctx: &mut Context<'_>, coordinator: BrokerIndex) {
        self.membership.rebalance_since.get_or_insert(ctx.now);
        if self.membership.not_before > ctx.now {
            let at = self.membership.not_before;
            return self.wake_by(at);
        }
        if !self.approach(ctx, coordinator, Lane::Bootstrap) {
            return;
        }
        let assignors = self.settings.assignors.clone();
        let owned: Vec<PartitionIndex> = match self.membership.eagerness {
            Eagerness::Cooperative => self.assigned.iter().map(|a| a.partition).collect(),
            Eagerness::Eager if assignors.contains(&Assignor::Sticky) => {
                self.membership.last_assignment.clone()
            }
            Eagerness::Eager => Vec::new(),
        };
        let partitions = owned.len() as u32;
        let join = Join {
            group: self.group,
            member: self.membership.member,
            topics: self.topics.clone(),
            assignors,
            owned,
            session: SimSpan::from_millis(self.settings.session_timeout_ms),
            rebalance: SimSpan::from_millis(self.settings.max_poll_interval_ms),
        };
        self.membership.stage = MemberStage::Joining;
        self.membership.rejoin = Rejoin::No;
        let bytes = GROUP_BYTES + partitions * GROUP_PARTITION_BYTES;
        let ask = (About::Join, Ask::Join(Box::new(join)));
        self.call(ctx, (coordinator, Lane::Bootstrap), ask, bytes);
    }

    fn heartbeat(&mut self, ctx: &mut Context<'_>, coordinator: BrokerIndex) {
        if self.is_asking(About::Heartbeat) {
            return;
        }
        if self.membership.heartbeat_at > ctx.now {
            let at = self.membership.heartbeat_at;
            return self.wake_by(at);
        }
        if self.approach(ctx, coordinator, Lane::Bootstrap) {
            self.schedule_heartbeat(ctx);
            self.membership.last_heartbeat = ctx.now;
            let ask = (About::Heartbeat, Ask::Heartbeat(self.identity()));
            self.call(ctx, (coordinator, Lane::Bootstrap), ask, GROUP_BYTES);
        }
    }

    fn schedule_heartbeat(&mut self, ctx: &Context<'_>) {
        let interval = SimSpan::from_millis(self.settings.heartbeat_interval_ms);
        self.membership.heartbeat_at = ctx.now + interval;
    }

    /// The heartbeat's thread sees that `poll()` has not been called for too long, and leaves.
    fn watch_poll_interval(&mut self, ctx: &mut Context<'_>) {
        let is_busy = matches!(self.application.stage, Loop::Processing { .. });
        if !is_busy || self.membership.generation < 0 {
            return;
        }
        let interval = SimSpan::from_millis(self.settings.max_poll_interval_ms);
        let deadline = self.application.last_poll + interval;
        if deadline > ctx.now {
            return self.wake_by(deadline);
        }
        self.leave(ctx, Leaving::PollInterval);
        self.membership.member = 0;
        self.membership.forget();
    }

    /// Tells the coordinator, if it can be told.
    pub(super) fn leave(&mut self, ctx: &mut Context<'_>, why: Leaving) {
        let Some(coordinator) = self.membership.coordinator else {
            return;
        };
        if self.membership.member != 0 && self.approach(ctx, coordinator, Lane::Bootstrap) {
            let ask = (About::Leave, Ask::Leave(self.identity(), why));
            self.call(ctx, (coordinator, Lane::Bootstrap), ask, GROUP_BYTES);
        }
    }

    /// The leader sees that a topic has another number of partitions than it assigned.
    pub(super) fn notice_partitions(&mut self) {
        let Some(image) = &self.metadata.image else {
            return;
        };
        let Some(snapshot) = &self.membership.snapshot else {
            return;
        };
        let is_same = snapshot
            .iter()
            .all(|&(topic, partitions)| image.topic(topic).partitions.len() as u32 == partitions);
        if !is_same {
            self.membership.rejoin = Rejoin::Wanted;
        }
    }

    /// The coordinator answered.
    pub(super) fn on_group_answer(&mut self, ctx: &mut Context<'_>, sent: Sent, answer: Answer) {
        let took = ctx.now.since(sent.at);
        match (sent.about, answer) {
            (About::FindCoordinator, Answer::Coordinator(Some(broker))) => {
                self.membership.coordinator = Some(broker);
                self.membership.failed_attempts = 0;
            }
            (About::FindCoordinator, _) => self.back_off_group(ctx),
            (About::Join, Answer::MemberIdRequired(member)) => {
                self.membership.member = member;
                self.membership.stage = MemberStage::Unjoined;
            }
            (About::Join, Answer::Joined(joined)) => {
                self.metrics.joined(took, ctx.now);
                self.send_sync(ctx, &joined);
            }
            (About::Sync, Answer::Assigned(partitions)) => self.on_assigned(ctx, partitions),
            (About::Heartbeat, Answer::Nothing) => self.metrics.heartbeat(took, ctx.now),
            (About::Join | About::Sync, Answer::Error(error)) => {
                self.membership.stage = MemberStage::Unjoined;
                self.on_group_error(ctx, sent, error);
            }
            (_, Answer::Error(error)) => self.on_group_error(ctx, sent, error),
            _ => {}
        }
    }

    /// The coordinator refused something. What it says about a member that this consumer no longer
    /// is does not count (`generationUnchanged`).
    pub(super) fn on_group_error(&mut self, ctx: &mut Context<'_>, sent: Sent, error: ErrorCode) {
        let is_current = sent.identity == self.identity();
        match error {
            ErrorCode::RebalanceInProgress => {
                if is_current && self.membership.stage == MemberStage::Stable {
                    self.membership.rejoin = Rejoin::Wanted;
                }
            }
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration if !is_current => {}
            ErrorCode::UnknownMemberId => {
                self.membership.member = 0;
                self.membership.forget();
            }
            ErrorCode::IllegalGeneration => self.membership.forget(),
            _ => {
                self.membership.coordinator = None;
                self.back_off_group(ctx);
            }
        }
    }

    /// The connection to the coordinator is gone: it has to be found again.
    pub(super) fn on_coordinator_lost(&mut self, ctx: &mut Context<'_>, about: About) {
        self.membership.coordinator = None;
        self.back_off_group(ctx);
        match about {
            About::Join | About::Sync => self.membership.stage = MemberStage::Unjoined,
            About::Commit => self.go_on_joining(ctx),
            _ => {}
        }
    }

    fn back_off_group(&mut self, ctx: &Context<'_>) {
        let attempts = self.membership.failed_attempts;
        let draw = self.draws.bits32();
        let wait_ms = self.settings.retry_backoff.backoff_ms(attempts, draw);
        self.membership.failed_attempts = attempts.saturating_add(1);
        self.membership.not_before = ctx.now + SimSpan::from_millis(wait_ms);
        let at = self.membership.not_before;
        self.wake_by(at);
    }

    /// A generation begins: the leader decides who reads what.
    fn send_sync(&mut self, ctx: &mut Context<'_>, joined: &Joined) {
        self.membership.member = joined.member;
        self.membership.generation = joined.generation;
        self.membership.stage = MemberStage::Syncing;
        self.membership.snapshot = None;
        let mut assignments = Vec::new();
        if let Some(image) = self.metadata.image.clone()
            && !joined.members.is_empty()
        {
            assignments = assign(joined.assignor, &joined.members, &image);
            let topics = joined.members.iter().flat_map(|member| &member.topics);
            let mut snapshot: Vec<(TopicIndex, u32)> = topics
                .map(|&topic| (topic, image.topic(topic).partitions.len() as u32))
                .collect();
            snapshot.sort_unstable();
            snapshot.dedup();
            self.membership.snapshot = Some(snapshot);
        }
        let Some(coordinator) = self.membership.coordinator else {
            self.membership.stage = MemberStage::Unjoined;
            return;
        };
        let partitions: usize = assignments.iter().map(|(_, list)| list.len()).sum();
        let bytes = GROUP_BYTES
            + GROUP_MEMBER_BYTES * assignments.len() as u32
            + GROUP_PARTITION_BYTES * partitions as u32;
        let ask = (About::Sync, Ask::Sync(self.identity(), assignments));
        self.call(ctx, (coordinator, Lane::Bootstrap), ask, bytes);
    }

    /// `onJoinComplete`: what this member reads from now on.
    fn on_assigned(&mut self, ctx: &mut Context<'_>, partitions: Vec<PartitionIndex>) {
        let before = std::mem::take(&mut self.assigned);
        let kept = |partition: &PartitionIndex| {
            let is_kept = self.membership.eagerness == Eagerness::Cooperative;
            before
                .iter()
                .find(|old| is_kept && old.partition == *partition)
                .copied()
        };
        self.assigned = partitions
            .iter()
            .map(|partition| kept(partition).unwrap_or_else(|| Assigned::new(*partition)))
            .collect();
        let is_revoked = before
            .iter()
            .any(|old| !partitions.contains(&old.partition));
        if is_revoked && self.membership.eagerness == Eagerness::Cooperative {
            // What was given up can be given to others in one more rebalance.
            self.membership.rejoin = Rejoin::Wanted;
        }
        self.buffered
            .retain(|buffered| partitions.contains(&buffered.partition));
        self.membership.last_assignment = partitions;
        self.membership.stage = MemberStage::Stable;
        self.membership.failed_attempts = 0;
        self.schedule_heartbeat(ctx);
        if let Some(since) = self.membership.rebalance_since.take() {
            self.metrics.rebalanced(ctx.now.since(since), ctx.now);
        }
        if let Some(interval_ms) = self.settings.auto_commit_interval_ms {
            self.application.commit_at = ctx.now + SimSpan::from_millis(interval_ms.max(1));
        }
    }
}
