//! What must hold of consumer groups once everything is cured.

use super::Broken;
use super::check::{Invariant, because};
use super::drive::Observed;
use super::transactions;
use crate::kafka::settings::{IsolationLevel, OffsetReset};
use crate::sim::ids::{GroupIndex, PartitionIndex};
use crate::sim::view::{GroupPartitionView, PartitionView};

/// A group was given every record, and has committed to the end.
pub(super) fn unfinished(run: &Observed, group: GroupIndex) -> Option<Broken> {
    let config = run.simulation.config();
    let members: Vec<_> = config
        .consumers
        .iter()
        .filter(|c| c.group == group)
        .collect();
    let reads_all = members
        .iter()
        .all(|member| member.settings.offset_reset == OffsetReset::Earliest);
    let isolation = members.first()?.settings.fetch.isolation;
    if !reads_all
        || members
            .iter()
            .any(|m| m.settings.fetch.isolation != isolation)
    {
        return None;
    }
    let name = &config.groups[group.index()].name;
    let reads =
        |partition: &PartitionView| members.iter().any(|m| m.topics.contains(&partition.topic));
    for partition in run.simulation.partition_views().iter().filter(|p| reads(p)) {
        if let Some(text) = unread(run, group, (partition.index, isolation)) {
            return Some(because(
                Invariant::EverythingRead,
                format!("{name}: {text}"),
            ));
        }
    }
    let view = run.simulation.group(group);
    let end = |partition: &GroupPartitionView| match isolation {
        IsolationLevel::ReadUncommitted => partition.high_watermark,
        IsolationLevel::ReadCommitted => {
            run.simulation
                .partition(partition.partition)
                .last_stable_offset
        }
    };
    let mut behind = view.partitions.iter();
    let behind = behind.find(|partition| {
        let read = partition.committed.or(partition.position);
        end(partition) > 0 && read.is_none_or(|read| read < end(partition))
    })?;
    let text = format!(
        "{name}: {} is read up to {:?} of {}",
        run.simulation.partition_name(behind.partition),
        behind.committed.or(behind.position),
        end(behind),
    );
    Some(because(Invariant::GroupsDone, text))
}

fn unread(
    run: &Observed,
    group: GroupIndex,
    (partition, isolation): (PartitionIndex, IsolationLevel),
) -> Option<String> {
    let watch = run.watch.partition(partition);
    let view = run.simulation.partition(partition);
    if watch.is_truncated || view.log_start_offset != watch.start_offset {
        return None;
    }
    let (from, to) = (view.log_start_offset, view.high_watermark);
    let given = &watch.given[group.index()];
    let offsets = transactions::visible(&run.simulation, partition, isolation);
    let is_given = |offset: &&u64| given.count_within(**offset, **offset + 1) == 1;
    let (all, all_given) = (
        given.count_within(from, to),
        offsets.iter().filter(is_given).count(),
    );
    (all != offsets.len() as u64 || all_given != offsets.len()).then(|| {
        format!(
            "was given {all_given} of {} records of {}, and {all} in all",
            offsets.len(),
            run.simulation.partition_name(partition)
        )
    })
}
