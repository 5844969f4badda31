//! The exceptions that the application got after a fault: text by text, with counts and times.

use std::collections::BTreeMap;

use kdrill::sim::fact::Fact;
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::trace::Trace;

/// One exception: its records and when the first and the last came, in seconds since the fault.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    records: u64,
    first: f64,
    last: f64,
}

/// A figure's name, what it is of a recorded run, and what it is here.
type Figure = (&'static str, fn(&Came) -> f64, f64);

/// Adds every exception of the recorded runs, which note their fault as the first mark, beside
/// those of a simulated run with its fault at `fault`.
pub fn compare(
    mut comparison: Comparison,
    real: &Value,
    trace: &Trace,
    fault: SimTime,
) -> Comparison {
    let real = recorded(real);
    let simulated = simulated(trace, fault);
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
fn recorded(real: &Value) -> BTreeMap<String, Vec<Came>> {
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
            let text = without_counts(exception["text"].as_str().unwrap_or_default());
            all.entry(format!("{class}: {text}"))
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

fn simulated(trace: &Trace, fault: SimTime) -> BTreeMap<String, Came> {
    let mut all: BTreeMap<String, Came> = BTreeMap::new();
    let since = |at: SimTime| at.since(fault).as_nanos() as f64 / 1e9;
    for stamped in &trace.facts {
        let (exception, records) = match &stamped.fact {
            Fact::BatchFailed {
                exception, records, ..
            } => (exception, u64::from(*records)),
            Fact::RecordRefused { exception, .. } => (exception, 1),
            _ => continue,
        };
        let class = exception.class.name();
        let text = format!("{class}: {}", without_counts(&exception.text));
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
pub fn without_counts(text: &str) -> String {
    match text.split_once("ms has passed") {
        Some((_, rest)) => format!("Expiring N record(s) for events-P:N ms has passed{rest}"),
        None => text.to_string(),
    }
}
