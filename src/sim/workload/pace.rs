//! The time between two records of one thread.
//!
//! Intervals are kept with 32 fractional bits of a nanosecond, so that 6,000 records/s stay 6,000
//! over hours. A ramp is climbed in steps of 10 ms.

use crate::sim::config::{RATE_MAX, Rate, RateStep};
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// A ramp's rate is looked at anew this often.
const RAMP_STEP: SimSpan = SimSpan::from_millis(10);
/// Millionths in one.
const MICRO: u64 = 1_000_000;

/// The pace of a load, as it is at present.
#[derive(Clone, Debug)]
pub struct Pace {
    rate: Rate,
    threads: u64,
    /// Rate factor of a throttle, in parts per million.
    pub factor_ppm: u32,
}

/// An interval that holds up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds, with 32 fractional bits; `u64::MAX` nanoseconds when nothing is sent.
    pub interval: u128,
    /// When the interval changes.
    pub until: SimTime,
}

impl Pace {
    /// The pace of each of `threads` threads that share a rate.
    pub fn new(rate: &Rate, threads: u32) -> Self {
        Self {
            rate: rate.clone(),
            threads: u64::from(threads.max(1)),
            factor_ppm: 1_000_000,
        }
    }

    /// Another rate from `now` on.
    pub fn set(&mut self, micro_records_per_second: u64, now: SimTime) {
        self.rate = Rate::Steps(vec![RateStep {
            from: now,
            micro_records_per_second,
            ramp: SimSpan::ZERO,
        }]);
    }

    /// Millionths of records per second that all threads together try at `now`.
    pub fn micro_rate(&self, now: SimTime) -> u64 {
        let base = match &self.rate {
            Rate::Max => RATE_MAX * MICRO,
            Rate::Steps(steps) => rate_of(steps, now).0,
        };
        (u128::from(base) * u128::from(self.factor_ppm) / u128::from(MICRO)) as u64
    }

    /// The interval of one thread at `now`.
    pub fn step(&self, now: SimTime) -> Step {
        let until = match &self.rate {
            Rate::Max => SimTime::NEVER,
            Rate::Steps(steps) => rate_of(steps, now).1,
        };
        let rate = self.micro_rate(now);
        let interval = if rate == 0 {
            u128::from(u64::MAX) << 32
        } else {
            let numerator = u128::from(self.threads) * u128::from(NANOS_PER_SECOND * MICRO);
            (numerator << 32) / u128::from(rate)
        };
        Step { interval, until }
    }
}

/// The rate at a moment, and until when it holds.
fn rate_of(steps: &[RateStep], now: SimTime) -> (u64, SimTime) {
    let next = steps.partition_point(|step| step.from <= now);
    let ends = steps.get(next).map_or(SimTime::NEVER, |step| step.from);
    let Some(place) = next.checked_sub(1) else {
        return (0, ends);
    };
    let step = steps[place];
    let ramp_ends = step.from + step.ramp;
    if now >= ramp_ends {
        return (step.micro_records_per_second, ends);
    }
    let before = place
        .checked_sub(1)
        .map_or(0, |at| steps[at].micro_records_per_second);
    let grid = RAMP_STEP.as_nanos();
    let into = now.since(step.from).as_nanos() / grid * grid;
    let (from, to) = (
        i128::from(before),
        i128::from(step.micro_records_per_second),
    );
    let rate = from + (to - from) * i128::from(into) / i128::from(step.ramp.as_nanos().max(1));
    let until = step.from + SimSpan::from_nanos(into + grid);
    (rate.max(0) as u64, until.min(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[(u64, u64, u64)]) -> Pace {
        let steps = list
            .iter()
            .map(|&(from, rate, ramp)| RateStep {
                from: SimTime::from_seconds(from),
                micro_records_per_second: rate * MICRO,
                ramp: SimSpan::from_seconds(ramp),
            })
            .collect();
        Pace::new(&Rate::Steps(steps), 1)
    }

    #[test]
    fn ten_thousand_records_a_second_are_a_tenth_of_a_millisecond_apart() {
        assert_eq!(
            steps(&[(0, 10_000, 0)]).step(SimTime::ZERO).interval >> 32,
            100_000
        );
    }

    #[test]
    fn threads_share_the_rate() {
        let rate = Rate::Steps(vec![RateStep {
            from: SimTime::ZERO,
            micro_records_per_second: 1000 * MICRO,
            ramp: SimSpan::ZERO,
        }]);
        assert_eq!(
            Pace::new(&rate, 4).step(SimTime::ZERO).interval >> 32,
            4_000_000
        );
    }

    #[test]
    fn a_ramp_climbs_from_the_rate_before() {
        let pace = steps(&[(0, 1000, 0), (10, 2000, 10)]);
        assert_eq!(pace.micro_rate(SimTime::from_seconds(15)), 1500 * MICRO);
        assert_eq!(pace.micro_rate(SimTime::from_seconds(20)), 2000 * MICRO);
    }

    #[test]
    fn nothing_is_sent_before_the_first_step() {
        let step = steps(&[(31, 1000, 0)]).step(SimTime::ZERO);
        assert_eq!(step.until, SimTime::from_seconds(31));
        assert_eq!(step.interval >> 32, u128::from(u64::MAX));
    }
}
