//! What is known of the run beyond the present, after going back.
//!
//! The run is what it is until another command is given: what had happened by the furthest moment
//! will happen again, so the screen may show it. A command makes all of that unknown.

use crate::insight::event_log::Marker;
use crate::sim::time::SimTime;

/// What had happened by the furthest moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The furthest moment that the run, with its journal, came to.
    pub(super) furthest: SimTime,
    /// Marks up to the moment from which somebody went back.
    pub(super) marks: Vec<Marker>,
}

impl Known {
    /// The run has come to `now`.
    pub(super) fn reach(&mut self, now: SimTime) {
        self.furthest = self.furthest.max(now);
    }

    /// These are the marks so far; those of the furthest moment stay.
    pub(super) fn note(&mut self, marks: &[Marker]) {
        if self.marks.len() < marks.len() {
            self.marks = marks.to_vec();
        }
    }

    /// From `now` on it is another run.
    pub(super) fn forget_after(&mut self, now: SimTime) {
        self.furthest = now;
        self.marks.clear();
    }
}
