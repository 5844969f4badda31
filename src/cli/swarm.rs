//! `kdrill swarm` on the command line.

use std::path::PathBuf;

use clap::Args;

/// How many random runs, from which seed on.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "What must hold in every run: each record ends in exactly one way; offsets \
    have no gaps; within a leader epoch a high watermark never goes back; with acks=all, two \
    replicas in sync, clean elections and one failure at a time nothing acknowledged is lost; an \
    idempotent producer's records are in the log at most once, unless its client bumped its \
    epoch; order is kept where Kafka promises it; once everything is cured nothing is under way; \
    groups are given every record; the same seed is the same run, however it is sliced.\n\n\
    A failure is printed with the line that replays it and, as a scenario file, with the few \
    faults that matter.\n\n\
    Exit codes: 0 everything held, 1 something is broken, 2 wrong usage."
)]
pub struct SwarmArgs {
    /// Check these scenarios instead: files, folders, names of the library.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,
    /// How many runs.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub runs: u64,
    /// The seed of the first run; the others follow it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Runs at one time; by default one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write the files of failures into this folder instead of printing them.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}
