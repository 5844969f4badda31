//! `kdrill rehearse`: what can be written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ScreenArgs;

/// Which incident to rehearse, and how.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 won, 1 lost, 2 wrong usage or scenario, \
    4 the debrief could not be written.")]
pub struct RehearseArgs {
    /// A file, or the name of an incident of the library; without one, one is picked.
    #[arg(value_name = "NAME")]
    pub scenario: Option<PathBuf>,
    /// Pick an incident, as without a name.
    #[arg(long, conflicts_with = "scenario")]
    pub random: bool,
    /// Pick among incidents of this level: 1 is the easiest.
    #[arg(long, value_name = "1..3", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub level: Option<u8>,
    /// Another seed: for all random streams, for what is picked, and for the numbers that the
    /// incident varies.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Play these commands instead of a person's, without a screen; lines such as
    /// `at 75s broker start 2` or `at page+5s hint`.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Write the debrief to a file as Markdown, whole or not at all.
    #[arg(long, value_name = "FILE")]
    pub debrief: Option<PathBuf>,
    /// What the debrief is printed as.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: DebriefFormatName,
    /// What the screen looks like, and how fast it goes.
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What a debrief is printed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DebriefFormatName {
    /// Markdown, for people.
    #[default]
    Text,
    /// For programs.
    Json,
}
