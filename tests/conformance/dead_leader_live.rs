//! The partition without a leader once more, on real brokers: when the application's standstill ends
//! and the exceptions that it gets, in seconds since the broker died.
//!
//! When the standstill begins is the exact twin's business: here it depends on how much of the pool
//! the healthy partitions hold meanwhile, and so on how fast the recording machine's brokers answer.
//! The recorded loop makes good what it waited, up to 50 ms, as an open one does.

use kdrill::sim::fact::{BlockedOn, Fact};
use kdrill::sim::time::{SimSpan, SimTime};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::dead_leader::{DEATH_MS, START_MS, scenario};
use crate::exceptions;
use crate::golden;
use crate::trace::{Trace, millis};

const MECHANISM: &str = "a partition without a leader, end to end";
/// A send that takes longer is the standstill.
const STANDSTILL_MS: f64 = 5_000.0;

/// The one case.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("dead-leader-live");
    let real = &golden.cases["small"];
    let seconds = real["seconds"][0]["acked"].as_array().map_or(0, Vec::len) as u64;
    let mut trace = Trace::new("100s", &scenario("exact-small", "open"));
    trace.advance_to(millis(START_MS + seconds * 1_000));
    let death = millis(START_MS + DEATH_MS);
    let (ends, spread) = median_and_spread(recorded(real));
    let comparison = Comparison::new(golden.path("small"), MECHANISM).number(
        "standstill ends, s",
        ends,
        simulated(&trace, death),
        Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
    );
    vec![exceptions::compare(comparison, real, &trace, death)]
}

/// When the first standstill of every run ended.
fn recorded(real: &Value) -> Vec<f64> {
    let runs = real["blocked_sends"].as_array().into_iter().flatten();
    let of_run = |(number, sends): (usize, &Value)| {
        let death = real["marks"][number][0]["at_seconds"].as_f64()?;
        let long = |send: &&Value| send["took_ms"].as_f64() > Some(STANDSTILL_MS);
        let first = sends.as_array()?.iter().find(long)?;
        Some(first["at_seconds"].as_f64()? - death + first["took_ms"].as_f64()? / 1e3)
    };
    runs.enumerate().filter_map(of_run).collect()
}

/// When the first standstill ended.
fn simulated(trace: &Trace, death: SimTime) -> f64 {
    let seconds = |span: SimSpan| span.as_nanos() as f64 / 1e9;
    let ended = trace.facts.iter().find_map(|stamped| match stamped.fact {
        Fact::ThreadUnblocked {
            on: BlockedOn::Memory { .. },
            waited,
            ..
        } if seconds(waited) * 1e3 > STANDSTILL_MS => Some(seconds(stamped.at.since(death))),
        _ => None,
    });
    ended.unwrap_or(f64::NAN)
}
