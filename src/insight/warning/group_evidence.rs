//! What diagnoses remember of the last seconds, per consumer group.

use std::collections::VecDeque;

use super::evidence::SECONDS;
use crate::sim::view::{GroupPartitionView, GroupState, GroupView};

/// What is remembered of one group.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupEvidence {
    /// At each of the last checkups, oldest first; [`SECONDS`] + 1 at most.
    seconds: VecDeque<Reads>,
    /// Checkups in a row at which it had members and no stable generation.
    pub(super) unstable_seconds: u64,
}

/// How far a group was at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// Records written and not yet given to an application.
    pub(super) unread: u64,
    /// High watermarks of all its partitions together.
    pub(super) written: u64,
}

impl GroupEvidence {
    /// One checkup.
    pub(super) fn note(&mut self, view: &GroupView) {
        let left = |partition: &GroupPartitionView| partition.unread().or(partition.lag());
        let reads = Reads {
            unread: view.partitions.iter().filter_map(left).sum(),
            written: view.partitions.iter().map(|p| p.high_watermark).sum(),
        };
        if self.seconds.len() > SECONDS {
            self.seconds.pop_front();
        }
        self.seconds.push_back(reads);
        let is_unstable = view.members > 0 && view.state != GroupState::Stable;
        self.unstable_seconds = if is_unstable {
            self.unstable_seconds + 1
        } else {
            0
        };
    }

    /// How far it was so many seconds ago, and is now; nothing while less is known.
    pub(super) fn over(&self, seconds: usize) -> Option<(Reads, Reads)> {
        let last = self.seconds.len().checked_sub(1)?;
        let first = last.checked_sub(seconds)?;
        Some((self.seconds[first], self.seconds[last]))
    }

    /// Whether more was left unread at each of the last so many seconds.
    pub(super) fn grew_every_second(&self, seconds: usize) -> bool {
        let first = self.seconds.len().saturating_sub(seconds + 1);
        let latest: Vec<u64> = self
            .seconds
            .range(first..)
            .map(|reads| reads.unread)
            .collect();
        latest.windows(2).all(|two| two[0] < two[1])
    }
}
