//! One JSON object: its parts are written in the order of their names, so that keys can leave as
//! they come and sums follow.
//!
//! `null` for a partition means that draws or stickiness decide.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::command::text::{append, is_harmless};
use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};

use super::Request;
use super::place::Placed;
use super::show::shown;
use super::tally::{Amount, Spread, Tally};

/// Version of what is written.
const FORMAT: u32 = 1;

/// The object, half written.
pub(super) struct JsonRows<W: Write> {
    output: W,
    rows: u64,
}

#[derive(Serialize)]
struct KeyRow {
    bytes: Option<String>,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    grown: Option<BTreeMap<&'static str, Option<u32>>>,
    key: Option<String>,
    partitions: BTreeMap<&'static str, Option<u32>>,
}

#[derive(Serialize)]
struct Summary {
    keys: u64,
    /// Keys that the two clients' defaults put on different partitions.
    keys_apart: u64,
    partitioners: BTreeMap<&'static str, OfPartitioner>,
    records: u64,
    records_apart: u64,
}

#[derive(Serialize)]
struct OfPartitioner {
    #[serde(flatten)]
    now: Skew,
    #[serde(skip_serializing_if = "Option::is_none")]
    grown: Option<Skew>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<Moved>,
}

#[derive(Serialize)]
struct Skew {
    cv: Option<f64>,
    keys_random: u64,
    max_over_mean: Option<f64>,
    records_by_partition: Vec<u64>,
    records_random: u64,
}

#[derive(Serialize)]
struct Moved {
    keys: u64,
    keys_share: f64,
    records: u64,
    records_share: f64,
}

impl<W: Write> JsonRows<W> {
    /// The object's beginning.
    pub(super) fn new(mut output: W, request: &Request) -> io::Result<Self> {
        let grow = request.grow.map_or(Value::Null, Value::from);
        write!(output, "{{\"format\":{FORMAT},\"grow\":{grow},\"keys\":[")?;
        Ok(Self { output, rows: 0 })
    }

    /// One key.
    pub(super) fn key(&mut self, placed: &Placed<'_>) -> io::Result<()> {
        let row = KeyRow {
            bytes: placed.key.map(hex),
            count: placed.records,
            grown: placed
                .grown
                .map(|_| by_name(|partitioner| number(placed.grown_choice(partitioner)))),
            key: placed.key.map(|_| readable(placed.text)),
            partitions: by_name(|partitioner| number(Some(placed.choice(partitioner)))),
        };
        let comma = if self.rows == 0 { "\n" } else { ",\n" };
        self.rows += 1;
        let text = serde_json::to_string(&row)?;
        write!(self.output, "{comma}{}", without_controls(&text))
    }

    /// The rest.
    pub(super) fn finish(mut self, request: &Request, tally: &Tally) -> io::Result<W> {
        let summary = Summary {
            keys: tally.all.keys,
            keys_apart: tally.apart.keys,
            partitioners: by_name(|partitioner| OfPartitioner {
                now: Skew::of(tally.spread(partitioner)),
                grown: tally.grown_spread(partitioner).map(Skew::of),
                moved: tally
                    .moved(partitioner)
                    .map(|moved| Moved::of(moved, tally.all)),
            }),
            records: tally.all.records,
            records_apart: tally.apart.records,
        };
        let gap = if self.rows == 0 { "" } else { "\n" };
        writeln!(
            self.output,
            "{gap}],\n\"partitions\":{},\"serializer\":\"{}\",\n\"summary\":{}}}",
            request.partitions,
            request.serializer.name(),
            serde_json::to_string(&summary)?,
        )?;
        Ok(self.output)
    }
}

impl Skew {
    fn of(spread: Spread) -> Self {
        Self {
            cv: spread.cv().map(rounded),
            keys_random: spread.drawn.keys,
            max_over_mean: spread.max_over_mean().map(rounded),
            records_random: spread.drawn.records,
            records_by_partition: spread.records,
        }
    }
}

impl Moved {
    fn of(moved: Amount, all: Amount) -> Self {
        let share = |part: u64, whole: u64| rounded(part as f64 / whole.max(1) as f64);
        Self {
            keys: moved.keys,
            keys_share: share(moved.keys, all.keys),
            records: moved.records,
            records_share: share(moved.records, all.records),
        }
    }
}

fn by_name<T>(value: impl Fn(RdkafkaPartitioner) -> T) -> BTreeMap<&'static str, T> {
    let all = RdkafkaPartitioner::ALL.iter();
    all.map(|&partitioner| (partitioner.name(), value(partitioner)))
        .collect()
}

fn number(choice: Option<Choice>) -> Option<u32> {
    match choice? {
        Choice::Partition(number) => Some(number),
        Choice::Free => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        append(&mut text, format_args!("{byte:02x}"));
    }
    text
}

/// The text as it was written; what is no text is escaped.
fn readable(text: &[u8]) -> String {
    std::str::from_utf8(text).map_or_else(|_invalid| shown(text), str::to_owned)
}

/// JSON with everything escaped that a terminal might obey; it still reads as the same.
fn without_controls(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0_u16; 2];
    for c in json.chars() {
        if is_harmless(c) {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                append(&mut text, format_args!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// To six decimals.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
