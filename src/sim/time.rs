//! Virtual time: nanoseconds since the start of the run, in two newtypes that cannot be mixed up.
//!
//! Arithmetic saturates: a run that reaches the end of `u64` nanoseconds (584 years) stays there,
//! so absurd numbers in a scenario cannot overflow the engine.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds in one millisecond, the tick of every Kafka client's clock.
pub const NANOS_PER_MILLI: u64 = 1_000_000;
/// Nanoseconds in one second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A moment of simulated time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A length of simulated time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimSpan(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The moment `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// The moment `seconds` seconds after the start.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// What a client's millisecond clock shows: whole milliseconds since the start.
    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MILLI
    }

    /// Seconds since the start, for display and reports.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The time from `earlier` to this moment, zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> SimSpan {
        SimSpan(self.0.saturating_sub(earlier.0))
    }
}

impl SimSpan {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const FOREVER: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// A span of `seconds` seconds.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// Nanoseconds in this span.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds in this span.
    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MILLI
    }

    /// Seconds in this span, for display and reports.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// This span `times` over.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Add<SimSpan> for SimTime {
    type Output = Self;
    fn add(self, span: SimSpan) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<SimSpan> for SimTime {
    fn add_assign(&mut self, span: SimSpan) {
        *self = *self + span;
    }
}

impl Sub<SimSpan> for SimTime {
    type Output = Self;
    fn sub(self, span: SimSpan) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for SimSpan {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for SimSpan {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Display for SimTime {
    /// Seconds with millisecond digits, as in `61.250s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SimSpan(self.0).fmt(f)
    }
}

impl fmt::Display for SimSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.as_millis();
        write!(f, "{}.{:03}s", millis / 1000, millis % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_clock_shows_whole_milliseconds() {
        assert_eq!(SimTime::from_nanos(7_999_999).as_millis(), 7);
    }

    #[test]
    fn absurd_times_saturate_instead_of_overflowing() {
        assert_eq!(SimTime::NEVER + SimSpan::FOREVER, SimTime::NEVER);
        assert_eq!(SimTime::ZERO.since(SimTime::NEVER), SimSpan::ZERO);
    }

    #[test]
    fn a_moment_reads_in_seconds_and_milliseconds() {
        assert_eq!(SimTime::from_millis(61_250).to_string(), "61.250s");
    }
}
