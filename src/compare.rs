//! From the command line to a comparison of two runs: on the screen, or as a report.

use std::io::IsTerminal;
use std::process::ExitCode;

use kdrill::cli::{DiffArgs, DiffFormatName};
use kdrill::diff::{self, Format, Request};
use kdrill::headless::{Exit, complain};

use crate::screen;

/// Compares two scenarios, or one with itself changed.
pub fn run(args: DiffArgs) -> ExitCode {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let wants_report = args.headless || args.format.is_some() || args.output.is_some();
    let request = Request {
        b: args.b.unwrap_or_else(|| args.a.clone()),
        a: args.a,
        set: args.set,
        set_a: args.set_a,
        set_b: args.set_b,
        seed: args.seed,
        until: args.until,
        format: match args.format {
            None | Some(DiffFormatName::Text) => Format::Text,
            Some(DiffFormatName::Json) => Format::Json,
        },
        output: args.output,
    };
    if wants_report || !has_terminal {
        return diff::run(&request).into();
    }
    match diff::load_both(&request) {
        Ok(both) => screen::run_pair(both, &args.screen),
        Err(problems) => {
            complain(&problems);
            Exit::Usage.into()
        }
    }
}
