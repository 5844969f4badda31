//! Entry point: parse, dispatch, answer with an exit code.

mod screen;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use kdrill::cli::{Action, Cli, FormatName, RunArgs};
use kdrill::headless::{self, Exit, Request, catalog, complain, select};
use kdrill::report::Format;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.action {
        Some(Action::Run(args)) => run(args),
        Some(Action::Check { paths }) => catalog::check(&paths).into(),
        Some(Action::List) => catalog::list().into(),
        Some(Action::Show { name }) => catalog::show(&name).into(),
        Some(Action::Schema) => catalog::print(&kdrill::scenario::schema()).into(),
        None => run(cli.run),
    }
}

/// On the screen where there is a terminal and nothing asks for a report; headless otherwise.
fn run(args: RunArgs) -> ExitCode {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let wants_report = args.headless || args.format.is_some() || args.output.is_some();
    if has_terminal && !wants_report && !select::is_several(&args.scenarios) {
        return screen::run(&args);
    }
    if args.scenarios.is_empty() {
        complain(
            "error: no scenario was named, and there is no terminal to pick one on\n\n\
             `kdrill list` shows the library",
        );
        return Exit::Usage.into();
    }
    headless::run(&request(args)).into()
}

fn request(args: RunArgs) -> Request {
    Request {
        scenarios: args.scenarios,
        seed: args.seed,
        until: args.until,
        set: args.set,
        format: match args.format {
            None | Some(FormatName::Text) => Format::Text,
            Some(FormatName::Json) => Format::Json,
            Some(FormatName::Junit) => Format::Junit,
            Some(FormatName::Csv) => Format::Csv,
        },
        output: args.output,
    }
}
