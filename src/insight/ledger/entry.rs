//! The records of one producer in one partition.

use super::cause::{DuplicateCause, Identity, Retries};
use super::tally::Tally;
use crate::insight::interval::{CountMap, IntervalSet};
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;

/// Intervals that one entry keeps apart at most, over all its sets.
pub const RUNS_MAX: usize = 2_048;

/// Whether an acknowledgement means that a log holds the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// `acks=1` or `all`: a leader had it.
    ByLeader,
    /// `acks=0`: it left the client.
    ByNobody,
}

/// The records of one producer in one partition.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) producer: ProducerIndex,
    pub(super) partition: PartitionIndex,
    confirmation: Confirmation,
    acknowledged: IntervalSet,
    failed: IntervalSet,
    abandoned: IntervalSet,
    /// How often each ordinal stands in the log.
    present: CountMap,
    /// By cause: copies beyond the first.
    again: [CountMap; DuplicateCause::COUNT],
    /// What the client sent again.
    pub(super) retries: Retries,
    /// Records here that stand in a log as other records too, since the application sent them
    /// again.
    pub(super) resent: u64,
    /// Records that were appended after a later one.
    reordered: u64,
    /// Ordinals below this one are only counted, in `settled`.
    floor: u64,
    settled: Tally,
    /// The last count.
    tally: Tally,
}

impl Entry {
    pub(super) fn new(
        producer: ProducerIndex,
        partition: PartitionIndex,
        confirmation: Confirmation,
    ) -> Self {
        Self {
            producer,
            partition,
            confirmation,
            acknowledged: IntervalSet::default(),
            failed: IntervalSet::default(),
            abandoned: IntervalSet::default(),
            present: CountMap::default(),
            again: std::array::from_fn(|_| CountMap::default()),
            retries: Retries::default(),
            resent: 0,
            reordered: 0,
            floor: 0,
            settled: Tally::default(),
            tally: Tally::default(),
        }
    }

    /// The last count.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(super) fn append(&mut self, first: u64, records: u64) {
        let (start, end, _) = self.above_floor(first, records);
        self.put(start, end);
    }

    fn put(&mut self, start: u64, end: u64) {
        if end < self.present.end_positive() {
            // A later record already stands in the log. Those that stand there themselves are
            // duplicates, the others come out of order.
            self.reordered += (end - start) - self.present.count_positive_within(start, end);
        }
        self.present.add(start, end, 1);
    }

    /// Records are appended at `at`, of which the log may hold some already.
    pub(super) fn append_again(
        &mut self,
        (first, records): (u64, u64),
        at: SimTime,
        identity: &Identity,
    ) {
        let (start, end, _) = self.above_floor(first, records);
        for (from, to, _) in self.present.positive_within(start, end) {
            let cause = self.retries.cause(from, at, identity);
            self.again[cause.index()].add(from, to, 1);
        }
        self.put(start, end);
    }

    /// Whether a log holds a record that is not settled.
    pub(super) fn is_present(&self, ordinal: u64) -> bool {
        self.present.number_of(ordinal) > 0
    }

    /// Whether nothing can be said any more of a single record.
    pub(super) fn is_settled(&self, ordinal: u64) -> bool {
        ordinal < self.floor
    }

    /// How often each record stands in the log, from the first that is not settled on.
    pub(super) fn present(&self) -> (&CountMap, u64) {
        (&self.present, self.floor)
    }

    /// The end of what stands in the log.
    pub(super) fn log_end(&self) -> u64 {
        self.present.end_positive()
    }

    pub(super) fn truncate(&mut self, first: u64, records: u64) {
        let (start, end, _) = self.above_floor(first, records);
        for (from, to, copies) in self.present.positive_within(start, end) {
            if copies > 1 {
                self.forget_copy(from, to);
            }
        }
        self.present.add(start, end, -1);
    }

    /// One copy of some records is gone, and with it one of its causes.
    fn forget_copy(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let next = self.again.iter().enumerate().find_map(|(cause, copies)| {
                let runs = copies.positive_within(at, end);
                let run = runs.first().filter(|run| run.0 == at)?;
                Some((cause, run.1))
            });
            match next {
                Some((cause, to)) => {
                    self.again[cause].add(at, to, -1);
                    at = to;
                }
                None => at += 1,
            }
        }
    }

    pub(super) fn acknowledge(&mut self, first: u64, records: u64) {
        let (start, end, late) = self.above_floor(first, records);
        self.acknowledged.insert(start, end);
        self.settled.acknowledged_present += late;
    }

    pub(super) fn fail(&mut self, first: u64, records: u64) {
        let (start, end, late) = self.above_floor(first, records);
        self.failed.insert(start, end);
        self.settled.failed_absent += late;
    }

    pub(super) fn abandon(&mut self, first: u64, records: u64) {
        let (start, end, late) = self.above_floor(first, records);
        self.abandoned.insert(start, end);
        self.settled.abandoned_absent += late;
    }

    /// Counts everything anew, and settles the older half when there is too much to keep apart.
    pub(super) fn recount(&mut self) {
        if RUNS_MAX < self.runs() {
            self.settle();
        }
        self.tally = self.settled;
        self.tally.add(&self.counted(self.floor, u64::MAX));
        self.tally.reordered += self.reordered;
        self.tally.duplicated += self.resent;
        self.tally.duplicated_by[DuplicateCause::Application.index()] += self.resent;
    }

    /// The part of some records that is not settled, and how many of them are.
    fn above_floor(&mut self, first: u64, records: u64) -> (u64, u64, u64) {
        let end = first.saturating_add(records);
        let late = end.min(self.floor).saturating_sub(first);
        self.settled.late += late;
        (first.max(self.floor), end.max(self.floor), late)
    }

    fn runs(&self) -> usize {
        self.acknowledged.intervals().len()
            + self.failed.intervals().len()
            + self.abandoned.intervals().len()
            + self.present.runs().len()
            + self
                .again
                .iter()
                .map(|copies| copies.runs().len())
                .sum::<usize>()
    }

    /// Turns the older half into numbers.
    fn settle(&mut self) {
        let sets = [&self.acknowledged, &self.failed, &self.abandoned];
        let starts = sets.map(|set| set.intervals().iter().map(|interval| interval.0).collect());
        let of_present: Vec<u64> = self.present.runs().iter().map(|run| run.0).collect();
        let longest = starts.into_iter().chain([of_present]).max_by_key(Vec::len);
        let longest = longest.unwrap_or_default();
        let floor = longest
            .get(longest.len() / 2)
            .copied()
            .unwrap_or(self.floor);
        let older = self.counted(self.floor, floor);
        self.settled.add(&older);
        self.floor = floor;
        self.acknowledged.cut_below(floor);
        self.failed.cut_below(floor);
        self.abandoned.cut_below(floor);
        self.present.cut_below(floor);
        for copies in &mut self.again {
            copies.cut_below(floor);
        }
    }

    /// What became of the ordinals `start..end`, which must not be settled.
    fn counted(&self, start: u64, end: u64) -> Tally {
        let split = |set: &IntervalSet| {
            let mut present = 0;
            let mut all = 0;
            for &(from, to) in set.intervals() {
                let (from, to) = (from.max(start), to.min(end));
                if from < to {
                    all += to - from;
                    present += self.present.count_positive_within(from, to);
                }
            }
            (present, all - present)
        };
        let (acknowledged_present, missing) = split(&self.acknowledged);
        let (failed_present, failed_absent) = split(&self.failed);
        let (abandoned_present, abandoned_absent) = split(&self.abandoned);
        let unconfirmed = match self.confirmation {
            Confirmation::ByLeader => 0,
            Confirmation::ByNobody => {
                let reached = self.present.end_positive().max(start);
                self.acknowledged.count_within(reached, end)
            }
        };
        Tally {
            acknowledged_present,
            acknowledged_lost: missing - unconfirmed,
            unconfirmed,
            failed_present,
            failed_absent,
            abandoned_present,
            abandoned_absent,
            duplicated: self.present.surplus_within(start, end),
            duplicated_by: self
                .again
                .each_ref()
                .map(|copies| copies.sum_within(start, end)),
            ..Tally::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry::new(
            ProducerIndex(0),
            PartitionIndex::of_first_topic(0),
            Confirmation::ByLeader,
        )
    }

    fn counted(mut entry: Entry) -> Tally {
        entry.recount();
        *entry.tally()
    }

    #[test]
    fn a_record_that_was_acknowledged_and_truncated_is_lost() {
        let mut entry = entry();
        entry.append(0, 100);
        entry.acknowledge(0, 100);
        entry.truncate(90, 10);
        let tally = counted(entry);
        assert_eq!(
            (tally.acknowledged_present, tally.acknowledged_lost),
            (90, 10)
        );
    }

    #[test]
    fn a_failed_record_may_still_stand_in_the_log() {
        let mut entry = entry();
        entry.append(0, 10);
        entry.fail(0, 20);
        let tally = counted(entry);
        assert_eq!((tally.failed_present, tally.failed_absent), (10, 10));
    }

    #[test]
    fn a_retry_behind_a_later_batch_is_reordered_and_not_duplicated() {
        let mut entry = entry();
        entry.append(15, 15);
        entry.append(0, 15);
        let tally = counted(entry);
        assert_eq!((tally.reordered, tally.duplicated), (15, 0));
    }

    #[test]
    fn a_retry_of_what_the_log_has_is_duplicated_and_not_reordered() {
        let mut entry = entry();
        entry.append(0, 15);
        entry.append(15, 15);
        entry.append(0, 15);
        let tally = counted(entry);
        assert_eq!((tally.reordered, tally.duplicated), (0, 15));
    }

    #[test]
    fn records_sent_again_after_a_lost_tail_are_neither() {
        let mut entry = entry();
        entry.append(0, 100);
        entry.truncate(50, 50);
        entry.append(50, 10);
        entry.append(60, 40);
        let tally = counted(entry);
        assert_eq!((tally.reordered, tally.duplicated), (0, 0));
    }

    #[test]
    fn without_acks_a_record_on_the_wire_is_not_lost_yet() {
        let mut entry = Entry::new(
            ProducerIndex(0),
            PartitionIndex::of_first_topic(0),
            Confirmation::ByNobody,
        );
        entry.acknowledge(0, 40);
        entry.append(0, 10);
        entry.append(20, 10);
        let tally = counted(entry);
        assert_eq!(tally.acknowledged_present, 20);
        assert_eq!((tally.acknowledged_lost, tally.unconfirmed), (10, 10));
    }

    #[test]
    fn a_shredded_partition_stays_small_and_still_adds_up() {
        let mut entry = entry();
        for batch in 0..20_000u64 {
            if batch % 2 == 0 {
                entry.append(batch * 10, 10);
                entry.acknowledge(batch * 10, 10);
            } else {
                entry.fail(batch * 10, 10);
            }
            entry.recount();
            assert!(entry.runs() <= RUNS_MAX + 2);
        }
        let tally = counted(entry);
        assert_eq!(tally.acknowledged_present, 100_000);
        assert_eq!(tally.failed_absent, 100_000);
        assert_eq!((tally.late, tally.acknowledged_lost), (0, 0));
    }
}
