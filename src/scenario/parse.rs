//! From the text of a file to its tree, syntax errors included.

use toml::de::DeTable;

use crate::kafka::config::{MASK, is_secret};

use super::fields::{Kind, TableSpec};
use super::problem::{Findings, Problem};
use super::sources::Sources;
use super::tree::{Entry, Node, Place, SourceId, Table, Value, from_toml};

/// A text longer than this gets its first syntax error only: the parser keeps a copy of each.
const RECOVER_BYTES_MAX: usize = 256 * 1024;

/// A parsed file.
pub(crate) struct Parsed {
    pub(crate) table: Table,
    /// Lines with syntax errors, as places; empty when the file is well-formed.
    pub(crate) torn: Vec<Place>,
}

/// Parses one text; dotted Kafka names come back as one key each.
pub(crate) fn parse(
    sources: &Sources,
    source: SourceId,
    spec: &'static TableSpec,
    findings: &mut Findings,
) -> Parsed {
    let text = sources.text(source);
    let (table, errors) = if text.len() > RECOVER_BYTES_MAX {
        match DeTable::parse(text) {
            Ok(table) => (Some(table), Vec::new()),
            Err(error) => (None, vec![error]),
        }
    } else {
        let (table, errors) = DeTable::parse_recoverable(text);
        (Some(table), errors)
    };
    let mut torn = Vec::new();
    for error in errors {
        let range = error.span().unwrap_or(0..0);
        let range = range.start.min(text.len())..range.end.clamp(range.start, text.len());
        let place = Place::new(source, &range);
        if torn
            .last()
            .is_some_and(|last| line_of(text, *last) == line_of(text, place))
        {
            continue; // One slip often makes several errors in its line.
        }
        torn.push(place);
        findings.problem(syntax(error.message(), place, text));
    }
    let mut tree = table
        .map(|table| from_toml(table.get_ref(), source))
        .unwrap_or_default();
    flatten_in(spec, &mut tree);
    Parsed { table: tree, torn }
}

fn syntax(message: &str, place: Place, text: &str) -> Problem {
    let problem = Problem::new(format!("not TOML: {message}")).at(place, "");
    let line = text.lines().nth(line_of(text, place)).unwrap_or("");
    let is_clash = message.contains("dotted key") || message.contains("duplicate key");
    if is_clash && line.trim_start().starts_with("config.") {
        let (key, value) = line.trim().split_once('=').unwrap_or((line.trim(), " …"));
        let name = key.trim().trim_start_matches("config.");
        let value = if is_secret(name) {
            &format!(" {MASK}")
        } else {
            value
        };
        return problem.hint(format!(
            "where one Kafka name begins another, quote it: config.\"{name}\" ={value}"
        ));
    }
    if message.contains("must be quoted") {
        return problem.hint("strings, durations, sizes and names stand in quotes: \"5ms\"");
    }
    problem
}

/// The line that a place starts in, from 0.
pub(crate) fn line_of(text: &str, place: Place) -> usize {
    let before = text.get(..place.start as usize).unwrap_or(text);
    before.matches('\n').count()
}

/// Gives every Kafka configuration in a tree one entry a name: `linger.ms`, however it was nested.
fn flatten_in(spec: &'static TableSpec, table: &mut Table) {
    for entry in &mut table.entries {
        let Some(field) = spec.field(&entry.key) else {
            continue;
        };
        match (&field.kind, &mut entry.node.value) {
            (Kind::Kafka, Value::Table(config)) => {
                let mut flat = Table::default();
                flatten("", None, std::mem::take(config), &mut flat);
                *config = flat;
            }
            (Kind::Table(inner), Value::Table(table)) => flatten_in(inner, table),
            (Kind::Tables(inner, _), Value::Array(items)) => {
                for item in items {
                    if let Value::Table(table) = &mut item.value {
                        flatten_in(inner, table);
                    }
                }
            }
            _ => {}
        }
    }
}

fn flatten(prefix: &str, start: Option<Place>, table: Table, flat: &mut Table) {
    for entry in table.entries {
        let key = match prefix {
            "" => entry.key,
            _ => format!("{prefix}.{}", entry.key),
        };
        let first = start.unwrap_or(entry.key_place);
        // A dotted key is underlined from its first part to its last, where they share a line.
        let key_place = Place {
            start: first.start,
            ..entry.key_place
        };
        match entry.node {
            Node {
                value: Value::Table(inner),
                ..
            } => {
                flatten(&key, Some(first), inner, flat);
            }
            node => flat.entries.push(Entry {
                key,
                key_place,
                node,
            }),
        }
    }
}

/// The leading comment of a file, its lines joined: the question that it answers.
pub(crate) fn question(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.trim().strip_prefix('#'));
    lines
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
