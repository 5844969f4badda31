//! Bytes of records, batches, requests and answers, and the records that are too large to send.
//!
//! Compressed batches are compared in `sizes_compressed`.

use std::fmt::Write;

use kdrill::kafka::metric_name::ProducerMetric as M;
use kdrill::kafka::size::{FillingBatch, HeaderSize, RecordSize, payload_bytes};
use kdrill::kafka::wire::{
    TopicNaming, produce_partition_bytes, produce_request_bytes, produce_response_bytes,
    produce_topic_bytes,
};
use kdrill::sim::fact::{ErrorClass, Exception, Fact};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::Trace;

const CLIENT_ID_BYTES: u32 = "producer-1".len() as u32;
const TOPIC_BYTES: u32 = "sizes".len() as u32;
/// What both sides of the recording agree on.
const NAMING: TopicNaming = TopicNaming::Ids;
const DEFAULT_BATCH_SIZE: u32 = 16_384;

/// Every case of the probe without compression; the others have a file of their own.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("sizes");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    let rows = |mechanism, simulate: &dyn Fn(&[Value]) -> Vec<i64>| {
        let real = rows(real);
        let simulated: Vec<_> = real.iter().map(|row| line(row, &simulate(row))).collect();
        let real: Vec<_> = real.iter().map(|row| line(row, &[])).collect();
        Comparison::new(path, mechanism).list("rows", &real, &simulated)
    };
    let in_batches = "record and batch sizes";
    let on_the_wire = "produce requests and answers in bytes";
    match case {
        "timestamps" => Some(rows(in_batches, &spread)),
        "partitions-in-a-request" => Some(rows(on_the_wire, &request_and_answer)),
        "filled-none" => Some(compare_sample(path, in_batches, real)),
        "largest-record" => Some(compare_largest(path, real)),
        _ => {
            let batch_size = case.strip_prefix("batch-size-")?.parse().ok()?;
            let by_arithmetic = rows(in_batches, &|row| batch_and_request(batch_size, row));
            Some(by_the_engine(by_arithmetic, batch_size, real))
        }
    }
}

fn rows(real: &Value) -> Vec<&[Value]> {
    let rows = real["rows"].as_array().expect("rows").iter();
    rows.map(|row| row.as_array().expect("a row").as_slice())
        .collect()
}

/// A row as text, its last figures replaced by the simulated ones.
fn line(row: &[Value], simulated: &[i64]) -> String {
    let inputs = &row[..row.len() - simulated.len()];
    let inputs = inputs.iter().map(ToString::to_string);
    let figures = simulated.iter().map(ToString::to_string);
    inputs.chain(figures).collect::<Vec<_>>().join(" ")
}

// === Batches

/// Rows of key bytes, value bytes, headers; records in the first full batch, its bytes, bytes of
/// the request with it alone.
fn batch_and_request(batch_size: u32, row: &[Value]) -> Vec<i64> {
    const HEADER: HeaderSize = HeaderSize {
        key_bytes: 4,
        value_bytes: Some(8),
    };
    let headers = vec![HEADER; length(&row[2]).unwrap_or(0) as usize];
    let payload = payload_bytes(length(&row[0]), length(&row[1]), &headers);
    let mut batch = FillingBatch::with_first(batch_size.max(1), payload);
    let sent = records_sent(batch_size, row);
    while batch.records() < sent && batch.append(0, RecordSize::new(payload)) {}
    let request = request_bytes(&[batch.bytes()]);
    vec![batch.records().into(), batch.bytes().into(), request.into()]
}

fn length(cell: &Value) -> Option<u32> {
    cell.as_u64().map(|bytes| bytes as u32)
}

/// How many records the recording sends for a row: what would fill the batch if nothing but their
/// own bytes counted, and two more. Where an estimate leaves room for a third one, there is none.
fn records_sent(batch_size: u32, row: &[Value]) -> u32 {
    let length = |place: usize| length(&row[place]).unwrap_or(0);
    2 + batch_size.max(1) / (7 + length(0) + length(1) + 14 * length(2))
}

/// The rows without keys and headers once more, as the engine's client fills its batches.
fn by_the_engine(comparison: Comparison, batch_size: u32, real: &Value) -> Comparison {
    let is_plain = |row: &&[Value]| row[0].is_null() && row[2] == 0;
    let plain: Vec<_> = rows(real).into_iter().filter(is_plain).collect();
    let simulated = plain.iter().map(|row| {
        let trace = fill(batch_size, row);
        let first = trace.acknowledged.first();
        let (records, bytes) = first.map_or((0, 0), |batch| (batch.records, batch.bytes));
        let request_bytes = trace.metric(M::RequestSizeMax) as i64;
        line(row, &[records.into(), bytes.into(), request_bytes])
    });
    let real: Vec<_> = plain.iter().map(|row| line(row, &[])).collect();
    comparison.list("rows by the engine", &real, &simulated.collect::<Vec<_>>())
}

/// The run that sends a row's records within a few milliseconds.
fn fill(batch_size: u32, row: &[Value]) -> Trace {
    let value = match length(&row[1]) {
        Some(bytes) => format!("{{ bytes = {bytes} }}"),
        None => "\"null\"".to_string(),
    };
    let records = records_sent(batch_size, row);
    Trace::to_end(
        "40s",
        &format!(
            r#"
        [cluster]
        brokers = 1
        [[topic]]
        name = "sizes"
        partitions = 1
        replication-factor = 1
        [[producer]]
        name = "trips"
        config.batch.size = {batch_size}
        config.buffer.memory = 8388608
        config.linger.ms = 30000
        [[producer.load]]
        topic = "sizes"
        rate = 10000000
        records = {records}
        value = {value}"#
        ),
    )
}

/// Rows of milliseconds between records; records in the first full batch, its bytes.
fn spread(row: &[Value]) -> Vec<i64> {
    let step_ms = row[0].as_i64().expect("milliseconds");
    let payload = payload_bytes(None, Some(1024), &[]);
    let mut batch = FillingBatch::with_first(DEFAULT_BATCH_SIZE, payload);
    while batch.append(
        i64::from(batch.records()) * step_ms,
        RecordSize::new(payload),
    ) {}
    vec![batch.records().into(), batch.bytes().into()]
}

/// The sample without compression, ten records in each millisecond.
fn compare_sample(path: &str, mechanism: &'static str, real: &Value) -> Comparison {
    let real: Vec<_> = rows(real).iter().map(|row| line(row, &[])).collect();
    let mut full = Vec::new();
    let mut open: Option<(usize, FillingBatch)> = None;
    for (place, value) in golden::clicks().lines().enumerate() {
        let ms = place / 10;
        let payload = payload_bytes(None, Some(value.len() as u32), &[]);
        if let Some((first_ms, batch)) = &mut open {
            if batch.append((ms - *first_ms) as i64, RecordSize::new(payload)) {
                continue;
            }
            full.push(format!("{} {}", batch.records(), batch.bytes()));
        }
        open = Some((ms, FillingBatch::with_first(DEFAULT_BATCH_SIZE, payload)));
    }
    full.truncate(real.len());
    Comparison::new(path, mechanism).list("rows", &real, &full)
}

// === Requests

/// Rows of partitions; bytes of the request with one record for each, bytes of its answer.
fn request_and_answer(row: &[Value]) -> Vec<i64> {
    let partitions = row[0].as_u64().expect("partitions") as u32;
    let payload = payload_bytes(None, Some(100), &[]);
    let batch = FillingBatch::with_first(DEFAULT_BATCH_SIZE, payload);
    let request = request_bytes(&vec![batch.bytes(); partitions as usize]);
    let answer = produce_response_bytes(NAMING, &[(TOPIC_BYTES, partitions)]);
    vec![request.into(), answer.into()]
}

fn request_bytes(batches: &[u32]) -> u32 {
    let topic = produce_topic_bytes(NAMING, TOPIC_BYTES, batches.len() as u32);
    let batches: u32 = batches
        .iter()
        .map(|bytes| produce_partition_bytes(*bytes))
        .sum();
    produce_request_bytes(CLIENT_ID_BYTES, None, 1) + topic + batches
}

// === Records around the limits

fn compare_largest(path: &str, real: &Value) -> Comparison {
    let outcomes = real.as_object().expect("outcomes by name");
    let start = Comparison::new(path, "the largest record, refusals of larger ones");
    outcomes.iter().fold(start, |comparison, (name, real)| {
        let trace = send_one(real);
        let comparison = comparison.text(name, refusal(real), simulated_refusal(&trace));
        if real.get("batch_bytes").is_none() {
            return comparison;
        }
        let batch_bytes = trace.acknowledged.first().map_or(0, |batch| batch.bytes);
        comparison
            .number(
                format!("{name}: bytes of the batch"),
                real["batch_bytes"].as_f64().unwrap_or(f64::NAN),
                f64::from(batch_bytes),
                Tolerance::Exact,
            )
            .number(
                format!("{name}: bytes of the request"),
                real["request_bytes"].as_f64().unwrap_or(f64::NAN),
                trace.metric(M::RequestSizeMax),
                Tolerance::Exact,
            )
    })
}

/// The run in which one record of this size is sent, with this configuration.
fn send_one(real: &Value) -> Trace {
    let configs = real["configs"].as_object().expect("configs");
    let configs = configs
        .iter()
        .fold(String::new(), |mut text, (key, value)| {
            let _written = writeln!(text, "config.{key} = {value}");
            text
        });
    let value_bytes = &real["value_bytes"];
    Trace::to_end(
        "5s",
        &format!(
            r#"
        [cluster]
        brokers = 1
        [[topic]]
        name = "sizes"
        partitions = 1
        replication-factor = 1
        [[producer]]
        name = "trips"
        {configs}
        [[producer.load]]
        topic = "sizes"
        rate = 1
        records = 1
        value = {{ bytes = {value_bytes} }}"#
        ),
    )
}

/// How `send()` refused, in one line.
fn refusal(real: &Value) -> String {
    let (way, exception) = match (real.get("thrown"), real.get("callback")) {
        (Some(thrown), _) => ("thrown", thrown),
        (None, Some(callback)) => ("callback", callback),
        (None, None) => return "sent".to_string(),
    };
    let part = |name: &str| exception[name].as_str().unwrap_or_default();
    format!("{way} {}: {}", part("class"), part("text"))
}

fn simulated_refusal(trace: &Trace) -> String {
    let refused = trace.facts.iter().find_map(|stamped| match &stamped.fact {
        Fact::RecordRefused { exception, .. } => Some(exception),
        _ => None,
    });
    refused.map_or("sent".to_string(), |exception| {
        let Exception { class, text, .. } = &**exception;
        let ErrorClass::Java(class) = class else {
            return format!("thrown {}: {text}", class.name());
        };
        let way = if class.is_api_exception() {
            "callback"
        } else {
            "thrown"
        };
        format!("{way} {}: {text}", class.qualified_name())
    })
}
