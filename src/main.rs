//! Entry point: parse, dispatch, answer with an exit code.

mod compare;
mod looks;
mod manual;
mod record;
mod rehearse;
mod screen;
mod shot;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use kdrill::cli::{
    Action, Cli, ClientName, FormatName, KeysArgs, KeysFormat, LintArgs, ListedKeys, NewArgs,
    RunArgs, SerializerName, SwarmArgs,
};
use kdrill::headless::{self, Exit, Request, catalog, complain, select};
use kdrill::kafka::serializer::KeySerializer;
use kdrill::keys;
use kdrill::lint;
use kdrill::report::Format;
use kdrill::scaffold;
use kdrill::swarm;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.action {
        Some(Action::Run(args)) => run(args),
        Some(Action::Check { paths }) => catalog::check(&paths).into(),
        Some(Action::List) => catalog::list().into(),
        Some(Action::Show { name }) => catalog::show(&name).into(),
        Some(Action::Rehearse(args)) => rehearse::run(&args),
        Some(Action::Record(args)) => record::run(args).into(),
        Some(Action::Shot(args)) => shot::run(args).into(),
        Some(Action::Diff(args)) => compare::run(args),
        Some(Action::Keys(args)) => keys(args),
        Some(Action::New(args)) => new(args).into(),
        Some(Action::Lint(args)) => lint(args).into(),
        Some(Action::Swarm(args)) => swarm(args),
        Some(Action::Schema) => catalog::print(&kdrill::scenario::schema()).into(),
        Some(Action::Completions { shell }) => manual::completions(shell).into(),
        Some(Action::Man { folder }) => manual::pages(folder.as_deref()).into(),
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
        metrics: args.metrics,
        format: match args.format {
            None | Some(FormatName::Text) => Format::Text,
            Some(FormatName::Json) => Format::Json,
            Some(FormatName::Junit) => Format::Junit,
            Some(FormatName::Csv) => Format::Csv,
            Some(FormatName::Openmetrics) => Format::Openmetrics,
        },
        output: args.output,
    }
}

/// Where keys go.
fn keys(args: KeysArgs) -> ExitCode {
    if let Some(grow) = args.grow.filter(|grow| *grow <= args.partitions) {
        complain(&format!(
            "error: a topic with {} partitions cannot grow to {grow}: Kafka only adds partitions",
            args.partitions
        ));
        return Exit::Usage.into();
    }
    let request = keys::Request {
        source: match args.file {
            Some(path) => keys::Source::File(path),
            None if args.keys.is_empty() => keys::Source::Stdin,
            None => keys::Source::Arguments(args.keys),
        },
        partitions: args.partitions,
        grow: args.grow,
        serializer: match args.serializer {
            SerializerName::String => KeySerializer::String,
            SerializerName::Int32 => KeySerializer::Int32,
            SerializerName::Int64 => KeySerializer::Int64,
            SerializerName::Json => KeySerializer::Json,
            SerializerName::Hex => KeySerializer::Hex,
        },
        separator: args
            .separator
            .map_or(keys::Separator::None, keys::Separator::Byte),
        null_marker: args.null_marker,
        format: match args.format {
            KeysFormat::Text => keys::Format::Text,
            KeysFormat::Json => keys::Format::Json,
            KeysFormat::Csv => keys::Format::Csv,
        },
        list: match args.list {
            None => keys::List::Usual,
            Some(ListedKeys::First(most)) => keys::List::First(most),
            Some(ListedKeys::All) => keys::List::All,
        },
        output: args.output,
    };
    keys::run(&request).into()
}

/// A scenario to start from.
fn new(args: NewArgs) -> Exit {
    scaffold::run(&scaffold::Request {
        properties: args.properties,
        client: client_word(args.client),
        describe: args.describe,
        output: args.output,
    })
}

/// A client as scenarios name it.
const fn client_word(client: ClientName) -> &'static str {
    match client {
        ClientName::Java => "java",
        ClientName::Librdkafka => "librdkafka",
    }
}

/// What a configuration means.
fn lint(args: LintArgs) -> Exit {
    lint::run(&lint::Request {
        file: args.file,
        client: client_word(args.client),
        version: args.version,
        rate: args.rate,
        value_bytes: args.value_bytes,
        partitions: args.partitions,
    })
}

/// Random runs, and what must hold in all of them.
fn swarm(args: SwarmArgs) -> ExitCode {
    let jobs = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
        usize::from,
    );
    let request = swarm::Request {
        scenarios: args.scenarios,
        runs: args.runs,
        seed: args.seed,
        jobs,
        output: args.output,
    };
    swarm::run(&request).into()
}
