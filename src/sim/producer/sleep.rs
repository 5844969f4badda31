//! The sender thread's sleep between two looks: until something happens, or `poll` times out.
//!
//! Source: `NetworkClient.poll`, `Selector.select`. The timeout is whole milliseconds of the
//! client's clock, counted from the moment at which the sleep begins: a thread that looks at
//! 12.7 ms and has to do something at 17 ms sleeps for 5 ms, to 17.7 ms.
//!
//! Long sleeps end late. The kernel allows itself a thousandth of a timeout (`epoll_wait(2)` with
//! its timer slack), which no clock of milliseconds sees below about a second. It matters: the
//! client looks for requests that are *older* than `request.timeout.ms` at the end of a sleep of
//! that length. Twelve of twelve recorded clients found them then; one whose sleeps ended in time
//! would find them a whole sleep later.

use crate::sim::time::{SimSpan, SimTime};

/// Sleeps from this length on end [`LATE`].
const LONG_SLEEP_MS: u64 = 500;
/// By how much long sleeps end late: a millisecond, what a client with a timeout of a second sees.
const LATE: SimSpan = SimSpan::from_millis(1);

/// When the sender looks again.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    wakes_at: SimTime,
    /// What ends the sleep whatever the clock says.
    event_at: SimTime,
    /// What the clock has to read.
    until_ms: u64,
}

impl Sleep {
    /// No sleep at all: there is something to do at `now`.
    pub const fn none(now: SimTime) -> Self {
        Self {
            wakes_at: now,
            event_at: now,
            until_ms: u64::MAX,
        }
    }

    /// A sleep that nothing ends yet.
    pub const fn for_good() -> Self {
        Self::none(SimTime::NEVER)
    }

    /// When it ends, as far as is known.
    #[inline]
    pub const fn wakes_at(&self) -> SimTime {
        self.wakes_at
    }

    /// Ends at this moment, if not before.
    pub fn wake_by(&mut self, at: SimTime) {
        self.event_at = self.event_at.min(at);
        self.wakes_at = self.wakes_at.min(at);
    }

    /// Ends when the client's clock reads this, if not before. Counts from [`Sleep::begin`] on.
    pub fn wake_by_ms(&mut self, clock_ms: u64) {
        self.until_ms = self.until_ms.min(clock_ms);
    }

    /// Whether the clock's moment has come at `now`, though the sleep may not be over.
    pub const fn is_due(&self, now: SimTime) -> bool {
        self.until_ms <= now.as_millis()
    }

    /// Whether it would last until the client's clock reads this, were there no event.
    pub const fn would_reach(&self, clock_ms: u64) -> bool {
        clock_ms < self.until_ms
    }

    /// Whether nothing but the clock ends it, after `now` and when it reads less than `before_ms`.
    pub fn is_by_clock(&self, now: SimTime, before_ms: u64) -> bool {
        self.event_at == SimTime::NEVER
            && self.wakes_at > now
            && !self.is_due(now)
            && self.until_ms < before_ms
    }

    /// The sender has looked and goes to sleep at `now`.
    pub fn begin(&mut self, now: SimTime) {
        let timeout_ms = self.until_ms.saturating_sub(now.as_millis());
        let mut ends_at = now + SimSpan::from_millis(timeout_ms);
        if timeout_ms >= LONG_SLEEP_MS {
            ends_at += LATE;
        }
        self.wakes_at = self.event_at.min(ends_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_whole_milliseconds_from_where_the_sleep_began() {
        let mut sleep = Sleep::for_good();
        sleep.wake_by_ms(17);
        sleep.begin(SimTime::from_nanos(12_700_000));
        assert_eq!(sleep.wakes_at(), SimTime::from_nanos(17_700_000));
        // A look in between counts anew: 4 ms from 13.1 ms on.
        sleep.begin(SimTime::from_nanos(13_100_000));
        assert_eq!(sleep.wakes_at(), SimTime::from_nanos(17_100_000));
    }

    #[test]
    fn a_long_one_ends_late() {
        let mut sleep = Sleep::for_good();
        sleep.wake_by_ms(1_012);
        sleep.begin(SimTime::from_nanos(12_700_000));
        assert_eq!(sleep.wakes_at(), SimTime::from_nanos(1_013_700_000));
    }

    #[test]
    fn an_event_ends_it_before_and_a_past_deadline_at_once() {
        let mut sleep = Sleep::for_good();
        sleep.wake_by_ms(17);
        sleep.wake_by(SimTime::from_nanos(15_000_001));
        sleep.begin(SimTime::from_millis(12));
        assert_eq!(sleep.wakes_at(), SimTime::from_nanos(15_000_001));
        sleep.begin(SimTime::from_millis(20));
        assert_eq!(sleep.wakes_at(), SimTime::from_nanos(15_000_001));
        assert!(sleep.is_due(SimTime::from_millis(17)));
    }

    #[test]
    fn without_anything_to_come_it_has_no_end() {
        let mut sleep = Sleep::for_good();
        sleep.begin(SimTime::from_millis(12));
        assert_eq!(sleep.wakes_at(), SimTime::NEVER);
    }
}
