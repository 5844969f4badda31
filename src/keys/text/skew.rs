//! How evenly the records are spread, and what moves when the topic grows.

use crate::command::text::append;
use crate::kafka::rdkafka_partitioner::RdkafkaPartitioner;
use crate::keys::Request;
use crate::keys::show::{count, fit, percent, shown, width};
use crate::keys::tally::{Amount, Spread, Tally};

use super::ink::{Ink, Tone};
use super::{COLUMNS, Family, Names, lines_of};

/// Partitions that are listed one by one at most.
const PARTITIONS_LISTED_MAX: usize = 32;
/// Columns of the first column.
const LABEL_COLUMNS: usize = 14;
/// Columns of one partitioner's column at most.
const CELL_COLUMNS_MAX: usize = 24;
/// Columns from which a cell has a bar.
const BAR_COLUMNS_MIN: usize = 3;
/// How far above the mean a partition is flagged.
const FLAG_FACTOR: f64 = 2.0;
/// Columns of a key among those with the largest counts.
const LARGE_KEY_COLUMNS: usize = 40;

/// One partitioner's column.
struct Column {
    heading: &'static str,
    now: Spread,
    grown: Option<Spread>,
    moved: Option<Amount>,
}

/// Appends the tables.
pub(super) fn write(
    text: &mut String,
    request: &Request,
    tally: &Tally,
    families: &[Family],
    ink: Ink,
) {
    let decide = families
        .iter()
        .map(Family::first)
        .filter(|&partitioner| partitioner != RdkafkaPartitioner::Random);
    let columns: Vec<Column> = decide
        .map(|partitioner| Column {
            heading: partitioner.name(),
            now: tally.spread(partitioner),
            grown: tally.grown_spread(partitioner),
            moved: tally.moved(partitioner),
        })
        .collect();
    let table = Table {
        cell: ((COLUMNS - LABEL_COLUMNS) / columns.len().max(1)).min(CELL_COLUMNS_MAX),
        columns: &columns,
        ink,
    };
    text.push('\n');
    table.heading(text, "records");
    if request.partitions as usize <= PARTITIONS_LISTED_MAX {
        for partition in 0..request.partitions {
            table.partition(text, partition);
        }
    }
    table.sums(text, tally);
    largest(text, tally, ink);
}

struct Table<'a> {
    columns: &'a [Column],
    /// Columns of each cell, the gap before it included.
    cell: usize,
    ink: Ink,
}

impl Table<'_> {
    fn heading(&self, text: &mut String, label: &str) {
        let longest = self.columns.iter().map(|column| column.heading.len());
        let names = if longest.max().unwrap_or(0) < self.cell {
            Names::Whole
        } else {
            Names::Broken
        };
        let columns = self.columns.iter();
        let names: Vec<_> = columns
            .map(|column| lines_of(column.heading, names))
            .collect();
        let height = names.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let label = if line + 1 == height { label } else { "" };
            let mut cells = format!("{label:<LABEL_COLUMNS$}");
            for lines in &names {
                let at = (line + lines.len()).checked_sub(height);
                let name = at.and_then(|at| lines.get(at)).copied().unwrap_or_default();
                append(&mut cells, format_args!("{name:>0$}", self.cell));
            }
            let cells = self.ink.paint(Tone::Heading, cells.trim_end());
            append(text, format_args!("{cells}\n"));
        }
    }

    /// The records of one partition.
    fn partition(&self, text: &mut String, partition: u32) {
        let label = format!("partition {partition}");
        append(text, format_args!("{label:<LABEL_COLUMNS$}"));
        for column in self.columns {
            let records = column.now.records[partition as usize];
            let is_high = records as f64 > FLAG_FACTOR * column.now.mean();
            let share = percent(records, column.now.total());
            let longest = column.now.fullest().map_or(0, |(_, most)| most);
            // A flag, the records, a blank, and the share.
            let figures_width = 1 + width(&count(longest)) + 7;
            let flag = if is_high { "▲" } else { " " };
            let figures = format!(
                "{flag}{:>1$} {share:>6}",
                count(records),
                width(&count(longest))
            );
            let tone = match records {
                _ if is_high => Tone::Warn,
                0 => Tone::Dim,
                _ => Tone::Plain,
            };
            let room = self.cell.saturating_sub(figures_width + 2);
            if room < BAR_COLUMNS_MIN {
                let short = if figures_width < self.cell {
                    figures
                } else {
                    format!("{flag}{share}")
                };
                let padding = " ".repeat(self.cell.saturating_sub(width(&short)));
                append(
                    text,
                    format_args!("{padding}{}", self.ink.paint(tone, &short)),
                );
            } else {
                let bar = bar(records, longest, room);
                let padding = " ".repeat(room - width(&bar));
                let bar_tone = if is_high { Tone::Warn } else { Tone::Bar };
                append(
                    text,
                    format_args!(
                        " {}{padding} {}",
                        self.ink.paint(bar_tone, &bar),
                        self.ink.paint(tone, &figures)
                    ),
                );
            }
        }
        text.push('\n');
    }

    /// One figure of every partitioner.
    fn line(&self, text: &mut String, label: &str, figure: impl Fn(&Column) -> (String, Tone)) {
        append(text, format_args!("{label:<LABEL_COLUMNS$}"));
        for column in self.columns {
            let (cell, tone) = figure(column);
            let padding = " ".repeat(self.cell.saturating_sub(width(&cell)));
            append(
                text,
                format_args!("{padding}{}", self.ink.paint(tone, &cell)),
            );
        }
        text.push('\n');
    }

    fn sums(&self, text: &mut String, tally: &Tally) {
        self.line(text, "max/mean", |column| ratio(column.now.max_over_mean()));
        self.line(text, "Cv", |column| (figure(column.now.cv()), Tone::Plain));
        self.line(text, "fullest", |column| match column.now.fullest() {
            Some((partition, records)) if records > 0 => {
                let share = percent(records, column.now.total());
                (format!("{partition}: {share}"), Tone::Plain)
            }
            _ => ("–".to_owned(), Tone::Dim),
        });
        self.line(text, "unused", |column| {
            (count(column.now.idle() as u64), Tone::Plain)
        });
        if self
            .columns
            .iter()
            .any(|column| column.now.drawn.records > 0)
        {
            self.line(text, "random", |column| {
                (count(column.now.drawn.records), Tone::Plain)
            });
        }
        if self.columns.iter().all(|column| column.grown.is_none()) {
            return;
        }
        text.push('\n');
        self.heading(text, "after growing");
        let moved = |column: &Column| column.moved.unwrap_or_default();
        self.line(text, "keys that move", |column| {
            let keys = moved(column).keys;
            let share = percent(keys, tally.all.keys);
            (format!("{} {share:>6}", count(keys)), Tone::Warn)
        });
        if tally.all.records != tally.all.keys {
            self.line(text, "their records", |column| {
                let share = percent(moved(column).records, tally.all.records);
                (share, Tone::Warn)
            });
        }
        let grown = |column: &Column| column.grown.as_ref().and_then(Spread::max_over_mean);
        self.line(text, "max/mean", |column| ratio(grown(column)));
        self.line(text, "Cv", |column| {
            let cv = column.grown.as_ref().and_then(Spread::cv);
            (figure(cv), Tone::Plain)
        });
    }
}

fn ratio(value: Option<f64>) -> (String, Tone) {
    match value {
        Some(value) if value > FLAG_FACTOR => (format!("▲{value:.3}"), Tone::Warn),
        value => (figure(value), Tone::Plain),
    }
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

/// A bar that starts at the left.
fn bar(records: u64, longest: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = records as f64 / longest.max(1) as f64 * room as f64 * 8.0;
    let eighths = eighths.round().clamp(0.0, room as f64 * 8.0) as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// The keys with the largest counts, where keys have counts.
fn largest(text: &mut String, tally: &Tally, ink: Ink) {
    if tally.all.records == tally.all.keys || tally.all.keys < 2 {
        return;
    }
    text.push('\n');
    let heading = "keys with the most records";
    append(
        text,
        format_args!("{}\n", ink.paint(Tone::Heading, heading)),
    );
    for large in &tally.largest {
        let key = large
            .text
            .as_deref()
            .map_or("(NULL)".to_owned(), |key| match key {
                [] => "(empty)".to_owned(),
                key => fit(&shown(key), LARGE_KEY_COLUMNS),
            });
        let share = percent(large.records, tally.all.records);
        let padding = " ".repeat(LARGE_KEY_COLUMNS - width(&key));
        append(
            text,
            format_args!("{key}{padding}{:>16} {share:>7}\n", count(large.records)),
        );
    }
}
