//! Generated load.

use super::{
    DURATION, KEY, Kind, Merge, RECORD_RATE, TableSpec, VALUE, default, later, optional, required,
};
use crate::sim::config::{PARTITIONS_MAX, THREADS_MAX};

static REBUILD: TableSpec = TableSpec {
    name: "on-fenced = { … }",
    help: "Another client in place of the fenced one",
    fields: &[required(
        "rebuild-after",
        DURATION,
        "how long the application waits before it makes one",
    )],
};

static TRANSACTION: TableSpec = TableSpec {
    name: "transaction = { … }",
    help: "When a transaction is committed: one of records and every",
    fields: &[
        optional(
            "records",
            Kind::Whole(1, u32::MAX as i128),
            "after so many records over all loads of the producer",
        ),
        optional("every", DURATION, "so long after it began"),
    ],
};

pub(crate) static LOAD: TableSpec = TableSpec {
    name: "[[producer.load]]",
    help: "Generated load; any number of them",
    fields: &[
        required("topic", Kind::Name, "where records go"),
        optional(
            "replay",
            Kind::Name,
            "a topic whose records are sent once more, each partition in order, with their keys",
        ),
        required(
            "rate",
            Kind::Either(&[
                RECORD_RATE,
                Kind::Word(&["max"]),
                Kind::Tables(&RATE_STEP, Merge::Replace),
            ]),
            "records per second over all threads, steps of it, or \"max\"",
        ),
        default(
            "pacing",
            Kind::Word(&["closed", "open"]),
            "closed",
            "closed: a loop that spends 1/rate of its own time per record and then calls send(); \
             open: records arrive whatever happens, and wait outside",
        ),
        default(
            "arrival",
            Kind::Word(&["constant", "poisson"]),
            "constant",
            "how the time between records is spread",
        ),
        default(
            "threads",
            Kind::Whole(1, THREADS_MAX as i128),
            "1",
            "application threads; each can block",
        ),
        default(
            "key",
            Kind::Either(&[
                Kind::Word(&["none"]),
                Kind::Table(&KEY),
                Kind::List(&super::keys::WEIGHTED_KEY),
            ]),
            "none",
            "the records' keys",
        ),
        default(
            "value",
            Kind::Either(&[Kind::Word(&["null"]), Kind::Table(&VALUE)]),
            "{ bytes = 1024 }",
            "the records' values, or \"null\" for tombstones",
        ),
        optional(
            "partition",
            Kind::Whole(0, PARTITIONS_MAX as i128 - 1),
            "the partition that every record names; by default the partitioner chooses",
        ),
        default(
            "await",
            Kind::Either(&[Kind::Word(&["none", "each"]), Kind::Table(&AWAIT)]),
            "none",
            "when the application waits for acknowledgements; \"each\" is the .get() loop",
        ),
        optional(
            "poll",
            Kind::Either(&[Kind::Word(&["never"]), DURATION, Kind::Table(&POLL)]),
            "librdkafka: who serves delivery reports; each thread after so many of its calls \
             (by default after every call), one more thread every so often, or nobody",
        ),
        default(
            "on-refused",
            Kind::Either(&[
                Kind::Word(&["drop", "retry", "spill", "block"]),
                Kind::Table(&PAUSE),
            ]),
            "drop",
            "a record that send() refused: counted and gone, the same again, into a local queue \
             that is sent in order once a send succeeds, or no call for a time and then again; \
             librdkafka can also block until there is room in its queue",
        ),
        default(
            "on-failed",
            Kind::Word(&["count", "resend", "spill"]),
            "count",
            "a record whose callback brought an error",
        ),
        optional("throttle", Kind::Table(&THROTTLE), "slows down by a metric"),
        optional(
            "records",
            Kind::Whole(1, i64::MAX as i128),
            "how many; by default until the end of the run",
        ),
        default(
            "at-end",
            Kind::Word(&["idle", "flush", "close", "exit"]),
            "idle",
            "what the application does after the last of `records`",
        ),
        default(
            "on-fenced",
            Kind::Either(&[Kind::Word(&["exit"]), Kind::Table(&REBUILD)]),
            "exit",
            "what the application does when its transactional client is fenced or broken for good",
        ),
        optional(
            "transaction",
            Kind::Table(&TRANSACTION),
            "when transactions are committed; all loads of a producer share them",
        ),
        later("source"),
    ],
};

static RATE_STEP: TableSpec = TableSpec {
    name: "rate = [{ … }]",
    help: "The rate from a moment on",
    fields: &[
        default("from", DURATION, "0s", "when this rate begins"),
        required("rate", RECORD_RATE, "records per second; 0 is a pause"),
        default(
            "ramp",
            DURATION,
            "0s",
            "linear change from the previous rate over this time",
        ),
    ],
};

static AWAIT: TableSpec = TableSpec {
    name: "await = { … }",
    help: "Waits for acknowledgements every so many records",
    fields: &[required(
        "every",
        Kind::Whole(1, u32::MAX as i128),
        "after how many records",
    )],
};

static POLL: TableSpec = TableSpec {
    name: "poll = { … }",
    help: "Serves delivery reports every so many calls",
    fields: &[required(
        "every",
        Kind::Whole(1, u32::MAX as i128),
        "after how many calls of a thread",
    )],
};

static PAUSE: TableSpec = TableSpec {
    name: "on-refused = { … }",
    help: "No call for a time, then the same record again",
    fields: &[required("pause", DURATION, "how long")],
};

static THROTTLE: TableSpec = TableSpec {
    name: "throttle = { … }",
    help: "Rate × factor while a metric is above a bound, looked at every second",
    fields: &[
        required("metric", Kind::Name, "a producer metric by its Kafka name"),
        required(
            "above",
            Kind::Number(0.0, 1e18),
            "the bound, in the metric's own unit",
        ),
        required(
            "factor",
            Kind::Number(0.0, 1.0),
            "what the rate is multiplied with",
        ),
    ],
};
