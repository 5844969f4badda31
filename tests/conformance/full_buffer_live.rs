//! The full buffer once more, behind real brokers and a real network: cut, refused, and the
//! exceptions that the application gets then.
//!
//! Times after a fault count from the fault. The recorded loop is a little slower than it says
//! (its sleeps end late), so its buffer fills a little later.

use std::collections::BTreeMap;

use kdrill::kafka::metric_name::ProducerMetric as M;
use kdrill::sim::fact::Fact;
use kdrill::sim::time::{SimSpan, SimTime};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "a full buffer, cut and refused, end to end";
const START_MS: u64 = 50;
/// No fault before.
const FAULT_FROM_MS: u64 = 20_000;
/// Nobody waits before.
const FIRST_WAIT_FROM_MS: u64 = 500;

/// Every case.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("full-buffer-live");
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

/// One exception of the application: its records and when the first and the last came, in seconds
/// since the fault.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    records: u64,
    first: f64,
    last: f64,
}

/// A figure's name, what it is of a recorded run, and what it is here.
type Figure = (&'static str, fn(&Came) -> f64, f64);

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let seconds = real["seconds"][0]["acked"].as_array().map_or(0, Vec::len) as u64;
    let mut trace = Trace::new("200s", &scenario(case));
    let first_wait = first_wait(&mut trace);
    trace.advance_to(millis(START_MS + seconds * 1_000));
    let runs = real["first_waited_seconds"]["runs"].as_array();
    let runs = runs.into_iter().flatten().filter_map(Value::as_f64);
    let mut comparison = Comparison::new(path, MECHANISM);
    let (median, spread) = median_and_spread(runs.collect());
    comparison = comparison.number(
        "first wait, s",
        median,
        first_wait,
        Tolerance::Share(
            spread + 0.07,
            "the runs' own spread, 5 %, and 2 % of slower pace",
        ),
    );
    let real = real_exceptions(real);
    let simulated = simulated_exceptions(&trace, fault_ms(case));
    let texts = |all: Vec<&String>| all.into_iter().cloned().collect::<Vec<_>>();
    comparison = comparison.list(
        "exceptions",
        &texts(real.keys().collect()),
        &texts(simulated.keys().collect()),
    );
    for (text, runs) in &real {
        let simulated = simulated.get(text).copied().unwrap_or_default();
        let figures: [Figure; 3] = [
            (
                "records",
                |came| came.records as f64,
                simulated.records as f64,
            ),
            ("first after, s", |came| came.first, simulated.first),
            ("last after, s", |came| came.last, simulated.last),
        ];
        let class = text.split(':').next().unwrap_or_default();
        for (name, of, simulated) in figures {
            let (median, spread) = median_and_spread(runs.iter().map(of).collect());
            comparison = comparison.number(
                format!("{class}, {name}"),
                median,
                simulated,
                Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
            );
        }
    }
    comparison
}

/// By class and text, with figures that differ from batch to batch left out: each run.
fn real_exceptions(real: &Value) -> BTreeMap<String, Vec<Came>> {
    let mut all: BTreeMap<String, Vec<Came>> = BTreeMap::new();
    let runs = real["exceptions"].as_array().into_iter().flatten();
    for (number, run) in runs.enumerate() {
        let fault = real["marks"][number][0]["at_seconds"]
            .as_f64()
            .unwrap_or(0.0);
        for exception in run.as_array().into_iter().flatten() {
            let figure = |name: &str| exception[name].as_f64().unwrap_or(f64::NAN);
            let class = exception["class"].as_str().unwrap_or_default();
            let class = class.rsplit('.').next().unwrap_or_default();
            let text = exception["text"].as_str().unwrap_or_default();
            all.entry(without_counts(class, text))
                .or_default()
                .push(Came {
                    records: figure("records") as u64,
                    first: figure("first_seconds") - fault,
                    last: figure("last_seconds") - fault,
                });
        }
    }
    all
}

fn simulated_exceptions(trace: &Trace, fault_ms: u64) -> BTreeMap<String, Came> {
    let mut all: BTreeMap<String, Came> = BTreeMap::new();
    let fault = millis(START_MS + fault_ms);
    let since = |at: SimTime| at.since(fault).as_nanos() as f64 / 1e9;
    for stamped in &trace.facts {
        let (exception, records) = match &stamped.fact {
            Fact::BatchFailed {
                exception, records, ..
            } => (exception, u64::from(*records)),
            Fact::RecordRefused { exception, .. } => (exception, 1),
            _ => continue,
        };
        let text = without_counts(exception.class.name(), &exception.text);
        let came = all.entry(text).or_insert(Came {
            first: since(stamped.at),
            ..Came::default()
        });
        came.records += records;
        came.last = since(stamped.at);
    }
    all
}

/// `Expiring 15 record(s) for events-0:15001 ms …` without its count, partition and age.
fn without_counts(class: &str, text: &str) -> String {
    let Some((_, rest)) = text.split_once("ms has passed") else {
        return format!("{class}: {text}");
    };
    format!("{class}: Expiring N record(s) for events-P:N ms has passed{rest}")
}

/// When a thread first waits for memory, looked for every 5 ms, in seconds of the load.
fn first_wait(trace: &mut Trace) -> f64 {
    for step in FIRST_WAIT_FROM_MS / 5..FAULT_FROM_MS / 5 {
        trace.advance_to(millis(START_MS) + SimSpan::from_millis(step * 5));
        if trace.metric(M::WaitingThreads) > 0.0 {
            return (step * 5) as f64 / 1_000.0;
        }
    }
    f64::NAN
}

/// When the recorded fault was there: cutting took most of a second.
fn fault_ms(case: &str) -> u64 {
    FAULT_FROM_MS + if case.contains("cut") { 800 } else { 60 }
}

fn scenario(case: &str) -> String {
    let config = match case {
        "8-mib" => "config.buffer.memory = 8388608",
        "64-mib" => "config.buffer.memory = 67108864",
        "32-mib-cut" | "32-mib-refused" => {
            "config.max.block.ms = 5000\nconfig.delivery.timeout.ms = 15000\n\
             config.request.timeout.ms = 5000"
        }
        _ => "",
    };
    let fault_ms = START_MS + fault_ms(case);
    let fault = match case {
        "32-mib-cut" | "32-mib-cut-defaults" => "link cut trips *",
        "32-mib-refused" => "link refuse trips *",
        _ => "link heal trips *",
    };
    let leaders: Vec<u32> = (0..12).map(|partition| 1 + partition % 3).collect();
    let warm_up = warm_up(0..3);
    format!(
        r#"
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "2MB/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = 12
        replication-factor = 1
        leaders = {leaders:?}
        [[producer]]
        name = "trips"
        {config}
        [[producer.load]]
        topic = "events"
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = 10000 }}]
        key = {{ cycle = 5000, format = "rider-{{n}}" }}
        value = {{ bytes = 1024 }}
        {warm_up}
        [[timeline]]
        at = "{fault_ms}ms"
        do = "{fault}"
        "#
    )
}
