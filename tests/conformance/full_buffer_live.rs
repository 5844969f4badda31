//! The full buffer once more, behind real brokers and a real network: cut, refused, and the
//! exceptions that the application gets then.
//!
//! Times after a fault count from the moment at which it was there on all links. The simulated loop
//! has the pace that the recorded one reached before its buffer was full: some per cent below the
//! 10,000 records a second that it tried, because its sleeps end late.

use kdrill::kafka::metric_name::ProducerMetric as M;
use kdrill::sim::time::SimSpan;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::exceptions;
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

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let seconds = real["seconds"][0]["acked"].as_array().map_or(0, Vec::len) as u64;
    let mut trace = Trace::new("200s", &scenario(case, pace(real)));
    let first_wait = first_wait(&mut trace);
    trace.advance_to(millis(START_MS + seconds * 1_000));
    let runs = real["first_waited_seconds"]["runs"].as_array();
    let runs = runs.into_iter().flatten().filter_map(Value::as_f64);
    let (median, spread) = median_and_spread(runs.collect());
    let comparison = Comparison::new(path, MECHANISM).number(
        "first wait, s",
        median,
        first_wait,
        Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
    );
    exceptions::compare(comparison, real, &trace, millis(START_MS + fault_ms(case)))
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

/// Records a second before the first wait: the runs' median.
fn pace(real: &Value) -> u64 {
    let waited = real["first_waited_seconds"]["runs"].as_array();
    let waited = waited
        .into_iter()
        .flatten()
        .map(|at| at.as_f64().unwrap_or(1.0));
    let runs = real["seconds"].as_array().into_iter().flatten();
    let paces = runs.zip(waited).map(|(run, waited)| {
        let sent = run["sent"].as_array().into_iter().flatten();
        let seconds = waited as usize;
        let sent: f64 = sent.take(seconds).filter_map(Value::as_f64).sum();
        sent / seconds as f64
    });
    median_and_spread(paces.collect()).0 as u64
}

/// How long the recorded fault took to be there on one link: cutting fills the queue of a port.
fn fault_ms_per_link(case: &str) -> u64 {
    if case.contains("cut") { 267 } else { 20 }
}

/// When the recorded fault was there on all links.
fn fault_ms(case: &str) -> u64 {
    FAULT_FROM_MS + 3 * fault_ms_per_link(case)
}

fn scenario(case: &str, records_per_second: u64) -> String {
    let config = match case {
        "8-mib" => "config.buffer.memory = 8388608",
        "64-mib" => "config.buffer.memory = 67108864",
        "32-mib-cut" | "32-mib-refused" => {
            "config.max.block.ms = 5000\nconfig.delivery.timeout.ms = 15000\n\
             config.request.timeout.ms = 5000"
        }
        _ => "",
    };
    let fault = match case {
        "32-mib-cut" | "32-mib-cut-defaults" => "cut",
        "32-mib-refused" => "refuse",
        _ => "heal",
    };
    // One link after the other, as the recordings struck them.
    let faults = [0, 1, 2]
        .map(|link| {
            let at = START_MS + FAULT_FROM_MS + link * fault_ms_per_link(case);
            let broker = link + 1;
            format!("[[timeline]]\nat = \"{at}ms\"\ndo = \"link {fault} trips {broker}\"\n")
        })
        .concat();
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
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = {records_per_second} }}]
        key = {{ cycle = 5000, format = "rider-{{n}}" }}
        value = {{ bytes = 1024 }}
        {warm_up}
        {faults}
        "#
    )
}
