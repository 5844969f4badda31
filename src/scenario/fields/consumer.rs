//! The members of one consumer group.

use super::{DURATION, Kind, RECORD_RATE, TableSpec, default, optional, required};
use crate::sim::config::CONSUMERS_MAX;

pub(crate) static CONSUMER: TableSpec = TableSpec {
    name: "[[consumer]]",
    help: "Members of a consumer group: Java clients and the application that polls",
    fields: &[
        required(
            "group",
            Kind::Name,
            "group.id: what it is called, here and in commands; several tables can have one group",
        ),
        required(
            "topic",
            Kind::Either(&[Kind::Name, Kind::List(&Kind::Name)]),
            "the topic that it subscribes to, or several",
        ),
        optional("name", Kind::Name, "what `extends` and --set know it by"),
        default(
            "members",
            Kind::Whole(1, CONSUMERS_MAX as i128),
            "1",
            "that many of them: GROUP/1, GROUP/2, …",
        ),
        optional(
            "rate",
            RECORD_RATE,
            "records per second that one member can process; by default they take no time",
        ),
        optional(
            "version",
            Kind::Version,
            "the client's version; by default the cluster's",
        ),
        default(
            "start",
            DURATION,
            "0s",
            "when the application constructs the consumer",
        ),
        optional("rack", Kind::Name, "client.rack"),
        optional(
            "config-file",
            Kind::Path,
            "a .properties file; keys under config win over it",
        ),
        optional(
            "config",
            Kind::Kafka,
            "consumer configuration by its real names",
        ),
        optional(
            "isolation",
            Kind::Word(&["read_uncommitted", "read_committed"]),
            "isolation.level: whether it sees records of open and aborted transactions",
        ),
    ],
};
