//! `kdrill record`: a run on a screen as an asciinema recording, made without a terminal and
//! without waiting.
//!
//! Invariants: frames come from simulated time and a fixed frame rate, so that the same request
//! gives the same bytes on every machine; only cells that changed are written, except after a
//! marker, where players may jump to; the file is written whole or not at all.

mod cast;
mod director;
mod screen;
mod script;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::headless::{Exit, complain, paint_for, select};
use crate::report::output::Destination;
use crate::scenario::{Overrides, Scenario, load};
use crate::session::Session;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::pace::Speed;
use crate::tui::theme::Theme;

pub use cast::Asciicast;
pub use script::{Script, ScriptProblem};

use cast::Cast;
use director::{Director, Take};

/// Frames of a recording at most: two hours and a half at 15 a second.
const FRAMES_MAX: u64 = 135_000;
/// How long the last frame stands.
const TAIL_MICROS: u64 = 2_000_000;

/// What to record, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// A file, or the name of a scenario of the library.
    pub scenario: PathBuf,
    /// Seed and changed values.
    pub overrides: Overrides,
    /// Columns and lines.
    pub size: (u16, u16),
    /// Frames a second, 5 to 60.
    pub fps: u32,
    /// Simulated seconds in a second of the recording.
    pub speed: Speed,
    /// The simulated moment of the first frame.
    pub from: SimSpan,
    /// The simulated moment of the last one; the end of the run where none is given.
    pub to: Option<SimSpan>,
    /// Looks.
    pub theme: Theme,
    /// What is pressed and typed.
    pub script: Script,
    /// The version of the format.
    pub format: Asciicast,
    /// Where it goes; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// Records.
pub fn run(request: &Request) -> Exit {
    let interrupted = Arc::new(AtomicBool::new(false));
    // Without a handler Ctrl+C still ends the process, only less gracefully.
    let _registered =
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted));
    let scenario = match load_one(request) {
        Ok(scenario) => scenario,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let destination = match &request.output {
        None => Ok(Destination::stdout()),
        Some(path) => Destination::file(path),
    };
    let destination = match destination {
        Ok(destination) => destination,
        Err(error) => {
            complain(&format!("error: {error}"));
            return Exit::Unwritten;
        }
    };
    let Some(cast) = record(scenario, request, &interrupted) else {
        return Exit::Interrupted;
    };
    match destination.write(&cast) {
        Ok(()) => Exit::Held,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

fn load_one(request: &Request) -> Result<Scenario, String> {
    let mut found = select::select(std::slice::from_ref(&request.scenario));
    let source = match (found.pop(), found.len()) {
        (Some(Ok(source)), 0) => source,
        (Some(Err(nothing)), 0) => return Err(nothing.to_string()),
        _ => {
            return Err(
                "error: a recording shows one scenario\n\nname a file instead of a folder"
                    .to_owned(),
            );
        }
    };
    let paint = paint_for(&std::io::stderr());
    load(source, &request.overrides).map_err(|problems| problems.render(paint))
}

/// The recording; nothing when somebody pressed Ctrl+C.
fn record(scenario: Scenario, request: &Request, interrupted: &AtomicBool) -> Option<String> {
    let mut cast = Cast::new(request.format, request.size, &scenario.title);
    let session = Session::new(Arc::new(scenario));
    let mut director = Director::new(session, request);
    for frame in 0..FRAMES_MAX {
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        let at_micros = frame * 1_000_000 / u64::from(request.fps);
        let take = director.shoot(at_micros);
        for marker in &take.markers {
            cast.marker(at_micros, marker);
        }
        cast.output(at_micros, &take.bytes);
        if let Take { is_last: true, .. } = take {
            if let Some(why) = director.left_over() {
                complain(&format!("note: {why}"));
            }
            cast.output_even_if_empty(at_micros + TAIL_MICROS, "");
            return Some(cast.finish());
        }
    }
    complain("note: the recording is as long as it can be, and ends here");
    Some(cast.finish())
}

/// A moment of the run.
fn moment(span: SimSpan) -> SimTime {
    SimTime::ZERO + span
}
