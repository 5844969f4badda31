//! The time axis that all charts share: how much of the run they show, and where its labels go.

use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// Lengths of a time axis, in seconds; the whole run comes before the first.
const SPANS_SECONDS: [u64; 15] = [
    86_400, 43_200, 21_600, 7_200, 3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5, 2,
];
/// A run up to this long is shown whole at first, a longer one by its last part.
const WHOLE_SECONDS_MAX: u64 = 600;

/// How much of the run charts show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// All of it.
    Whole,
    /// This much up to now.
    Last(SimSpan),
}

impl Zoom {
    /// The axis that suits a run of this length.
    pub fn fitting(run: SimSpan) -> Self {
        if run <= SimSpan::from_seconds(WHOLE_SECONDS_MAX) {
            Self::Whole
        } else {
            Self::Last(SimSpan::from_seconds(WHOLE_SECONDS_MAX))
        }
    }

    /// A shorter axis.
    #[must_use]
    pub fn closer(self, run: SimSpan) -> Self {
        let now = self.span(run);
        let mut shorter = SPANS_SECONDS
            .iter()
            .map(|&seconds| SimSpan::from_seconds(seconds));
        shorter.find(|span| *span < now).map_or(self, Self::Last)
    }

    /// A longer axis.
    #[must_use]
    pub fn wider(self, run: SimSpan) -> Self {
        let now = self.span(run);
        let longer = SPANS_SECONDS
            .iter()
            .rev()
            .map(|&seconds| SimSpan::from_seconds(seconds));
        longer
            .filter(|span| *span < run)
            .find(|span| *span > now)
            .map_or(Self::Whole, Self::Last)
    }

    /// Length of the axis.
    pub fn span(self, run: SimSpan) -> SimSpan {
        match self {
            Self::Whole => run,
            Self::Last(span) => span.min(run),
        }
    }

    /// What the axis shows at `now` of a run that lasts until `end`.
    pub fn window(self, now: SimTime, end: SimTime) -> TimeWindow {
        let run = end.since(SimTime::ZERO);
        let span = self.span(run);
        let from = now - span;
        TimeWindow {
            from,
            to: from + span,
        }
    }

    /// In words, for titles.
    pub fn name(self) -> String {
        match self {
            Self::Whole => "whole run".to_owned(),
            Self::Last(span) => {
                format!("last {}", crate::tui::number::moment(SimTime::ZERO + span))
            }
        }
    }
}

/// A piece of simulated time on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// Its left end.
    pub from: SimTime,
    /// Its right end.
    pub to: SimTime,
}

impl TimeWindow {
    /// Its length.
    pub const fn span(self) -> SimSpan {
        self.to.since(self.from)
    }

    /// The column, of `columns`, in which a moment lies.
    pub fn column(self, at: SimTime, columns: u16) -> Option<u16> {
        let inside = at >= self.from && at <= self.to && columns > 0 && self.span().as_nanos() > 0;
        inside.then(|| {
            let offset = u128::from(at.since(self.from).as_nanos()) * u128::from(columns);
            let column = offset / u128::from(self.span().as_nanos());
            (column as u16).min(columns - 1)
        })
    }

    /// The moment at which a column begins.
    pub fn start_of(self, column: u16, columns: u16) -> SimTime {
        let offset = u128::from(self.span().as_nanos()) * u128::from(column);
        self.from + SimSpan::from_nanos((offset / u128::from(columns.max(1))) as u64)
    }

    /// Round moments for labels, at most `most` of them, the ends included where they are round.
    pub fn ticks(self, most: u16) -> Vec<SimTime> {
        let span = self.span().as_nanos();
        if most == 0 || span == 0 {
            return Vec::new();
        }
        let step = nice_step(span / u64::from(most).max(1));
        let first = self.from.as_nanos().div_ceil(step).saturating_mul(step);
        (0..=u64::from(most))
            .map(|n| first.saturating_add(n.saturating_mul(step)))
            .take_while(|nanos| *nanos <= self.to.as_nanos())
            .map(SimTime::from_nanos)
            .collect()
    }
}

/// The smallest round length of time that is at least `least`.
fn nice_step(least: u64) -> u64 {
    const MILLI: u64 = NANOS_PER_SECOND / 1000;
    const STEPS: [u64; 25] = [
        MILLI,
        2 * MILLI,
        5 * MILLI,
        10 * MILLI,
        20 * MILLI,
        50 * MILLI,
        100 * MILLI,
        200 * MILLI,
        500 * MILLI,
        NANOS_PER_SECOND,
        2 * NANOS_PER_SECOND,
        5 * NANOS_PER_SECOND,
        10 * NANOS_PER_SECOND,
        20 * NANOS_PER_SECOND,
        30 * NANOS_PER_SECOND,
        60 * NANOS_PER_SECOND,
        120 * NANOS_PER_SECOND,
        300 * NANOS_PER_SECOND,
        600 * NANOS_PER_SECOND,
        1_800 * NANOS_PER_SECOND,
        3_600 * NANOS_PER_SECOND,
        7_200 * NANOS_PER_SECOND,
        21_600 * NANOS_PER_SECOND,
        43_200 * NANOS_PER_SECOND,
        86_400 * NANOS_PER_SECOND,
    ];
    STEPS
        .iter()
        .copied()
        .find(|step| *step >= least)
        .unwrap_or(10 * 86_400 * NANOS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: SimSpan = SimSpan::from_seconds(190);

    #[test]
    fn zooming_out_again_shows_the_whole_run() {
        let zoom = Zoom::fitting(RUN).closer(RUN).closer(RUN);
        assert_eq!(zoom, Zoom::Last(SimSpan::from_seconds(60)));
        assert_eq!(zoom.wider(RUN).wider(RUN).wider(RUN), Zoom::Whole);
    }

    #[test]
    fn zooming_in_ends_somewhere() {
        let mut zoom = Zoom::Whole;
        for _ in 0..50 {
            zoom = zoom.closer(RUN);
        }
        assert_eq!(zoom, Zoom::Last(SimSpan::from_seconds(2)));
    }

    #[test]
    fn the_last_minute_ends_now() {
        let window = Zoom::Last(SimSpan::from_seconds(60))
            .window(SimTime::from_seconds(100), SimTime::from_seconds(190));
        assert_eq!(window.from, SimTime::from_seconds(40));
        assert_eq!(window.column(SimTime::from_seconds(100), 60), Some(59));
        assert_eq!(window.column(SimTime::from_seconds(39), 60), None);
    }

    #[test]
    fn early_in_a_run_the_axis_begins_at_its_start() {
        let window = Zoom::Last(SimSpan::from_seconds(60))
            .window(SimTime::from_seconds(5), SimTime::from_seconds(190));
        assert_eq!(
            (window.from, window.to),
            (SimTime::ZERO, SimTime::from_seconds(60))
        );
    }

    #[test]
    fn labels_stand_at_round_moments() {
        let window = Zoom::Whole.window(SimTime::ZERO, SimTime::ZERO + RUN);
        let ticks: Vec<u64> = window
            .ticks(4)
            .iter()
            .map(|at| at.as_millis() / 1000)
            .collect();
        assert_eq!(ticks, [0, 60, 120, 180]);
    }

    #[test]
    fn an_empty_window_has_no_columns_and_no_labels() {
        let window = Zoom::Whole.window(SimTime::ZERO, SimTime::ZERO);
        assert_eq!(window.column(SimTime::ZERO, 10), None);
        assert!(window.ticks(5).is_empty());
    }
}
