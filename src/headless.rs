//! Runs without a screen: scenarios one after another, one report, one exit code.
//!
//! Invariants: the same [`Session`] as on the screen, in budget slices, so that Ctrl+C is answered
//! at once; the report is written whole or not at all; what goes to standard error (problems,
//! notes, progress) never mixes with the report.

pub mod attempts;
pub mod catalog;
mod exit;
mod progress;
pub mod rehearse;
pub mod select;
pub mod wheel;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::command::text::escaped;
use crate::insight::path;
use crate::report::output::Destination;
use crate::report::{Format, Outcome, Report, render};
use crate::scenario::{Overrides, Paint, Scenario, Source, load};
use crate::session::{Memory, Session};
use crate::sim::Progress;
use crate::sim::time::{SimSpan, SimTime};

pub use exit::Exit;

use progress::ProgressLine;
use select::select;

/// Things that happen between two looks at the interrupt flag, about.
const EVENTS_PER_SLICE: u64 = 100_000;
/// Simulated time between two looks at the interrupt flag, at most.
const SLICE: SimSpan = SimSpan::from_seconds(10);

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files, folders, and names of the embedded library.
    pub scenarios: Vec<PathBuf>,
    /// Another seed (`--seed`).
    pub seed: Option<u64>,
    /// Where to stop (`--until`).
    pub until: Option<SimSpan>,
    /// `path=value` (`--set`).
    pub set: Vec<String>,
    /// Figures that are sampled beside those that always are (`--metric`).
    pub metrics: Vec<String>,
    /// What the report is written as.
    pub format: Format,
    /// Where the report goes; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It went as far as it should.
    Done,
    /// Somebody pressed Ctrl+C.
    Interrupted,
}

/// Runs everything that is asked for and writes the report.
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
    let mut exit = Exit::Held;
    let mut outcomes = Vec::new();
    for wanted in select(&request.scenarios) {
        let (outcome, code) = match wanted {
            Ok(source) => one(&source, request, &interrupted),
            Err(problem) => {
                complain(&problem.to_string());
                let (scenario, problem) = (problem.wanted.clone(), problem.to_string());
                (Some(Outcome::Unloadable { scenario, problem }), Exit::Usage)
            }
        };
        outcomes.extend(outcome);
        exit = exit.merge(code);
        if exit == Exit::Interrupted {
            return exit;
        }
    }
    let nothing_ran = !outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::Ran(_)));
    if nothing_ran && request.format == Format::Text {
        // What is wrong was said already.
        return exit.merge(Exit::Usage);
    }
    match destination.write(&render(&outcomes, request.format)) {
        Ok(()) => exit,
        Err(error) => {
            complain(&format!("error: {error}"));
            exit.merge(Exit::Unwritten)
        }
    }
}

/// Runs one scenario: what it amounts to (nothing when interrupted), and its exit code.
fn one(source: &Source, request: &Request, interrupted: &AtomicBool) -> (Option<Outcome>, Exit) {
    let name = select::shown(source);
    let scenario = match load_until(source, request) {
        Ok(scenario) => scenario,
        Err(problems) => {
            complain(&problems);
            let problem = Outcome::Unloadable {
                scenario: name,
                problem: problems,
            };
            return (Some(problem), Exit::Usage);
        }
    };
    for note in &scenario.notes {
        complain(&note.rendered);
    }
    let until = request
        .until
        .map_or(SimTime::NEVER, |until| SimTime::ZERO + until);
    let mut session = Session::with_memory(Arc::new(scenario), Memory::ForwardsOnly);
    if let Err(problem) = ask(&mut session, &request.metrics) {
        complain(&problem);
        let scenario = name;
        return (Some(Outcome::Unloadable { scenario, problem }), Exit::Usage);
    }
    match finish(&mut session, until, interrupted) {
        Ending::Interrupted => (None, Exit::Interrupted),
        Ending::Done => {
            let report = if request.format.shows_series() {
                Report::with_series(&session)
            } else {
                Report::of(&session)
            };
            let exit = Exit::of(&report);
            (Some(Outcome::Ran(Box::new(report))), exit)
        }
    }
}

/// Has figures sampled from the start; in words which one cannot be.
fn ask(session: &mut Session, paths: &[String]) -> Result<(), String> {
    for path in paths {
        let config = Arc::clone(&session.scenario().config);
        let metric = path::parse(path, &config).map_err(|problem| {
            let hint = problem.nearest.as_ref();
            let hint = hint.map_or(String::new(), |near| format!("\n\ndid you mean `{near}`?"));
            format!(
                "error: --metric {}: {}{hint}",
                escaped(path),
                problem.message
            )
        })?;
        session
            .ask(metric)
            .map_err(|_too_many| "error: --metric: too many figures are asked for".to_owned())?;
    }
    Ok(())
}

/// Loads a scenario. Where `--until` lies behind its end, its end moves; where it lies before, the
/// run stops there, and what was expected later stays open.
fn load_until(source: &Source, request: &Request) -> Result<Scenario, String> {
    let mut overrides = Overrides {
        seed: request.seed,
        set: request.set.clone(),
        ..Overrides::default()
    };
    let paint = paint_for(&std::io::stderr());
    let loaded = load(source.clone(), &overrides).map_err(|problems| problems.render(paint));
    match (loaded, request.until) {
        (Ok(scenario), Some(until))
            if until == SimSpan::ZERO || scenario.config.duration < until =>
        {
            overrides.until = Some(until);
            load(source.clone(), &overrides).map_err(|problems| problems.render(paint))
        }
        (loaded, _) => loaded,
    }
}

/// Lets `session` run to its end, or to `until`, and decides what is still open.
fn finish(session: &mut Session, until: SimTime, interrupted: &AtomicBool) -> Ending {
    let target = until.min(session.end());
    let mut progress = ProgressLine::new(&session.scenario().name, target);
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Ending::Interrupted;
        }
        let stop = target.min(session.now() + SLICE);
        let advance = session.advance_to(stop, EVENTS_PER_SLICE);
        let is_there = advance.progress != Progress::BudgetSpent && target <= advance.reached;
        if is_there || advance.progress == Progress::Ended {
            session.finish();
            return Ending::Done;
        }
        progress.show(advance.reached);
    }
}

/// Whether text for `stream` is coloured: where a terminal shows it, and `NO_COLOR` is empty.
pub fn paint_for(stream: &impl IsTerminal) -> Paint {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stream.is_terminal() && !no_color {
        Paint::Coloured
    } else {
        Paint::Plain
    }
}

/// Says something on standard error. Nobody can be told when that fails.
pub fn complain(text: &str) {
    let _written = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}
