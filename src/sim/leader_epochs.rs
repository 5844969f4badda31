//! Which leader epoch began at which offset: how a follower finds out where its log left the
//! leader's.
//!
//! Source: `LeaderEpochFileCache`.

/// An epoch and the offset of its first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochStart {
    /// Leader epoch.
    pub epoch: u32,
    /// Offset of its first record.
    pub start_offset: u64,
}

/// An epoch and the offset after its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// Leader epoch.
    pub epoch: u32,
    /// Offset after its last record.
    pub end_offset: u64,
}

/// The epochs of one log, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderEpochs(Vec<EpochStart>);

impl LeaderEpochs {
    /// A log whose first epoch begins at its first offset.
    pub fn new(start_offset: u64) -> Self {
        let epoch = 0;
        Self(vec![EpochStart {
            epoch,
            start_offset,
        }])
    }

    /// A leader takes office: its epoch begins here. Epochs that got no record are forgotten.
    pub fn begin(&mut self, epoch: u32, start_offset: u64) {
        self.0
            .retain(|start| start.start_offset < start_offset && start.epoch < epoch);
        self.0.push(EpochStart {
            epoch,
            start_offset,
        });
    }

    /// The log ends before this offset now; gives the epochs that began there or later.
    pub fn truncate(&mut self, end_offset: u64) -> Vec<EpochStart> {
        let kept = self
            .0
            .partition_point(|start| start.start_offset < end_offset);
        self.0.split_off(kept)
    }

    /// Goes on with the epochs of another log.
    pub fn extend(&mut self, starts: impl IntoIterator<Item = EpochStart>) {
        self.0.extend(starts);
    }

    /// Those that have a record before `end_offset`.
    pub fn before(&self, end_offset: u64) -> impl Iterator<Item = EpochStart> + '_ {
        let kept = self
            .0
            .partition_point(|start| start.start_offset < end_offset);
        self.0[..kept].iter().copied()
    }

    /// The latest epoch.
    pub fn latest(&self) -> Option<EpochStart> {
        self.0.last().copied()
    }

    /// The largest epoch up to this one, and where it ends in a log that ends at `log_end`; of an
    /// epoch before all of them, where the first begins.
    pub fn end_of(&self, epoch: u32, log_end: u64) -> Option<EpochEnd> {
        let after = self.0.partition_point(|start| start.epoch <= epoch);
        let end_offset = self.0.get(after).map_or(log_end, |next| next.start_offset);
        match after.checked_sub(1) {
            Some(place) => Some(EpochEnd {
                epoch: self.0[place].epoch,
                end_offset,
            }),
            None if self.0.is_empty() => None,
            None => Some(EpochEnd { epoch, end_offset }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs() -> LeaderEpochs {
        let mut epochs = LeaderEpochs::new(0);
        epochs.begin(2, 100);
        epochs.begin(5, 130);
        epochs
    }

    #[test]
    fn an_epoch_ends_where_the_next_one_begins() {
        let end = |epoch| {
            epochs()
                .end_of(epoch, 150)
                .map(|end| (end.epoch, end.end_offset))
        };
        assert_eq!(end(0), Some((0, 100)));
        assert_eq!(end(4), Some((2, 130)));
        assert_eq!(end(9), Some((5, 150)));
    }

    #[test]
    fn an_epoch_without_records_leaves_no_trace() {
        let mut epochs = epochs();
        epochs.begin(6, 130);
        assert_eq!(epochs.latest().map(|latest| latest.epoch), Some(6));
        assert_eq!(epochs.before(200).count(), 3);
    }

    #[test]
    fn a_cut_log_forgets_the_epochs_that_began_behind_the_cut() {
        let mut epochs = epochs();
        assert_eq!(epochs.truncate(130).len(), 1);
        assert_eq!(epochs.latest().map(|latest| latest.epoch), Some(2));
    }
}
