//! From the command line to a recording.

use kdrill::cli::{AsciicastName, RecordArgs};
use kdrill::headless::{Exit, complain};
use kdrill::recording::{self, Asciicast, Request, Script};
use kdrill::scenario::Overrides;
use kdrill::tui::pace::Speed;

use crate::looks;

/// Makes the recording that is asked for.
pub fn run(args: RecordArgs) -> Exit {
    let script = match script(&args) {
        Ok(script) => script,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    recording::run(&Request {
        theme: looks::fixed(args.theme, args.ascii),
        scenario: args.scenario,
        overrides: Overrides {
            seed: args.seed,
            until: None,
            set: args.set,
            vary: None,
        },
        size: args.size,
        fps: args.fps,
        speed: Speed::nearest(args.speed),
        from: args.from,
        to: args.to,
        script,
        format: match args.asciicast {
            AsciicastName::V2 => Asciicast::V2,
            AsciicastName::V3 => Asciicast::V3,
        },
        output: args.output,
    })
}

fn script(args: &RecordArgs) -> Result<Script, String> {
    let Some(path) = &args.keys else {
        return Ok(Script::default());
    };
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("error: {name} cannot be read: {error}"))?;
    Script::parse(&text).map_err(|problem| format!("error: {name}, {problem}"))
}
