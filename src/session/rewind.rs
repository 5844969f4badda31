//! Moving through the run: a snapshot, and a replay of the journal from there.

use crate::sim::time::{SimSpan, SimTime};

use super::Session;

/// Moments at whose multiples a search for the last event begins.
const GRID: SimSpan = SimSpan::from_millis(100);

impl Session {
    /// Goes back to `at`: the run is then as it was when everything up to `at` had happened. The
    /// commands behind it stay in the journal and come again, unless another one is given first.
    /// Does nothing where `at` is not in the past, or nothing was kept.
    pub fn rewind_to(&mut self, at: SimTime) {
        if at < self.now() && self.approach(at) {
            let _reached = self.advance_to(at, u64::MAX);
        }
    }

    /// Gets as near to `at` as kept states lead, from either side but not past it; the rest is for
    /// [`Session::advance_to`]. `false` where `at` cannot be reached: nothing was kept.
    pub fn approach(&mut self, at: SimTime) -> bool {
        let is_ahead = self.now() <= at;
        let found = self.snapshots.before(at);
        // What is nearer is never taken up again.
        let Some(snapshot) = found.filter(|snapshot| {
            let kept_at = snapshot.simulation.now();
            !is_ahead || self.simulation.now() < kept_at
        }) else {
            return is_ahead;
        };
        self.simulation = snapshot.simulation.clone();
        self.rehearsal.clone_from(&snapshot.rehearsal);
        let marks = std::mem::replace(&mut self.insight, snapshot.insight.clone());
        self.given = snapshot.given;
        self.next_sample = snapshot.next_sample;
        self.is_finished = false;
        self.known.note(marks.log().markers());
        self.follow_topics();
        for metric in &self.asked {
            // There was room before, so there is now.
            let _id = self.insight.ask(*metric, self.next_sample);
        }
        true
    }

    /// Goes back to the last moment before this one at which anything was said: a fact, or a batch
    /// on its way. To the start where there is none.
    pub fn step_back(&mut self) {
        let now = self.now();
        if now == SimTime::ZERO || !self.snapshots.are_kept() {
            return;
        }
        let mut latest = SimTime::from_nanos(now.as_nanos() - 1);
        let mut cells = 1;
        while SimTime::ZERO < latest {
            let from = grid_before(latest, cells);
            self.rewind_to(from);
            self.keep_near();
            if let Some(last) = self.last_said(latest) {
                self.rewind_to(last);
                return;
            }
            // Nothing was said behind `from`: on, in longer steps.
            latest = from;
            cells *= 4;
        }
        self.rewind_to(SimTime::ZERO);
    }

    /// Goes on to `to`; the last moment at which anything was said on the way.
    fn last_said(&mut self, to: SimTime) -> Option<SimTime> {
        let mut digest = self.digest();
        let mut last = None;
        while self.now() < to {
            let event = self.simulation.next_at().unwrap_or(to);
            let _reached = self.advance_to(self.next_stop(event.min(to)), u64::MAX);
            if self.digest() != digest {
                digest = self.digest();
                last = Some(self.now());
            }
        }
        last
    }

    /// Earlier states that are kept.
    pub fn snapshots_kept(&self) -> usize {
        self.snapshots.len()
    }

    /// Memory that they take, roughly, in bytes.
    pub fn snapshots_bytes(&self) -> usize {
        self.snapshots.bytes()
    }
}

/// A multiple of [`GRID`] before `at`, so many cells back; the start where there is none.
fn grid_before(at: SimTime, cells: u64) -> SimTime {
    let grid = GRID.as_nanos();
    let last = at.as_nanos().saturating_sub(1) / grid;
    SimTime::from_nanos(last.saturating_sub(cells - 1) * grid)
}
