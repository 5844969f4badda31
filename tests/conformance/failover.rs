//! A leader or a follower fails under load: time without a leader, what was lost, ISR changes.
//!
//! The moment within a heartbeat's interval at which a broker fails is not recorded: the median over
//! several of them is compared. Figures that hang on how fast a process starts are left out.

mod follower;
mod leader;
mod unclean;

use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;

const MECHANISM: &str = "failing leaders and followers";
/// Brokers as the recordings configure them.
const SHORT_SESSION: &str = "config.broker.session.timeout.ms = 3000\n\
                             config.broker.heartbeat.interval.ms = 500\n\
                             config.replica.lag.time.max.ms = 4000";
/// Moments within a heartbeat's interval at which the broker fails.
const PHASES: u64 = 5;

/// Every case of the probe that a scenario can say.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("failover");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    match case.split_once('/') {
        Some((failure, "leader")) => {
            return Some(leader::compare_time(path, failure, real));
        }
        Some((failure, setting)) => {
            return leader::compare_records(path, (failure, setting), real);
        }
        _ => {}
    }
    match case {
        "crash-at-defaults" => Some(leader::compare_at_defaults(path, real)),
        "unclean-on" | "unclean-off" => Some(unclean::compare(path, case, real)),
        "isr-silent-without-load" | "isr-silent-from-the-start" => {
            Some(follower::compare_silent(path, case, real))
        }
        _ => follower::compare(path, case.strip_prefix("isr-")?, real),
    }
}

/// Numbers of several runs.
fn runs(real: &Value) -> Vec<f64> {
    let runs = real["runs"].as_array().or(real.as_array());
    runs.into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The simulated median beside the runs': as far from theirs as they are from each other, and
/// `slack` more.
fn beside(
    comparison: Comparison,
    name: &str,
    real: &Value,
    (simulated, slack): (f64, f64),
) -> Comparison {
    let runs = runs(real);
    let least = runs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = most - least + slack;
    let tolerance = if width > 0.0 {
        Tolerance::Absolute(width, "the runs' own spread, and a phase")
    } else {
        Tolerance::Exact
    };
    comparison.number(name, median(runs), simulated, tolerance)
}
