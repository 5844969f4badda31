//! Two runs side by side, in lock-step: where they part, and how each goes on.
//!
//! Runs are compared by their digests, over everything that was said. Up to the moment at which
//! they part they are one run; after it nothing that one does says anything about the other.

use crate::insight::sentence::sentence;
use crate::sim::Progress;
use crate::sim::time::{SimSpan, SimTime};

use super::Session;

/// Simulated time between two comparisons, until they part.
const STEP: SimSpan = SimSpan::from_millis(100);
/// Sentences about the moment of parting at most, for each.
const SENTENCES_MAX: usize = 3;

/// The moment at which two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// When.
    pub at: SimTime,
    /// What is notable of that moment in A; nothing where only batches go another way.
    pub a: Vec<String>,
    /// The same, in B.
    pub b: Vec<String>,
}

/// Two runs, A and B.
#[derive(Debug)]
pub struct Pair {
    /// One.
    pub a: Session,
    /// The other.
    pub b: Session,
    parting: Option<Parting>,
}

impl Pair {
    /// Two runs at time zero.
    pub fn new(a: Session, b: Session) -> Self {
        let mut pair = Self {
            a,
            b,
            parting: None,
        };
        if pair.differs() {
            // Not the same brokers, topics, producers or consumers.
            pair.parting = Some(Parting {
                at: SimTime::ZERO,
                a: Vec::new(),
                b: Vec::new(),
            });
        }
        pair
    }

    /// When and how they part, as far as they have come.
    pub fn parting(&self) -> Option<&Parting> {
        self.parting.as_ref()
    }

    /// Both have come this far.
    pub fn now(&self) -> SimTime {
        self.a.now().max(self.b.now())
    }

    /// Whether both are over.
    pub fn is_over(&self) -> bool {
        self.a.is_over() && self.b.is_over()
    }

    /// Lets time pass in both until `target`, in steps; a step ends early once about `events_max`
    /// things have happened in one of them.
    pub fn advance_to(&mut self, target: SimTime, events_max: u64) -> Progress {
        let target = target.min(self.a.end().max(self.b.end()));
        let before = self.now();
        let next = target.min(before + STEP);
        if self.parting.is_none() {
            self.go(next);
            if self.differs() {
                self.parting = Some(self.find(before, next));
            }
        } else {
            let sides = [&mut self.a, &mut self.b];
            let spent = sides
                .map(|side| side.advance_to(target, events_max).progress)
                .contains(&Progress::BudgetSpent);
            return if spent {
                Progress::BudgetSpent
            } else {
                self.progress(target)
            };
        }
        self.progress(target)
    }

    /// Decides what is still open in both.
    pub fn finish(&mut self) {
        self.a.finish();
        self.b.finish();
    }

    fn progress(&self, target: SimTime) -> Progress {
        if self.is_over() {
            Progress::Ended
        } else if target <= self.now() {
            Progress::Reached
        } else {
            Progress::BudgetSpent
        }
    }

    fn differs(&self) -> bool {
        self.a.digest() != self.b.digest()
    }

    /// Lets both get to a moment, as far as each of them lasts.
    fn go(&mut self, at: SimTime) {
        for side in [&mut self.a, &mut self.b] {
            side.approach(at);
            let _reached = side.advance_to(at, u64::MAX);
        }
    }

    /// The first moment behind `before` after which they are not the same; both end at `after`.
    fn find(&mut self, before: SimTime, after: SimTime) -> Parting {
        self.go(before);
        while !self.differs() && self.now() < after {
            let next = self.a.next_at().min(self.b.next_at()).min(after);
            self.go(next);
        }
        let at = self.now();
        let parting = Parting {
            at,
            a: notable(&self.a, at),
            b: notable(&self.b, at),
        };
        self.go(after);
        parting
    }
}

/// What is worth a line of the event log at a moment that is now.
fn notable(session: &Session, at: SimTime) -> Vec<String> {
    let config = session.simulation().config();
    let entries = session.insight().log().entries().rev();
    let mut sentences: Vec<String> = entries
        .take_while(|entry| entry.last_at == at)
        .map(|entry| sentence(&entry.first.fact, config))
        .collect();
    sentences.reverse();
    sentences.truncate(SENTENCES_MAX);
    sentences
}
