//! `kdrill keys`: which partition each key goes to, with every partitioner of both clients.
//!
//! One pass over the keys, with constant memory however many there are: rows leave as they come,
//! what is summed up is as large as the topic.
//!
//! Invariants: nothing is invented where draws or stickiness decide; a file appears whole or not
//! at all; after the first key that does not fit its serializer no row is written any more.

mod csv_rows;
mod input;
mod json_rows;
mod lines;
mod pass;
mod place;
mod progress;
mod rows;
mod show;
mod tally;
mod text;

use std::path::PathBuf;

use crate::kafka::serializer::KeySerializer;

pub use input::{Source, open};
pub use lines::{LINE_BYTES_MAX, LineError, Lines};
pub use pass::{Reading, pass};
pub use place::{Hashes, Placed, Places};
pub use rows::{NoRows, Rows, run};
pub use tally::{Amount, Large, Spread, Tally};

/// Partitions that can be asked about at most.
pub const PARTITIONS_MAX: u32 = 1_000_000;
/// Keys that are listed in text unless somebody asks for more.
pub const LISTED_IN_TEXT: u64 = 40;

/// What to find out, and how to say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where keys come from.
    pub source: Source,
    /// Partitions of the topic, from 1 to [`PARTITIONS_MAX`].
    pub partitions: u32,
    /// Partitions that it gets, more than before.
    pub grow: Option<u32>,
    /// How keys become bytes.
    pub serializer: KeySerializer,
    /// What stands between a key and its count.
    pub separator: Separator,
    /// What stands for a record without a key.
    pub null_marker: Option<String>,
    /// What it is written as.
    pub format: Format,
    /// Keys that are listed one by one at most; the others are only counted.
    pub list: List,
    /// Where it goes; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// What stands between a key and its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// The last of these bytes in a line.
    Byte(u8),
    /// Lines have no counts.
    None,
}

/// How many keys are listed one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// All; in text, the first [`LISTED_IN_TEXT`].
    Usual,
    /// At most so many.
    First(u64),
    /// All.
    All,
}

/// What the answer is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs, with the sums.
    Json,
    /// A row for each key; without keys, one for each partition.
    Csv,
}

impl Request {
    /// Keys that are listed one by one at most.
    pub fn listed_max(&self) -> u64 {
        match (self.list, self.format) {
            (List::First(most), _) => most,
            (List::Usual, Format::Text) => LISTED_IN_TEXT,
            (List::Usual | List::All, _) => u64::MAX,
        }
    }
}
