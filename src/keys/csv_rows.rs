//! Rows: a key in each, or, without keys, a partition.

use std::io::{self, Write};

use crate::command::text::is_harmless;
use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};

use super::place::Placed;
use super::show::shown;
use super::tally::Tally;

/// What stands where draws or stickiness decide.
const RANDOM: &str = "random";

/// A table with a column for each partitioner, and one for each once the topic has grown.
pub(super) struct CsvRows<W: Write> {
    table: csv::Writer<W>,
    grow: Option<u32>,
    /// Partitions as text, made once.
    numbers: Vec<String>,
}

impl<W: Write> CsvRows<W> {
    /// A table whose first columns have these names.
    pub(super) fn new(
        output: W,
        partitions: u32,
        grow: Option<u32>,
        first: &[&str],
    ) -> io::Result<Self> {
        let mut rows = Self {
            table: csv::Writer::from_writer(output),
            grow,
            numbers: (0..grow.unwrap_or(partitions).max(partitions))
                .map(|number| number.to_string())
                .collect(),
        };
        for name in first {
            rows.table.write_field(name)?;
        }
        for partitioner in RdkafkaPartitioner::ALL {
            rows.table.write_field(partitioner.name())?;
        }
        if let Some(grow) = grow {
            for partitioner in RdkafkaPartitioner::ALL {
                let name = partitioner.name();
                rows.table.write_field(format!("{name}_of_{grow}"))?;
            }
        }
        rows.end_row()?;
        Ok(rows)
    }

    /// One key.
    pub(super) fn key(&mut self, placed: &Placed<'_>) -> io::Result<()> {
        // A NULL key is written as the marker that stood for it.
        if is_plain(placed.text) {
            self.table.write_field(placed.text)?;
        } else {
            self.table.write_field(shown(placed.text))?;
        }
        self.table.write_field(placed.records.to_string())?;
        for partitioner in RdkafkaPartitioner::ALL {
            self.choice(placed.choice(partitioner))?;
        }
        if self.grow.is_some() {
            for partitioner in RdkafkaPartitioner::ALL {
                let choice = placed.grown_choice(partitioner);
                self.choice(choice.unwrap_or(Choice::Free))?;
            }
        }
        self.end_row()
    }

    /// Records of each partition.
    pub(super) fn partitions(&mut self, tally: &Tally) -> io::Result<()> {
        let now = RdkafkaPartitioner::ALL.map(|partitioner| tally.spread(partitioner));
        let grown: Vec<_> = RdkafkaPartitioner::ALL
            .iter()
            .filter_map(|&partitioner| tally.grown_spread(partitioner))
            .collect();
        let spreads: Vec<_> = now.iter().chain(&grown).collect();
        for place in 0..self.numbers.len() {
            self.table.write_field(&self.numbers[place])?;
            for spread in &spreads {
                let records = spread.records.get(place);
                let text = records.map_or(String::new(), ToString::to_string);
                self.table.write_field(text)?;
            }
            self.end_row()?;
        }
        self.table.write_field(RANDOM)?;
        for spread in &spreads {
            self.table.write_field(spread.drawn.records.to_string())?;
        }
        self.end_row()
    }

    /// Everything is written.
    pub(super) fn finish(self) -> io::Result<W> {
        self.table
            .into_inner()
            .map_err(csv::IntoInnerError::into_error)
    }

    fn choice(&mut self, choice: Choice) -> io::Result<()> {
        let text = match choice {
            Choice::Free => RANDOM,
            Choice::Partition(number) => self
                .numbers
                .get(number as usize)
                .map_or(RANDOM, String::as_str),
        };
        Ok(self.table.write_field(text)?)
    }

    fn end_row(&mut self) -> io::Result<()> {
        const NOTHING: [&str; 0] = [];
        Ok(self.table.write_record(NOTHING)?)
    }
}

/// Whether a key is shown as it was written.
fn is_plain(text: &[u8]) -> bool {
    let is_ascii = text.iter().all(|byte| (0x20..0x7f).contains(byte));
    is_ascii || std::str::from_utf8(text).is_ok_and(|text| text.chars().all(is_harmless))
}
