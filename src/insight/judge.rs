//! Deciding expectations, as soon as each can be decided.
//!
//! Invariants: a decision never changes; what is decided depends on samples and facts only, so not
//! on how a run was sliced. What must *not* happen, and the content of logs, is decided at the
//! end of the run.

mod event;
mod figure;

use std::sync::Arc;

use super::expectation::{Check, Expectation, Harm};
use super::ledger::Tally;
use super::names;
use super::sampler::Sampler;
use crate::sim::Simulation;
use crate::sim::config::Config;
use crate::sim::fact::Stamped;
use crate::sim::time::SimTime;

use event::EventState;
pub use event::is_event;
use figure::FigureState;

/// How an expectation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not decided yet.
    Pending,
    /// It holds.
    Held,
    /// It does not.
    Failed,
    /// The run ended before it could be decided.
    Inconclusive,
}

impl Outcome {
    /// One word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Held => "held",
            Self::Failed => "FAILED",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// An expectation and how it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What must hold, by name.
    pub name: String,
    /// How it stands.
    pub outcome: Outcome,
    /// What was seen so far, in words.
    pub observed: String,
    /// When it was decided.
    pub decided_at: Option<SimTime>,
}

/// All expectations of a run.
#[derive(Clone, Debug)]
pub struct Judge {
    expectations: Arc<[Expectation]>,
    states: Vec<State>,
    judgements: Vec<Judgement>,
    /// Expectations that are not decided yet.
    pending: usize,
}

/// What an expectation has seen so far.
#[derive(Clone, Debug)]
enum State {
    Figure(FigureState),
    Event(EventState),
    /// Decided from the logs and the ledger, at the end.
    AtEnd,
}

/// A decision, with what was seen.
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    pub(super) observed: String,
}

impl Judge {
    /// Opens all expectations, and asks for the series that they need.
    pub(super) fn new(
        expectations: &Arc<[Expectation]>,
        sampler: &mut Sampler,
        config: &Config,
    ) -> Self {
        let mut judge = Self {
            states: Vec::with_capacity(expectations.len()),
            judgements: Vec::with_capacity(expectations.len()),
            pending: expectations.len(),
            expectations: Arc::clone(expectations),
        };
        for (index, expectation) in expectations.iter().enumerate() {
            judge.judgements.push(Judgement {
                name: expectation.name.clone(),
                outcome: Outcome::Pending,
                observed: "nothing yet".to_owned(),
                decided_at: None,
            });
            let state = match &expectation.check {
                Check::Metric(check) => match FigureState::open(check, sampler, config) {
                    Ok(state) => State::Figure(state),
                    Err(observed) => {
                        let failed = Decision {
                            outcome: Outcome::Failed,
                            observed,
                        };
                        judge.decide(index, failed, SimTime::ZERO);
                        State::AtEnd
                    }
                },
                Check::Event(_) => State::Event(EventState::default()),
                Check::Log { .. } | Check::No(_) => State::AtEnd,
            };
            judge.states.push(state);
        }
        judge
    }

    /// All expectations, in the order of the scenario.
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// How many stand at `outcome`.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.judgements
            .iter()
            .filter(|judgement| judgement.outcome == outcome)
            .count()
    }

    /// Takes facts in their order.
    pub(super) fn observe(&mut self, facts: &[Stamped], config: &Config) {
        if self.pending == 0 || facts.is_empty() {
            return;
        }
        for index in 0..self.states.len() {
            if self.judgements[index].outcome != Outcome::Pending {
                continue;
            }
            let (State::Event(state), Check::Event(check)) =
                (&mut self.states[index], &self.expectations[index].check)
            else {
                continue;
            };
            let decided = facts.iter().find_map(|stamped| {
                let decision = state.observe(check, stamped, config)?;
                Some((decision, stamped.at))
            });
            self.judgements[index].observed = state.observed();
            if let Some((decision, at)) = decided {
                self.decide(index, decision, at);
            }
        }
    }

    /// Takes the samples of `now`.
    pub(super) fn sample(&mut self, sampler: &Sampler, now: SimTime) {
        if self.pending == 0 {
            return;
        }
        for index in 0..self.states.len() {
            if self.judgements[index].outcome != Outcome::Pending {
                continue;
            }
            let decision = match (&mut self.states[index], &self.expectations[index].check) {
                (State::Figure(state), Check::Metric(check)) => state.sample(check, sampler, now),
                (State::Event(state), Check::Event(check)) => state.passed(check, now),
                _ => None,
            };
            if let Some(decision) = decision {
                self.decide(index, decision, now);
            }
        }
    }

    /// Decides everything that is still open: the run goes no further than where it stands.
    pub(super) fn finish(&mut self, simulation: &Simulation, ledger: Tally) {
        let now = simulation.now();
        let is_over = simulation.end() <= now;
        for index in 0..self.states.len() {
            if self.judgements[index].outcome != Outcome::Pending {
                continue;
            }
            let decision = match (&self.states[index], &self.expectations[index].check) {
                (State::Figure(state), Check::Metric(check)) => state.finish(check),
                (State::Event(state), Check::Event(check)) => state.finish(check, is_over),
                (_, Check::Log { partition, offsets }) => {
                    if_over(log(simulation, partition, offsets), is_over)
                }
                (_, Check::No(harms)) => {
                    let decision = no(harms, ledger, simulation);
                    // Harm that is done stays done.
                    let failed = decision.outcome == Outcome::Failed;
                    if_over(decision, is_over || failed)
                }
                _ => if_over(
                    Decision {
                        outcome: Outcome::Failed,
                        observed: String::new(),
                    },
                    false,
                ),
            };
            self.decide(index, decision, now);
        }
    }

    fn decide(&mut self, index: usize, decision: Decision, at: SimTime) {
        let judgement = &mut self.judgements[index];
        judgement.outcome = decision.outcome;
        judgement.observed = decision.observed;
        judgement.decided_at = Some(at);
        self.pending -= 1;
    }
}

/// `decision`, or inconclusive where the run did not go to its end.
fn if_over(decision: Decision, is_over: bool) -> Decision {
    if is_over {
        return decision;
    }
    Decision {
        outcome: Outcome::Inconclusive,
        observed: format!("the run ended first; so far: {}", decision.observed),
    }
}

/// What must not be in the ledger, among keys, or in what groups read.
fn no(harms: &[Harm], ledger: Tally, simulation: &Simulation) -> Decision {
    let found = harms.iter().map(|harm| match harm {
        Harm::AcknowledgedLoss => (ledger.acknowledged_lost, "acknowledged and lost"),
        Harm::Duplicate => (ledger.duplicated, "duplicated"),
        Harm::Reorder => (ledger.reordered, "reordered"),
        Harm::SplitKey => (simulation.split_keys_in_all(), "keys on several partitions"),
        Harm::OutOfOrderRead => (simulation.reads_out_of_order_in_all(), "read out of order"),
        Harm::FailedPresent => (ledger.failed_present, "failed and in a log all the same"),
    });
    let observed: Vec<String> = found
        .clone()
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    let failed = found.clone().any(|(count, _)| 0 < count);
    Decision {
        outcome: if failed {
            Outcome::Failed
        } else {
            Outcome::Held
        },
        observed: observed.join(", "),
    }
}

/// The exact content of a partition's log.
fn log(simulation: &Simulation, partition: &str, expected: &[String]) -> Decision {
    let found = simulation
        .partitions()
        .find(|&p| simulation.partition_name(p) == partition);
    let Some(found) = found else {
        let observed = format!("there is no partition {partition}");
        return Decision {
            outcome: Outcome::Failed,
            observed,
        };
    };
    let lines = simulation.log_lines(found);
    let differs = lines
        .iter()
        .zip(expected)
        .find(|(line, expected)| line != expected);
    let (outcome, observed) = match differs {
        Some((line, expected)) => {
            let observed = format!("'{}' instead of '{expected}'", names::shown(line));
            (Outcome::Failed, observed)
        }
        None if lines.len() != expected.len() => {
            let observed = format!("{} lines instead of {}", lines.len(), expected.len());
            (Outcome::Failed, observed)
        }
        None => (Outcome::Held, format!("{} lines as expected", lines.len())),
    };
    Decision { outcome, observed }
}
