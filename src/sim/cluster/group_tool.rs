//! What `kafka-consumer-groups.sh` does to groups (`ConsumerGroupCommand`).
//!
//! Simplification: the tool's requests take no time.

use std::borrow::Cow;

use crate::sim::cluster::Cluster;
use crate::sim::cluster::group::Group;
use crate::sim::command::{GroupScope, ResetOffsets, ResetTo};
use crate::sim::config::Config;
use crate::sim::ids::{GroupIndex, PartitionIndex};
use crate::sim::view::GroupState;

/// Why the tool does not do what it is asked for.
type Refusal = Cow<'static, str>;

impl Cluster {
    /// Whether a group's coordinator knows it: it has, or had, members, or offsets.
    pub fn is_group_known(&self, index: GroupIndex) -> bool {
        let group = &self.groups[index.index()];
        group.generation > 0 || !group.members.is_empty() || !group.committed.is_empty()
    }

    /// Offsets that a reset would write, in the order of topics and numbers.
    pub fn plan_reset(
        &self,
        config: &Config,
        reset: &ResetOffsets,
    ) -> Result<Vec<(PartitionIndex, u64)>, Refusal> {
        let name = &config.groups[reset.group.index()].name;
        let group = &self.groups[reset.group.index()];
        if group.state != GroupState::Empty {
            return Err(format!(
                "Assignments can only be reset if the group '{name}' is inactive, but the current \
                 state is {}.",
                group.state.name()
            )
            .into());
        }
        let partitions = self.in_scope(group, &reset.scope);
        let planned = partitions.into_iter().map(|partition| {
            let offset = self.offset_after(group, partition, reset.to)?;
            Ok((partition, offset))
        });
        planned.collect()
    }

    /// `--reset-offsets --execute`.
    pub(in crate::sim) fn reset_offsets(
        &mut self,
        config: &Config,
        reset: &ResetOffsets,
    ) -> Result<(), Refusal> {
        let planned = self.plan_reset(config, reset)?;
        self.groups[reset.group.index()].committed.extend(planned);
        Ok(())
    }

    /// Why offsets cannot be deleted now.
    pub fn check_delete_offsets(&self, index: GroupIndex) -> Result<(), Refusal> {
        match self.groups[index.index()].state {
            GroupState::Empty => Ok(()),
            _ => Err(
                "Deletion of offsets is forbidden while the consumer group is actively \
                      subscribed to the topic."
                    .into(),
            ),
        }
    }

    /// `--delete-offsets`.
    pub(in crate::sim) fn delete_offsets(
        &mut self,
        index: GroupIndex,
        scope: &GroupScope,
    ) -> Result<(), Refusal> {
        self.check_delete_offsets(index)?;
        let partitions = self.in_scope(&self.groups[index.index()], scope);
        let committed = &mut self.groups[index.index()].committed;
        committed.retain(|partition, _| !partitions.contains(partition));
        Ok(())
    }

    /// Why a group cannot be deleted now.
    pub fn check_delete_group(&self, index: GroupIndex) -> Result<(), Refusal> {
        if !self.is_group_known(index) {
            return Err("The group id does not exist.".into());
        }
        match self.groups[index.index()].state {
            GroupState::Empty => Ok(()),
            _ => Err("The group is not empty.".into()),
        }
    }

    /// `--delete`.
    pub(in crate::sim) fn delete_group(&mut self, index: GroupIndex) -> Result<(), Refusal> {
        self.check_delete_group(index)?;
        let group = &mut self.groups[index.index()];
        // A member that comes later must not get the name of one that is gone.
        let last_member = group.last_member;
        *group = Group::new();
        group.last_member = last_member;
        Ok(())
    }

    /// The partitions that an action is about, in the order of topics and numbers.
    pub fn partitions_in_scope(
        &self,
        index: GroupIndex,
        scope: &GroupScope,
    ) -> Vec<PartitionIndex> {
        self.in_scope(&self.groups[index.index()], scope)
    }

    fn in_scope(&self, group: &Group, scope: &GroupScope) -> Vec<PartitionIndex> {
        let mut partitions: Vec<PartitionIndex> = match scope {
            GroupScope::AllTopics => group.committed.keys().copied().collect(),
            GroupScope::Topics(topics) => self
                .indices()
                .filter(|partition| topics.contains(&partition.name().topic))
                .collect(),
            GroupScope::Partitions(names) => {
                names.iter().filter_map(|name| self.find(*name)).collect()
            }
        };
        partitions.sort_by_key(|partition| partition.name());
        partitions
    }

    fn offset_after(
        &self,
        group: &Group,
        partition: PartitionIndex,
        to: ResetTo,
    ) -> Result<u64, Refusal> {
        let known = self.partition(partition);
        let (earliest, latest) = (known.log.start_offset(), known.high_watermark);
        let committed = group.committed.get(&partition).copied();
        let wanted = match to {
            ResetTo::Earliest => earliest,
            ResetTo::Latest => latest,
            ResetTo::Current => committed.unwrap_or(latest),
            ResetTo::Offset(offset) => offset,
            ResetTo::ShiftBy(by) => match committed {
                Some(committed) => committed.saturating_add_signed(by),
                None => {
                    return Err(
                        "Cannot shift offset for partition without a committed offset".into(),
                    );
                }
            },
        };
        Ok(wanted.clamp(earliest, latest.max(earliest)))
    }
}
