//! `extends`: a file that changes another one.
//!
//! Tables merge by key, the child winning. Arrays of tables merge by the key that the field table
//! names (`name`, `id`, `between`), or the child's takes the parent's place. Last of all come the
//! child's `set` lines, which change single values as `--set` does.

use super::fields::{Kind, Merge, ROOT, TableSpec};
use super::parse::{Parsed, parse};
use super::problem::{Findings, Problem};
use super::secrets;
use super::sources::Sources;
use super::tree::{Entry, Node, Place, SourceId, Table, Value};

/// Files in one chain of `extends` at most.
pub const EXTENDS_DEPTH_MAX: usize = 8;

/// A tree with everything that it inherits.
pub(crate) struct Whole {
    pub(crate) table: Table,
    /// Where its files have syntax errors, or extend what cannot be had.
    pub(crate) torn: Vec<Place>,
}

/// One file of a chain of `extends`.
struct Link {
    source: SourceId,
    table: Table,
    /// Its `set` lines.
    sets: Vec<String>,
}

/// Reads a file and those that it extends, and merges them.
pub(crate) fn read(sources: &mut Sources, first: SourceId, findings: &mut Findings) -> Whole {
    let mut chain: Vec<Link> = Vec::new();
    let mut torn = Vec::new();
    let mut next = Some(first);
    while let Some(source) = next.take() {
        let parsed: Parsed = parse(sources, source, &ROOT, findings);
        hide_secrets(sources, source, &parsed);
        torn.extend(parsed.torn);
        let mut table = parsed.table;
        duplicates(&table, findings);
        let sets = take_sets(&mut table);
        let extends = take_extends(&mut table, findings);
        chain.push(Link {
            source,
            table,
            sets,
        });
        if let Some(entry) = extends {
            let path = entry.node.as_text().unwrap_or("").to_owned();
            match parent(sources, source, &path, &chain) {
                Ok(parent) => next = Some(parent),
                Err(problem) => {
                    torn.push(entry.node.place);
                    findings.problem(problem.at(entry.node.place, ""));
                }
            }
        }
    }
    let mut merged = Table::default();
    for link in chain.into_iter().rev() {
        merge(&ROOT, &mut merged, link.table);
        for set in &link.sets {
            super::set::apply(&mut merged, set, sources, findings);
        }
    }
    Whole {
        table: merged,
        torn,
    }
}

/// Keeps what problems of a file show free of secrets.
fn hide_secrets(sources: &mut Sources, source: SourceId, parsed: &Parsed) {
    let text = sources.text(source);
    let mut found = secrets::in_tree(&parsed.table, text);
    if !parsed.torn.is_empty() {
        found.extend(secrets::in_lines(text));
    }
    sources.hide(source, found);
}

/// The file that another one extends, unless that closes a circle or goes too deep.
fn parent(
    sources: &mut Sources,
    from: SourceId,
    path: &str,
    chain: &[Link],
) -> Result<SourceId, Problem> {
    let parent = sources.follow(from, path)?;
    let mut names: Vec<&str> = chain.iter().map(|link| sources.path(link.source)).collect();
    names.push(sources.path(parent));
    let names = names.join(" → ");
    if chain.iter().any(|link| link.source == parent) {
        return Err(Problem::new("`extends` goes in a circle").hint(names));
    }
    if chain.len() >= EXTENDS_DEPTH_MAX {
        let title = format!("`extends` is deeper than {EXTENDS_DEPTH_MAX} files");
        return Err(Problem::new(title).hint(names));
    }
    Ok(parent)
}

/// Takes `extends` out of a tree: from its top, or from `[scenario]`.
fn take_extends(table: &mut Table, findings: &mut Findings) -> Option<Entry> {
    let is_text = |entry: &Entry| entry.node.as_text().is_some();
    let take = |table: &mut Table| {
        table
            .entry("extends")
            .is_some_and(is_text)
            .then(|| table.remove("extends"))
            .flatten()
    };
    let top = take(table);
    let inner = match table.get_mut("scenario").map(|node| &mut node.value) {
        Some(Value::Table(scenario)) => take(scenario),
        _ => None,
    };
    if let (Some(top), Some(inner)) = (&top, &inner) {
        findings.problem(
            Problem::new("`extends` stands twice")
                .at(inner.key_place, "this one or the other")
                .at(top.key_place, "the other"),
        );
    }
    top.or(inner)
}

/// Takes the `set` lines out of a tree. What is no list of texts stays, to be refused.
fn take_sets(table: &mut Table) -> Vec<String> {
    let texts = |node: &Node| -> Option<Vec<String>> {
        let items = node.as_array()?.iter();
        items
            .map(|item| item.as_text().map(str::to_owned))
            .collect()
    };
    let sets = table.get("set").and_then(texts);
    if sets.is_some() {
        table.remove("set");
    }
    sets.unwrap_or_default()
}

/// Puts a child over its parent.
pub(crate) fn merge(spec: &'static TableSpec, parent: &mut Table, child: Table) {
    for entry in child.entries {
        let kind = spec.field(&entry.key).map(|field| &field.kind);
        let Some(old) = parent.get_mut(&entry.key) else {
            parent.entries.push(entry);
            continue;
        };
        match (kind, &mut old.value, entry.node.value) {
            (Some(Kind::Table(inner)), Value::Table(old_table), Value::Table(new)) => {
                merge(inner, old_table, new);
                old.place = entry.node.place;
            }
            (Some(Kind::Kafka), Value::Table(old_table), Value::Table(new)) => {
                new.entries
                    .into_iter()
                    .for_each(|entry| old_table.put(entry));
            }
            (
                Some(Kind::Tables(inner, Merge::By(key))),
                Value::Array(old_items),
                Value::Array(new_items),
            ) => merge_items(inner, key, old_items, new_items),
            (_, _, value) => {
                let node = Node {
                    place: entry.node.place,
                    value,
                };
                parent.put(Entry {
                    node,
                    ..entry_of(entry.key, entry.key_place)
                });
            }
        }
    }
}

fn entry_of(key: String, key_place: Place) -> Entry {
    Entry {
        key,
        key_place,
        node: Node {
            place: key_place,
            value: Value::Boolean(false),
        },
    }
}

fn merge_items(
    spec: &'static TableSpec,
    key: &str,
    old_items: &mut Vec<Node>,
    new_items: Vec<Node>,
) {
    let inherited = old_items.len();
    for item in new_items {
        let identity = identity(&item, key);
        let same = old_items[..inherited]
            .iter_mut()
            .find(|old| identity.is_some() && self::identity(old, key) == identity);
        match (same.map(|old| (&mut old.value, &mut old.place)), item.value) {
            (Some((Value::Table(old), place)), Value::Table(new)) => {
                merge(spec, old, new);
                *place = item.place;
            }
            (_, value) => old_items.push(Node {
                place: item.place,
                value,
            }),
        }
    }
}

/// What makes an item of an array the same as another one; the ends of a link have no order.
fn identity(item: &Node, key: &str) -> Option<String> {
    match &item.as_table()?.get(key)?.value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(Some(number)) => Some(number.to_string()),
        Value::Array(items) => {
            let mut ends: Vec<String> = items
                .iter()
                .map(|item| super::shape::written(&item.value))
                .collect();
            ends.sort();
            Some(ends.join(" – "))
        }
        _ => None,
    }
}

/// Items of one file that claim to be the same thing.
fn duplicates(table: &Table, findings: &mut Findings) {
    for field in ROOT.fields {
        let Kind::Tables(_, Merge::By(key)) = field.kind else {
            continue;
        };
        let items = table
            .get(field.name)
            .and_then(Node::as_array)
            .unwrap_or(&[]);
        let mut seen: std::collections::BTreeMap<String, Place> = std::collections::BTreeMap::new();
        for item in items {
            let (Some(identity), Some(node)) = (
                identity(item, key),
                item.as_table().and_then(|table| table.get(key)),
            ) else {
                continue;
            };
            match seen.get(&identity) {
                Some(first) => findings.problem(
                    Problem::new(format!("two of [[{}]] are called `{identity}`", field.name))
                        .at(node.place, "again here")
                        .at(*first, "first here"),
                ),
                None => {
                    seen.insert(identity, node.place);
                }
            }
        }
    }
}
