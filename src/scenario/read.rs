//! Typed access to a table that was checked against its field table.
//!
//! A reader never complains: what is wrong with a value by itself was said by `shape`, and reads
//! as absent here. Absent values read as the field table's default.

use std::borrow::Cow;

use crate::command::units;
use crate::kafka::version::KafkaVersion;
use crate::sim::time::SimSpan;

use super::fields::{Kind, Presence, TableSpec};
use super::instant;
use super::shape::{is_valid, number, written};
use super::tree::{Node, Place, Table, Value};

/// One table of the file, seen through its field table.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) spec: &'static TableSpec,
    pub(crate) table: &'a Table,
    /// Where the table itself is: its header, or its braces.
    pub(crate) place: Place,
}

impl<'a> Fields<'a> {
    /// The value of a key, when the file has it, whatever it is.
    pub(crate) fn node(&self, name: &str) -> Option<&'a Node> {
        debug_assert!(
            self.spec.field(name).is_some(),
            "{} has no field {name}",
            self.spec.name
        );
        self.table.get(name)
    }

    /// The value of a key, when it is one that the key can have.
    fn valid(&self, name: &str) -> Option<&'a Node> {
        let kind = &self.spec.field(name)?.kind;
        self.node(name).filter(|node| is_valid(kind, node))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.node(name).is_some()
    }

    /// Where a value is, or where it would be.
    pub(crate) fn place_of(&self, name: &str) -> Place {
        self.node(name).map_or(self.place, |node| node.place)
    }

    /// A scalar as it was written, or its default.
    fn scalar(&self, name: &str) -> Option<Cow<'a, str>> {
        match self.valid(name) {
            Some(node) => Some(match &node.value {
                Value::Text(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(written(other)),
            }),
            None => self.default_of(name).map(Cow::Borrowed),
        }
    }

    fn default_of(&self, name: &str) -> Option<&'static str> {
        match self.spec.field(name)?.presence {
            Presence::Default(value) => Some(value),
            _ => None,
        }
    }

    /// A string: free text, a name, one of some words.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        match self.valid(name) {
            Some(node) => node.as_text(),
            None => self.default_of(name),
        }
    }

    pub(crate) fn whole<T: TryFrom<i128>>(&self, name: &str) -> Option<T> {
        self.scalar(name)?
            .parse::<i128>()
            .ok()
            .and_then(|number| T::try_from(number).ok())
    }

    /// `true` or `false`; absent is `false`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.scalar(name).is_some_and(|text| text == "true")
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.valid(name) {
            Some(node) => number(&node.value),
            None => self.default_of(name)?.parse().ok(),
        }
    }

    pub(crate) fn duration(&self, name: &str) -> Option<SimSpan> {
        units::duration(&self.scalar(name)?).ok()
    }

    pub(crate) fn byte_rate(&self, name: &str) -> Option<u64> {
        units::byte_rate(&self.scalar(name)?).ok()
    }

    pub(crate) fn record_rate(&self, name: &str) -> Option<u64> {
        units::record_rate(&self.scalar(name)?).ok()
    }

    /// A share in parts per million.
    pub(crate) fn share(&self, name: &str) -> Option<u32> {
        units::share(&self.scalar(name)?).ok()
    }

    pub(crate) fn version(&self, name: &str) -> Option<KafkaVersion> {
        self.scalar(name)?.parse().ok()
    }

    /// Milliseconds since 1970.
    pub(crate) fn instant(&self, name: &str) -> Option<i64> {
        instant::parse(&self.scalar(name)?)
    }

    /// A table inside, of the kind that the field names.
    pub(crate) fn table(&self, name: &str) -> Option<Fields<'a>> {
        let node = self.node(name)?;
        let spec = table_spec(&self.spec.field(name)?.kind)?;
        Some(Fields {
            spec,
            table: node.as_table()?,
            place: node.place,
        })
    }

    /// Tables inside an array, of the kind that the field names.
    pub(crate) fn tables(&self, name: &str) -> Vec<Fields<'a>> {
        let spec = self
            .spec
            .field(name)
            .and_then(|field| tables_spec(&field.kind));
        let items = self.node(name).and_then(Node::as_array);
        let (Some(spec), Some(items)) = (spec, items) else {
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|item| {
                Some(Fields {
                    spec,
                    table: item.as_table()?,
                    place: item.place,
                })
            })
            .collect()
    }

    /// The items of an array.
    pub(crate) fn items(&self, name: &str) -> &'a [Node] {
        self.node(name).and_then(Node::as_array).unwrap_or(&[])
    }

    /// The strings of an array.
    pub(crate) fn texts(&self, name: &str) -> Vec<&'a str> {
        self.items(name).iter().filter_map(Node::as_text).collect()
    }
}

fn table_spec(kind: &'static Kind) -> Option<&'static TableSpec> {
    match kind {
        Kind::Table(spec) => Some(spec),
        Kind::Either(kinds) => kinds.iter().find_map(table_spec),
        _ => None,
    }
}

fn tables_spec(kind: &'static Kind) -> Option<&'static TableSpec> {
    match kind {
        Kind::Tables(spec, _) => Some(spec),
        Kind::Either(kinds) => kinds.iter().find_map(tables_spec),
        _ => None,
    }
}
