//! Going back in time: a snapshot, and a replay of the journal from there.

use crate::sim::time::{SimSpan, SimTime};

use super::{Memory, Session};

/// Step in which the last event before a moment is looked for.
const SEARCH: SimSpan = SimSpan::from_millis(10);

impl Session {
    /// Goes back to `at`: the run is then as it was when everything up to `at` had happened. The
    /// commands behind it stay in the journal and come again, unless another one is given first.
    /// Does nothing where `at` is not in the past, or nothing was kept.
    pub fn rewind_to(&mut self, at: SimTime) {
        if self.now() <= at || !self.restore(at) {
            return;
        }
        let _reached = self.advance_to(at, u64::MAX);
    }

    /// Goes back to just before the last thing that happened, as far as anybody can tell.
    pub fn step_back(&mut self) {
        let now = self.now();
        if now == SimTime::ZERO || self.snapshots.memory() == Memory::ForwardsOnly {
            return;
        }
        let latest = SimTime::from_nanos(now.as_nanos() - 1);
        self.rewind_to(latest);
        let digest = self.digest();
        let is_same = |session: &mut Self, at: SimTime| {
            session.rewind_to(at);
            session.digest() == digest
        };
        // The run is `digest` at `same` and was something else at `other`.
        let mut same = latest;
        let mut other = None;
        while SimTime::ZERO < same {
            let earlier = same - SEARCH;
            if is_same(self, earlier) {
                same = earlier;
            } else {
                other = Some(earlier);
                break;
            }
        }
        while let Some(before) = other
            && 1 < same.since(before).as_nanos()
        {
            let half = before + SimSpan::from_nanos(same.since(before).as_nanos() / 2);
            let _reached = self.advance_to(half, u64::MAX);
            if self.digest() == digest {
                same = half;
                self.rewind_to(before);
            } else {
                other = Some(half);
            }
        }
        let _reached = self.advance_to(same, u64::MAX);
    }

    /// Earlier states that are kept.
    pub fn snapshots_kept(&self) -> usize {
        self.snapshots.len()
    }

    /// Takes up the latest snapshot at or before `at`; whether there is one.
    fn restore(&mut self, at: SimTime) -> bool {
        let Some(snapshot) = self.snapshots.before(at) else {
            return false;
        };
        self.simulation = snapshot.simulation.clone();
        self.insight = snapshot.insight.clone();
        self.rehearsal.clone_from(&snapshot.rehearsal);
        self.given = snapshot.given;
        self.next_sample = snapshot.next_sample;
        self.is_finished = false;
        self.follow_topics();
        for metric in &self.asked {
            // There was room before, so there is now.
            let _id = self.insight.ask(*metric, self.next_sample);
        }
        true
    }
}
