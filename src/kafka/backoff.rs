//! How long a client waits before it tries again.
//!
//! Invariants: the wait is a function of the attempt and of one uniform draw; it never exceeds
//! the maximum, and at most one draw is needed for an evaluation.
//!
//! Simplification: the real client draws its jitter anew at every look at a waiting batch, which
//! favours short waits. Who calls this once for each attempt gets the published distribution.

use super::version::KafkaVersion;

/// The relative width of the jitter, to either side.
const JITTER: f64 = 0.2;
/// How many values a draw can have.
const DRAWS: f64 = 4_294_967_296.0;

/// A doubling wait with jitter and an upper bound.
///
/// Source: `ExponentialBackoff` (multiplier 2, jitter 0.2), KIP-580; pairs of configuration are
/// `retry.backoff.ms`/`.max.ms`, `reconnect.backoff.ms`/`.max.ms` and
/// `socket.connection.setup.timeout.ms`/`.max.ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExponentialBackoff {
    /// The wait before the first retry, in ms, without jitter.
    pub initial_ms: u64,
    /// The longest wait, in ms. From `initial_ms ≥ max_ms` on, the wait is constantly this.
    pub max_ms: u64,
}

impl ExponentialBackoff {
    /// A wait that starts at `initial_ms` and doubles up to `max_ms`.
    pub const fn new(initial_ms: u64, max_ms: u64) -> Self {
        Self { initial_ms, max_ms }
    }

    /// The same wait for ever, without jitter.
    pub const fn constant(wait_ms: u64) -> Self {
        Self {
            initial_ms: wait_ms,
            max_ms: wait_ms,
        }
    }

    /// The retry and metadata backoff of a client: exponential since 3.7 (KIP-580), before that
    /// constantly `retry.backoff.ms`.
    pub fn for_retries(version: KafkaVersion, backoff_ms: u64, max_ms: u64) -> Self {
        if version.at_least(3, 7) {
            Self::new(backoff_ms, max_ms)
        } else {
            Self::constant(backoff_ms)
        }
    }

    /// Whether the wait never varies, so that no draw is needed.
    pub const fn is_constant(&self) -> bool {
        self.initial_ms >= self.max_ms
    }

    /// The wait in ms after `attempts` earlier failures, for one uniform draw over all of `u32`.
    ///
    /// `min(floor(U · initial · 2^min(attempts, E)), max)` with U in [0.8, 1.2) and
    /// `E = log2(max / max(initial, 1))`.
    pub fn backoff_ms(&self, attempts: u32, unit_draw: u32) -> u64 {
        if self.is_constant() {
            return self.max_ms;
        }
        let base_ms = self.initial_ms.max(1) as f64;
        // The quotient of two natural logarithms is what the client computes; it errs upwards
        // for the defaults, so that the cap is reached exactly, where log2 would stay below it.
        let exponent_max = libm::log(self.max_ms as f64 / base_ms) / libm::log(2.0);
        let exponent = f64::from(attempts).min(exponent_max);
        let term_ms = self.initial_ms as f64 * libm::pow(2.0, exponent);
        let jitter = 1.0 - JITTER + 2.0 * JITTER * (f64::from(unit_draw) / DRAWS);
        ((term_ms * jitter) as u64).min(self.max_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_ms(backoff: ExponentialBackoff, attempts: u32) -> (u64, u64) {
        (
            backoff.backoff_ms(attempts, 0),
            backoff.backoff_ms(attempts, u32::MAX),
        )
    }

    #[test]
    fn retries_double_from_a_tenth_of_a_second_to_one_second() {
        let retry = ExponentialBackoff::new(100, 1000);
        assert_eq!(range_ms(retry, 0), (80, 119));
        assert_eq!(range_ms(retry, 1), (160, 239));
        assert_eq!(range_ms(retry, 2), (320, 479));
        assert_eq!(range_ms(retry, 3), (640, 959));
        assert_eq!(range_ms(retry, 4), (800, 1000));
        assert_eq!(range_ms(retry, u32::MAX), (800, 1000));
    }

    #[test]
    fn reconnects_start_at_half_of_that() {
        let reconnect = ExponentialBackoff::new(50, 1000);
        assert_eq!(range_ms(reconnect, 0), (40, 59));
        assert_eq!(range_ms(reconnect, 4), (640, 959));
        assert_eq!(range_ms(reconnect, 5), (800, 1000));
    }

    #[test]
    fn an_initial_wait_at_or_above_the_maximum_is_the_maximum_without_jitter() {
        assert_eq!(
            range_ms(ExponentialBackoff::new(5000, 1000), 3),
            (1000, 1000)
        );
        assert_eq!(range_ms(ExponentialBackoff::new(50, 50), 0), (50, 50));
    }

    #[test]
    fn before_kip_580_the_retry_backoff_was_constant() {
        let old = ExponentialBackoff::for_retries(KafkaVersion::new(3, 6, 2), 100, 1000);
        let new = ExponentialBackoff::for_retries(KafkaVersion::new(3, 7, 0), 100, 1000);
        assert_eq!(range_ms(old, 4), (100, 100));
        assert_eq!(range_ms(new, 4), (800, 1000));
    }

    #[test]
    fn extreme_settings_neither_panic_nor_exceed_the_maximum() {
        assert_eq!(range_ms(ExponentialBackoff::new(0, 1000), 9), (0, 0));
        assert!(ExponentialBackoff::new(1, u64::MAX).backoff_ms(u32::MAX, u32::MAX) > 1 << 62);
    }
}
