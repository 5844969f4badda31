//! What only consumers look at: a producer warns of it and goes on.

use super::super::property::{Property, Standing};

/// Properties of consumers, and `client.rack`, which stands among them.
pub(in super::super) const CONSUMER: &[Property] = &[
    Property::optional("group.id", "The name of a consumer's group.").consumer(),
    Property::optional("group.instance.id", "The name of a static member.").consumer(),
    Property::text(
        "partition.assignment.strategy",
        "range,roundrobin",
        "How partitions are shared out.",
    )
    .consumer(),
    Property::integer(
        "session.timeout.ms",
        (1, 3_600_000),
        "45000",
        "How long a member may be silent.",
    )
    .consumer(),
    Property::integer(
        "heartbeat.interval.ms",
        (1, 3_600_000),
        "3000",
        "How often a member shows that it lives.",
    )
    .consumer(),
    Property::text(
        "group.protocol.type",
        "consumer",
        "What kind of group it is.",
    )
    .consumer(),
    Property::word(
        "group.protocol",
        &["classic", "consumer"],
        "classic",
        "How a group agrees.",
    )
    .consumer(),
    Property::optional(
        "group.remote.assignor",
        "Who shares out partitions at the broker.",
    )
    .consumer(),
    Property::integer(
        "coordinator.query.interval.ms",
        (1, 3_600_000),
        "600000",
        "How often the coordinator is asked for.",
    )
    .consumer(),
    Property::integer(
        "max.poll.interval.ms",
        (1, 86_400_000),
        "300000",
        "How long a member may not poll.",
    )
    .consumer(),
    Property::flag(
        "enable.auto.commit",
        "true",
        "Whether positions are committed in the background.",
    )
    .consumer(),
    Property::integer(
        "auto.commit.interval.ms",
        (0, 86_400_000),
        "5000",
        "How often positions are committed.",
    )
    .consumer(),
    Property::flag(
        "enable.auto.offset.store",
        "true",
        "Whether the last message's position is kept for that.",
    )
    .consumer(),
    Property::integer(
        "queued.min.messages",
        (1, 10_000_000),
        "100000",
        "Messages to have in advance.",
    )
    .consumer(),
    Property::integer(
        "queued.max.messages.kbytes",
        (1, 2_097_151),
        "65536",
        "Kilobytes to have in advance.",
    )
    .consumer(),
    Property::integer(
        "fetch.wait.max.ms",
        (0, 300_000),
        "500",
        "How long a broker waits for data.",
    )
    .consumer(),
    Property::integer(
        "fetch.queue.backoff.ms",
        (0, 300_000),
        "1000",
        "How long fetching pauses with a full queue.",
    )
    .consumer(),
    Property::integer(
        "fetch.message.max.bytes",
        (1, 1_000_000_000),
        "1048576",
        "Bytes to fetch of a partition.",
    )
    .consumer()
    .alias(&["max.partition.fetch.bytes"]),
    Property::integer(
        "fetch.max.bytes",
        (0, 2_147_483_135),
        "52428800",
        "Bytes to fetch at once.",
    )
    .consumer(),
    Property::integer(
        "fetch.min.bytes",
        (0, 2_147_483_647),
        "1",
        "Bytes that a broker waits for.",
    )
    .consumer(),
    Property::integer(
        "fetch.error.backoff.ms",
        (0, 300_000),
        "500",
        "How long fetching pauses after an error.",
    )
    .consumer(),
    Property::word(
        "offset.store.method",
        &["none", "file", "broker"],
        "broker",
        "Where positions are kept.",
    )
    .consumer()
    .standing(Standing::Deprecated),
    Property::word(
        "isolation.level",
        &["read_uncommitted", "read_committed"],
        "read_committed",
        "Whether open transactions are seen.",
    )
    .consumer(),
    Property::flag(
        "enable.partition.eof",
        "false",
        "Whether a partition's end is told.",
    )
    .consumer(),
    Property::flag("check.crcs", "false", "Whether checksums are checked.").consumer(),
    Property::text(
        "client.rack",
        "",
        "Where the client stands; only consumers look at it.",
    )
    .ignored(),
    Property::integer(
        "max.poll.records",
        (1, 2_147_483_647),
        "500",
        "Records that one poll gives.",
    )
    .consumer(),
    Property::text(
        "share.acknowledgement.mode",
        "implicit",
        "How a share group acknowledges.",
    )
    .consumer(),
];
