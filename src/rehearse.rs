//! From the command line to a rehearsal: which one, on the screen or by a script.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use kdrill::cli::{DebriefFormatName, RehearseArgs};
use kdrill::headless::attempts::{self, Attempt};
use kdrill::headless::rehearse::{Format, Request, load_rehearsal, publish, run as play};
use kdrill::headless::{Exit, complain, select, wheel};
use kdrill::rehearsal::debrief::Debrief;
use kdrill::report::output::Destination;
use kdrill::scenario::Source;

use crate::screen;

/// Seeds that are drawn are small enough to be typed again.
const DRAWN_SEEDS: u64 = 1_000_000;

/// Rehearses.
pub fn run(args: &RehearseArgs) -> ExitCode {
    // What is picked without a name is drawn anew each time.
    let seed = args
        .seed
        .or_else(|| args.scenario.is_none().then(fresh_seed));
    let source = match source(args, seed.unwrap_or(0)) {
        Ok(source) => source,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage.into();
        }
    };
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if has_terminal && args.script.is_none() {
        return on_screen(args, source, seed);
    }
    let request = Request {
        source,
        seed,
        script: args.script.clone(),
        debrief: args.debrief.clone(),
        format: format(args),
    };
    play(&request).into()
}

fn format(args: &RehearseArgs) -> Format {
    match args.format {
        DebriefFormatName::Text => Format::Text,
        DebriefFormatName::Json => Format::Json,
    }
}

/// A seed that nobody has seen.
#[expect(
    clippy::disallowed_methods,
    reason = "a person wants another incident each time; the run is a function of this seed"
)]
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = now.map_or(0, |since| since.subsec_nanos());
    u64::from(nanos) / 7 % DRAWN_SEEDS
}

fn source(args: &RehearseArgs, seed: u64) -> Result<Source, String> {
    let Some(wanted) = &args.scenario else {
        let earlier = attempts::file().map(|file| attempts::read(&file));
        let last = earlier.as_ref().and_then(|all| all.last());
        // With a seed of one's own the same incident comes again.
        let last = last.filter(|_| args.seed.is_none());
        let last = last.map(|attempt| attempt.scenario.as_str());
        return wheel::pick(seed, args.level, last)
            .ok_or_else(|| "error: the library has no incident of this level".to_owned());
    };
    match select::select(std::slice::from_ref(wanted)).pop() {
        Some(Ok(source)) => Ok(source),
        Some(Err(nothing)) => Err(nothing.to_string()),
        None => Err("error: no incident was named".to_owned()),
    }
}

fn on_screen(args: &RehearseArgs, source: Source, seed: Option<u64>) -> ExitCode {
    let scenario = match load_rehearsal(&source, seed) {
        Ok(scenario) => scenario,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage.into();
        }
    };
    let file = match args.debrief.as_deref().map(Destination::file).transpose() {
        Ok(file) => file,
        Err(error) => {
            complain(&format!("error: {error}"));
            return Exit::Unwritten.into();
        }
    };
    let Some((debrief, code)) = screen::rehearse(&args.screen, (scenario, source, seed)) else {
        return Exit::Usage.into();
    };
    let decided = debrief.filter(|debrief| debrief.times.decided.is_some());
    let Some(debrief) = decided else {
        complain("the rehearsal was left before it was won or lost");
        return code.into();
    };
    let exit = publish(&debrief, file, format(args));
    remember(&debrief);
    match (exit, debrief.verdict) {
        (Exit::Held, "won") => Exit::Held.into(),
        (Exit::Held, _) => Exit::Failed.into(),
        (unwritten, _) => unwritten.into(),
    }
}

/// Compares with the last attempt, and remembers this one.
fn remember(debrief: &Debrief) {
    let attempt = Attempt::of(debrief);
    let Some(file) = attempts::file() else {
        return;
    };
    complain(&attempts::compared(&attempt, &attempts::read(&file)));
    if let Err(error) = attempts::remember(&file, &attempt) {
        complain(&format!("warning: {error}"));
    }
}
