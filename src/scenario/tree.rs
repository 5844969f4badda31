//! A TOML document as a tree in which every key and value knows its place.
//!
//! Own types instead of toml's: a tree outlives its text, can be merged with another file's tree
//! (`extends`) and changed by `--set`, and each piece still points at the text it came from.
//!
//! Invariant: entries keep the order they were written in; a key stands once in a table.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Which text of [`super::sources::Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceId(pub(crate) u16);

/// Where something is written: a stretch of bytes of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) source: SourceId,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Place {
    pub(crate) fn new(source: SourceId, range: &Range<usize>) -> Self {
        // Texts are far below 4 GiB (`FILE_BYTES_MAX`).
        Self {
            source,
            start: range.start as u32,
            end: range.end as u32,
        }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// `None`: more digits than any quantity here has.
    Integer(Option<i128>),
    /// As written, underscores removed.
    Float(String),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What TOML calls this type of value.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Boolean(_) => "a boolean",
            Self::Datetime(_) => "a date",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is `[[…]]`, or an array that could have been written so.
    pub(crate) fn is_array_of_tables(&self) -> bool {
        let tables = |items: &[Node]| items.iter().all(|item| item.as_table().is_some());
        self.as_array()
            .is_some_and(|items| !items.is_empty() && tables(items))
    }
}

/// Keys with their values, in the order they were written in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// One key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|entry| entry.key == key)
            .map(|entry| &mut entry.node)
    }

    /// Takes the place of the entry with the same key, or comes last.
    pub(crate) fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }
}

/// Takes over a document that toml has parsed.
pub(crate) fn from_toml(table: &DeTable<'_>, source: SourceId) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: Place::new(source, &key.span()),
            node: node(value, source),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_place.start);
    Table { entries }
}

/// Takes over one value. The parser limits how deep values nest, so this may recurse.
pub(crate) fn node(value: &Spanned<DeValue<'_>>, source: SourceId) -> Node {
    let place = Place::new(source, &value.span());
    let array = |items: &DeArray<'_>| items.iter().map(|item| node(item, source)).collect();
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => {
            Value::Integer(i128::from_str_radix(digits.as_str(), digits.radix()).ok())
        }
        DeValue::Float(digits) => Value::Float(digits.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Array(items) => Value::Array(array(items)),
        DeValue::Table(table) => Value::Table(from_toml(table, source)),
    };
    Node { place, value }
}
