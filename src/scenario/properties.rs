//! `config-file`: a Java `.properties` file, with the places of its keys and its secrets masked.

use crate::kafka::config::{MASK, is_secret};
use crate::kafka::properties::{self, MalformedEscape};

use super::problem::{Findings, Problem};
use super::sources::Sources;
use super::tree::{Place, SourceId};

/// One entry of the file.
pub(crate) struct Property {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) key_place: Place,
    /// The whole line.
    pub(crate) place: Place,
}

/// Reads a file that was opened as a source. From here on, messages show it without its secrets.
pub(crate) fn read(
    sources: &mut Sources,
    source: SourceId,
    findings: &mut Findings,
) -> Vec<Property> {
    let parsed = properties::parse(sources.original(source));
    let entries = match parsed {
        Ok(entries) => entries,
        Err(malformed) => {
            for error in malformed {
                let place = line_place(sources.text(source), source, error.line);
                let text = MalformedEscape::TEXT.trim_end_matches('.');
                findings.problem(Problem::new(text).at(place, "expected four hexadecimal digits"));
            }
            return Vec::new();
        }
    };
    let starts: Vec<u32> = entries.iter().map(|entry| entry.line).collect();
    let secret: Vec<u32> = entries
        .iter()
        .filter(|entry| is_secret(&entry.key))
        .map(|entry| entry.line)
        .collect();
    if !secret.is_empty() {
        let shown = masked(sources.original(source), &starts, &secret);
        sources.mask(source, shown);
    }
    let text = sources.text(source);
    entries
        .into_iter()
        .map(|entry| {
            let place = line_place(text, source, entry.line);
            let line = text.get(place.range()).unwrap_or("");
            let blank = line.len() - line.trim_start().len();
            let start = place.start + blank as u32;
            let length = if line.trim_start().starts_with(&entry.key) {
                entry.key.len()
            } else {
                line.trim().len()
            };
            let key_place = Place {
                start,
                end: start + length as u32,
                ..place
            };
            Property {
                key: entry.key,
                value: entry.value,
                key_place,
                place,
            }
        })
        .collect()
}

/// The text with the values of secrets, and the lines that continue them, replaced.
fn masked(text: &str, starts: &[u32], secret: &[u32]) -> String {
    let mut is_hidden = false;
    let mut shown = String::with_capacity(text.len());
    for (number, line) in (1_u32..).zip(text.split_inclusive('\n')) {
        if starts.contains(&number) {
            is_hidden = secret.contains(&number);
            if is_hidden {
                let end = line.find(['=', ':']).map_or(0, |at| at + 1);
                shown.push_str(&line[..end]);
                shown.push_str(MASK);
                shown.push('\n');
                continue;
            }
        }
        if is_hidden {
            shown.push_str(MASK);
            shown.push('\n');
        } else {
            shown.push_str(line);
        }
    }
    shown
}

/// A line without its end.
fn line_place(text: &str, source: SourceId, number: u32) -> Place {
    let mut start = 0;
    for (at, line) in (1_u32..).zip(text.split_inclusive('\n')) {
        let length = line.trim_end().len();
        if at == number {
            return Place::new(source, &(start..start + length));
        }
        start += line.len();
    }
    Place::new(source, &(text.len()..text.len()))
}
