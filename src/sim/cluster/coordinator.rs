//! The group coordinator: members join, synchronise, say that they live, commit and leave.
//!
//! Source: `GroupMetadataManager` and `ClassicGroup` (classic protocol), `OffsetMetadataManager`.
//! A group lives on the broker that leads its partition of `__consumer_offsets`.
//!
//! Simplifications: that topic has no log here; its leader is the first live replica of its usual
//! place, and a new coordinator has a group loaded at once.

use crate::kafka::error::ErrorCode;
use crate::kafka::hash::coordinator_partition;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Fencing;
use crate::sim::cluster::group::{Came, FirstJoin, Member};
use crate::sim::config::Config;
use crate::sim::consumer::{
    Answer, Ask, CallId, Identity, Join, Joined, Leaving, MemberId, MemberInfo,
};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::{Fact, MemberLoss};
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex};
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;
use crate::sim::view::GroupState;

/// While nobody coordinates a group, its timers look again so often.
const UNCOORDINATED: SimSpan = SimSpan::from_seconds(1);
/// Bytes of an answer about a group without its lists: an estimate.
const GROUP_RESPONSE_BYTES: u32 = 60;
/// Bytes of a member and of a partition in such an answer.
const MEMBER_BYTES: u32 = 80;
const PARTITION_BYTES: u32 = 12;

impl Cluster {
    /// Who coordinates a group now; nobody while all its replicas are fenced.
    pub(super) fn coordinator_of(&self, config: &Config, group: GroupIndex) -> Option<BrokerIndex> {
        let count = self.brokers.len() as u32;
        let settings = self.brokers.first()?.settings.groups;
        let name = &config.groups[group.index()].name;
        let partition = coordinator_partition(name, settings.offsets_num_partitions);
        let factor = u32::from(settings.offsets_replication_factor).clamp(1, count);
        (0..factor)
            .map(|place| BrokerIndex(((partition % count + place) % count) as u16))
            .find(|&broker| self.controller.fencing(broker) == Fencing::Unfenced)
    }

    /// A request about a group.
    pub(super) fn on_group_request(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        (id, ask): (CallId, Ask),
    ) {
        let group = match &ask {
            Ask::Join(join) => join.group,
            Ask::Sync(identity, _)
            | Ask::Heartbeat(identity)
            | Ask::Leave(identity, _)
            | Ask::Commit(identity, _) => identity.group,
            Ask::Committed(group, _) => *group,
            _ => return,
        };
        if self.coordinator_of(ctx.config, group) != Some(at) {
            return self.refuse(ctx, id, ErrorCode::NotCoordinator);
        }
        self.load_group(ctx, at, group);
        match ask {
            Ask::Join(join) => self.on_join(ctx, at, (id, *join)),
            Ask::Sync(identity, assignments) => self.on_sync(ctx, id, identity, assignments),
            Ask::Heartbeat(identity) => self.on_member_heartbeat(ctx, id, identity),
            Ask::Leave(identity, why) => {
                let why = match why {
                    Leaving::Closed => MemberLoss::Left,
                    Leaving::PollInterval => MemberLoss::PollInterval,
                };
                self.answer_call(ctx, id, Answer::Nothing, GROUP_RESPONSE_BYTES);
                self.remove_member(ctx, at, identity, why);
            }
            Ask::Commit(identity, offsets) => self.on_commit(ctx, id, identity, &offsets),
            Ask::Committed(group, partitions) => self.on_committed(ctx, id, group, &partitions),
            _ => {}
        }
    }

    fn refuse(&mut self, ctx: &mut Context<'_>, id: CallId, error: ErrorCode) {
        self.answer_call(ctx, id, Answer::Error(error), GROUP_RESPONSE_BYTES);
    }

    /// A broker becomes a group's coordinator: sessions begin anew, and what waited elsewhere is
    /// sent back.
    fn load_group(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, index: GroupIndex) {
        let group = &mut self.groups[index.index()];
        if group.host.replace(at).is_none_or(|host| host == at) {
            return;
        }
        let mut waiting = Vec::new();
        for member in &mut group.members {
            member.last_seen = ctx.now;
            waiting.extend(member.joining.take());
            waiting.extend(member.syncing.take());
        }
        if group.state == GroupState::PreparingRebalance {
            group.turn += 1;
            let turn = group.turn;
            let deadline = ctx.now + group.rebalance_timeout();
            let event = Event::GroupRebalance { group: index, turn };
            ctx.queue.push(deadline, Rank::broker(at), event);
        }
        for id in waiting {
            self.refuse(ctx, id, ErrorCode::NotCoordinator);
        }
    }

    /// `JoinGroup`.
    fn on_join(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, (id, join): (CallId, Join)) {
        let index = join.group;
        let group = &mut self.groups[index.index()];
        if join.member == 0 {
            group.last_member += 1;
            group.pending.push(group.last_member);
            let answer = Answer::MemberIdRequired(group.last_member);
            return self.answer_call(ctx, id, answer, GROUP_RESPONSE_BYTES);
        }
        let member = join.member;
        if let Some(place) = group.pending.iter().position(|&known| known == member) {
            group.pending.remove(place);
            return self.add_member(ctx, at, (id, join));
        }
        let state = group.state;
        let is_leader = group.leader == Some(member);
        let Some(known) = group.member_mut(member) else {
            return self.refuse(ctx, id, ErrorCode::UnknownMemberId);
        };
        known.last_seen = ctx.now;
        let is_changed = known.join.owned != join.owned || known.join.topics != join.topics;
        known.join = join;
        let is_news = match state {
            GroupState::Stable => is_changed || is_leader,
            GroupState::CompletingRebalance => is_changed,
            GroupState::Empty | GroupState::PreparingRebalance => true,
        };
        if !is_news {
            let generation = self.generation_for(index, member);
            return self.answer_joined(ctx, id, generation);
        }
        let earlier = known.joining.replace(id);
        if let Some(earlier) = earlier {
            ctx.calls.take(earlier);
        }
        self.prepare_rebalance(ctx, at, index);
    }

    fn add_member(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, (id, join): (CallId, Join)) {
        let Some(consumer) = ctx.calls.get(id).map(|call| call.wire.consumer) else {
            return;
        };
        let (index, session) = (join.group, join.session);
        let group = &mut self.groups[index.index()];
        let member = join.member;
        group.members.push(Member {
            id: member,
            consumer,
            join,
            last_seen: ctx.now,
            joining: Some(id),
            syncing: None,
            assignment: Vec::new(),
        });
        if let FirstJoin::Waiting { came, .. } = &mut group.first_join {
            *came = Came::Somebody;
        }
        let event = Event::GroupSession {
            group: index,
            member,
        };
        ctx.queue.push(ctx.now + session, Rank::broker(at), event);
        self.prepare_rebalance(ctx, at, index);
    }

    /// Everybody has to join again; members notice by their heartbeats.
    fn prepare_rebalance(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, index: GroupIndex) {
        let initial_ms = self.brokers[at.index()]
            .settings
            .groups
            .initial_rebalance_delay_ms;
        let initial = SimSpan::from_millis(initial_ms);
        let group = &mut self.groups[index.index()];
        if group.state == GroupState::PreparingRebalance {
            return self.complete_if_all_joined(ctx, index);
        }
        let mut syncing = Vec::new();
        for member in &mut group.members {
            syncing.extend(member.syncing.take());
        }
        let timeout = group.rebalance_timeout();
        let delay = if group.state == GroupState::Empty && initial > SimSpan::ZERO {
            let delay = initial.min(timeout);
            let left = SimSpan::from_nanos(timeout.as_nanos() - delay.as_nanos());
            let came = Came::Nobody;
            group.first_join = FirstJoin::Waiting { left, came };
            delay
        } else {
            group.first_join = FirstJoin::No;
            timeout
        };
        group.state = GroupState::PreparingRebalance;
        group.turn += 1;
        let turn = group.turn;
        let members = group.members.len() as u32;
        let event = Event::GroupRebalance { group: index, turn };
        ctx.queue.push(ctx.now + delay, Rank::broker(at), event);
        let fact = Fact::GroupRebalancing {
            group: index,
            members,
        };
        ctx.fact(Rank::broker(at), fact);
        for id in syncing {
            self.refuse(ctx, id, ErrorCode::RebalanceInProgress);
        }
        self.complete_if_all_joined(ctx, index);
    }

    fn complete_if_all_joined(&mut self, ctx: &mut Context<'_>, index: GroupIndex) {
        let group = &self.groups[index.index()];
        let waits = group.first_join != FirstJoin::No;
        if group.state == GroupState::PreparingRebalance && !waits && group.is_complete() {
            self.complete_join(ctx, index);
        }
    }

    /// A rebalance has waited long enough: for more members of a new group, or for members that
    /// have not come back, which are removed.
    pub(super) fn on_group_rebalance(
        &mut self,
        ctx: &mut Context<'_>,
        index: GroupIndex,
        turn: u32,
    ) {
        let group = &self.groups[index.index()];
        if group.turn != turn || group.state != GroupState::PreparingRebalance {
            return;
        }
        let Some(at) = self.live_host(ctx.config, index) else {
            let event = Event::GroupRebalance { group: index, turn };
            return ctx
                .queue
                .push(ctx.now + UNCOORDINATED, Rank::CONTROLLER, event);
        };
        let initial_ms = self.brokers[at.index()]
            .settings
            .groups
            .initial_rebalance_delay_ms;
        let group = &mut self.groups[index.index()];
        if let FirstJoin::Waiting { left, came } = group.first_join {
            let delay = SimSpan::from_millis(initial_ms).min(left);
            if came == Came::Somebody && delay > SimSpan::ZERO {
                let left = SimSpan::from_nanos(left.as_nanos() - delay.as_nanos());
                let came = Came::Nobody;
                group.first_join = FirstJoin::Waiting { left, came };
                let event = Event::GroupRebalance { group: index, turn };
                ctx.queue.push(ctx.now + delay, Rank::broker(at), event);
                return;
            }
            group.first_join = FirstJoin::No;
        }
        let mut late = Vec::new();
        group.members.retain(|member| {
            if member.joining.is_none() {
                late.push(member.consumer);
            }
            member.joining.is_some()
        });
        for consumer in late {
            let why = MemberLoss::RebalanceTimeout;
            let fact = Fact::MemberLeft { consumer, why };
            ctx.fact(Rank::broker(at), fact);
        }
        self.complete_join(ctx, index);
    }

    /// A new generation begins with those who have joined.
    fn complete_join(&mut self, ctx: &mut Context<'_>, index: GroupIndex) {
        let group = &mut self.groups[index.index()];
        group.generation += 1;
        group.first_join = FirstJoin::No;
        if group.members.is_empty() {
            group.state = GroupState::Empty;
            (group.leader, group.assignor) = (None, None);
            let rank = group.host.map_or(Rank::CONTROLLER, Rank::broker);
            ctx.fact(rank, Fact::GroupEmpty { group: index });
            return;
        }
        group.assignor = Some(group.choose_assignor());
        let leader = group
            .leader
            .filter(|&leader| group.member(leader).is_some());
        group.leader = leader.or(group.members.first().map(|member| member.id));
        group.state = GroupState::CompletingRebalance;
        let mut joined = Vec::new();
        for member in &mut group.members {
            member.last_seen = ctx.now;
            if let Some(id) = member.joining.take() {
                joined.push((id, member.id));
            }
        }
        for (id, member) in joined {
            let generation = self.generation_for(index, member);
            self.answer_joined(ctx, id, generation);
        }
    }

    /// What a member learns of the present generation.
    fn generation_for(&self, index: GroupIndex, member: MemberId) -> Joined {
        let group = &self.groups[index.index()];
        let info = |member: &Member| MemberInfo {
            member: member.id,
            consumer: member.consumer,
            topics: member.join.topics.clone(),
            owned: member.join.owned.clone(),
        };
        let is_leader = group.leader == Some(member);
        let is_new = group.state == GroupState::CompletingRebalance;
        Joined {
            member,
            generation: group.generation,
            assignor: group.assignor.unwrap_or_else(|| group.choose_assignor()),
            members: if is_leader && is_new {
                group.members.iter().map(info).collect()
            } else {
                Vec::new()
            },
        }
    }

    fn answer_joined(&mut self, ctx: &mut Context<'_>, id: CallId, joined: Joined) {
        let bytes = GROUP_RESPONSE_BYTES + MEMBER_BYTES * joined.members.len() as u32;
        self.answer_call(ctx, id, Answer::Joined(Box::new(joined)), bytes);
    }

    /// `SyncGroup`.
    fn on_sync(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        identity: Identity,
        assignments: Vec<(MemberId, Vec<PartitionIndex>)>,
    ) {
        if let Some(error) = self.refusal(identity) {
            return self.refuse(ctx, id, error);
        }
        let group = &mut self.groups[identity.group.index()];
        let state = group.state;
        let is_leader = group.leader == Some(identity.member);
        let Some(member) = group.member_mut(identity.member) else {
            return;
        };
        member.last_seen = ctx.now;
        match state {
            GroupState::Empty | GroupState::PreparingRebalance => {
                self.refuse(ctx, id, ErrorCode::RebalanceInProgress);
            }
            GroupState::Stable => {
                let assignment = member.assignment.clone();
                self.answer_assigned(ctx, id, assignment);
            }
            GroupState::CompletingRebalance => {
                member.syncing = Some(id);
                if is_leader {
                    self.spread(ctx, identity.group, assignments);
                }
            }
        }
    }

    /// The leader has decided: everybody gets its part.
    fn spread(
        &mut self,
        ctx: &mut Context<'_>,
        index: GroupIndex,
        assignments: Vec<(MemberId, Vec<PartitionIndex>)>,
    ) {
        let group = &mut self.groups[index.index()];
        for member in &mut group.members {
            member.assignment.clear();
        }
        for (id, partitions) in assignments {
            if let Some(member) = group.member_mut(id) {
                member.assignment = partitions;
            }
        }
        group.state = GroupState::Stable;
        let fact = Fact::GroupStable {
            group: index,
            generation: group.generation,
            members: group.members.len() as u32,
            idle: group.idle(),
            assignor: group.assignor.unwrap_or_else(|| group.choose_assignor()),
        };
        let rank = group.host.map_or(Rank::CONTROLLER, Rank::broker);
        ctx.fact(rank, fact);
        let mut waiting = Vec::new();
        for member in &mut group.members {
            if let Some(id) = member.syncing.take() {
                waiting.push((id, member.assignment.clone()));
            }
        }
        for (id, assignment) in waiting {
            self.answer_assigned(ctx, id, assignment);
        }
    }

    fn answer_assigned(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        assignment: Vec<PartitionIndex>,
    ) {
        let bytes = GROUP_RESPONSE_BYTES + PARTITION_BYTES * assignment.len() as u32;
        self.answer_call(ctx, id, Answer::Assigned(assignment), bytes);
    }

    /// Why a member's word does not count: it is not known, or of another generation.
    fn refusal(&self, identity: Identity) -> Option<ErrorCode> {
        let group = &self.groups[identity.group.index()];
        if group.member(identity.member).is_none() {
            Some(ErrorCode::UnknownMemberId)
        } else if identity.generation != group.generation {
            Some(ErrorCode::IllegalGeneration)
        } else {
            None
        }
    }

    /// `Heartbeat`.
    fn on_member_heartbeat(&mut self, ctx: &mut Context<'_>, id: CallId, identity: Identity) {
        if let Some(error) = self.refusal(identity) {
            return self.refuse(ctx, id, error);
        }
        let group = &mut self.groups[identity.group.index()];
        if let Some(member) = group.member_mut(identity.member) {
            member.last_seen = ctx.now;
        }
        if group.state == GroupState::PreparingRebalance {
            return self.refuse(ctx, id, ErrorCode::RebalanceInProgress);
        }
        self.answer_call(ctx, id, Answer::Nothing, GROUP_RESPONSE_BYTES);
    }

    /// `OffsetCommit`.
    fn on_commit(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        identity: Identity,
        offsets: &[(PartitionIndex, u64)],
    ) {
        if let Some(error) = self.refusal(identity) {
            return self.refuse(ctx, id, error);
        }
        let group = &mut self.groups[identity.group.index()];
        if group.state == GroupState::CompletingRebalance {
            return self.refuse(ctx, id, ErrorCode::RebalanceInProgress);
        }
        if let Some(member) = group.member_mut(identity.member) {
            member.last_seen = ctx.now;
        }
        group.committed.extend(offsets.iter().copied());
        let bytes = GROUP_RESPONSE_BYTES + PARTITION_BYTES * offsets.len() as u32;
        self.answer_call(ctx, id, Answer::Nothing, bytes);
    }

    /// `OffsetFetch`.
    fn on_committed(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        group: GroupIndex,
        partitions: &[PartitionIndex],
    ) {
        let group = &self.groups[group.index()];
        let is_unstable = |partition: &PartitionIndex| {
            let mut pending = group.pending_offsets.values();
            pending.any(|pending| pending.offsets.iter().any(|(known, _)| known == partition))
        };
        let offsets = partitions
            .iter()
            .map(|partition| {
                // Kafka's consumers ask for stable offsets only (KIP-447).
                let offset = if is_unstable(partition) {
                    Err(ErrorCode::UnstableOffsetCommit)
                } else {
                    Ok(group.committed.get(partition).copied())
                };
                (*partition, offset)
            })
            .collect();
        let bytes = GROUP_RESPONSE_BYTES + PARTITION_BYTES * 2 * partitions.len() as u32;
        self.answer_call(ctx, id, Answer::Offsets(offsets), bytes);
    }

    /// A member has been silent for as long as its session lasts, or will be.
    pub(super) fn on_group_session(
        &mut self,
        ctx: &mut Context<'_>,
        index: GroupIndex,
        id: MemberId,
    ) {
        let host = self.live_host(ctx.config, index);
        let group = &self.groups[index.index()];
        let Some(member) = group.member(id) else {
            return;
        };
        let event = Event::GroupSession {
            group: index,
            member: id,
        };
        let Some(at) = host else {
            return ctx
                .queue
                .push(ctx.now + UNCOORDINATED, Rank::CONTROLLER, event);
        };
        let is_waiting = member.joining.is_some() || member.syncing.is_some();
        let session = member.join.session;
        let expires = member.last_seen + session;
        if is_waiting || expires > ctx.now {
            let next = if is_waiting {
                ctx.now + session
            } else {
                expires
            };
            return ctx.queue.push(next, Rank::broker(at), event);
        }
        let identity = Identity {
            group: index,
            member: id,
            generation: group.generation,
        };
        self.remove_member(ctx, at, identity, MemberLoss::SessionTimeout);
    }

    /// The broker that coordinates a group, if its process can do so.
    fn live_host(&self, config: &Config, index: GroupIndex) -> Option<BrokerIndex> {
        let host = self.coordinator_of(config, index)?;
        let is_loaded = self.groups[index.index()].host == Some(host);
        (is_loaded && self.brokers[host.index()].is_serving()).then_some(host)
    }

    fn remove_member(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        identity: Identity,
        why: MemberLoss,
    ) {
        let index = identity.group;
        let group = &mut self.groups[index.index()];
        let Some(place) = group.members.iter().position(|m| m.id == identity.member) else {
            return;
        };
        let member = group.members.remove(place);
        for id in member.joining.into_iter().chain(member.syncing) {
            ctx.calls.take(id);
        }
        let consumer = member.consumer;
        ctx.fact(Rank::broker(at), Fact::MemberLeft { consumer, why });
        if self.groups[index.index()].members.is_empty() {
            self.groups[index.index()].turn += 1;
            return self.complete_join(ctx, index);
        }
        self.prepare_rebalance(ctx, at, index);
    }

    /// A broker is gone, and with it all answers that it owed to members.
    pub(super) fn drop_group_calls(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        for group in &mut self.groups {
            for member in &mut group.members {
                for slot in [&mut member.joining, &mut member.syncing] {
                    let is_here = slot
                        .and_then(|id| ctx.calls.get(id))
                        .is_some_and(|call| call.wire.broker() == at);
                    if is_here && let Some(id) = slot.take() {
                        ctx.calls.take(id);
                    }
                }
            }
        }
    }
}
