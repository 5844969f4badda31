//! Where a scenario holds secrets, so that the lines under its problems do not show them.
//!
//! What the parser understood knows its places. A text with syntax errors is gone through line by
//! line as well: what could not be read is in no tree, and may be the secret itself.

use std::ops::Range;

use crate::kafka::config::is_secret;

use super::tree::{Node, Table, Value};

/// Values that can go on in the lines below: how they open, and how they close.
const OVER_LINES: &[(&str, &str)] = &[("\"\"\"", "\"\"\""), ("'''", "'''"), ("[", "]")];

/// The values of secret keys in a tree, as stretches of its text.
pub(crate) fn in_tree(table: &Table, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    search("", table, text, &mut found);
    found
}

fn search(path: &str, table: &Table, text: &str, found: &mut Vec<Range<usize>>) {
    for entry in &table.entries {
        let path = match path {
            "" => entry.key.clone(),
            _ => format!("{path}.{}", entry.key),
        };
        search_value(&path, &entry.node, text, found);
    }
}

fn search_value(path: &str, node: &Node, text: &str, found: &mut Vec<Range<usize>>) {
    let range = node.place.range();
    match &node.value {
        Value::Table(table) => search(path, table, text, found),
        _ if is_secret(path) => found.push(range),
        Value::Array(items) => {
            for item in items {
                search_value(path, item, text, found);
            }
        }
        // A command can set a secret: `set producer trips ssl.key.password=…`.
        Value::Text(_) => {
            let written = text.get(range.clone()).unwrap_or("");
            found.extend(in_setting(written).map(|start| range.start + start..range.end));
        }
        _ => {}
    }
}

/// Where the value starts that a text gives to a secret key, as in `key=value`.
pub(crate) fn in_setting(text: &str) -> Option<usize> {
    let mut signs = text.match_indices('=').map(|(at, _)| at);
    let at = signs.find(|at| {
        let before = text[..*at].trim_end();
        let before = before.trim_end_matches(is_between);
        is_secret(before.rsplit(is_between).next().unwrap_or(""))
    })?;
    Some(at + 1)
}

/// Everything behind the names of secret keys in a text that may be no TOML at all.
pub(crate) fn in_lines(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let is_hidden = found.last().is_some_and(|last| start < last.end);
        if let Some(offset) = behind_name(line).filter(|_| !is_hidden) {
            let value = start + offset;
            if value < end {
                found.push(value..end_of_value(text, value).max(end));
            }
        }
        start += line.len();
    }
    found
}

/// Where a line goes on behind the name of a secret key and what stands between it and a value.
fn behind_name(line: &str) -> Option<usize> {
    let mut start = 0;
    for word in line.split_inclusive(is_between) {
        let end = start + word.len();
        if is_secret(word.trim_end_matches(is_between)) {
            let rest = line[end..].trim_start_matches([' ', '\t', '"', '\'']);
            let rest = rest.trim_start_matches(['=', ':']).trim_start();
            return Some(line.len() - rest.len());
        }
        start = end;
    }
    None
}

/// Where a value ends that goes on in the lines below; its own start for all others.
fn end_of_value(text: &str, start: usize) -> usize {
    let value = &text[start..];
    let Some((open, close)) = OVER_LINES.iter().find(|(open, _)| value.starts_with(open)) else {
        return start;
    };
    let inside = start + open.len();
    let length = text[inside..].find(close).map(|at| at + close.len());
    length.map_or(text.len(), |length| inside + length)
}

/// Whether a character ends the name of a key.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ':' | '{' | '[' | ',')
}
