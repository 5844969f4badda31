//! `kdrill shot` on the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::sim::time::SimSpan;

use super::ThemeName;

/// Columns and lines of a still at most.
const CELLS_MAX: u16 = 1_000;

/// Which frame, and how it looks.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "The ending of the file decides what is written: .svg, .ansi or .txt.\n\n\
    Examples:\n  \
    kdrill shot full-buffer --at 61s -o full-buffer.svg\n  \
    kdrill shot hot-key --pane load --size 80x24\n  \
    kdrill shot dead-leader --at 130s --background light -o dead-leader.svg\n  \
    kdrill shot two-clients --format ansi | less -R"
)]
pub struct ShotArgs {
    /// A file, or the name of a scenario of the library; an existing path wins.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// The simulated moment, such as 61s; the end of the run by default.
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub at: Option<SimSpan>,
    /// Columns and lines of the screen.
    #[arg(long, value_name = "WxH", default_value = "120x36", value_parser = size)]
    pub size: (u16, u16),
    /// Show one pane on the whole screen.
    #[arg(long, value_name = "NAME", value_enum)]
    pub pane: Option<PaneName>,
    /// Another seed for all random streams.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario, such as producer.trips.config.linger.ms=20.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Colours; `auto` is truecolor, whatever the terminal shows.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub theme: ThemeName,
    /// What an SVG stands on.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub background: BackgroundName,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// What it is written as; by default what the file's name ends in, and text without a file.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<StillFormatName>,
    /// Write it to a file, whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ShotArgs {
    /// What to write: what was asked for, or what the file's name ends in.
    pub fn format(&self) -> StillFormatName {
        let ending = self.output.as_deref().and_then(|path| path.extension());
        let named = ending
            .and_then(|ending| ending.to_str())
            .and_then(|ending| StillFormatName::from_str(ending, true).ok());
        self.format.or(named).unwrap_or(StillFormatName::Txt)
    }
}

/// What a still is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StillFormatName {
    /// Characters only.
    Txt,
    /// With a terminal's escape sequences.
    Ansi,
    /// A picture.
    Svg,
}

/// What an SVG stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BackgroundName {
    /// Light text on dark ground.
    #[default]
    Dark,
    /// Dark text on white.
    Light,
}

/// The panes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaneName {
    /// What `buffer.memory` holds, or librdkafka's queue.
    Fill,
    /// bufferpool-wait-ratio and the truth behind it.
    Wait,
    /// Load of each partition.
    Load,
    /// Transaction markers, or consumers.
    Markers,
    /// Brokers and the links of producers.
    Cluster,
    /// Warnings in sentences.
    Warnings,
    /// What happened.
    Events,
    /// What must hold.
    Expectations,
    /// What became of every record.
    Ledger,
}

/// `120x36`.
pub(super) fn size(text: &str) -> Result<(u16, u16), String> {
    let expected = || format!("a size is columns x lines, such as 120x36, up to {CELLS_MAX} each");
    let (columns, lines) = text.split_once(['x', 'X', '×']).ok_or_else(expected)?;
    let number = |text: &str| {
        let number = text.trim().parse::<u16>().ok();
        number.filter(|number| (1..=CELLS_MAX).contains(number))
    };
    Ok((
        number(columns).ok_or_else(expected)?,
        number(lines).ok_or_else(expected)?,
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Action, Cli};
    use super::*;

    fn shot(words: &[&str]) -> ShotArgs {
        let words = ["kdrill", "shot"].iter().chain(words);
        match Cli::parse_from(words).action {
            Some(Action::Shot(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_ending_of_the_file_decides_unless_a_format_is_named() {
        assert_eq!(shot(&["a", "-o", "a.svg"]).format(), StillFormatName::Svg);
        assert_eq!(shot(&["a", "-o", "a.out"]).format(), StillFormatName::Txt);
        let args = shot(&["a", "-o", "a.svg", "--format", "ansi"]);
        assert_eq!(args.format(), StillFormatName::Ansi);
        assert_eq!(shot(&["a"]).format(), StillFormatName::Txt);
    }

    #[test]
    fn sizes_are_columns_and_lines() {
        assert_eq!(size("80x24"), Ok((80, 24)));
        for wrong in ["80", "0x24", "80x", "80x1001", "-1x5", "axb"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
