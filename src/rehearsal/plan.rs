//! The specification that a scenario lowers to: alerts, steps, what has to be reached.

use crate::insight::expectation::{Bound, EventCheck};
use crate::insight::metric::Metric;
use crate::sim::command::Command;
use crate::sim::time::{SimSpan, SimTime};

use super::script::ScriptLine;

/// Everything that makes a scenario a rehearsal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Whether the cause is hidden until the debrief.
    pub secrecy: Secrecy,
    /// What the person on call knows at the start.
    pub briefing: String,
    /// What really happened, told in the debrief.
    pub cause: String,
    /// Commands that win, with their moments.
    pub solution: Vec<ScriptLine>,
    /// What is usually tried, and does not help.
    pub trap: Vec<ScriptLine>,
    /// Nothing is decided before this moment.
    pub begins: SimTime,
    /// The rehearsal is lost when it is not won by then; `None` is the end of the run.
    pub deadline: Option<SimTime>,
    /// What may go wrong at most.
    pub objective: Option<Objective>,
    /// Rules that page.
    pub alerts: Vec<AlertRule>,
    /// The playbook, in the order of the file.
    pub steps: Vec<StepRule>,
    /// All of them have to hold at once.
    pub victory: Vec<Goal>,
}

/// Whether the cause is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// All is shown.
    #[default]
    Open,
    /// Title, timeline and cause are hidden until the debrief.
    Blind,
}

/// A service level objective: which share of records has to be acknowledged in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// In parts per million.
    pub share_ppm: u32,
    /// From a batch's first record to its callback.
    pub within: SimSpan,
}

/// What can hold or not, at every sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A sampled figure is within bounds.
    Figure {
        /// Which figure.
        metric: Metric,
        /// What it must satisfy.
        bound: Bound,
        /// The figure is what it grew by over this time, instead of its value.
        growth: Option<SimSpan>,
    },
    /// Something happened as often as this; `first_at` is not looked at.
    Event(EventCheck),
    /// An alert fires, by its place in the plan.
    Alert(usize),
}

/// A condition that must hold for some time without a break.
#[derive(Clone, Debug, PartialEq)]
pub struct Sustained {
    /// What must hold.
    pub condition: Condition,
    /// For how long.
    pub hold: SimSpan,
    /// That in words.
    pub words: String,
}

/// `[[victory]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its name, or the condition in words.
    pub name: String,
    /// What must hold.
    pub sustained: Sustained,
}

/// `[[alert]]`: inactive, pending, firing, resolved, as Prometheus has it.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRule {
    /// `alertname`.
    pub name: String,
    /// `expr` and `for`.
    pub sustained: Sustained,
    /// `annotations.summary`: what the page says.
    pub say: String,
}

/// `[[step]]`
#[derive(Clone, Debug, PartialEq)]
pub struct StepRule {
    /// When it opens.
    pub when: Trigger,
    /// What is told then.
    pub say: String,
    /// What has to be done.
    pub require: Option<Requirement>,
    /// How long after it opened, at most.
    pub before: Option<SimSpan>,
    /// What helps, the vaguest first; each costs score.
    pub hints: Vec<String>,
}

/// When a step opens.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// At a moment.
    At(SimTime),
    /// As soon as this holds.
    When(Sustained),
}

/// What a step asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    /// One of these commands, however it is written; with the first one's text.
    Commands(Vec<Command>, String),
    /// That something holds.
    State(Sustained),
}

impl Requirement {
    /// What is asked for, in words.
    pub fn words(&self) -> &str {
        match self {
            Self::Commands(_, text) => text,
            Self::State(sustained) => &sustained.words,
        }
    }
}
