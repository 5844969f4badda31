//! What the person did, with simulated times: for the debrief, and for what steps require.

use crate::sim::command::Command;
use crate::sim::time::SimTime;

/// Things done that are remembered at most; the oldest looks go first.
pub const DEEDS_MAX: usize = 10_000;

/// One thing that the person did.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    /// When.
    pub at: SimTime,
    /// As it was typed.
    pub line: String,
    /// What it was.
    pub kind: DeedKind,
}

/// What the person did.
#[derive(Clone, Debug, PartialEq)]
pub enum DeedKind {
    /// A command that acts.
    Acted(Command),
    /// A command that looks.
    Looked(Command),
    /// A command that was refused, and by what words.
    Refused(String),
    /// A pane was looked at, on the screen.
    Viewed,
    /// A page was acknowledged.
    Acknowledged,
    /// A hint was asked for.
    Hint(HintId),
    /// Enough.
    GaveUp,
}

/// Which hint: a step by its place, and which of its hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintId {
    /// The step's place in the plan.
    pub step: usize,
    /// The hint's place in the step.
    pub hint: usize,
}

impl DeedKind {
    /// One word for tables.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Acted(_) => "acted",
            Self::Looked(_) => "looked",
            Self::Refused(_) => "refused",
            Self::Viewed => "viewed",
            Self::Acknowledged => "acknowledged",
            Self::Hint(_) => "hint",
            Self::GaveUp => "gave up",
        }
    }

    /// The command, where it was one that was taken.
    pub const fn command(&self) -> Option<&Command> {
        match self {
            Self::Acted(command) | Self::Looked(command) => Some(command),
            _ => None,
        }
    }

    /// Whether somebody who does this has noticed that something is wrong.
    pub const fn is_detection(&self) -> bool {
        !matches!(self, Self::GaveUp)
    }
}
