//! Sets and counts of ordinals as intervals: a healthy run of any length is one interval.
//!
//! Invariants: intervals are sorted, disjoint and not empty; neighbours that could be one are one.

/// A set of ordinals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalSet {
    /// `(start, end)`, end excluded.
    intervals: Vec<(u64, u64)>,
}

impl IntervalSet {
    /// Adds `start..end`.
    pub fn insert(&mut self, start: u64, end: u64) {
        if end <= start {
            return;
        }
        // The usual case: the next batch of a healthy partition.
        if let Some(last) = self.intervals.last_mut()
            && last.0 <= start
        {
            if last.1 < start {
                self.intervals.push((start, end));
            } else {
                last.1 = last.1.max(end);
            }
            return;
        }
        let first = self
            .intervals
            .partition_point(|interval| interval.1 < start);
        let after = self.intervals.partition_point(|interval| interval.0 <= end);
        let joined = self.intervals[first..after]
            .iter()
            .fold((start, end), |all, next| {
                (all.0.min(next.0), all.1.max(next.1))
            });
        self.intervals.splice(first..after, [joined]);
    }

    /// Removes everything below `floor`.
    pub fn cut_below(&mut self, floor: u64) {
        let gone = self
            .intervals
            .partition_point(|interval| interval.1 <= floor);
        self.intervals.drain(..gone);
        if let Some(first) = self.intervals.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// Ordinals of `start..end` that are in the set.
    pub fn count_within(&self, start: u64, end: u64) -> u64 {
        let first = self
            .intervals
            .partition_point(|interval| interval.1 <= start);
        self.intervals[first..]
            .iter()
            .take_while(|interval| interval.0 < end)
            .map(|interval| interval.1.min(end) - interval.0.max(start))
            .sum()
    }

    /// The intervals `(start, end)`, end excluded, in order.
    pub fn intervals(&self) -> &[(u64, u64)] {
        &self.intervals
    }
}

/// A whole number for every ordinal, 0 almost everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountMap {
    /// `(start, end, number)`, end excluded, number never 0.
    runs: Vec<(u64, u64, i32)>,
}

impl CountMap {
    /// Adds `change` to every ordinal of `start..end`.
    pub fn add(&mut self, start: u64, end: u64, change: i32) {
        if end <= start || change == 0 {
            return;
        }
        // The usual case: the next batch of a healthy partition.
        match self.runs.last_mut() {
            Some(last) if start < last.1 => {}
            Some(last) if last.1 == start && last.2 == change => {
                last.1 = end;
                return;
            }
            _ => {
                self.runs.push((start, end, change));
                return;
            }
        }
        let first = self.runs.partition_point(|run| run.1 < start);
        let after = self.runs.partition_point(|run| run.0 <= end);
        let replaced = changed(&self.runs[first..after], (start, end), change);
        self.runs.splice(first..after, replaced);
    }

    /// Removes everything below `floor`.
    pub fn cut_below(&mut self, floor: u64) {
        let gone = self.runs.partition_point(|run| run.1 <= floor);
        self.runs.drain(..gone);
        if let Some(first) = self.runs.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// Ordinals of `start..end` whose number is above 0.
    pub fn count_positive_within(&self, start: u64, end: u64) -> u64 {
        let first = self.runs.partition_point(|run| run.1 <= start);
        self.runs[first..]
            .iter()
            .take_while(|run| run.0 < end)
            .filter(|run| 0 < run.2)
            .map(|run| run.1.min(end) - run.0.max(start))
            .sum()
    }

    /// The runs within `start..end` whose number is above 0, cut to it.
    pub fn positive_within(&self, start: u64, end: u64) -> Vec<(u64, u64, i32)> {
        let first = self.runs.partition_point(|run| run.1 <= start);
        self.runs[first..]
            .iter()
            .take_while(|run| run.0 < end)
            .filter(|run| 0 < run.2)
            .map(|run| (run.0.max(start), run.1.min(end), run.2))
            .collect()
    }

    /// The sum of all numbers above 0 in `start..end`.
    pub fn sum_within(&self, start: u64, end: u64) -> u64 {
        let runs = self.positive_within(start, end);
        let sums = runs
            .iter()
            .map(|run| (run.1 - run.0) * u64::from(run.2.unsigned_abs()));
        sums.sum()
    }

    /// The number of one ordinal.
    pub fn number_of(&self, ordinal: u64) -> i32 {
        let place = self.runs.partition_point(|run| run.1 <= ordinal);
        let run = self.runs.get(place).filter(|run| run.0 <= ordinal);
        run.map_or(0, |run| run.2)
    }

    /// The end of the last run whose number is above 0, or 0.
    pub fn end_positive(&self) -> u64 {
        self.runs
            .iter()
            .rev()
            .find(|run| 0 < run.2)
            .map_or(0, |run| run.1)
    }

    /// How often ordinals of `start..end` stand beyond the first time.
    pub fn surplus_within(&self, start: u64, end: u64) -> u64 {
        let first = self.runs.partition_point(|run| run.1 <= start);
        self.runs[first..]
            .iter()
            .take_while(|run| run.0 < end)
            .filter(|run| 1 < run.2)
            .map(|run| (run.1.min(end) - run.0.max(start)) * u64::from(run.2.unsigned_abs() - 1))
            .sum()
    }

    /// The runs `(start, end, number)`, end excluded, in order.
    pub fn runs(&self) -> &[(u64, u64, i32)] {
        &self.runs
    }
}

/// The runs `old` (all that touch `change_at`) with `change` added inside `change_at`.
fn changed(old: &[(u64, u64, i32)], change_at: (u64, u64), change: i32) -> Vec<(u64, u64, i32)> {
    let mut edges: Vec<u64> = vec![change_at.0, change_at.1];
    edges.extend(old.iter().flat_map(|run| [run.0, run.1]));
    edges.sort_unstable();
    edges.dedup();
    let mut new: Vec<(u64, u64, i32)> = Vec::with_capacity(edges.len());
    for pair in edges.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let before = old
            .iter()
            .find(|run| run.0 <= start && end <= run.1)
            .map_or(0, |run| run.2);
        let inside = change_at.0 <= start && end <= change_at.1;
        let number = before.saturating_add(if inside { change } else { 0 });
        match new.last_mut() {
            _ if number == 0 => {}
            Some(last) if last.1 == start && last.2 == number => last.1 = end,
            _ => new.push((start, end, number)),
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_healthy_run_of_any_length_is_one_interval() {
        let mut set = IntervalSet::default();
        let mut counts = CountMap::default();
        for batch in 0..100_000u64 {
            set.insert(batch * 15, batch * 15 + 15);
            counts.add(batch * 15, batch * 15 + 15, 1);
        }
        assert_eq!(set.intervals(), [(0, 1_500_000)]);
        assert_eq!(counts.runs(), [(0, 1_500_000, 1)]);
    }

    #[test]
    fn a_batch_that_comes_late_closes_the_gap() {
        let mut set = IntervalSet::default();
        set.insert(0, 10);
        set.insert(20, 30);
        set.insert(10, 20);
        assert_eq!(set.intervals(), [(0, 30)]);
    }

    #[test]
    fn a_truncated_batch_that_comes_again_is_there_once() {
        let mut counts = CountMap::default();
        counts.add(0, 100, 1);
        counts.add(60, 100, -1);
        counts.add(60, 100, 1);
        assert_eq!(counts.runs(), [(0, 100, 1)]);
        assert_eq!(counts.surplus_within(0, u64::MAX), 0);
    }

    proptest! {
        #[test]
        fn an_interval_set_is_the_set_of_its_members(
            changes in prop::collection::vec((0u64..60, 0u64..20), 0..40),
            floor in 0u64..80,
        ) {
            let mut set = IntervalSet::default();
            let mut model = BTreeSet::new();
            for &(start, length) in &changes {
                set.insert(start, start + length);
                model.extend(start..start + length);
            }
            set.cut_below(floor);
            model.retain(|&ordinal| floor <= ordinal);
            prop_assert_eq!(set.count_within(0, u64::MAX), model.len() as u64);
            prop_assert_eq!(set.count_within(10, 30), model.range(10..30).count() as u64);
            prop_assert!(set.intervals().windows(2).all(|pair| pair[0].1 < pair[1].0));
        }

        #[test]
        fn counts_add_up_in_any_order(
            changes in prop::collection::vec((0u64..60, 0u64..20, -1i32..3), 0..40),
        ) {
            let mut forwards = CountMap::default();
            let mut backwards = CountMap::default();
            let mut model: BTreeMap<u64, i32> = BTreeMap::new();
            for &(start, length, change) in &changes {
                forwards.add(start, start + length, change);
                (start..start + length).for_each(|n| *model.entry(n).or_default() += change);
            }
            for &(start, length, change) in changes.iter().rev() {
                backwards.add(start, start + length, change);
            }
            prop_assert_eq!(&forwards, &backwards);
            let positive = model.values().filter(|&&number| 0 < number).count() as u64;
            prop_assert_eq!(forwards.count_positive_within(0, 100), positive);
            let surplus: i64 = model.values().map(|&n| i64::from((n - 1).max(0))).sum();
            prop_assert_eq!(forwards.surplus_within(0, u64::MAX), surplus as u64);
            let sum: i64 = model.range(10..40).map(|(_, &n)| i64::from(n.max(0))).sum();
            prop_assert_eq!(forwards.sum_within(10, 40), sum as u64);
            for ordinal in 0..80 {
                let number = model.get(&ordinal).copied().unwrap_or(0);
                prop_assert_eq!(forwards.number_of(ordinal), number);
            }
        }
    }
}
