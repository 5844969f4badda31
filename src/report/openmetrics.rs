//! The sampled series as `OpenMetrics` text, with moments: what Prometheus backfills.
//!
//! Every figure is a gauge, as the JMX exporter exposes attributes that it is told nothing about;
//! `rate()` and alert rules take them as they take those. A bucket gives its last sample. Moments
//! are those of the scenario's simulated clock (`[scenario] start`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::exposition::Exposed;
use super::{Outcome, Report, SeriesRow};

/// Samples by labels: moments in seconds since 1970, and values.
type Family = BTreeMap<String, Vec<(f64, f64)>>;

/// All series of all runs.
pub(super) fn render(outcomes: &[Outcome]) -> String {
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    for outcome in outcomes {
        let Outcome::Ran(report) = outcome else {
            continue;
        };
        for row in &report.series {
            let Some(value) = row.values.last.get() else {
                continue;
            };
            let labels = labels(report, &row.exposed);
            let family = families.entry(&row.exposed.name).or_default();
            let samples = family.entry(labels).or_default();
            samples.push((moment(report, row), value));
        }
    }
    let mut text = String::new();
    for (name, series) in families {
        let _written = writeln!(text, "# TYPE {name} gauge");
        for (labels, samples) in series {
            for (at, value) in samples {
                // A negative zero is none.
                let value = value + 0.0;
                let _written = writeln!(text, "{name}{labels} {value} {at:.3}");
            }
        }
    }
    text.push_str("# EOF\n");
    text
}

/// Seconds since 1970 of a bucket's last sample.
fn moment(report: &Report, row: &SeriesRow) -> f64 {
    report.start_epoch_ms as f64 / 1e3 + row.last_seconds
}

/// `{scenario="…",client_id="…"}`
fn labels(report: &Report, exposed: &Exposed) -> String {
    let scenario = ("scenario", report.scenario.clone());
    let all = std::iter::once(&scenario).chain(&exposed.labels);
    let shown: Vec<String> = all
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    format!("{{{}}}", shown.join(","))
}

/// A label's value as `OpenMetrics` writes it.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text
}
