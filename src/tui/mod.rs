//! The screen: a live dashboard over one session, and the list of scenarios.
//!
//! The shape is the one that ratatui's own guides recommend: [`update::update`] changes the
//! [`model::Model`] and returns effects, [`draw::draw`] only reads. [`app`] is the loop between
//! them: one line waits for input, everything after it is synchronous, on one thread.
//!
//! Invariants:
//! - Nothing here decides what happens in a run: keys become commands or another pace, and pace
//!   only slices time, which the engine does not notice.
//! - Drawing changes no state and never fails, at any size of terminal.
//! - Colour never carries a meaning alone, and nothing foreign reaches the terminal unescaped.
//! - However the program ends, the terminal is given back ([`terminal`]).

mod app;
pub mod draw;
mod fork;
pub mod glyph;
mod input;
pub mod keymap;
pub mod layout;
pub mod line_edit;
pub mod model;
pub mod msg;
pub mod number;
pub mod pace;
pub mod pane;
pub mod panel;
pub mod picker;
mod plan;
pub mod prompt;
mod rehearsing;
pub mod run;
pub mod scene;
pub mod seek;
pub mod shorten;
mod terminal;
pub mod text;
pub mod theme;
pub mod update;
pub mod widget;
pub mod zoom;

pub use app::{Exit, Options, rehearse, run, run_pair, run_picker};
pub use draw::draw;
pub use run::{Load, Patience, Run};
