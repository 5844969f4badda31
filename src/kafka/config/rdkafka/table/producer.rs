//! What producers look at, of the client and of its topics.

use super::super::super::super::rdkafka_partitioner::RdkafkaPartitioner;
use super::super::super::definition::Valid;
use super::super::property::{Property, Standing};

const CODECS: &[&str] = &["none", "gzip", "snappy", "lz4", "zstd"];
/// The partitioners' names.
const PARTITIONERS: [&str; 7] = {
    let mut names = [""; 7];
    let mut at = 0;
    while at < names.len() {
        names[at] = RdkafkaPartitioner::ALL[at].name();
        at += 1;
    }
    names
};

/// Properties of a producer.
pub(in super::super) const PRODUCER: &[Property] = &[
    Property::optional(
        "transactional.id",
        "The name under which transactions survive a restart.",
    )
    .producer()
    .high(),
    Property::integer(
        "transaction.timeout.ms",
        (1000, 2_147_483_647),
        "60000",
        "How long a transaction may stay open.",
    )
    .producer()
    .medium(),
    Property::flag(
        "enable.idempotence",
        "false",
        "Whether retries are told from new messages.",
    )
    .producer()
    .high(),
    Property::flag(
        "enable.gapless.guarantee",
        "false",
        "Whether a gap in a partition's messages is fatal.",
    )
    .producer()
    .standing(Standing::Experimental),
    Property::integer(
        "queue.buffering.max.messages",
        (0, 2_147_483_647),
        "100000",
        "Messages that may wait in the client; 0 is any number.",
    )
    .producer()
    .high(),
    Property::integer(
        "queue.buffering.max.kbytes",
        (1, 2_147_483_647),
        "1048576",
        "Kilobytes of values that may wait in the client.",
    )
    .producer()
    .high(),
    Property::float(
        "queue.buffering.max.ms",
        (0.0, 900_000.0),
        "5",
        "How long a message waits for others.",
    )
    .producer()
    .high()
    .alias(&["linger.ms"]),
    Property::integer(
        "message.send.max.retries",
        (0, 2_147_483_647),
        "2147483647",
        "How often a message is sent again.",
    )
    .producer()
    .high()
    .alias(&["retries"]),
    Property::integer(
        "retry.backoff.ms",
        (1, 300_000),
        "100",
        "The first wait before a message is sent again.",
    )
    .medium(),
    Property::integer(
        "retry.backoff.max.ms",
        (1, 300_000),
        "1000",
        "The longest wait before a message is sent again.",
    )
    .medium(),
    Property::integer(
        "queue.buffering.backpressure.threshold",
        (1, 1_000_000),
        "1",
        "Requests that may wait for a broker's socket.",
    )
    .producer(),
    Property::word(
        "compression.codec",
        CODECS,
        "none",
        "How batches are compressed.",
    )
    .producer()
    .medium()
    .alias(&["compression.type"]),
    Property::integer(
        "batch.num.messages",
        (1, 1_000_000),
        "10000",
        "The most messages of a batch.",
    )
    .producer()
    .medium(),
    Property::integer(
        "batch.size",
        (1, 2_147_483_647),
        "1000000",
        "The most bytes of a batch.",
    )
    .producer()
    .medium(),
    Property::flag(
        "delivery.report.only.error",
        "false",
        "Whether only failed messages are reported.",
    )
    .producer(),
    Property::integer(
        "sticky.partitioning.linger.ms",
        (0, 900_000),
        "10",
        "How long keyless messages stay with a partition; twice the linger where it is not set.",
    )
    .producer(),
    Property::word(
        "client.dns.lookup",
        &[
            "use_all_dns_ips",
            "resolve_canonical_bootstrap_servers_only",
        ],
        "use_all_dns_ips",
        "How a name with several addresses is used.",
    )
    .ignored(),
    Property::flag(
        "enable.metrics.push",
        "true",
        "Whether brokers may ask for metrics.",
    )
    .ignored(),
];

/// Properties that topics start from.
pub(in super::super) const TOPIC: &[Property] = &[
    Property::integer(
        "request.required.acks",
        (-1, 1000),
        "-1",
        "Whose append is waited for: none (0), the leader's (1) or all (-1).",
    )
    .producer()
    .topic()
    .high()
    .alias(&["acks"]),
    Property::integer(
        "request.timeout.ms",
        (1, 900_000),
        "30000",
        "How long a broker waits for its replicas.",
    )
    .producer()
    .topic()
    .medium(),
    Property::integer(
        "message.timeout.ms",
        (0, 2_147_483_647),
        "300000",
        "How long a message may take in all; 0 is for ever.",
    )
    .producer()
    .topic()
    .high()
    .alias(&["delivery.timeout.ms"]),
    Property::word(
        "queuing.strategy",
        &["fifo", "lifo"],
        "fifo",
        "Which message of a partition goes first.",
    )
    .producer()
    .topic()
    .standing(Standing::DeprecatedAndExperimental),
    Property::flag("produce.offset.report", "false", "Without effect.")
        .producer()
        .topic()
        .deprecated(),
    Property::text(
        "partitioner",
        "consistent_random",
        "How a message finds its partition.",
    )
    .producer()
    .topic()
    .high()
    .valid(Valid::OneOf(&PARTITIONERS)),
    Property::integer(
        "compression.level",
        (-1, 12),
        "-1",
        "How hard the codec tries; -1 is its own choice.",
    )
    .producer()
    .topic()
    .medium(),
    Property::flag(
        "auto.commit.enable",
        "true",
        "Whether positions are committed in the background.",
    )
    .consumer()
    .topic()
    .standing(Standing::Deprecated),
    Property::word(
        "auto.offset.reset",
        &[
            "smallest",
            "earliest",
            "beginning",
            "largest",
            "latest",
            "end",
            "error",
        ],
        "largest",
        "Where reading starts without a position.",
    )
    .consumer()
    .topic()
    .high(),
    Property::text(
        "offset.store.path",
        ".",
        "Where positions are kept in files.",
    )
    .consumer()
    .topic()
    .standing(Standing::Deprecated),
    Property::integer(
        "offset.store.sync.interval.ms",
        (-1, 86_400_000),
        "-1",
        "How often those files are synced.",
    )
    .consumer()
    .topic()
    .standing(Standing::Deprecated),
    Property::integer(
        "consume.callback.max.messages",
        (0, 1_000_000),
        "0",
        "Messages that one call hands out.",
    )
    .consumer()
    .topic(),
];
