//! `kdrill record` on the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::sim::time::SimSpan;

use super::ThemeName;
use super::shot::size;

/// What to record, and how.
#[derive(Clone, Debug, Args)]
#[command(after_help = "A key script has an action a line:\n  \
    at 12s press space          when the simulated clock shows 12 s\n  \
    type \":broker kill 2\"      a character a frame\n  \
    press Enter                 a character, space, Enter, Esc, Tab, Up, F5, Ctrl+R …\n  \
    wait 2s                     seconds of the recording\n\n\
    Examples:\n  \
    kdrill record full-buffer --speed 4 -o full-buffer.cast\n  \
    kdrill record dead-leader --from 60s --to 140s --keys demo.keys -o demo.cast\n  \
    kdrill record hot-key --asciicast v3 --size 80x24 -o hot-key.cast")]
pub struct RecordArgs {
    /// A file, or the name of a scenario of the library; an existing path wins.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Columns and lines of the screen.
    #[arg(long, value_name = "WxH", default_value = "120x36", value_parser = size)]
    pub size: (u16, u16),
    /// Frames a second.
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(5..=60))]
    pub fps: u32,
    /// Simulated seconds in a second of the recording: 4, 1/2.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// The simulated moment of the first frame.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = super::duration)]
    pub from: SimSpan,
    /// The simulated moment of the last frame; the end of the run by default.
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub to: Option<SimSpan>,
    /// Press and type what this file says.
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// Another seed for all random streams.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario, such as producer.trips.config.linger.ms=20.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Colours; `auto` is truecolor, whatever the terminal shows.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub theme: ThemeName,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// The version of the file format.
    #[arg(long, value_name = "VERSION", value_enum, default_value_t)]
    pub asciicast: AsciicastName,
    /// Write it to a file, whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A version of asciinema's file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AsciicastName {
    /// What every player reads.
    #[default]
    V2,
    /// Since asciinema 3.0.
    V3,
}

/// A factor above 0, and not without bound.
fn speed(text: &str) -> Result<f64, &'static str> {
    let factor = super::speed(text)?;
    if factor.is_finite() {
        Ok(factor)
    } else {
        Err("a recording has frames, so its speed is a number, such as 16")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;

    #[test]
    fn a_recording_needs_a_speed_and_a_rate() {
        let parse = |words: &[&str]| {
            let words = ["kdrill", "record", "full-buffer"].iter().chain(words);
            Cli::try_parse_from(words).is_ok()
        };
        assert!(parse(&["--speed", "4", "--fps", "30"]));
        assert!(!parse(&["--speed", "max"]));
        assert!(!parse(&["--fps", "0"]));
    }
}
