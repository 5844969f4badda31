//! The differences for people: 80 columns, the largest first where there are many.

use serde_json::Value;

use crate::command::text::{append, escaped};

use super::Side;
use super::differences::{Comparison, leaf};

/// Columns of a figure's name.
const NAME: usize = 34;
/// Columns of a value.
const VALUE: usize = 14;
/// Columns of a line at most.
const COLUMNS: usize = 80;
/// Metrics of one producer that are listed at most.
const METRICS_MAX: usize = 12;
/// Smaller changes of a metric's mean are not listed, as a share of the larger value.
const CHANGE_MIN: f64 = 0.01;
/// Partitions and other things of which there may be many, listed at most.
const LINES_MAX: usize = 12;

/// A figure of both runs.
struct Row {
    name: String,
    a: String,
    b: String,
    change: Change,
}

/// How a figure changes from A to B.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// By this much.
    By(f64),
    /// It is no number, or there is none in one of them.
    InWords,
}

/// The whole report.
pub(super) fn render(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        head(&mut text, letter, side);
    }
    parting(&mut text, comparison);
    if comparison.is_same() {
        return text;
    }
    let figures = &comparison.figures;
    table(&mut text, "Records", rows(&figures["totals"]), LINES_MAX);
    for (name, of_producer) in entries(&figures["producers"]) {
        let mut of_metrics: Vec<Row> = entries(&of_producer["metrics"])
            .filter_map(|(metric, stats)| mean(metric, stats))
            .collect();
        of_metrics.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        let heading = format!("Producer {}: means of its metrics", escaped(name));
        table(&mut text, &heading, of_metrics, METRICS_MAX);
        let heading = format!("Producer {}: records with an exception", escaped(name));
        table(&mut text, &heading, rows(&of_producer["errors"]), LINES_MAX);
    }
    for (name, fields) in entries(&figures["topics"]) {
        let of_topic = ["records_in", "max_over_mean", "cv"];
        let rows = of_topic
            .into_iter()
            .filter_map(|field| row(field, &fields[field]));
        let heading = format!("Topic {}", escaped(name));
        table(&mut text, &heading, rows.collect(), LINES_MAX);
    }
    let mut of_partitions: Vec<Row> = entries(&figures["partitions"])
        .filter_map(|(name, fields)| named(name, &fields["records_in"]))
        .collect();
    of_partitions.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    table(&mut text, "Records in", of_partitions, LINES_MAX);
    for (name, fields) in entries(&figures["consumers"]) {
        let heading = format!("Consumer group {}", escaped(name));
        table(&mut text, &heading, rows(fields), LINES_MAX);
    }
    expectations(&mut text, figures);
    warnings(&mut text, comparison);
    text
}

fn head(text: &mut String, letter: &str, side: &Side) {
    let report = &side.report;
    let line = format!(
        "{letter}  {}, seed {}, {:.3} s, digest {}",
        escaped(&report.scenario),
        report.seed,
        report.simulated_seconds,
        report.digest
    );
    append(text, format_args!("{line}\n"));
    for change in &side.changes {
        append(text, format_args!("   {}\n", escaped(change)));
    }
}

fn parting(text: &mut String, comparison: &Comparison) {
    let Some(parting) = &comparison.parting else {
        text.push_str("\nIt is the same run.\n");
        return;
    };
    if parting.at.as_nanos() == 0 && parting.a.is_empty() && parting.b.is_empty() {
        text.push_str("\nThey differ from the start.\n");
        return;
    }
    let at = parting.at.as_seconds();
    append(text, format_args!("\nThey part at {at:.9} s"));
    if parting.a.is_empty() && parting.b.is_empty() {
        text.push_str(": batches go another way.\n");
        return;
    }
    text.push_str(".\n");
    for (letter, sentences) in [("A", &parting.a), ("B", &parting.b)] {
        for sentence in sentences {
            let line = format!("  {letter}: {}", escaped(sentence));
            append(text, format_args!("{}\n", cut(&line, COLUMNS)));
        }
        if sentences.is_empty() {
            append(text, format_args!("  {letter}: nothing notable\n"));
        }
    }
}

/// Expectations that came out differently, and those of one run only.
fn expectations(text: &mut String, figures: &Value) {
    let of_both = entries(&figures["expectations"]);
    let held = |name: &str, fields: &Value| {
        let (a, b) = leaf(&fields["held"])?;
        let word = |held: &Value| match held {
            Value::Bool(true) => "held",
            Value::Bool(false) => "failed",
            _ => "open",
        };
        Some(Row {
            name: name.to_owned(),
            a: word(a).to_owned(),
            b: word(b).to_owned(),
            change: Change::InWords,
        })
    };
    let rows = of_both.filter_map(|(name, fields)| held(name, fields));
    table(text, "Expectations", rows.collect(), usize::MAX);
}

/// Warnings that only one of the runs gave.
fn warnings(text: &mut String, comparison: &Comparison) {
    let names = |side: &Side| -> Vec<String> {
        let warnings = side.report.warnings.iter();
        warnings.map(|warning| warning.name.clone()).collect()
    };
    let (of_a, of_b) = (names(&comparison.a), names(&comparison.b));
    for (letter, side, others) in [("A", &comparison.a, &of_b), ("B", &comparison.b, &of_a)] {
        let only = side.report.warnings.iter();
        let only: Vec<_> = only
            .filter(|warning| !others.contains(&warning.name))
            .collect();
        if only.is_empty() {
            continue;
        }
        append(text, format_args!("\nWarnings in {letter} only\n"));
        for warning in only {
            let line = format!("  {}: {}", warning.name, escaped(&warning.text));
            append(text, format_args!("{}\n", cut(&line, COLUMNS)));
        }
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(key, value)| (key.as_str(), value))
}

/// Every leaf right below a value.
fn rows(value: &Value) -> Vec<Row> {
    entries(value)
        .filter_map(|(name, value)| row(name, value))
        .collect()
}

fn row(name: &str, value: &Value) -> Option<Row> {
    let (a, b) = leaf(value)?;
    Some(Row {
        name: name.replace('_', " "),
        a: shown(a),
        b: shown(b),
        change: match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => Change::By(b - a),
            _ => Change::InWords,
        },
    })
}

/// The same, under a name of the run, which stays as it is.
fn named(name: &str, value: &Value) -> Option<Row> {
    let name = name.to_owned();
    row("", value).map(|row| Row { name, ..row })
}

/// A metric whose mean changes by something worth a line.
fn mean(metric: &str, stats: &Value) -> Option<Row> {
    let row = named(metric, &stats["mean"])?;
    let (a, b) = leaf(&stats["mean"])?;
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) if (b - a).abs() < CHANGE_MIN * a.abs().max(b.abs()) => None,
        _ => Some(row),
    }
}

/// What decides the order of metrics: the change as a share of the larger value.
fn weight(row: &Row) -> f64 {
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
    match (row.change, number(&row.a), number(&row.b)) {
        (Change::By(by), Some(a), Some(b)) => {
            by.abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
        }
        _ => 1.0,
    }
}

fn table(text: &mut String, heading: &str, rows: Vec<Row>, most: usize) {
    if rows.is_empty() {
        return;
    }
    append(text, format_args!("\n{heading}\n"));
    append(
        text,
        format_args!(
            "  {:NAME$}{:>VALUE$}{:>VALUE$}{:>VALUE$}\n",
            "", "A", "B", "B - A"
        ),
    );
    let left = rows.len().saturating_sub(most);
    for row in rows.into_iter().take(most) {
        let by = match row.change {
            Change::By(by) => format!("{}{}", if by > 0.0 { "+" } else { "" }, number(by)),
            Change::InWords => String::new(),
        };
        let name = cut(&escaped(&row.name), NAME - 1);
        let line = format!(
            "  {name:NAME$}{:>VALUE$}{:>VALUE$}{by:>VALUE$}",
            row.a, row.b
        );
        append(text, format_args!("{}\n", line.trim_end()));
    }
    if left > 0 {
        append(
            text,
            format_args!("  and {left} more: --format json has all of them\n"),
        );
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => cut(&escaped(text), VALUE - 1),
        Value::Number(_) => value.as_f64().map_or_else(String::new, number),
        other => cut(&escaped(&other.to_string()), VALUE - 1),
    }
}

/// A number with as many digits as matter, whole ones in groups of three.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 10_000.0 {
        return grouped(value.round());
    }
    let digits = if value.abs() >= 100.0 { 1 } else { 4 };
    format!("{value:.digits$}")
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
