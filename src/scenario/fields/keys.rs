//! Keys and values of generated load.

use super::{Kind, TableSpec, default, optional, required};
use crate::sim::config::KEYS_MAX;

/// The largest value of a record, in bytes.
pub(crate) const VALUE_BYTES_MAX: u32 = 256 << 20;

pub(crate) static KEY: TableSpec = TableSpec {
    name: "key = { … }",
    help: "Keys: exactly one of uniform, zipf, cycle, weighted and file",
    fields: &[
        optional(
            "uniform",
            Kind::Whole(1, KEYS_MAX as i128),
            "that many keys, drawn equally often",
        ),
        optional(
            "zipf",
            Kind::Number(0.0, 20.0),
            "key n with weight n^-s, for this s; `count` says how many keys",
        ),
        optional(
            "cycle",
            Kind::Whole(1, KEYS_MAX as i128),
            "that many keys in turn, evenly",
        ),
        optional(
            "weighted",
            Kind::List(&WEIGHTED_KEY),
            "keys by name, with their weights",
        ),
        optional(
            "file",
            Kind::Path,
            "a text file with a key in each line, drawn equally often",
        ),
        optional(
            "count",
            Kind::Whole(1, KEYS_MAX as i128),
            "how many keys, for zipf",
        ),
        default(
            "format",
            Kind::Payload,
            "key-{n}",
            "a key's text, {n} being its number from 1",
        ),
        default(
            "as",
            Kind::Word(&["string", "int32", "int64", "json"]),
            "string",
            "serializer: text, the number itself in 4 or 8 bytes, or a JSON string",
        ),
    ],
};

/// One item of a weighted list: a key, or a key with its weight.
pub(crate) static WEIGHTED_KEY: Kind =
    Kind::Either(&[Kind::Payload, Kind::Table(&WEIGHTED_KEY_TABLE)]);

pub(crate) static WEIGHTED_KEY_TABLE: TableSpec = TableSpec {
    name: "{ key, weight }",
    help: "One key with its weight",
    fields: &[
        required("key", Kind::Payload, "the key's text"),
        default(
            "weight",
            Kind::Number(0.0, 1e15),
            "1",
            "how often, relative to the others",
        ),
    ],
};

pub(crate) static VALUE: TableSpec = TableSpec {
    name: "value = { … }",
    help: "Value sizes: bytes, min and max, or a sample",
    fields: &[
        optional(
            "bytes",
            Kind::Whole(0, VALUE_BYTES_MAX as i128),
            "always this many bytes",
        ),
        optional(
            "min",
            Kind::Whole(0, VALUE_BYTES_MAX as i128),
            "smallest of a uniform spread",
        ),
        optional(
            "max",
            Kind::Whole(0, VALUE_BYTES_MAX as i128),
            "largest of a uniform spread",
        ),
        optional(
            "sample",
            Kind::Path,
            "a text file with a real payload in each line",
        ),
    ],
};
