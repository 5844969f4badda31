//! How simulated time follows real time. Pure arithmetic: elapsed time comes in, a target comes
//! out.
//!
//! There is no debt: when the engine cannot keep up with the speed that was asked for, the next
//! frame starts from where it got to, and the header shows the speed that was reached.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sim::time::{SimSpan, SimTime};

/// Frames over which the reached speed is measured: one second at the usual rate.
const METER_FRAMES: usize = 20;
/// Real time that one frame may stand for at most; the rest was a hiccup, or a suspended process.
const FRAME_MAX: Duration = Duration::from_millis(250);
/// The slowest speed, as a power of two.
const SLOWEST: i8 = -4;
/// The fastest speed that is not "as fast as possible", as a power of two.
const FASTEST: i8 = 6;

/// How many simulated seconds pass in a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// Two to this power, from 1/16 to 64.
    Power(i8),
    /// As fast as the engine goes.
    Max,
}

impl Speed {
    /// Simulated time is real time.
    pub const REAL: Self = Self::Power(0);

    /// The next slower speed.
    #[must_use]
    pub fn slower(self) -> Self {
        match self {
            Self::Max => Self::Power(FASTEST),
            Self::Power(power) => Self::Power((power - 1).max(SLOWEST)),
        }
    }

    /// The next faster speed.
    #[must_use]
    pub fn faster(self) -> Self {
        match self {
            Self::Power(power) if power < FASTEST => Self::Power(power + 1),
            Self::Power(_) | Self::Max => Self::Max,
        }
    }

    /// The nearest speed to a factor that a person asked for; beyond the fastest it is
    /// [`Self::Max`].
    pub fn nearest(factor: f64) -> Self {
        let mut best = Self::Power(SLOWEST);
        for power in SLOWEST..=FASTEST {
            let here = Self::Power(power);
            if (here.factor() - factor).abs() < (best.factor() - factor).abs() {
                best = here;
            }
        }
        if factor > Self::Power(FASTEST).factor() * 1.5 {
            Self::Max
        } else {
            best
        }
    }

    /// Simulated seconds in a real one; without bound at [`Self::Max`].
    pub fn factor(self) -> f64 {
        match self {
            Self::Power(power) if power < 0 => 1.0 / f64::from(1_u32 << -power),
            Self::Power(power) => f64::from(1_u32 << power),
            Self::Max => f64::INFINITY,
        }
    }

    /// Simulated time that passes in `real` time.
    fn scale(self, real: Duration) -> SimSpan {
        let nanos = u64::try_from(real.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Self::Power(power) if power < 0 => SimSpan::from_nanos(nanos >> -power),
            Self::Power(power) => SimSpan::from_nanos(nanos).times(1 << power),
            Self::Max => SimSpan::FOREVER,
        }
    }

    /// In words: `1/4`, `1`, `64`, `max`.
    pub fn name(self) -> String {
        match self {
            Self::Power(power) if power < 0 => format!("1/{}", 1_u32 << -power),
            Self::Power(power) => (1_u32 << power).to_string(),
            Self::Max => "max".to_owned(),
        }
    }
}

/// Whether simulated time passes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// It follows real time.
    Running,
    /// It waits for a key.
    Paused,
    /// It goes to this moment, as fast as the engine can, and waits there.
    Seeking(SimTime),
}

/// The pace of a run on a screen.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Whether simulated time passes by itself.
    pub motion: Motion,
    /// The speed that was asked for.
    pub speed: Speed,
    frames: VecDeque<(Duration, SimSpan)>,
}

impl Pace {
    /// A run at `speed`.
    pub fn new(motion: Motion, speed: Speed) -> Self {
        Self {
            motion,
            speed,
            frames: VecDeque::with_capacity(METER_FRAMES),
        }
    }

    /// Where simulated time should get to in a frame that began at `now` and stands for `elapsed`
    /// real time.
    pub fn target(&self, now: SimTime, elapsed: Duration) -> SimTime {
        match self.motion {
            Motion::Paused => now,
            Motion::Seeking(to) => to.max(now),
            Motion::Running => now + self.speed.scale(elapsed.min(FRAME_MAX)),
        }
    }

    /// Notes what a frame achieved: `gained` simulated time in `elapsed` real time.
    pub fn record(&mut self, elapsed: Duration, gained: SimSpan) {
        if self.frames.len() == METER_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back((elapsed, gained));
    }

    /// Forgets the measured speed: after a pause, another speed, a restart.
    pub fn forget(&mut self) {
        self.frames.clear();
    }

    /// Simulated seconds in a real one, measured over the last second.
    pub fn reached(&self) -> Option<f64> {
        let real: Duration = self.frames.iter().map(|(real, _)| *real).sum();
        let gained: u64 = self
            .frames
            .iter()
            .map(|(_, gained)| gained.as_nanos())
            .sum();
        let enough = self.motion == Motion::Running && real >= Duration::from_millis(100);
        enough.then(|| gained as f64 / real.as_nanos() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(50);

    #[test]
    fn the_ladder_of_speeds_has_two_ends() {
        let mut speed = Speed::REAL;
        for _ in 0..20 {
            speed = speed.slower();
        }
        assert_eq!(speed.name(), "1/16");
        for _ in 0..10 {
            speed = speed.faster();
        }
        assert_eq!(speed.name(), "64");
        assert_eq!(speed.faster().faster(), Speed::Max);
        assert_eq!(Speed::Max.slower().name(), "64");
    }

    #[test]
    fn a_frame_moves_simulated_time_by_the_speed() {
        let at = SimTime::from_seconds(10);
        let quarter = Pace::new(Motion::Running, Speed::Power(-2));
        assert_eq!(
            quarter.target(at, FRAME).since(at),
            SimSpan::from_micros(12_500)
        );
        let eight = Pace::new(Motion::Running, Speed::Power(3));
        assert_eq!(eight.target(at, FRAME).since(at), SimSpan::from_millis(400));
    }

    #[test]
    fn a_paused_run_stays_where_it_is() {
        let pace = Pace::new(Motion::Paused, Speed::Max);
        assert_eq!(
            pace.target(SimTime::from_seconds(3), FRAME),
            SimTime::from_seconds(3)
        );
    }

    #[test]
    fn a_long_absence_does_not_make_time_leap() {
        let pace = Pace::new(Motion::Running, Speed::REAL);
        let target = pace.target(SimTime::ZERO, Duration::from_secs(3600));
        assert_eq!(target, SimTime::from_millis(250));
    }

    #[test]
    fn the_reached_speed_is_what_was_gained() {
        let mut pace = Pace::new(Motion::Running, Speed::Power(6));
        assert_eq!(pace.reached(), None);
        for _ in 0..40 {
            pace.record(FRAME, SimSpan::from_millis(600));
        }
        assert!((pace.reached().expect("measured") - 12.0).abs() < 1e-9);
    }

    #[test]
    fn asked_factors_find_their_place_on_the_ladder() {
        assert_eq!(Speed::nearest(4.0), Speed::Power(2));
        assert_eq!(Speed::nearest(0.01), Speed::Power(-4));
        assert_eq!(Speed::nearest(70.0), Speed::Power(6));
        assert_eq!(Speed::nearest(1e9), Speed::Max);
    }
}
