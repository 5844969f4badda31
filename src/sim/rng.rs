//! One seed, many named streams: a stream per (purpose, entity), so that a draw added in one place
//! changes no other.
//!
//! A stream is PCG-64-MCG (specified output, cheap in the load loop), seeded by ChaCha8 of the
//! run's seed under the stream's own number. Floats come from integers by exact scaling, and
//! transcendental functions from `libm`, so every platform draws the same.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_pcg::Pcg64Mcg;

/// What a stream decides. The numbers are part of the reproducible behaviour: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Purpose {
    /// Which key a load's thread sends.
    Key = 1,
    /// How large its value is.
    Value = 2,
    /// When the next record arrives (Poisson).
    Arrival = 3,
    /// Which sticky partition comes next.
    Sticky = 4,
    /// Jitter of a client's retry backoff.
    RetryBackoff = 5,
    /// Jitter of a client's reconnect backoff and connection setup timeout.
    Reconnect = 6,
    /// Where `leastLoadedNode` starts to look.
    LeastLoadedNode = 7,
    /// Jitter and loss towards the second end of a link.
    LinkForth = 8,
    /// Jitter and loss towards the first end of a link.
    LinkBack = 9,
    /// On which brokers new partitions are placed.
    Placement = 40,
    /// Jitter of a consumer's backoffs, and which broker it asks.
    Consumer = 41,
    /// Which keys stand in the batches that a codec is measured on.
    SampleKey = 42,
    /// How long a controller without a leader waits before it asks for votes.
    ControllerElection = 43,
}

/// One stream of draws.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream for `purpose` at entity (`major`, `minor`) of a run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, major: u32, minor: u16) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream((purpose as u64) << 48 | u64::from(major) << 16 | u64::from(minor));
        Self(Pcg64Mcg::from_rng(&mut source))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 uniform bits.
    #[inline]
    pub fn bits32(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// A uniform whole number below `bound` (0 when `bound` is 0), by multiplication; its bias is
    /// below `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Exponentially distributed with mean `mean_ns`, in nanoseconds.
    pub fn exponential_ns(&mut self, mean_ns: f64) -> u64 {
        // In (0, 1]: the logarithm is finite.
        let unit = ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (-libm::log(unit) * mean_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_draw_the_same() {
        let mut first = Stream::new(7, Purpose::Key, 3, 0);
        let mut second = Stream::new(7, Purpose::Key, 3, 0);
        assert_eq!(first.bits(), second.bits());
    }

    #[test]
    fn another_purpose_entity_or_seed_draws_something_else() {
        let draw = |seed, purpose, major, minor| Stream::new(seed, purpose, major, minor).bits();
        let base = draw(7, Purpose::Key, 3, 0);
        assert_ne!(base, draw(8, Purpose::Key, 3, 0));
        assert_ne!(base, draw(7, Purpose::Value, 3, 0));
        assert_ne!(base, draw(7, Purpose::Key, 4, 0));
        assert_ne!(base, draw(7, Purpose::Key, 3, 1));
    }

    #[test]
    fn a_bounded_draw_stays_below_its_bound() {
        let mut stream = Stream::new(1, Purpose::Sticky, 0, 0);
        assert!((0..1000).all(|_| stream.below(12) < 12));
        assert_eq!(stream.below(0), 0);
    }

    #[test]
    fn exponential_draws_have_the_asked_mean() {
        let mut stream = Stream::new(1, Purpose::Arrival, 0, 0);
        let sum: u64 = (0..100_000).map(|_| stream.exponential_ns(1000.0)).sum();
        let mean = sum as f64 / 100_000.0;
        assert!((mean - 1000.0).abs() < 15.0, "{mean}");
    }
}
