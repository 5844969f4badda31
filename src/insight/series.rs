//! One figure over a whole run, in bounded memory.
//!
//! A series is a row of buckets of equal length. Each keeps the smallest, largest, last and summed
//! value of its samples and how many there were. When the row is full, neighbours merge pairwise
//! and every bucket stands for twice the time: the resolution halves, nothing is forgotten.
//!
//! Invariants:
//! - Count, sum, minimum and maximum over all buckets are those of all samples ever pushed.
//! - There are never more than `buckets_max` buckets.
//! - What is sealed is shared by clones, so that a snapshot of a run costs little.

use std::sync::Arc;

use crate::sim::time::{SimSpan, SimTime};

/// Buckets in one shared piece.
const CHUNK: usize = 32;
/// Fewest buckets that a series may be limited to.
pub const BUCKETS_MIN: usize = 16;

/// The samples of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Smallest sample; NaN when there is none.
    pub min: f64,
    /// Largest sample; NaN when there is none.
    pub max: f64,
    /// Sum of the samples.
    pub sum: f64,
    /// The last sample; NaN when there is none.
    pub last: f64,
    /// How many samples had a value.
    pub count: u64,
}

impl Bucket {
    /// No sample at all: a gap.
    pub const EMPTY: Self = Self {
        min: f64::NAN,
        max: f64::NAN,
        sum: 0.0,
        last: f64::NAN,
        count: 0,
    };

    /// Whether no sample in it had a value.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The mean of its samples, if there are any.
    pub fn mean(&self) -> Option<f64> {
        (0 < self.count).then(|| self.sum / self.count as f64)
    }

    /// Takes one more sample. A figure that is not a number counts as absent.
    pub fn push(&mut self, value: Option<f64>) {
        let Some(value) = value.filter(|value| !value.is_nan()) else {
            return;
        };
        self.append(&Self {
            min: value,
            max: value,
            sum: value,
            last: value,
            count: 1,
        });
    }

    /// Takes what came after it.
    pub fn append(&mut self, later: &Self) {
        if later.is_empty() {
            return;
        }
        // `f64::min` ignores a NaN on one side, which is what an empty bucket holds.
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.sum += later.sum;
        self.last = later.last;
        self.count += later.count;
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// One figure over time.
#[derive(Clone, Debug)]
pub struct Series {
    /// Full pieces of [`CHUNK`] buckets each, never changed again until buckets merge.
    sealed: Vec<Arc<[Bucket]>>,
    /// The buckets after them; the last one may still be filling.
    open: Vec<Bucket>,
    /// Samples that one bucket stands for.
    stride: u64,
    /// Sample number of the first bucket's first sample.
    first: u64,
    /// Number of the next sample.
    next: u64,
    /// Time between two samples.
    sample: SimSpan,
    /// Most buckets.
    buckets_max: usize,
    /// All samples together.
    total: Bucket,
}

impl Series {
    /// An empty series whose first sample will be the one at `start`. It keeps at most
    /// `buckets_max` buckets (at least [`BUCKETS_MIN`]).
    pub fn new(start: SimTime, sample: SimSpan, buckets_max: usize) -> Self {
        let sample = sample.max(SimSpan::from_nanos(1));
        let first = start.as_nanos() / sample.as_nanos();
        Self {
            sealed: Vec::new(),
            open: Vec::new(),
            stride: 1,
            first,
            next: first,
            sample,
            buckets_max: buckets_max.max(BUCKETS_MIN),
            total: Bucket::EMPTY,
        }
    }

    /// The sample of one more interval; `None` where the figure does not exist then.
    pub fn push(&mut self, value: Option<f64>) {
        self.total.push(value);
        if (self.next - self.first).is_multiple_of(self.stride) {
            if self.buckets_max <= self.len() {
                self.halve();
            }
            // After halving, the new sample may belong to the last bucket, which stays open.
            if (self.next - self.first).is_multiple_of(self.stride) {
                self.seal();
                self.open.push(Bucket::EMPTY);
            }
        }
        if let Some(last) = self.open.last_mut() {
            last.push(value);
        }
        self.next += 1;
    }

    /// Buckets kept.
    pub fn len(&self) -> usize {
        self.sealed.len() * CHUNK + self.open.len()
    }

    /// Whether no sample was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All samples together.
    pub fn total(&self) -> &Bucket {
        &self.total
    }

    /// The latest value of the last bucket, if it has one.
    pub fn last(&self) -> Option<f64> {
        self.buckets()
            .last()
            .filter(|bucket| !bucket.is_empty())
            .map(|bucket| bucket.last)
    }

    /// Simulated time that one bucket stands for.
    pub fn bucket_span(&self) -> SimSpan {
        self.sample.times(self.stride)
    }

    /// Moment of the first sample of bucket `index`.
    pub fn bucket_start(&self, index: usize) -> SimTime {
        let number = self
            .first
            .saturating_add((index as u64).saturating_mul(self.stride));
        SimTime::ZERO + self.sample.times(number)
    }

    /// The buckets in order of time.
    pub fn buckets(&self) -> impl DoubleEndedIterator<Item = &Bucket> {
        self.sealed
            .iter()
            .flat_map(|chunk| chunk.iter())
            .chain(self.open.iter())
    }

    /// The buckets with the moment of their first sample, in order of time.
    pub fn timed(&self) -> impl Iterator<Item = (SimTime, &Bucket)> {
        self.buckets()
            .enumerate()
            .map(|(index, bucket)| (self.bucket_start(index), bucket))
    }

    /// The time from `from` to `to` in `columns` columns of equal width, for drawing: each column
    /// holds the samples of the buckets that begin in it, or, where buckets are wider than
    /// columns, the bucket that covers it.
    pub fn columns(&self, from: SimTime, to: SimTime, columns: usize) -> Vec<Bucket> {
        let mut row = vec![Bucket::EMPTY; columns];
        let width = to.since(from).as_nanos();
        if columns == 0 || width == 0 {
            return row;
        }
        let span = self.bucket_span().as_nanos();
        let column_of = |at: u64| {
            let past = u128::from(at.saturating_sub(from.as_nanos()));
            (past * columns as u128 / u128::from(width)) as usize
        };
        let skipped = from.since(self.bucket_start(0)).as_nanos() / span.max(1);
        for (start, bucket) in self
            .timed()
            .skip(usize::try_from(skipped).unwrap_or(usize::MAX))
        {
            if to <= start {
                break;
            }
            let first = column_of(start.as_nanos());
            let end = start.as_nanos().saturating_add(span - 1);
            // A bucket that is narrower than a column belongs to the column it begins in.
            let last = if span <= width / columns as u64 {
                first
            } else {
                column_of(end)
            };
            for column in row.iter_mut().take(last.saturating_add(1)).skip(first) {
                column.append(bucket);
            }
        }
        row
    }

    /// Bytes that this series holds, shared ones included.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + (self.sealed.len() * CHUNK + self.open.capacity()) * size_of::<Bucket>()
    }

    /// Bytes that a clone of this series does not share with it.
    pub fn bytes_copied(&self) -> usize {
        let shared = self.sealed.len() * size_of::<Arc<[Bucket]>>();
        size_of::<Self>() + shared + self.open.len() * size_of::<Bucket>()
    }

    /// Turns a full open piece into a shared one.
    fn seal(&mut self) {
        if self.open.len() == CHUNK {
            self.sealed.push(self.open.drain(..).collect());
        }
    }

    /// Merges neighbours pairwise: half the buckets, each for twice the time.
    fn halve(&mut self) {
        let all: Vec<Bucket> = self.buckets().copied().collect();
        self.sealed.clear();
        self.open.clear();
        for pair in all.chunks(2) {
            let mut merged = pair[0];
            if let Some(later) = pair.get(1) {
                merged.append(later);
            }
            self.seal();
            self.open.push(merged);
        }
        self.stride = self.stride.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(buckets_max: usize, values: impl IntoIterator<Item = Option<f64>>) -> Series {
        let mut series = Series::new(SimTime::ZERO, SimSpan::from_millis(100), buckets_max);
        values.into_iter().for_each(|value| series.push(value));
        series
    }

    #[test]
    fn a_short_run_keeps_every_sample() {
        let series = series(16, (0..10).map(|n| Some(f64::from(n))));
        assert_eq!(series.len(), 10);
        assert_eq!(series.bucket_span(), SimSpan::from_millis(100));
        assert_eq!(series.bucket_start(9), SimTime::from_millis(900));
        assert_eq!(series.last(), Some(9.0));
    }

    #[test]
    fn a_full_row_merges_neighbours_and_covers_twice_the_time() {
        let series = series(16, (0..17).map(|n| Some(f64::from(n))));
        assert_eq!(series.len(), 9);
        assert_eq!(series.bucket_span(), SimSpan::from_millis(200));
        let first = series.buckets().next().copied().unwrap();
        assert_eq!(
            first,
            Bucket {
                min: 0.0,
                max: 1.0,
                sum: 1.0,
                last: 1.0,
                count: 2
            }
        );
    }

    #[test]
    fn an_absent_figure_leaves_a_gap_and_no_value() {
        let series = series(16, [Some(1.0), None, Some(f64::NAN)]);
        assert_eq!(series.total().count, 1);
        assert_eq!(series.last(), None);
        assert!(series.buckets().nth(1).unwrap().is_empty());
    }

    #[test]
    fn a_series_that_begins_late_knows_its_place_in_time() {
        let mut series = Series::new(SimTime::from_seconds(5), SimSpan::from_millis(100), 16);
        series.push(Some(1.0));
        let columns = series.columns(SimTime::ZERO, SimTime::from_seconds(10), 10);
        let filled: Vec<usize> = (0..10)
            .filter(|&column| !columns[column].is_empty())
            .collect();
        assert_eq!(filled, [5]);
    }

    #[test]
    fn a_bucket_wider_than_a_column_fills_all_columns_that_it_covers() {
        let series = series(16, (0..64).map(|_| Some(2.0)));
        let columns = series.columns(SimTime::ZERO, SimTime::from_millis(6_400), 64);
        assert!(
            columns
                .iter()
                .all(|column| column.max.to_bits() == 2.0_f64.to_bits())
        );
    }

    #[test]
    fn a_clone_shares_what_is_sealed() {
        let one = series(1_024, (0..200).map(|n| Some(f64::from(n))));
        let two = one.clone();
        assert!(
            one.sealed
                .iter()
                .zip(&two.sealed)
                .all(|(a, b)| Arc::ptr_eq(a, b))
        );
        assert_eq!(one.sealed.len(), 6);
    }

    proptest! {
        #[test]
        fn nothing_is_forgotten_however_long_the_run(
            values in prop::collection::vec(prop::option::of(-1_000i32..1_000), 0..3_000),
            buckets_max in 1usize..200,
        ) {
            let series = series(buckets_max, values.iter().map(|v| v.map(f64::from)));
            let known: Vec<f64> = values.iter().flatten().map(|&v| f64::from(v)).collect();
            prop_assert!(series.len() <= buckets_max.max(BUCKETS_MIN));
            let mut all = Bucket::EMPTY;
            series.buckets().for_each(|bucket| all.append(bucket));
            prop_assert_eq!(all.count, known.len() as u64);
            // Sums of whole numbers are exact in any order.
            prop_assert!((all.sum - known.iter().sum::<f64>()).abs() < 1e-9);
            let smallest = known.iter().copied().fold(f64::NAN, f64::min);
            prop_assert!(all.min.total_cmp(&smallest).is_eq() || known.is_empty());
            prop_assert_eq!(all.count, series.total().count);
        }

        #[test]
        fn wide_columns_hold_every_sample_once(
            values in prop::collection::vec(0u8..100, 1..500),
            columns in 1usize..20,
        ) {
            let series = series(64, values.iter().map(|&v| Some(f64::from(v))));
            let end = SimTime::ZERO + SimSpan::from_millis(100).times(10_000);
            let drawn = series.columns(SimTime::ZERO, end, columns);
            let count: u64 = drawn.iter().map(|column| column.count).sum();
            prop_assert_eq!(count, values.len() as u64);
        }

        #[test]
        fn any_window_can_be_drawn(
            from in 0u64..u64::MAX,
            width in 0u64..u64::MAX,
            columns in 0usize..50,
        ) {
            let series = series(16, (0..100).map(|n| Some(f64::from(n))));
            let from = SimTime::from_nanos(from);
            let drawn = series.columns(from, from + SimSpan::from_nanos(width), columns);
            prop_assert_eq!(drawn.len(), columns);
        }
    }
}
