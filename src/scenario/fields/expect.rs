//! What must hold.

use super::{DURATION, Kind, TableSpec, default, optional};

/// Any finite bound.
pub(super) const ANY: Kind = Kind::Number(-1e300, 1e300);

pub(crate) static EXPECT: TableSpec = TableSpec {
    name: "[[expect]]",
    help: "What must hold: exactly one of metric, event, log and no",
    fields: &[
        optional(
            "name",
            Kind::Text,
            "a sentence; by default one is made from the parts",
        ),
        optional(
            "metric",
            Kind::Text,
            "a path: producer.trips.bufferpool-wait-ratio",
        ),
        optional("at", DURATION, "the last sample at or before this moment"),
        optional(
            "from",
            DURATION,
            "first moment of the samples; by default the start",
        ),
        optional(
            "to",
            DURATION,
            "last moment of the samples; by default the end",
        ),
        default(
            "reduce",
            Kind::Word(&["min", "max", "mean", "last", "p99", "sum"]),
            "last",
            "how samples become one figure",
        ),
        optional(
            "below",
            ANY,
            "strictly below this, in the metric's own unit",
        ),
        optional("above", ANY, "strictly above this"),
        optional("equals", ANY, "equal, to within rounding of the last digit"),
        optional("between", Kind::List(&ANY), "[a, b], both ends included"),
        optional(
            "event",
            Kind::Name,
            "an exception that the application received (a superclass matches its subclasses), \
             or a kind of event: leader-changed",
        ),
        optional("producer", Kind::Name, "only at this producer"),
        optional("first-at", DURATION, "when the first comes"),
        default("within", DURATION, "0s", "how far from `first-at` at most"),
        optional(
            "count",
            Kind::Table(&COUNT),
            "how often; by default at least once",
        ),
        optional("log", Kind::Name, "a partition: TOPIC-N"),
        optional(
            "offsets",
            Kind::List(&Kind::Payload),
            "its exact content, in offset order: \"40 trip-9001\"; of transactions \
             \"40 trip-9001 aborted\" (or committed, or open) and \"41 ABORT 4001/1\" with \
             producer id and epoch",
        ),
        optional(
            "no",
            Kind::List(&Kind::Word(&[
                "acknowledged-loss",
                "duplicate",
                "reorder",
                "split-key",
                "out-of-order-read",
                "failed-present",
            ])),
            "what must not be in the ledger; and of topics with `history = \"records\"`: \
             split-key, a key with records on several partitions; out-of-order-read, a group \
             that reads a record after a later one of its key",
        ),
    ],
};

pub(super) static COUNT: TableSpec = TableSpec {
    name: "count = { … }",
    help: "How often something happens",
    fields: &[
        optional("at-least", Kind::Whole(0, i64::MAX as i128), "fewest"),
        optional("at-most", Kind::Whole(0, i64::MAX as i128), "most"),
        optional("exactly", Kind::Whole(0, i64::MAX as i128), "both"),
    ],
};
