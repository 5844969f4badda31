//! What `kafka-consumer-groups.sh` and `kafka-get-offsets.sh` ask for.

use crate::sim::ids::{GroupIndex, TopicIndex, TopicPartition};

/// Which partitions of a group an action is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupScope {
    /// `--all-topics`: every partition that the group has an offset of.
    AllTopics,
    /// `--topic T`, any number.
    Topics(Vec<TopicIndex>),
    /// `--topic T:0,1`.
    Partitions(Vec<TopicPartition>),
}

/// `--reset-offsets`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResetOffsets {
    /// Whose.
    pub group: GroupIndex,
    /// Of which partitions.
    pub scope: GroupScope,
    /// Where to.
    pub to: ResetTo,
}

/// Where offsets are set to; never outside of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResetTo {
    /// `--to-earliest`: the first offset kept.
    Earliest,
    /// `--to-latest`: the high watermark.
    Latest,
    /// `--to-current`: what is committed, or the high watermark.
    Current,
    /// `--shift-by`: so far from what is committed.
    ShiftBy(i64),
    /// `--to-offset`.
    Offset(u64),
}

/// What `kafka-consumer-groups.sh` shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupsInquiry {
    /// `--list`.
    List,
    /// `--describe`; of all groups where none is named.
    Describe(Option<GroupIndex>, GroupDetail),
    /// `--reset-offsets` without `--execute`.
    PlanReset(ResetOffsets, DryRun),
}

/// What of a group is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupDetail {
    /// `--offsets`, or nothing.
    Offsets,
    /// `--members`.
    Members,
    /// `--members --verbose`.
    MembersVerbose,
    /// `--state`.
    State,
}

/// Whether somebody said that nothing shall be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DryRun {
    /// `--dry-run`.
    Asked,
    /// `--execute` is missing.
    Assumed,
}

/// What `kafka-get-offsets.sh` shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffsetsInquiry {
    /// Of which partitions; all where there are none.
    pub partitions: Vec<TopicPartition>,
    /// `--time`.
    pub time: OffsetTime,
}

/// Which offset of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetTime {
    /// `earliest` or -2: the first offset kept.
    Earliest,
    /// `latest` or -1: the high watermark.
    Latest,
}

/// Which partitions `kafka-topics.sh --describe` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopicFilter {
    /// `--topics-with-overrides`: topics with settings of their own, without their partitions.
    WithOverrides,
    /// `--under-replicated-partitions`.
    UnderReplicated,
    /// `--unavailable-partitions`.
    Unavailable,
    /// `--under-min-isr-partitions`.
    UnderMinIsr,
    /// `--at-min-isr-partitions`.
    AtMinIsr,
}
