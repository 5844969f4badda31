//! librdkafka's statistics windows: a histogram of two significant digits that is emptied at every
//! emit.
//!
//! Invariants: a window without samples is all zeros; sums saturate; a value beyond the window's
//! range counts in minimum, maximum, sum and count, not in the histogram.
//!
//! Simplification: the range does not widen after an interval with values beyond it, as the
//! client's does: such values are kept at its upper end instead of being left out.
//!
//! Source: `rdavg.h`, `rdhdrhistogram.c`.

/// Values of one octave that are told apart: two significant digits.
const HALF: u64 = 128;
/// Buckets of the range 0 to 2^33 − 1.
const BUCKETS_MAX: usize = 27 * HALF as usize;

/// A window under way.
#[derive(Clone, Debug, Default)]
pub struct RdkafkaWindow {
    min: u64,
    max: u64,
    sum: u64,
    count: u64,
    /// By bucket, as far as there are samples.
    buckets: Vec<u32>,
}

/// What one emit says of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RdkafkaWindowFigures {
    /// The smallest value; 0 counts as none.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    /// The mean, truncated.
    pub avg: u64,
    /// The sum.
    pub sum: u64,
    /// How many values.
    pub cnt: u64,
    /// Their standard deviation.
    pub stddev: f64,
    /// Quantiles in hundredths of a percent: 50, 75, 90, 95, 99 and 99.99 %.
    pub quantiles: [u64; 6],
}

/// The quantiles of [`RdkafkaWindowFigures::quantiles`], in hundredths of a percent.
const QUANTILES: [u64; 6] = [5_000, 7_500, 9_000, 9_500, 9_900, 9_999];

impl RdkafkaWindow {
    /// Takes one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        if value > self.max {
            self.max = value;
        }
        // The client takes a minimum of 0 for none.
        if self.min == 0 || value < self.min {
            self.min = value;
        }
        self.sum = self.sum.saturating_add(value);
        self.count += 1;
        let bucket = bucket_of(value);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    /// What an emit would say now.
    pub fn figures(&self) -> RdkafkaWindowFigures {
        if self.count == 0 {
            return RdkafkaWindowFigures::default();
        }
        RdkafkaWindowFigures {
            min: self.min,
            max: self.max,
            avg: self.sum / self.count,
            sum: self.sum,
            cnt: self.count,
            stddev: self.stddev(),
            quantiles: QUANTILES.map(|quantile| self.quantile(quantile)),
        }
    }

    /// Starts anew.
    pub fn reset(&mut self) {
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.clear();
        *self = Self {
            buckets,
            ..Self::default()
        };
    }

    fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(bucket, &count)| (bucket as u64, u64::from(count)))
    }

    fn quantile(&self, hundredths: u64) -> u64 {
        let wanted = (self.count * hundredths + 5_000) / 10_000;
        let mut seen = 0;
        for (bucket, count) in self.filled() {
            seen += count;
            if seen >= wanted.max(1) {
                return largest_of(bucket);
            }
        }
        self.max
    }

    fn stddev(&self) -> f64 {
        let count = self.count as f64;
        let middle = |bucket| u64::midpoint(smallest_of(bucket), largest_of(bucket)) as f64;
        let sum: f64 = self.filled().map(|(b, n)| middle(b) * n as f64).sum();
        let mean = sum / count;
        let variance: f64 = self
            .filled()
            .map(|(b, n)| (middle(b) - mean) * (middle(b) - mean) * n as f64)
            .sum();
        libm::sqrt(variance / count)
    }
}

/// Exact below 256, then 128 buckets an octave.
fn bucket_of(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    let octave = u64::from(bits.saturating_sub(8));
    ((octave * HALF + (value >> octave)) as usize).min(BUCKETS_MAX - 1)
}

const fn octave_of(bucket: u64) -> u64 {
    (bucket / HALF).saturating_sub(1)
}

const fn smallest_of(bucket: u64) -> u64 {
    let octave = octave_of(bucket);
    (bucket - octave * HALF) << octave
}

const fn largest_of(bucket: u64) -> u64 {
    smallest_of(bucket) + (1 << octave_of(bucket)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_says_two_digits_of_every_quantile() {
        let mut window = RdkafkaWindow::default();
        for value in 1..=10_000 {
            window.add(value);
        }
        let figures = window.figures();
        assert_eq!((figures.min, figures.max, figures.avg), (1, 10_000, 5_000));
        for (quantile, exact) in figures.quantiles.iter().zip([5_000, 7_500, 9_000, 9_500]) {
            assert!(quantile.abs_diff(exact) * 100 <= exact, "{figures:?}");
        }
        assert!((figures.stddev - 2_887.0).abs() < 30.0, "{figures:?}");
    }

    #[test]
    fn after_an_emit_it_is_empty_and_all_zeros() {
        let mut window = RdkafkaWindow::default();
        window.add(7);
        window.reset();
        assert_eq!(window.figures(), RdkafkaWindowFigures::default());
    }

    #[test]
    fn the_minimum_takes_zero_for_none() {
        let mut window = RdkafkaWindow::default();
        window.add(0);
        window.add(9);
        assert_eq!(window.figures().min, 9);
    }

    #[test]
    fn every_value_lies_in_its_bucket() {
        for value in (0..20_000).chain([u64::from(u32::MAX), 1 << 32]) {
            let bucket = bucket_of(value) as u64;
            assert!(smallest_of(bucket) <= value && value <= largest_of(bucket));
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS_MAX - 1);
    }
}
