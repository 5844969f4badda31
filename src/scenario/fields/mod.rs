//! The scenario format as data: one table of fields per table of the file.
//!
//! The reader, the hints, `kdrill schema` and the reference text all come from here, so that they
//! cannot disagree. Invariant: a default is written as a scenario would write it, and is valid.

mod consumer;
mod expect;
mod keys;
mod load;
mod producer;
mod rehearsal;
mod scenario;

pub(crate) use consumer::CONSUMER;
pub(crate) use expect::EXPECT;
pub(crate) use keys::{KEY, VALUE, WEIGHTED_KEY_TABLE};
pub(crate) use load::LOAD;
pub(crate) use producer::PRODUCER;
pub(crate) use rehearsal::{ALERT, REHEARSAL, STEP, VICTORY};
pub(crate) use scenario::{CLUSTER, ROOT, SCENARIO};

use crate::command::units::Quantity;

/// One table of the file.
#[derive(Debug)]
pub(crate) struct TableSpec {
    /// As a person writes it: `[[producer.load]]`, or `key = { … }`.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) fields: &'static [Field],
}

impl TableSpec {
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Names that can be used in this version.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let usable = |field: &&Field| !matches!(field.presence, Presence::Later);
        self.fields.iter().filter(usable).map(|field| field.name)
    }
}

/// One key.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) presence: Presence,
    pub(crate) help: &'static str,
}

/// Whether a key must stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// What holds when it is absent, as a scenario would write it (strings without quotes).
    Default(&'static str),
    /// Part of the format, but not of this version.
    Later,
}

/// What a value can be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Free text, of one line or more.
    Text,
    /// `[A-Za-z0-9._-]+`.
    Name,
    /// Text that simulated records hold: anything goes, it is shown escaped.
    Payload,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds, both included.
    Whole(i128, i128),
    /// Any number within bounds, both included.
    Number(f64, f64),
    /// A number with its unit.
    Quantity(Quantity),
    /// A date and time in UTC.
    Instant,
    /// A version of Kafka.
    Version,
    /// A path, relative to the file that it stands in.
    Path,
    /// A command as typed at `:`.
    Command,
    /// A call of a scripted thread.
    Call,
    /// Client or broker configuration by its real names.
    Kafka,
    /// An array.
    List(&'static Kind),
    /// `[x]` or `x = { … }`.
    Table(&'static TableSpec),
    /// `[[x]]`.
    Tables(&'static TableSpec, Merge),
    /// A table with a number for each key: `{ 2 = 40 }`.
    Numbered(&'static Kind),
    /// The first of these that the value is one of; what is none of them is judged by the first
    /// that has its TOML type.
    Either(&'static [Kind]),
}

/// What `extends` does with an array of tables that parent and child both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The child's takes the parent's place.
    Replace,
    /// Tables with the same value of this key become one.
    By(&'static str),
}

pub(crate) const fn required(name: &'static str, kind: Kind, help: &'static str) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Required,
        help,
    }
}

pub(crate) const fn optional(name: &'static str, kind: Kind, help: &'static str) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Optional,
        help,
    }
}

pub(crate) const fn default(
    name: &'static str,
    kind: Kind,
    value: &'static str,
    help: &'static str,
) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Default(value),
        help,
    }
}

pub(crate) const fn later(name: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Text,
        presence: Presence::Later,
        help: "not yet in this version",
    }
}

pub(crate) const DURATION: Kind = Kind::Quantity(Quantity::Duration);
pub(crate) const BYTE_RATE: Kind = Kind::Quantity(Quantity::ByteRate);
pub(crate) const RECORD_RATE: Kind = Kind::Quantity(Quantity::RecordRate);
pub(crate) const SHARE: Kind = Kind::Quantity(Quantity::Share);
