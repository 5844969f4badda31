//! The run, the cluster, its links and topics, the timeline.

use super::{
    ALERT, BYTE_RATE, CONSUMER, DURATION, EXPECT, Field, Kind, Merge, PRODUCER, REHEARSAL, SHARE,
    STEP, TableSpec, VICTORY, default, optional, required,
};
use crate::sim::config::{BROKERS_MAX, PARTITIONS_MAX};

/// What can stand at the top of a file.
pub(crate) static ROOT: TableSpec = TableSpec {
    name: "the scenario",
    help: "A scenario file",
    fields: &[
        EXTENDS,
        optional(
            "set",
            Kind::List(&Kind::Text),
            "single values that change after all that, as with --set: \"producer.trips.load.1.rate=500\"",
        ),
        required("scenario", Kind::Table(&SCENARIO), "the run itself"),
        required(
            "cluster",
            Kind::Table(&CLUSTER),
            "the brokers and what lies between",
        ),
        optional(
            "broker",
            Kind::Tables(&BROKER, Merge::By("id")),
            "one broker, where they differ",
        ),
        optional(
            "link",
            Kind::Tables(&LINK, Merge::By("between")),
            "the link of one pair, where it differs",
        ),
        optional(
            "topic",
            Kind::Tables(&TOPIC, Merge::By("name")),
            "one topic",
        ),
        required(
            "producer",
            Kind::Tables(&PRODUCER, Merge::By("name")),
            "one producer",
        ),
        optional(
            "consumer",
            Kind::Tables(&CONSUMER, Merge::By("name")),
            "members of a consumer group",
        ),
        optional(
            "quota",
            Kind::Tables(&QUOTA, Merge::Replace),
            "how much some clients may send",
        ),
        optional(
            "timeline",
            Kind::Tables(&TIMELINE, Merge::Replace),
            "what happens when",
        ),
        optional(
            "expect",
            Kind::Tables(&EXPECT, Merge::Replace),
            "what must hold",
        ),
        optional(
            "rehearsal",
            Kind::Table(&REHEARSAL),
            "what makes it a rehearsal: briefing, cause, solution",
        ),
        optional(
            "alert",
            Kind::Tables(&ALERT, Merge::Replace),
            "rules that page",
        ),
        optional(
            "step",
            Kind::Tables(&STEP, Merge::Replace),
            "the playbook, told while it runs",
        ),
        optional(
            "victory",
            Kind::Tables(&VICTORY, Merge::Replace),
            "what has to be reached, all of it at once",
        ),
    ],
};

const EXTENDS: Field = optional(
    "extends",
    Kind::Path,
    "another scenario, by path or by name, that this one changes: tables merge by key; \
     producers, topics and consumers by name, brokers by id, links by pair; load, script, \
     timeline, expect, alert, step and victory replace the other's",
);

pub(crate) static SCENARIO: TableSpec = TableSpec {
    name: "[scenario]",
    help: "The run itself",
    fields: &[
        EXTENDS,
        default("format", Kind::Whole(1, 1), "1", "version of this format"),
        required("title", Kind::Text, "a few words"),
        optional(
            "description",
            Kind::Text,
            "what there is to see, in a paragraph",
        ),
        optional(
            "level",
            Kind::Word(&["beginner", "intermediate", "advanced"]),
            "how much Kafka it takes to follow",
        ),
        required(
            "duration",
            DURATION,
            "how long the run takes in simulated time",
        ),
        default(
            "seed",
            Kind::Whole(0, u64::MAX as i128),
            "1",
            "seed of every random draw",
        ),
        default(
            "kafka",
            Kind::Version,
            "4.3",
            "behaviour line of brokers and clients",
        ),
        default(
            "start",
            Kind::Instant,
            "2026-01-01T00:00:00Z",
            "what simulated wall clocks show at the start",
        ),
        default(
            "sample",
            DURATION,
            "100ms",
            "every how long sampled figures are taken",
        ),
        default(
            "blind",
            Kind::Flag,
            "false",
            "whether a rehearsal hides title, timeline and cause until its debrief",
        ),
    ],
};

pub(crate) static CLUSTER: TableSpec = TableSpec {
    name: "[cluster]",
    help: "The brokers and what lies between",
    fields: &[
        optional(
            "brokers",
            Kind::Whole(1, BROKERS_MAX as i128),
            "how many, with ids from 1; [[broker]] tables give single ones their own values, or \
             stand alone",
        ),
        optional(
            "link",
            Kind::Table(&LINK_DEFAULT),
            "the link between every pair",
        ),
        optional(
            "append-rate",
            BYTE_RATE,
            "what one broker's disk takes, as leader and as follower together; without it a disk \
             holds nothing up",
        ),
        default(
            "request-time",
            DURATION,
            "100us",
            "time a broker spends on one Produce request; others take none",
        ),
        optional(
            "config",
            Kind::Kafka,
            "broker configuration by its real names",
        ),
        default(
            "transaction-version",
            Kind::Whole(1, 2),
            "2",
            "the finalized feature transaction.version: how clients from 4.0 on run transactions",
        ),
        default(
            "next-producer-id",
            Kind::Whole(0, (i64::MAX / 2) as i128),
            "0",
            "the first producer id that the controller gives away",
        ),
        optional(
            "controllers",
            Kind::List(&Kind::Whole(0, i32::MAX as i128)),
            "brokers that are controllers too (process.roles=broker,controller), by id, the first \
             active at the start; without it controllers are machines of their own that never fail",
        ),
        default(
            "moved-leader",
            Kind::Word(&["named", "unnamed"]),
            "named",
            "what a broker that does not lead says of who does: its name since 3.7 (KIP-951), \
             nothing before; all else is as in the line of `kafka`",
        ),
    ],
};

static BROKER: TableSpec = TableSpec {
    name: "[[broker]]",
    help: "One broker; what is absent is the cluster's",
    fields: &[
        required("id", Kind::Whole(0, i32::MAX as i128), "Kafka's node id"),
        optional("rack", Kind::Name, "broker.rack"),
        optional("append-rate", BYTE_RATE, "what its disk takes"),
        optional(
            "request-time",
            DURATION,
            "time it spends on one Produce request",
        ),
        optional(
            "config",
            Kind::Kafka,
            "broker configuration by its real names",
        ),
    ],
};

/// Fields of a link, with its defaults.
static LINK_DEFAULT: TableSpec = TableSpec {
    name: "link = { … }",
    help: "The link between every pair that no [[link]] names",
    fields: &[
        default("rtt", DURATION, "1ms", "time there and back"),
        default(
            "jitter",
            DURATION,
            "0s",
            "upper bound of a random extra delay per message",
        ),
        default(
            "bandwidth",
            BYTE_RATE,
            "1Gbit/s",
            "bytes or bits per second in each direction",
        ),
        default(
            "loss",
            SHARE,
            "0",
            "share of messages that TCP has to send again, and are late",
        ),
    ],
};

static LINK: TableSpec = TableSpec {
    name: "[[link]]",
    help: "The link of one pair; what is absent is the cluster's",
    fields: &[
        required(
            "between",
            Kind::List(&Kind::Either(&[
                Kind::Text,
                Kind::Whole(0, i32::MAX as i128),
            ])),
            "the two ends: a producer's name, a broker's id, \"controller\" or \"*\"",
        ),
        optional("rtt", DURATION, "time there and back"),
        optional(
            "jitter",
            DURATION,
            "upper bound of a random extra delay per message",
        ),
        optional(
            "bandwidth",
            BYTE_RATE,
            "bytes or bits per second in each direction",
        ),
        optional(
            "loss",
            SHARE,
            "share of messages that TCP has to send again, and are late",
        ),
    ],
};

static TOPIC: TableSpec = TableSpec {
    name: "[[topic]]",
    help: "One topic",
    fields: &[
        required("name", Kind::Name, "Kafka's topic name"),
        default(
            "partitions",
            Kind::Whole(1, PARTITIONS_MAX as i128),
            "1",
            "how many partitions",
        ),
        default(
            "replication-factor",
            Kind::Whole(1, BROKERS_MAX as i128),
            "1",
            "how many brokers hold each partition",
        ),
        optional(
            "leaders",
            Kind::List(&Kind::Whole(0, i32::MAX as i128)),
            "the preferred leader of each partition by broker id; a shorter list repeats",
        ),
        optional(
            "start-offsets",
            Kind::Numbered(&Kind::Whole(0, i64::MAX as i128)),
            "first offset of some partitions' logs: { 2 = 40 }",
        ),
        optional(
            "history",
            Kind::Word(&["records", "batches", "sums"]),
            "how much of its logs is kept; by default records where scripts, traced keys, \
             compaction or a log expectation need them, else sums",
        ),
        optional(
            "config",
            Kind::Kafka,
            "topic configuration by its real names",
        ),
    ],
};

static QUOTA: TableSpec = TableSpec {
    name: "[[quota]]",
    help: "How much some clients may send to each broker; of several that fit, the most specific \
           one holds",
    fields: &[
        optional(
            "client-id",
            Kind::Text,
            "a client.id, or \"<default>\" for all others; who shares one shares its quota",
        ),
        optional(
            "user",
            Kind::Text,
            "a user, or \"<default>\"; here everybody is ANONYMOUS",
        ),
        required(
            "producer-byte-rate",
            BYTE_RATE,
            "producer_byte_rate: bytes of requests per second",
        ),
    ],
};

static TIMELINE: TableSpec = TableSpec {
    name: "[[timeline]]",
    help: "What happens when",
    fields: &[
        required("at", DURATION, "when, from the start of the run"),
        required("do", Kind::Command, "a command as typed at ':' in the app"),
    ],
};
