//! The Java client's guess of how large a batch will be, while it takes records.
//!
//! Plain IEEE single precision, as in the client: addition, multiplication and comparison give the
//! same bits everywhere.

use std::num::NonZeroU32;

use crate::kafka::size::BATCH_OVERHEAD;

/// How much larger than by its ratio a batch is taken to be
/// (`MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR`).
const ESTIMATION_FACTOR: f32 = 1.05;
/// What one batch that compressed better lowers the ratio by at most
/// (`CompressionRatioEstimator.COMPRESSION_RATIO_IMPROVING_STEP`).
const IMPROVING_STEP: f32 = 0.005;
/// What one batch that compressed worse raises the ratio by at least
/// (`CompressionRatioEstimator.COMPRESSION_RATIO_DETERIORATE_STEP`).
const DETERIORATE_STEP: f32 = 0.05;

/// How the bytes of a batch that fills are estimated: exactly, or by a ratio that is the same from
/// its first record to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate(Option<NonZeroU32>);

impl Estimate {
    /// Without compression nothing needs to be estimated.
    pub const EXACT: Self = Self(None);

    /// By this ratio of compressed to uncompressed bytes, above 0.
    pub const fn by_ratio(ratio: f32) -> Self {
        Self(NonZeroU32::new(ratio.to_bits()))
    }

    /// What a batch with so many bytes, header included, will have.
    ///
    /// Source: `MemoryRecordsBuilder.estimatedBytesWritten`.
    #[inline]
    pub const fn written(self, bytes: u32) -> u32 {
        match self.0 {
            None => bytes,
            Some(bits) => {
                let records = bytes.saturating_sub(BATCH_OVERHEAD) as f32;
                let estimated = records * f32::from_bits(bits.get()) * ESTIMATION_FACTOR;
                BATCH_OVERHEAD.saturating_add(estimated as u32)
            }
        }
    }
}

/// How well batches of one topic compress, as the client has learnt it
/// (`CompressionRatioEstimator`, one for each topic and codec of a process).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate(f32);

impl RatioEstimate {
    /// Before the first batch: nothing shrinks.
    pub const INITIAL: Self = Self(1.0);

    /// The estimate for a batch that is opened now.
    pub const fn estimate(self) -> Estimate {
        Estimate::by_ratio(self.0)
    }

    /// Compressed by uncompressed bytes.
    pub const fn ratio(self) -> f32 {
        self.0
    }

    /// A batch was closed with this ratio (`CompressionRatioEstimator.updateEstimation`).
    pub fn learn(&mut self, observed: f32) {
        if observed > self.0 {
            self.0 = (self.0 + DETERIORATE_STEP).max(observed);
        } else if observed < self.0 {
            self.0 = (self.0 - IMPROVING_STEP).max(observed);
        }
    }

    /// A batch with this ratio was too large for its broker: the next ones are filled with care
    /// (`RecordAccumulator.splitAndReenqueue`).
    pub fn start_again(&mut self, ratio_of_split: f32) {
        self.0 = ratio_of_split.max(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_batch_is_taken_to_be_five_percent_larger_than_its_records() {
        let estimate = RatioEstimate::INITIAL.estimate();
        assert_eq!(estimate.written(61 + 1_000), 61 + 1_050);
        assert_eq!(Estimate::EXACT.written(1_061), 1_061);
    }

    #[test]
    fn an_estimate_falls_in_small_steps_and_rises_in_large_ones() {
        let mut ratio = RatioEstimate::INITIAL;
        ratio.learn(0.2);
        assert!((ratio.ratio() - 0.995).abs() < 1e-6);
        ratio.learn(0.996);
        assert!((ratio.ratio() - 1.045).abs() < 1e-6, "{ratio:?}");
        ratio.learn(1.5);
        assert!((ratio.ratio() - 1.5).abs() < 1e-6);
        ratio.learn(1.499);
        assert!((ratio.ratio() - 1.499).abs() < 1e-6);
    }

    #[test]
    fn a_split_starts_the_estimate_again() {
        let mut ratio = RatioEstimate(0.2);
        ratio.start_again(0.4);
        assert_eq!(ratio, RatioEstimate::INITIAL);
    }
}
