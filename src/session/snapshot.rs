//! Copies of a run at earlier moments.
//!
//! Invariants: the state at time zero is always among them; there are at most [`SNAPSHOTS_MAX`].
//! When there is no room, every second one goes, and from then on they are taken half as often.

use crate::insight::Insight;
use crate::rehearsal::Rehearsal;
use crate::sim::Simulation;
use crate::sim::time::{SimSpan, SimTime};

use super::{Memory, Session};

/// Snapshots at most.
pub(super) const SNAPSHOTS_MAX: usize = 48;
/// Simulated time between two snapshots, at first.
const INTERVAL: SimSpan = SimSpan::from_seconds(1);

/// A run at an earlier moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) simulation: Simulation,
    pub(super) insight: Insight,
    pub(super) rehearsal: Option<Rehearsal>,
    /// Commands that the engine had by then.
    pub(super) given: usize,
    pub(super) next_sample: SimTime,
}

/// All snapshots, oldest first.
#[derive(Debug)]
pub(super) struct Snapshots {
    memory: Memory,
    kept: Vec<Snapshot>,
    interval: SimSpan,
}

impl Snapshots {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            memory,
            kept: Vec::new(),
            interval: INTERVAL,
        }
    }

    /// The latest snapshot at or before `at`.
    pub(super) fn before(&self, at: SimTime) -> Option<&Snapshot> {
        self.kept
            .iter()
            .rev()
            .find(|snapshot| snapshot.simulation.now() <= at)
    }

    /// Whether one is due at `now`.
    fn is_due(&self, now: SimTime) -> bool {
        let last = self.kept.last().map(|snapshot| snapshot.simulation.now());
        self.memory == Memory::Snapshots
            && last.is_none_or(|last| last < now && self.interval <= now.since(last))
    }

    fn keep(&mut self, snapshot: Snapshot) {
        if SNAPSHOTS_MAX <= self.kept.len() {
            let mut place = 0;
            // The first one, at time zero, stays.
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.interval = self.interval.times(2);
        }
        self.kept.push(snapshot);
    }

    /// Forgets what lies behind `at`: it will happen differently.
    pub(super) fn forget_after(&mut self, at: SimTime) {
        self.kept.retain(|snapshot| snapshot.simulation.now() <= at);
    }

    pub(super) fn memory(&self) -> Memory {
        self.memory
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }
}

impl Session {
    /// Keeps a copy of the run as it stands, if one is due.
    pub(super) fn keep_snapshot(&mut self) {
        if self.snapshots.is_due(self.now()) {
            self.snapshots.keep(Snapshot {
                simulation: self.simulation.clone(),
                insight: self.insight.clone(),
                rehearsal: self.rehearsal.clone(),
                given: self.given,
                next_sample: self.next_sample,
            });
        }
    }
}
