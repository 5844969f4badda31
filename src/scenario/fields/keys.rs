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
            "a text file with a key in each line, drawn equally often, or by a weight behind a tab",
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
        optional(
            "salt",
            Kind::Table(&SALT),
            "spreads the hottest keys over several: KEY#0, KEY#1, …",
        ),
        optional(
            "sub-keys",
            Kind::Table(&SUB_KEYS),
            "splits keys by what they contain: KEY/1, KEY/2, …",
        ),
    ],
};

pub(crate) static SALT: TableSpec = TableSpec {
    name: "salt = { … }",
    help: "Salt for hot keys: each of their records draws one of several keys",
    fields: &[
        required(
            "hottest",
            Kind::Whole(1, KEYS_MAX as i128),
            "how many keys are salted, those with the largest weights",
        ),
        required(
            "over",
            Kind::Whole(2, 65_536),
            "how many keys each becomes, drawn equally often",
        ),
        default(
            "format",
            Kind::Payload,
            "{key}#{n}",
            "a salted key's text, {n} being its number from 0",
        ),
    ],
};

pub(crate) static SUB_KEYS: TableSpec = TableSpec {
    name: "sub-keys = { … }",
    help: "Keys by what they contain, such as a tenant's users: each key becomes several",
    fields: &[
        required(
            "count",
            Kind::Whole(1, KEYS_MAX as i128),
            "how many keys each becomes, drawn equally often",
        ),
        optional(
            "zipf",
            Kind::Number(0.0, 20.0),
            "sub-key n of a key with weight n^-s instead, for this s",
        ),
        optional(
            "hottest",
            Kind::Whole(1, KEYS_MAX as i128),
            "only that many keys are split, those with the largest weights",
        ),
        default(
            "format",
            Kind::Payload,
            "{key}/{n}",
            "a sub-key's text, {n} being its number from 1",
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
    help: "Values: bytes, min and max, or a sample of real ones",
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
            "a text file with a real payload in each line, sent one after the other",
        ),
        optional(
            "as",
            Kind::Word(&["text", "base64"]),
            "how a line of the sample stands for its payload: text by default",
        ),
        optional(
            "compresses-to",
            Kind::Number(0.0, 1.0),
            "what values without content shrink to in compression, as a share; 1 by default",
        ),
    ],
};
