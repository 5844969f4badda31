//! From the command line to a comparison of two runs.

use kdrill::cli::{DiffArgs, DiffFormatName};
use kdrill::diff::{self, Format, Request};
use kdrill::headless::Exit;

/// Compares two scenarios, or one with itself changed.
pub fn run(args: DiffArgs) -> Exit {
    diff::run(&Request {
        b: args.b.unwrap_or_else(|| args.a.clone()),
        a: args.a,
        set: args.set,
        set_a: args.set_a,
        set_b: args.set_b,
        seed: args.seed,
        until: args.until,
        format: match args.format {
            DiffFormatName::Text => Format::Text,
            DiffFormatName::Json => Format::Json,
        },
        output: args.output,
    })
}
