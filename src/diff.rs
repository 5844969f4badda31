//! `kdrill diff`: two runs from the start in lock-step, the moment at which they part, and every
//! figure that differs in the end.
//!
//! Invariants: each run is the one that `kdrill run` gives; equal figures are not mentioned; the
//! report is written whole or not at all.

mod differences;
mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::headless::{Exit, complain, paint_for, select};
use crate::report::Report;
use crate::report::output::Destination;
use crate::scenario::{Overrides, Scenario, load};
use crate::session::Session;
use crate::session::pair::{Pair, Parting};
use crate::sim::Progress;
use crate::sim::time::{SimSpan, SimTime};

pub use differences::Comparison;

/// Things that happen between two looks at the interrupt flag, about.
const EVENTS_PER_SLICE: u64 = 100_000;

/// What the differences are written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people, 80 columns wide.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Which two runs, and where the differences go.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// One scenario: a file, or a name of the library.
    pub a: PathBuf,
    /// The other.
    pub b: PathBuf,
    /// What changes in both.
    pub set: Vec<String>,
    /// What changes in A only.
    pub set_a: Vec<String>,
    /// What changes in B only.
    pub set_b: Vec<String>,
    /// Another seed for both.
    pub seed: Option<u64>,
    /// Where to stop.
    pub until: Option<SimSpan>,
    /// What the differences are written as.
    pub format: Format,
    /// Where they go; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// One of the two, as people know it.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it amounts to.
    pub report: Report,
    /// What was changed in it.
    pub changes: Vec<String>,
}

/// Runs both and writes what differs.
pub fn run(request: &Request) -> Exit {
    let interrupted = Arc::new(AtomicBool::new(false));
    // Without a handler Ctrl+C still ends the process, only less gracefully.
    let _registered =
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted));
    let destination = match &request.output {
        None => Destination::stdout(),
        Some(path) => match Destination::file(path) {
            Ok(destination) => destination,
            Err(error) => {
                complain(&format!("error: {error}"));
                return Exit::Unwritten;
            }
        },
    };
    let (a, b) = match load_both(request) {
        Ok(both) => both,
        Err(problems) => {
            complain(&problems);
            return Exit::Usage;
        }
    };
    let mut pair = Pair::new(Session::new(Arc::new(a)), Session::new(Arc::new(b)));
    if !finish(&mut pair, request.until, &interrupted) {
        return Exit::Interrupted;
    }
    let comparison = compare(&pair, request);
    let text = match request.format {
        Format::Text => text::render(&comparison),
        Format::Json => comparison.json(),
    };
    match destination.write(&text) {
        Ok(()) if comparison.is_same() => Exit::Held,
        Ok(()) => Exit::Failed,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

/// Loads both scenarios, or says everything that is wrong with them.
pub fn load_both(request: &Request) -> Result<(Scenario, Scenario), String> {
    match (
        loaded(&request.a, &request.set_a, request),
        loaded(&request.b, &request.set_b, request),
    ) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(problems), Ok(_)) | (Ok(_), Err(problems)) => Err(problems),
        (Err(of_a), Err(of_b)) if of_a == of_b => Err(of_a),
        (Err(of_a), Err(of_b)) => Err(format!("{of_a}\n{of_b}")),
    }
}

/// What two runs that were finished differ in.
fn compare(pair: &Pair, request: &Request) -> Comparison {
    let side = |session: &Session, changes: &[String]| Side {
        report: Report::of(session),
        changes: changes.to_vec(),
    };
    let parting: Option<Parting> = pair.parting().cloned();
    Comparison::new(
        side(&pair.a, &request.set_a),
        side(&pair.b, &request.set_b),
        parting,
    )
}

fn loaded(path: &PathBuf, own: &[String], request: &Request) -> Result<Scenario, String> {
    let mut found = select::select(std::slice::from_ref(path));
    let source = match (found.pop(), found.len()) {
        (Some(Ok(source)), 0) => source,
        (Some(Err(nothing)), 0) => return Err(nothing.to_string()),
        _ => {
            let what = "error: two runs are compared, not folders";
            return Err(format!("{what}\n\nname a file instead of a folder"));
        }
    };
    let overrides = Overrides {
        seed: request.seed,
        until: None,
        set: request.set.iter().chain(own).cloned().collect(),
        ..Overrides::default()
    };
    let paint = paint_for(&std::io::stderr());
    load(source, &overrides).map_err(|problems| problems.render(paint))
}

/// Lets both run to their ends, or to `until`; `false` when somebody pressed Ctrl+C.
fn finish(pair: &mut Pair, until: Option<SimSpan>, interrupted: &AtomicBool) -> bool {
    let until = until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until);
    while pair.advance_to(until, EVENTS_PER_SLICE) == Progress::BudgetSpent {
        if interrupted.load(Ordering::Relaxed) {
            return false;
        }
    }
    pair.finish();
    true
}
