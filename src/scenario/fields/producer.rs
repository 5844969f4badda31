//! One producer and its scripted thread.

use super::{DURATION, Kind, LOAD, Merge, TableSpec, default, optional, required};
use crate::sim::config::PRODUCERS_MAX;

pub(crate) static PRODUCER: TableSpec = TableSpec {
    name: "[[producer]]",
    help: "One producer: a client and the application that uses it",
    fields: &[
        required(
            "name",
            Kind::Name,
            "what it is called, here and in commands",
        ),
        default(
            "client",
            Kind::Word(&["java", "librdkafka"]),
            "java",
            "which client library",
        ),
        optional(
            "version",
            Kind::Version,
            "the client's version; by default the cluster's, and 2.16 of librdkafka",
        ),
        optional(
            "count",
            Kind::Whole(1, PRODUCERS_MAX as i128),
            "that many of them: NAME-1, NAME-2, …",
        ),
        default(
            "start",
            DURATION,
            "0s",
            "when the application constructs the producer",
        ),
        optional(
            "rack",
            Kind::Name,
            "the rack it stands in; client.rack too, for clients that know it (4.4)",
        ),
        optional(
            "config-file",
            Kind::Path,
            "a .properties file; keys under config win over it",
        ),
        optional(
            "config",
            Kind::Kafka,
            "client configuration by its real names; partitioner.class also takes \
             com.example.HotKeySpread, com.example.VipRouting and com.example.Crc32",
        ),
        optional(
            "delivery-report",
            Kind::Word(&["callback", "none"]),
            "librdkafka: whether the application has a delivery-report callback, as it has by \
             default; without one, acknowledged messages leave the queue at once",
        ),
        optional(
            "trace",
            Kind::List(&Kind::Payload),
            "keys whose every record is remembered",
        ),
        optional(
            "monitor",
            Kind::Table(&MONITOR),
            "an agent in the application's process that reads all metrics of a Java client; by \
             default nobody does, and what kdrill shows leaves no trace",
        ),
        optional(
            "load",
            Kind::Tables(&LOAD, Merge::Replace),
            "generated load",
        ),
        optional(
            "script",
            Kind::Tables(&SCRIPT, Merge::Replace),
            "exact calls of one more application thread",
        ),
    ],
};

static MONITOR: TableSpec = TableSpec {
    name: "monitor = { … }",
    help: "Who reads the client's metrics: a rate's first window begins with the first look, and \
           windows that passed without events begin anew with the next",
    fields: &[
        required("every", DURATION, "from one look to the next"),
        default(
            "from",
            DURATION,
            "0s",
            "the first look, from the start of the run",
        ),
    ],
};

static SCRIPT: TableSpec = TableSpec {
    name: "[[producer.script]]",
    help: "One call of the scripted application thread",
    fields: &[
        default(
            "at",
            DURATION,
            "0s",
            "not before this, nor before the previous call returned",
        ),
        required(
            "do",
            Kind::Call,
            "`produce TOPIC [key=K] [value=V] [partition=N] [await=true]`, `flush`, \
             `close [TIMEOUT]`, `new_producer`, `exit`, `init_transactions`, \
             `begin_transaction`, `send_offsets_to_transaction GROUP TOPIC-N=OFFSET …`, \
             `commit_transaction`, `abort_transaction`, and for librdkafka `poll [TIMEOUT]` and \
             `timeout=TIME` behind transactional calls",
        ),
    ],
};
