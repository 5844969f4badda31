//! The one command grammar: the timeline's `do`, the `:` prompt, the journal and playbook hints.
//!
//! A line is split into words as a shell does, read by one clap definition, and resolved against
//! the [`Names`] of a run into a [`Command`]. Completion and the reference walk that same
//! definition. Invariants: [`render`] and [`parse`] are each other's inverse; a problem names the
//! stretch of the line that it is about, so that a caret can point there.

mod complete;
mod configs;
mod configs_tool;
mod election;
mod grammar;
mod groups;
mod groups_printed;
#[cfg(test)]
mod groups_tests;
mod names;
mod offsets;
mod parse;
mod problem;
mod proposal;
mod reassign;
mod reference;
mod render;
pub mod screen;
mod setting;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tool;
mod topics;
mod transactions;
pub mod units;
pub mod words;

pub use complete::{COMPLETIONS_MAX, Completion, complete};
pub use configs_tool::completed;
pub use names::Names;
pub use parse::parse;
pub use problem::CommandProblem;
pub use reference::reference;
pub use render::render;

pub use crate::sim::command::Command;
