//! From the command line to a rehearsal: which one, on the screen or by a script.

use std::process::ExitCode;

use kdrill::cli::{DebriefFormatName, RehearseArgs};
use kdrill::headless::rehearse::{Format, Request, run as play};
use kdrill::headless::{Exit, complain, select};
use kdrill::scenario::Source;

/// Rehearses.
pub fn run(args: &RehearseArgs) -> ExitCode {
    let source = match source(args) {
        Ok(source) => source,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage.into();
        }
    };
    let request = Request {
        source,
        seed: args.seed,
        script: args.script.clone(),
        debrief: args.debrief.clone(),
        format: match args.format {
            DebriefFormatName::Text => Format::Text,
            DebriefFormatName::Json => Format::Json,
        },
    };
    let (exit, _debrief) = play(&request);
    exit.into()
}

fn source(args: &RehearseArgs) -> Result<Source, String> {
    let Some(wanted) = &args.scenario else {
        return Err("error: no incident was named".to_owned());
    };
    match select::select(std::slice::from_ref(wanted)).pop() {
        Some(Ok(source)) => Ok(source),
        Some(Err(nothing)) => Err(nothing.to_string()),
        None => Err("error: no incident was named".to_owned()),
    }
}
