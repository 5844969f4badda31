//! Bytes of compressed batches of the sample, and how the client's estimate of their ratio fills
//! them.

use kdrill::kafka::compression::{
    Codec, Curve, RatioEstimate, SampleRecord, Writer, compressed_bytes, write_records,
};
use kdrill::kafka::settings::{Compression, CompressionType};
use kdrill::kafka::size::{BATCH_OVERHEAD, FillingBatch, RecordSize, payload_bytes};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::Trace;

/// `batch.size` of the recorded client.
const BATCH_SIZE: u32 = 16_384;
/// Time between two records of it, in microseconds.
const INTERVAL_US: u64 = 100;

/// Every case of the probe with compression.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("sizes");
    let clicks: Vec<&[u8]> = golden::clicks().lines().map(str::as_bytes).collect();
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| {
            let path = golden.path(case);
            if let Some(codec) = case.strip_prefix("compressed-") {
                return Some(compressed(&path, codec_of(codec), &clicks, real));
            }
            match case.strip_prefix("filled-")? {
                "none" => None,
                name => Some(filled(&path, codec_of(name), &clicks, real)),
            }
        })
        .collect()
}

/// `gzip`, `gzip-default`, `gzip-9`.
fn codec_of(name: &str) -> Codec {
    let (name, level) = name.split_once('-').unwrap_or((name, "default"));
    let compression = Compression {
        codec: CompressionType::from_name(name).expect("a codec"),
        level: level.parse().ok(),
    };
    Codec {
        compression,
        writer: Writer::Java,
    }
}

/// How far a codec's sizes may be from the recorded ones.
fn tolerance(codec: Codec) -> Tolerance {
    match codec.compression.codec {
        CompressionType::Snappy => Tolerance::Share(0.015, "an earlier release of the library"),
        CompressionType::Zstd => Tolerance::Share(0.002, "another release of the library"),
        _ => Tolerance::Exact,
    }
}

fn rows(real: &Value) -> Vec<Vec<u64>> {
    let rows = real["rows"].as_array().expect("rows").iter();
    let numbers = |row: &Value| {
        let cells = row.as_array().expect("a row").iter();
        cells.map(|cell| cell.as_u64().expect("a number")).collect()
    };
    rows.map(numbers).collect()
}

fn records_of<'a>(values: &[&'a [u8]]) -> Vec<SampleRecord<'a>> {
    let record = |value: &&'a [u8]| SampleRecord {
        key: None,
        value: Some(value),
    };
    values.iter().map(record).collect()
}

/// A batch's bytes before and after compression, with its header.
fn build(codec: Codec, values: &[&[u8]], interval_us: u64) -> (usize, usize) {
    let mut records = Vec::new();
    write_records(&mut records, &records_of(values), interval_us);
    let compressed = compressed_bytes(codec, &records).expect("memory");
    let header = BATCH_OVERHEAD as usize;
    (header + records.len(), header + compressed)
}

// === Batches of consecutive records

/// Rows of records in a batch, batches, bytes of all of them, the same without compression.
fn compressed(path: &str, codec: Codec, clicks: &[&[u8]], real: &Value) -> Comparison {
    let curve = Curve::of_sample(codec, &records_of(clicks), 0).expect("memory");
    let start = Comparison::new(path, "bytes of compressed batches");
    rows(real).iter().fold(start, |comparison, row| {
        let (depth, count) = (row[0] as usize, row[1] as usize);
        let batches = clicks.chunks_exact(depth).take(count);
        let (plain, bytes) = batches.fold((0, 0), |sum, values| {
            let (plain, bytes) = build(codec, values, 0);
            (sum.0 + plain, sum.1 + bytes)
        });
        let header = BATCH_OVERHEAD as usize;
        let by_curve = header + curve.compressed((plain / count - header) as u32) as usize;
        comparison
            .number(
                format!("{depth} records, uncompressed"),
                row[3] as f64,
                plain as f64,
                Tolerance::Exact,
            )
            .number(
                format!("{depth} records"),
                row[2] as f64,
                bytes as f64,
                tolerance(codec),
            )
            .number(
                format!("{depth} records, by the run's curve"),
                row[2] as f64 / count as f64,
                by_curve as f64,
                Tolerance::Share(0.025, "another choice of batches from the sample"),
            )
    })
}

// === Batches that the client fills

/// The first full batches of the sample at 10,000 records/s: records and bytes of each.
fn filled(path: &str, codec: Codec, clicks: &[&[u8]], real: &Value) -> Comparison {
    let real = rows(real);
    let records = |rows: &[(u64, u64)]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    let bytes = |rows: &[(u64, u64)]| rows.iter().map(|row| row.1).sum::<u64>() as f64;
    let real: Vec<_> = real.iter().map(|row| (row[0], row[1])).collect();
    let by_arithmetic = fill(codec, clicks, real.len());
    let by_the_engine = run(codec, real.len());
    Comparison::new(path, "how the estimated ratio fills batches")
        .list("records", &records(&real), &records(&by_arithmetic))
        .number(
            "bytes",
            bytes(&real),
            bytes(&by_arithmetic),
            Tolerance::Share(0.002, "timestamps of another moment"),
        )
        .list(
            "records by the engine",
            &records(&real),
            &records(&by_the_engine),
        )
        .number(
            "bytes by the engine",
            bytes(&real),
            bytes(&by_the_engine),
            Tolerance::Share(0.02, "the curve of the whole sample"),
        )
}

/// The client's arithmetic with every batch's own bytes. A batch is opened before the one before it
/// is closed, so an estimate is two batches old.
fn fill(codec: Codec, clicks: &[&[u8]], count: usize) -> Vec<(u64, u64)> {
    let mut ratio = RatioEstimate::INITIAL;
    let mut full = Vec::new();
    let (mut first, mut open): (usize, Option<FillingBatch>) = (0, None);
    for (place, value) in clicks.iter().enumerate() {
        let ms = |place: usize| (place as u64 * INTERVAL_US / 1_000) as i64;
        let payload = payload_bytes(None, Some(value.len() as u32), &[]);
        if let Some(batch) = &mut open
            && batch.append(ms(place) - ms(first), RecordSize::new(payload))
        {
            continue;
        }
        let next = FillingBatch::with_first(BATCH_SIZE, payload).estimated(ratio.estimate());
        if let Some(batch) = open.replace(next) {
            let (plain, bytes) = build(codec, &clicks[first..place], INTERVAL_US);
            full.push((u64::from(batch.records()), bytes as u64));
            let header = BATCH_OVERHEAD as usize;
            ratio.learn((bytes - header) as f32 / (plain - header) as f32);
        }
        first = place;
        if full.len() == count {
            break;
        }
    }
    full
}

/// The same in the engine.
fn run(codec: Codec, count: usize) -> Vec<(u64, u64)> {
    let name = codec.compression.codec.name();
    let trace = Trace::to_end(
        "3s",
        &format!(
            r#"
        [cluster]
        brokers = 1
        link = {{ rtt = "1ms" }}
        [[topic]]
        name = "filled"
        partitions = 1
        replication-factor = 1
        [[producer]]
        name = "trips"
        config.linger.ms = 1000
        config."compression.type" = "{name}"
        [[producer.load]]
        topic = "filled"
        rate = 10000
        value = {{ sample = "samples/clicks.ndjson" }}"#
        ),
    );
    let batches = trace.acknowledged.iter().take(count);
    batches
        .map(|batch| (u64::from(batch.records), u64::from(batch.bytes)))
        .collect()
}
