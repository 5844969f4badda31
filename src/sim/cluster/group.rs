//! One consumer group, as its coordinator keeps it.
//!
//! Source: `ClassicGroup`. What is here is in `__consumer_offsets` in Kafka, so it outlives its
//! coordinator; what waits for an answer does not.

use std::collections::BTreeMap;

use crate::kafka::settings::Assignor;
use crate::sim::cluster::Cluster;
use crate::sim::config::Config;
use crate::sim::consumer::{CallId, Consumer, Join, MemberId};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, TopicIndex};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{GroupMemberView, GroupPartitionView, GroupState, GroupView};

/// One group.
#[derive(Clone, Debug)]
pub struct Group {
    pub(super) state: GroupState,
    pub(super) generation: i32,
    /// In the order in which they came.
    pub(super) members: Vec<Member>,
    /// Names that were given to members which have not used them yet (KIP-394).
    pub(super) pending: Vec<MemberId>,
    pub(super) last_member: MemberId,
    pub(super) leader: Option<MemberId>,
    pub(super) assignor: Option<Assignor>,
    /// The next offset to read of each partition.
    pub(super) committed: BTreeMap<PartitionIndex, u64>,
    /// Offsets of open transactions, by producer id.
    pub(super) pending_offsets: BTreeMap<i64, PendingOffsets>,
    /// Which rebalance timer counts.
    pub(super) turn: u32,
    pub(super) first_join: FirstJoin,
    /// The broker that has the group loaded.
    pub(super) host: Option<BrokerIndex>,
}

/// Offsets that were committed in a transaction that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingOffsets {
    pub(super) epoch: i16,
    pub(super) offsets: Vec<(PartitionIndex, u64)>,
}

/// Whether a rebalance is the first of an empty group, which waits for more members
/// (`group.initial.rebalance.delay.ms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstJoin {
    No,
    /// How much longer it may wait, and whether somebody came since it last looked.
    Waiting {
        left: SimSpan,
        came: Came,
    },
}

/// Whether somebody came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Nobody,
    Somebody,
}

/// One member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: MemberId,
    pub(super) consumer: ConsumerIndex,
    /// What it said when it last joined.
    pub(super) join: Join,
    pub(super) last_seen: SimTime,
    /// Its `JoinGroup` that waits for the others.
    pub(super) joining: Option<CallId>,
    /// Its `SyncGroup` that waits for the leader.
    pub(super) syncing: Option<CallId>,
    pub(super) assignment: Vec<PartitionIndex>,
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            state: GroupState::Empty,
            generation: 0,
            members: Vec::new(),
            pending: Vec::new(),
            last_member: 0,
            leader: None,
            assignor: None,
            committed: BTreeMap::new(),
            pending_offsets: BTreeMap::new(),
            turn: 0,
            first_join: FirstJoin::No,
            host: None,
        }
    }

    pub(super) fn member_mut(&mut self, id: MemberId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.id == id)
    }

    pub(super) fn member(&self, id: MemberId) -> Option<&Member> {
        self.members.iter().find(|member| member.id == id)
    }

    /// Whether everybody has joined.
    pub(super) fn is_complete(&self) -> bool {
        self.members.iter().all(|member| member.joining.is_some())
    }

    /// The longest time that a member may take to come back to `poll()`.
    pub(super) fn rebalance_timeout(&self) -> SimSpan {
        let timeouts = self.members.iter().map(|member| member.join.rebalance);
        timeouts.max().unwrap_or(SimSpan::ZERO)
    }

    /// The assignor that everybody supports and most prefer; the first of the table when they
    /// agree on none, which Kafka refuses with `INCONSISTENT_GROUP_PROTOCOL`.
    pub(super) fn choose_assignor(&self) -> Assignor {
        let supported = |assignor: &Assignor| {
            let mut members = self.members.iter();
            members.all(|member| member.join.assignors.contains(assignor))
        };
        let votes = |assignor: &Assignor| {
            let favours = |member: &&Member| {
                let mut preferred = member.join.assignors.iter();
                preferred.find(|other| supported(other)) == Some(assignor)
            };
            self.members.iter().filter(favours).count()
        };
        let candidates = Assignor::ALL.into_iter().filter(supported);
        // Of equal votes the first wins.
        candidates
            .rev()
            .max_by_key(votes)
            .unwrap_or(Assignor::Range)
    }

    /// Members that are in the group and read nothing.
    pub(super) fn idle(&self) -> u32 {
        let is_idle = |member: &&Member| member.assignment.is_empty();
        self.members.iter().filter(is_idle).count() as u32
    }
}

impl Cluster {
    /// The members of a group, in the order in which they came.
    pub fn group_members(&self, index: GroupIndex, consumers: &[Consumer]) -> Vec<GroupMemberView> {
        let members = self.groups[index.index()].members.iter();
        members
            .map(|member| GroupMemberView {
                consumer: member.consumer,
                id: member.id,
                client_id: consumers[member.consumer.index()].client_id().to_owned(),
                assigned: member.assignment.clone(),
            })
            .collect()
    }

    /// A group as seen from outside, with the positions of its members.
    pub fn group_view(
        &self,
        config: &Config,
        index: GroupIndex,
        consumers: &[Consumer],
    ) -> GroupView {
        let group = &self.groups[index.index()];
        let mut places: BTreeMap<(TopicIndex, u32), PartitionIndex> = BTreeMap::new();
        let members = || {
            (0_u16..)
                .zip(&config.consumers)
                .filter(|(_, c)| c.group == index)
        };
        let image = self.controller.image();
        for (_, consumer) in members() {
            for &topic in &consumer.topics {
                for partition in image.partitions_of(topic) {
                    places.insert((topic, partition.name().number), partition);
                }
            }
        }
        for &partition in group.committed.keys() {
            let known = &self.partitions[partition.index()];
            places.insert((known.topic, known.number), partition);
        }
        let mut owners: BTreeMap<PartitionIndex, (ConsumerIndex, Option<u64>)> = BTreeMap::new();
        for (place, _) in members() {
            for assigned in consumers[usize::from(place)].assigned_views() {
                owners.insert(
                    assigned.partition,
                    (ConsumerIndex(place), assigned.position),
                );
            }
        }
        let view = |&partition: &PartitionIndex| {
            let owner = owners.get(&partition);
            GroupPartitionView {
                partition,
                owner: owner.map(|owner| owner.0),
                committed: group.committed.get(&partition).copied(),
                position: owner.and_then(|owner| owner.1),
                high_watermark: self.partitions[partition.index()].high_watermark,
            }
        };
        GroupView {
            index,
            state: group.state,
            generation: group.generation,
            coordinator: self.coordinator_of(config, index),
            assignor: group.assignor,
            members: group.members.len() as u32,
            idle: match group.state {
                GroupState::Stable => group.idle(),
                _ => 0,
            },
            partitions: places.values().map(view).collect(),
        }
    }
}
