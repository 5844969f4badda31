//! The answer for people: 80 columns, colour only where a terminal shows it.

mod ink;
mod skew;

use crate::command::text::append;
use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use crate::kafka::serializer::KeySerializer;
use crate::scenario::Paint;

use super::place::Placed;
use super::show::{count, fit, percent, shown, width, wrapped};
use super::tally::{Amount, Tally};
use super::{LISTED_IN_TEXT, List, Request};

use ink::{Ink, Tone};

/// Columns of a line at most.
const COLUMNS: usize = 80;
/// Columns of a key below which what stands beside it is written narrower.
const KEY_COLUMNS_MIN: usize = 14;
/// Bytes of a key that are kept for showing.
const KEY_BYTES_KEPT: usize = 320;

/// The partitioners from left to right: families stand together, the Java client's first.
const ORDER: [RdkafkaPartitioner; 7] = [
    RdkafkaPartitioner::Murmur2Random,
    RdkafkaPartitioner::Murmur2,
    RdkafkaPartitioner::ConsistentRandom,
    RdkafkaPartitioner::Consistent,
    RdkafkaPartitioner::Fnv1aRandom,
    RdkafkaPartitioner::Fnv1a,
    RdkafkaPartitioner::Random,
];

/// Keys with where they go.
#[derive(Debug, Default)]
pub(super) struct TextRows {
    rows: Vec<Row>,
}

/// One key.
#[derive(Debug)]
struct Row {
    key: Key,
    records: u64,
    /// In the order of [`ORDER`].
    choices: [Choice; ORDER.len()],
    grown: Option<[Choice; ORDER.len()]>,
}

#[derive(Debug)]
enum Key {
    Null,
    Empty,
    Text(String),
}

/// Partitioners that agree on everything that is shown: one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Places in [`ORDER`], the first of which is read.
    members: Vec<usize>,
}

impl Family {
    /// The partitioner whose figures stand for all.
    pub(super) fn first(&self) -> RdkafkaPartitioner {
        ORDER[self.members[0]]
    }

    fn heading(&self, names: Names) -> Vec<&'static str> {
        let client = match (self.first(), names) {
            (RdkafkaPartitioner::Murmur2Random, Names::Whole) => &["Java client"][..],
            (RdkafkaPartitioner::Murmur2Random, Names::Broken) => &["Java"],
            (RdkafkaPartitioner::ConsistentRandom, Names::Whole) => &["librdkafka default"],
            (RdkafkaPartitioner::ConsistentRandom, Names::Broken) => &["librdkafka", "default"],
            _ => &[],
        };
        let members = self.members.iter();
        let own = members.flat_map(|&at| lines_of(ORDER[at].name(), names));
        client.iter().copied().chain(own).collect()
    }

    fn width(&self, names: Names) -> usize {
        let lines = self.heading(names).into_iter();
        lines.map(width).max().unwrap_or(0)
    }
}

/// How the names of partitioners are written over columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// In one line.
    Whole,
    /// Before `_random` a new line begins.
    Broken,
}

fn lines_of(name: &'static str, names: Names) -> Vec<&'static str> {
    match name.find('_') {
        Some(at) if names == Names::Broken => vec![&name[..at], &name[at..]],
        _ => vec![name],
    }
}

/// Neighbours of [`ORDER`] that agree, together.
fn families(agree: impl Fn(RdkafkaPartitioner, RdkafkaPartitioner) -> bool) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for (at, &partitioner) in ORDER.iter().enumerate() {
        match families.last_mut() {
            Some(family) if agree(family.first(), partitioner) => family.members.push(at),
            _ => families.push(Family { members: vec![at] }),
        }
    }
    families
}

/// Partitioners that treat the keys of a tally alike.
fn families_of(tally: &Tally) -> Vec<Family> {
    let kinds: [(Option<&[u8]>, Amount); 2] = [(None, tally.null), (Some(b""), tally.empty)];
    families(|one, other| {
        let alike = |kind: Option<&[u8]>| one.hash(kind) == other.hash(kind);
        let without_bytes = kinds.iter().filter(|(_, amount)| amount.keys > 0);
        alike(Some(b"key")) && without_bytes.map(|(kind, _)| *kind).all(alike)
    })
}

impl TextRows {
    /// Takes a key.
    pub(super) fn key(&mut self, placed: &Placed<'_>) {
        let kept = placed.text.get(..KEY_BYTES_KEPT).unwrap_or(placed.text);
        self.rows.push(Row {
            key: match placed.key {
                None => Key::Null,
                Some(_) if placed.text.is_empty() => Key::Empty,
                Some(_) => Key::Text(shown(kept)),
            },
            records: placed.records,
            choices: ORDER.map(|partitioner| placed.choice(partitioner)),
            grown: placed.grown.map(|_| {
                ORDER.map(|partitioner| placed.grown_choice(partitioner).unwrap_or(Choice::Free))
            }),
        });
    }

    /// Everything.
    pub(super) fn text(&self, request: &Request, tally: &Tally, paint: Paint) -> String {
        let ink = Ink(paint);
        let mut text = String::new();
        headline(&mut text, request, tally, ink);
        if !self.rows.is_empty() {
            text.push('\n');
            self.table(&mut text, &families_of(tally), ink);
            self.unlisted(&mut text, request, tally, ink);
        }
        if tally.all.records > 0 {
            skew::write(&mut text, request, tally, &families_of(tally), ink);
        }
        advice(&mut text, request, tally, ink);
        text
    }

    fn table(&self, text: &mut String, families: &[Family], ink: Ink) {
        let layout = self.layout(families);
        layout.heading(text, ink);
        for row in &self.rows {
            let label = fit(&row.key.label(), layout.key);
            let padding = " ".repeat(layout.key - width(&label));
            append(
                text,
                format_args!("{}{padding}", ink.paint(row.key.tone(), &label)),
            );
            if layout.records > 0 {
                let room = layout.records + layout.gap;
                append(text, format_args!("{:>room$}", count(row.records)));
            }
            for column in &layout.columns {
                let (cell, tone) = row.cell(column.family.members[0]);
                let room = column.width + layout.gap;
                let padding = " ".repeat(room.saturating_sub(width(&cell)));
                append(text, format_args!("{padding}{}", ink.paint(tone, &cell)));
            }
            text.push('\n');
        }
    }

    /// The widest layout that leaves room for keys.
    fn layout<'f>(&self, families: &'f [Family]) -> Layout<'f> {
        let has_counts = self.rows.iter().any(|row| row.records != 1);
        let counts = self.rows.iter().map(|row| width(&count(row.records)));
        let records = match counts.max() {
            Some(longest) if has_counts => longest.max("records".len()),
            _ => 0,
        };
        let longest = self.rows.iter().map(|row| width(&row.key.label()));
        let longest = longest.max().unwrap_or(0).max("key".len());
        let layout = |(names, gap)| {
            let columns = families.iter().map(|family| self.column(family, names));
            let mut layout = Layout {
                columns: columns.collect(),
                names,
                records,
                gap,
                key: 0,
            };
            layout.key = longest.min(COLUMNS.saturating_sub(layout.beside()));
            layout
        };
        let enough = longest.min(KEY_COLUMNS_MIN);
        let roomy = [(Names::Whole, 2), (Names::Broken, 2)];
        let fitting = roomy
            .into_iter()
            .map(layout)
            .find(|layout| enough <= layout.key);
        fitting.unwrap_or_else(|| layout((Names::Broken, 1)))
    }

    fn column<'f>(&self, family: &'f Family, names: Names) -> Column<'f> {
        let at = family.members[0];
        let cells = self.rows.iter().map(|row| width(&row.cell(at).0));
        Column {
            width: cells.max().unwrap_or(0).max(family.width(names)),
            family,
        }
    }

    fn unlisted(&self, text: &mut String, request: &Request, tally: &Tally, ink: Ink) {
        let unlisted = tally.all.keys - self.rows.len() as u64;
        if unlisted == 0 {
            return;
        }
        let how = match request.list {
            List::Usual if self.rows.len() as u64 == LISTED_IN_TEXT => {
                "; --list all lists them, --format csv is for programs"
            }
            _ => "",
        };
        let line = format!("… and {} more{how}", count(unlisted));
        append(text, format_args!("{}\n", ink.paint(Tone::Dim, &line)));
    }
}

/// Several partitioners with the room that they take.
struct Column<'f> {
    family: &'f Family,
    width: usize,
}

/// Where everything stands in a line.
struct Layout<'f> {
    columns: Vec<Column<'f>>,
    names: Names,
    /// Columns of a key.
    key: usize,
    /// Columns of its records; 0 where there are none.
    records: usize,
    /// Blanks before each further column.
    gap: usize,
}

impl Layout<'_> {
    /// Columns of everything but the key.
    fn beside(&self) -> usize {
        let columns = self.columns.iter().map(|column| column.width + self.gap);
        let records = if self.records > 0 {
            self.records + self.gap
        } else {
            0
        };
        columns.sum::<usize>() + records
    }

    /// The names of partitioners over their columns, from above down to the line of `key`.
    fn heading(&self, text: &mut String, ink: Ink) {
        let names: Vec<Vec<&str>> = self
            .columns
            .iter()
            .map(|column| column.family.heading(self.names))
            .collect();
        let height = names.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let is_last = line + 1 == height;
            let words = if is_last {
                ("key", "records")
            } else {
                ("", "")
            };
            let mut cells = format!("{:<1$}", words.0, self.key);
            if self.records > 0 {
                let room = self.records + self.gap;
                append(&mut cells, format_args!("{:>room$}", words.1));
            }
            for (names, column) in names.iter().zip(&self.columns) {
                let at = (line + names.len()).checked_sub(height);
                let name = at.and_then(|at| names.get(at)).copied().unwrap_or_default();
                append(
                    &mut cells,
                    format_args!("{name:>0$}", column.width + self.gap),
                );
            }
            let cells = ink.paint(Tone::Heading, cells.trim_end());
            append(text, format_args!("{cells}\n"));
        }
    }
}

impl Key {
    fn label(&self) -> String {
        match self {
            Self::Null => "(NULL)".to_owned(),
            Self::Empty => "(empty)".to_owned(),
            Self::Text(text) => text.clone(),
        }
    }

    const fn tone(&self) -> Tone {
        match self {
            Self::Null | Self::Empty => Tone::Dim,
            Self::Text(_) => Tone::Plain,
        }
    }
}

impl Row {
    /// Where it goes, and how that looks.
    fn cell(&self, at: usize) -> (String, Tone) {
        let Choice::Partition(now) = self.choices[at] else {
            return ("random".to_owned(), Tone::Dim);
        };
        match self.grown.map(|grown| grown[at]) {
            Some(Choice::Partition(then)) if then != now => (format!("{now}→{then}"), Tone::Warn),
            _ => (now.to_string(), Tone::Plain),
        }
    }
}

fn headline(text: &mut String, request: &Request, tally: &Tally, ink: Ink) {
    let topic = match request.grow {
        Some(grow) => format!(
            "{} → {} partitions",
            count(request.partitions.into()),
            count(grow.into())
        ),
        None if request.partitions == 1 => "1 partition".to_owned(),
        None => format!("{} partitions", count(request.partitions.into())),
    };
    let keys = match tally.all.keys {
        1 => "1 key".to_owned(),
        keys => format!("{} keys", count(keys)),
    };
    let records = if tally.all.records == tally.all.keys {
        String::new()
    } else {
        format!(", {} records", count(tally.all.records))
    };
    let bytes = match request.serializer {
        KeySerializer::String => "as UTF-8 text",
        KeySerializer::Int32 => "as int32, 4 bytes big-endian",
        KeySerializer::Int64 => "as int64, 8 bytes big-endian",
        KeySerializer::Json => "as JSON strings, in quotes",
        KeySerializer::Hex => "as bytes in hexadecimal digits",
    };
    let line = ink.paint(Tone::Bold, &format!("{keys}{records} over {topic}"));
    append(text, format_args!("{line}, {bytes}\n"));
}

/// What follows from it all.
fn advice(text: &mut String, request: &Request, tally: &Tally, ink: Ink) {
    let mut say = |tone, words: &str| {
        let lines = ink.paint(tone, &wrapped(words, COLUMNS));
        append(text, format_args!("\n{lines}\n"));
    };
    let filled = tally.all.keys - tally.null.keys - tally.empty.keys;
    let apart = tally.apart.keys;
    if apart > 0 {
        let words = format!(
            "Java and librdkafka's default put {} of {} keys ({}) on different partitions: where \
             both write a topic, set partitioner=murmur2_random in librdkafka.",
            count(apart),
            count(filled),
            percent(apart, filled),
        );
        say(Tone::Warn, &words);
    }
    let default = tally.spread(RdkafkaPartitioner::ConsistentRandom);
    if default.drawn.keys > 0 {
        say(
            Tone::Plain,
            "random: no key decides. librdkafka draws or keeps to one for a moment, Java to one \
             until a batch is full.",
        );
    }
    let moved = tally.moved(RdkafkaPartitioner::Murmur2Random);
    if let (Some(grow), Some(moved)) = (request.grow, moved.filter(|moved| moved.keys > 0)) {
        let keys = match moved.keys {
            1 => "one key".to_owned(),
            keys => format!("{} keys", count(keys)),
        };
        let words = format!(
            "Old records stay where they are: with {grow} partitions the history of {keys} is \
             split, and order across the split is lost."
        );
        say(Tone::Plain, &words);
    }
}
