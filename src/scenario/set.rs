//! `--set path=value`: one value of a scenario, changed from the command line.
//!
//! The path is a TOML key (`producer.trips.config.linger.ms`); where the file has several tables
//! of a kind, the next part is the name, id or number (from 1) of one. The value is read as TOML
//! and, where it is none, as a string: `2MiB/s` needs no quotes.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::{Kind, Merge, ROOT, TableSpec};
use super::problem::{Findings, Problem};
use super::secrets;
use super::sources::Sources;
use super::tree::{Entry, Node, Place, SourceId, Table, Value, node};

/// What stands for a path in messages.
pub(crate) const SHOWN_AS: &str = "--set";

/// One part of a path.
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// Changes a tree; what is wrong is pointed at in the option's text.
pub(crate) fn apply(root: &mut Table, set: &str, sources: &mut Sources, findings: &mut Findings) {
    let source = sources.give(SHOWN_AS, set.to_owned());
    let secret = secrets::in_setting(set).map(|start| start..set.len());
    sources.hide(source, secret.into_iter().collect());
    let Some((path, value)) = set.split_once('=') else {
        let place = Place::new(source, &(0..set.len()));
        let problem = Problem::new("--set has no '='").at(place, "expected path=value");
        return findings.problem(problem.hint("--set producer.trips.config.linger.ms=20"));
    };
    let Some(parts) = parts(path, source) else {
        let place = Place::new(source, &(0..path.len()));
        let problem = Problem::new("--set has no path before its '='");
        return findings.problem(problem.at(place, "expected keys with dots between them"));
    };
    let node = value_node(value, path.len() + 1, source);
    if let Err(problem) = put(&ROOT, root, &parts, node) {
        findings.problem(problem);
    }
}

/// The parts of a dotted key, as TOML reads them.
pub(crate) fn parts(path: &str, source: SourceId) -> Option<Vec<Part>> {
    let text = format!("{path}=0");
    let document = DeTable::parse(&text).ok()?;
    let mut parts = Vec::new();
    let mut table = document.get_ref();
    loop {
        let (key, value) = table.iter().next()?;
        let place = Place::new(source, &key.span());
        parts.push(Part {
            text: key.get_ref().to_string(),
            place,
        });
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(parts),
        }
    }
}

fn value_node(text: &str, offset: usize, source: SourceId) -> Node {
    let place = Place::new(source, &(offset..offset + text.len()));
    let value = match DeValue::parse(text.trim()) {
        Ok(value) => without_places(&value, place),
        Err(_) => Value::Text(text.trim().to_owned()),
    };
    Node { place, value }
}

/// A value whose parts all stand where the whole stands.
fn without_places(value: &Spanned<DeValue<'_>>, place: Place) -> Value {
    fn move_to(node: &mut Node, place: Place) {
        node.place = place;
        match &mut node.value {
            Value::Array(items) => items.iter_mut().for_each(|item| move_to(item, place)),
            Value::Table(table) => {
                for entry in &mut table.entries {
                    entry.key_place = place;
                    move_to(&mut entry.node, place);
                }
            }
            _ => {}
        }
    }
    let mut moved = node(value, place.source);
    move_to(&mut moved, place);
    moved.value
}

pub(crate) fn put(
    spec: &'static TableSpec,
    table: &mut Table,
    parts: &[Part],
    node: Node,
) -> Result<(), Problem> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    if rest.is_empty() {
        let entry = Entry {
            key: first.text.clone(),
            key_place: first.place,
            node,
        };
        table.put(entry);
        return Ok(());
    }
    match spec.field(&first.text).map(|field| &field.kind) {
        Some(Kind::Kafka) => {
            let name: Vec<&str> = rest.iter().map(|part| part.text.as_str()).collect();
            let key_place = Place {
                end: rest[rest.len() - 1].place.end,
                ..rest[0].place
            };
            let entry = Entry {
                key: name.join("."),
                key_place,
                node,
            };
            table_inside(table, first).put(entry);
            Ok(())
        }
        Some(Kind::Tables(inner, merge)) => put_in_item(inner, *merge, (table, first), rest, node),
        Some(kind) => match inner_spec(kind) {
            Some(inner) => put(inner, table_inside(table, first), rest, node),
            None => Err(Problem::new(format!("`{}` has nothing inside", first.text))
                .at(rest[0].place, "no key can follow")),
        },
        None => {
            let near = crate::command::text::nearest(&first.text, spec.names());
            Err(
                Problem::new(format!("unknown key `{}` in {}", first.text, spec.name))
                    .at(first.place, "not known here")
                    .maybe(near),
            )
        }
    }
}

fn inner_spec(kind: &'static Kind) -> Option<&'static TableSpec> {
    match kind {
        Kind::Table(spec) => Some(spec),
        Kind::Either(kinds) => kinds.iter().find_map(inner_spec),
        _ => None,
    }
}

/// The table behind a key, made when there is none.
fn table_inside<'a>(table: &'a mut Table, part: &Part) -> &'a mut Table {
    let is_table = table
        .get(&part.text)
        .is_some_and(|node| node.as_table().is_some());
    if !is_table {
        let node = Node {
            place: part.place,
            value: Value::Table(Table::default()),
        };
        table.put(Entry {
            key: part.text.clone(),
            key_place: part.place,
            node,
        });
    }
    let at = table
        .entries
        .iter()
        .position(|entry| entry.key == part.text)
        .unwrap_or(0);
    match &mut table.entries[at].node.value {
        Value::Table(inner) => inner,
        // Made above.
        _ => unreachable!("a table stands behind `{}`", part.text),
    }
}

/// Goes on inside one of several tables.
fn put_in_item(
    spec: &'static TableSpec,
    merge: Merge,
    (table, key): (&mut Table, &Part),
    rest: &[Part],
    node: Node,
) -> Result<(), Problem> {
    let none = || {
        Problem::new(format!("the scenario has no [[{}]]", key.text)).at(key.place, "none there")
    };
    let Some(Value::Array(items)) = table.get_mut(&key.text).map(|node| &mut node.value) else {
        return Err(none());
    };
    let names: Vec<String> = items
        .iter()
        .enumerate()
        .map(|(at, item)| name_of(item, at, merge))
        .collect();
    // A name can hold dots: the longest one that the path begins with wins.
    let found = (1..rest.len()).rev().find_map(|taken| {
        let text: Vec<&str> = rest[..taken]
            .iter()
            .map(|part| part.text.as_str())
            .collect();
        let at = names.iter().position(|name| *name == text.join("."))?;
        Some((at, taken))
    });
    let (at, taken) = match found {
        Some(found) => found,
        None if items.len() == 1 && spec.field(&rest[0].text).is_some() => (0, 0),
        None => {
            let near =
                crate::command::text::nearest(&rest[0].text, names.iter().map(String::as_str));
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(Problem::new(format!("no [[{}]] is called that", key.text))
                .at(rest[0].place, "not there")
                .maybe(near)
                .hint(format!(
                    "there is {}",
                    crate::command::text::listed(&names, "and")
                )));
        }
    };
    match items.get_mut(at).map(|item| &mut item.value) {
        Some(Value::Table(inner)) => put(spec, inner, &rest[taken..], node),
        _ => Err(none()),
    }
}

fn name_of(item: &Node, at: usize, merge: Merge) -> String {
    let key = match merge {
        Merge::By(key) => item.as_table().and_then(|table| table.get(key)),
        Merge::Replace => None,
    };
    key.map_or_else(
        || (at + 1).to_string(),
        |node| super::shape::written(&node.value),
    )
}
