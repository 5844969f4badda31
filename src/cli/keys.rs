//! `kdrill keys` on the command line.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};

/// Partitions at most, as the command states it.
const PARTITIONS_MAX: i64 = 1_000_000;

/// Which keys, how they become bytes, and how the answer looks.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Lines: a key, or a key, a tab and its count of records. An empty line is an \
    empty key.\n\n\
    Where no key decides (a NULL key, an empty one with consistent_random), the answer is \
    `random`: the partition is drawn, or sticks for a while. The Java client's choice is that of \
    murmur2_random.\n\n\
    Examples:\n  \
    kdrill keys user-1 user-2 user-3 --partitions 6\n  \
    kdrill keys --file tenants.tsv --partitions 12 --grow 18\n  \
    kdrill keys 42 --serializer int64 --partitions 6\n  \
    kcat -C -t orders -e -f '%k\\n' | kdrill keys --partitions 24 --list 0\n  \
    kdrill keys --file users.txt --partitions 6 --format csv -o users.csv"
)]
pub struct KeysArgs {
    /// Keys; without any, and without --file, they are read from standard input.
    #[arg(value_name = "KEY", conflicts_with = "file")]
    pub keys: Vec<String>,
    /// Read keys from a file, one in each line; `-` is standard input.
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Partitions of the topic.
    #[arg(short, long, value_name = "N", default_value = "6", value_parser = partitions())]
    pub partitions: u32,
    /// Partitions that it gets: which keys move?
    #[arg(short, long, value_name = "N", value_parser = partitions())]
    pub grow: Option<u32>,
    /// How a key becomes bytes: the text 42 and the number 42 are different keys.
    #[arg(short, long, value_name = "NAME", value_enum, default_value_t)]
    pub serializer: SerializerName,
    /// What stands before the count at the end of a line: one character, tab, or none.
    #[arg(long, value_name = "CHARACTER", default_value = "tab", value_parser = separator)]
    pub separator: Separator,
    /// What stands for a record without a key.
    #[arg(long, value_name = "TEXT")]
    pub null_marker: Option<String>,
    /// How many keys to list; the others only count. Text lists 40, csv and json all.
    #[arg(short, long, value_name = "N|all", value_parser = listed)]
    pub list: Option<ListedKeys>,
    /// What the answer is written as.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: KeysFormat,
    /// Write to a file, whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A byte between key and count; none when lines have no count.
type Separator = Option<u8>;

/// How a key becomes bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SerializerName {
    /// UTF-8 text.
    #[default]
    String,
    /// A number in 4 bytes, big-endian.
    Int32,
    /// A number in 8 bytes, big-endian.
    Int64,
    /// The text as a JSON string, quotes included.
    Json,
    /// Any bytes, written as hexadecimal digits.
    Hex,
}

/// What the answer is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KeysFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: keys and sums.
    Json,
    /// A row for each key, a column for each partitioner; with --list 0, a row for each partition.
    Csv,
}

/// How many keys to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedKeys {
    /// At most so many.
    First(u64),
    /// Every one.
    All,
}

fn partitions() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=PARTITIONS_MAX)
}

fn listed(text: &str) -> Result<ListedKeys, &'static str> {
    match text {
        "all" => Ok(ListedKeys::All),
        number => number
            .parse()
            .map(ListedKeys::First)
            .map_err(|_no_number| "expected a number of keys, or all"),
    }
}

fn separator(text: &str) -> Result<Separator, &'static str> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(Some(b'\t')),
        ("none", _) => Ok(None),
        (_, [byte]) if !byte.is_ascii_alphanumeric() && *byte != b'\n' => Ok(Some(*byte)),
        _ => Err("expected one character that is no letter and no digit, tab, or none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_characters_or_words() {
        let read = ["tab", "\\t", ",", " ", "none"].map(separator);
        let bytes = [Some(b'\t'), Some(b'\t'), Some(b','), Some(b' '), None];
        assert_eq!(read, bytes.map(Ok));
        assert!(
            ["", "7", "ab", "→"]
                .iter()
                .all(|text| separator(text).is_err())
        );
    }

    #[test]
    fn keys_are_listed_up_to_a_number_or_all() {
        assert_eq!(listed("0"), Ok(ListedKeys::First(0)));
        assert_eq!(listed("all"), Ok(ListedKeys::All));
        assert!(listed("-1").is_err());
    }
}
