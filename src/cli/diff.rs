//! `kdrill diff` on the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::sim::time::SimSpan;

use super::ScreenArgs;

/// Which two runs, and how they are shown: side by side on a terminal, else as a report.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 it is the same run, 1 they differ, 2 wrong usage or scenario, \
    4 the report could not be written.\n\n\
    Examples:\n  \
    kdrill diff hot-key hot-key-salted\n  \
    kdrill diff full-buffer --b producer.trips.config.linger.ms=20\n  \
    kdrill diff dead-leader --a producer.trips.config.acks=1 --b producer.trips.config.acks=all\n  \
    kdrill diff mine.toml mine-saved.toml --format json -o differences.json"
)]
pub struct DiffArgs {
    /// A file, or the name of a scenario of the library; an existing path wins.
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The same; A again where none is named.
    #[arg(value_name = "B", required_unless_present_any = ["set_a", "set_b"])]
    pub b: Option<PathBuf>,
    /// Change a value of A only.
    #[arg(long = "a", value_name = "PATH=VALUE")]
    pub set_a: Vec<String>,
    /// Change a value of B only, such as producer.trips.config.linger.ms=20.
    #[arg(long = "b", value_name = "PATH=VALUE")]
    pub set_b: Vec<String>,
    /// Change a value of both.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Another seed for all random streams of both.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop at this simulated time, such as 90s.
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub until: Option<SimSpan>,
    /// Run without a screen and print the differences.
    #[arg(long)]
    pub headless: bool,
    /// What the differences are written as; implies --headless.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<DiffFormatName>,
    /// Write them to a file, whole or not at all; implies --headless.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the screen looks like, and how fast it goes.
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What differences are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormatName {
    /// For people.
    Text,
    /// For programs: every figure that differs.
    Json,
}
