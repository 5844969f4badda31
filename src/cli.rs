//! The command line: what can be written, and nothing else.

mod diff;
mod keys;
mod record;
mod rehearse;
mod shot;
mod swarm;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::command::units;
use crate::sim::time::SimSpan;

pub use diff::{DiffArgs, DiffFormatName};
pub use keys::{KeysArgs, KeysFormat, ListedKeys, SerializerName};
pub use record::{AsciicastName, RecordArgs};
pub use rehearse::{DebriefFormatName, RehearseArgs};
pub use shot::{BackgroundName, PaneName, ShotArgs, StillFormatName};
pub use swarm::SwarmArgs;

/// Rehearse Kafka producer incidents in a terminal.
///
/// Without arguments, pick a scenario from the library. With a scenario, run it: on the screen
/// when there is a terminal, headless otherwise.
#[derive(Debug, Parser)]
#[command(name = "kdrill", version, args_conflicts_with_subcommands = true)]
#[command(max_term_width = 80)]
#[command(
    after_help = "Exit codes of headless runs: 0 everything held, 1 an expectation failed, \
    2 wrong usage or scenario, 3 the run ended first, 4 the report could not be written."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// What to run when there is no subcommand.
    #[command(flatten)]
    pub run: RunArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Run scenarios (the default).
    Run(RunArgs),
    /// Say what is wrong with scenario files, without running them.
    Check {
        /// Files, and folders with `*.toml` files.
        #[arg(required = true, value_name = "FILE|FOLDER")]
        paths: Vec<PathBuf>,
    },
    /// List the scenarios that kdrill brings along.
    List,
    /// Print a scenario of the library, as a start for one's own.
    Show {
        /// Its name.
        name: String,
    },
    /// Rehearse an incident: be paged, act, win or lose, and read the debrief.
    Rehearse(RehearseArgs),
    /// Record a run as an asciinema recording, without a terminal and without waiting.
    Record(RecordArgs),
    /// Write one frame of a run to a file: as a picture, or as text.
    Shot(ShotArgs),
    /// Run two scenarios side by side, on the screen or for a report of what differs.
    Diff(DiffArgs),
    /// Say which partition each key goes to, with every partitioner of both clients.
    Keys(KeysArgs),
    /// Print a commented scenario to start from, or one of a real client and real topics.
    New(NewArgs),
    /// Explain a client's configuration file: what is refused, what silently changes, and what it
    /// means in seconds and bytes.
    Lint(LintArgs),
    /// Run random clusters, clients and faults, and check what must always hold.
    Swarm(SwarmArgs),
    /// Print a JSON schema of scenario files, for editors.
    Schema,
    /// Print what makes a shell complete kdrill's words.
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all subcommands into a folder.
    Man {
        /// Where kdrill.1, kdrill-run.1 and so on are written.
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// Which configuration, and for which load.
#[derive(Debug, Args)]
pub struct LintArgs {
    /// A .properties file, as the client takes it.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Whose configuration it is.
    #[arg(long, value_name = "CLIENT", value_enum, default_value_t)]
    pub client: ClientName,
    /// The client's release, such as 3.9; the latest known one by default.
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Records per second.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: u64,
    /// Bytes of a record's value.
    #[arg(long, value_name = "BYTES", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(0..1 << 30))]
    pub value_bytes: u32,
    /// Partitions that are written to.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: u32,
}

/// What a new scenario is made of.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The producer's client configuration: a .properties file.
    #[arg(long, value_name = "FILE")]
    pub properties: Option<PathBuf>,
    /// Whose configuration it is.
    #[arg(long, value_name = "CLIENT", value_enum, default_value_t)]
    pub client: ClientName,
    /// The topics: what `kafka-topics.sh --describe` printed.
    #[arg(long, value_name = "FILE")]
    pub describe: Option<PathBuf>,
    /// Write the scenario to a file that is not there yet.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Whose configuration a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClientName {
    /// Apache Kafka's own client.
    #[default]
    Java,
    /// The C library, and what is built on it.
    Librdkafka,
}

/// What to run, and how.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A file, a folder, or the name of a scenario of the library; an existing path wins.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,
    /// Run without a screen and print a report.
    #[arg(long)]
    pub headless: bool,
    /// Another seed for all random streams.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop at this simulated time, such as 90s.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until: Option<SimSpan>,
    /// Change a value of the scenario, such as producer.trips.config.linger.ms=20.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Sample this figure, too, for --format csv and openmetrics, such as
    /// producer.trips.record-error-rate.
    #[arg(long = "metric", value_name = "PATH")]
    pub metrics: Vec<String>,
    /// What the report is written as; implies --headless.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<FormatName>,
    /// Write the report to a file, whole or not at all; implies --headless.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the screen looks like, and how fast it goes.
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What the screen looks like, and how fast it goes.
#[derive(Debug, Args)]
pub struct ScreenArgs {
    /// Simulated seconds in a real one: 4, 1/2, max.
    #[arg(long, value_name = "FACTOR", value_parser = speed)]
    pub speed: Option<f64>,
    /// Colours of the screen; `auto` asks the terminal, and respects `NO_COLOR`.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub theme: ThemeName,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
}

/// How many colours the screen uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// As many as the terminal shows.
    #[default]
    Auto,
    /// None: bold, dim and reversed only.
    Mono,
    /// The terminal's own sixteen.
    #[value(name = "16")]
    Sixteen,
    /// The 256 of xterm.
    #[value(name = "256")]
    Indexed,
    /// 24 bits.
    Truecolor,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For CI servers.
    Junit,
    /// The sampled series as rows.
    Csv,
    /// The sampled series for Prometheus, with moments.
    Openmetrics,
}

fn duration(text: &str) -> Result<SimSpan, units::QuantityError> {
    units::duration(text)
}

/// A factor above 0; `max` is infinite.
fn speed(text: &str) -> Result<f64, &'static str> {
    const EXPECTED: &str = "a speed is a number above 0, a fraction such as 1/2, or max";
    if text == "max" {
        return Ok(f64::INFINITY);
    }
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_not_a_number| EXPECTED);
    let factor = number(above)? / number(below)?;
    if factor.is_finite() && 0.0 < factor {
        Ok(factor)
    } else {
        Err(EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_scenario_needs_no_subcommand() {
        let cli = Cli::parse_from(["kdrill", "full-buffer", "--seed", "3"]);
        assert!(cli.action.is_none());
        assert_eq!(cli.run.scenarios, [PathBuf::from("full-buffer")]);
        assert_eq!(cli.run.seed, Some(3));
    }

    #[test]
    fn speeds_are_factors_fractions_or_max() {
        assert_eq!(speed("4"), Ok(4.0));
        assert_eq!(speed("1/4"), Ok(0.25));
        assert_eq!(speed("max"), Ok(f64::INFINITY));
        assert!(
            ["0", "-1", "1/0", "fast", "nan", ""]
                .iter()
                .all(|text| speed(text).is_err())
        );
    }
}
