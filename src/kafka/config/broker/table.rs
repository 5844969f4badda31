//! The table of a broker's configuration keys, those of its controller and coordinators
//! included.

use super::super::definition::{ConfigKey, Valid, ValueKind};

use ValueKind::{Boolean, Double, Int, List, Long, Short, String};

const FOREVER_MS: &str = "9223372036854775807";
const AT_LEAST_0: Valid = Valid::AtLeast(0);
const AT_LEAST_1: Valid = Valid::AtLeast(1);

const fn key(
    name: &'static str,
    kind: ValueKind,
    default: &'static str,
    help: &'static str,
) -> ConfigKey {
    ConfigKey::new(name, kind, default, help).medium()
}

/// A positive number of something.
const fn count(name: &'static str, default: &'static str, help: &'static str) -> ConfigKey {
    key(name, Int, default, help).valid(AT_LEAST_1)
}

/// Milliseconds as a 32-bit number, from 1.
const fn int_ms(name: &'static str, default: &'static str, help: &'static str) -> ConfigKey {
    key(name, Int, default, help).valid(AT_LEAST_1)
}

/// Milliseconds as a 64-bit number, from 0.
const fn long_ms(name: &'static str, default: &'static str, help: &'static str) -> ConfigKey {
    key(name, Long, default, help).valid(AT_LEAST_0)
}

/// A replication factor.
const fn factor(name: &'static str, default: &'static str, help: &'static str) -> ConfigKey {
    key(name, Short, default, help).valid(AT_LEAST_1).high()
}

pub(super) const KEYS: &[ConfigKey] = &[
    // Topics that are made without words of their own.
    count(
        "num.partitions",
        "1",
        "Partitions of a topic that is made without a number.",
    ),
    factor(
        "default.replication.factor",
        "1",
        "Replicas of a topic that is made without a number.",
    ),
    key(
        "auto.create.topics.enable",
        Boolean,
        "true",
        "Whether asking for a topic makes it.",
    )
    .high(),
    // Requests.
    count(
        "num.network.threads",
        "3",
        "Threads of a listener that read requests and write answers.",
    ),
    count("num.io.threads", "8", "Threads that handle requests.").high(),
    count(
        "queued.max.requests",
        "500",
        "Requests that may wait before reading stops.",
    )
    .high(),
    key(
        "queued.max.request.bytes",
        Long,
        "-1",
        "Bytes of such requests; -1 is no limit.",
    )
    .ignored(),
    count(
        "socket.request.max.bytes",
        "104857600",
        "The largest request that is read.",
    ),
    int_ms(
        "request.timeout.ms",
        "30000",
        "How long the broker waits for other brokers' answers.",
    ),
    key(
        "connections.max.idle.ms",
        Long,
        "600000",
        "How long an unused connection is kept.",
    ),
    count(
        "quota.window.num",
        "11",
        "Samples over which quotas are measured.",
    ),
    count(
        "quota.window.size.seconds",
        "1",
        "The length of such a sample.",
    ),
    // Replication.
    long_ms(
        "replica.lag.time.max.ms",
        "30000",
        "How long a follower may be behind before it leaves the in-sync set.",
    )
    .high(),
    int_ms(
        "replica.fetch.wait.max.ms",
        "500",
        "How long a follower's empty fetch waits for data.",
    )
    .high(),
    count(
        "replica.fetch.min.bytes",
        "1",
        "Bytes that a follower's fetch waits for.",
    )
    .high(),
    key(
        "replica.fetch.max.bytes",
        Int,
        "1048576",
        "Bytes of one partition in a follower's fetch.",
    )
    .valid(AT_LEAST_0),
    key(
        "replica.fetch.response.max.bytes",
        Int,
        "10485760",
        "Bytes of a follower's whole fetch.",
    )
    .valid(AT_LEAST_0),
    key(
        "replica.fetch.backoff.ms",
        Int,
        "1000",
        "How long a follower pauses after an error.",
    )
    .valid(AT_LEAST_0),
    count(
        "num.replica.fetchers",
        "1",
        "Threads that fetch from one broker.",
    )
    .high(),
    long_ms(
        "replica.high.watermark.checkpoint.interval.ms",
        "5000",
        "How often high watermarks are written to disk.",
    )
    .high(),
    // Liveness and leadership.
    int_ms(
        "broker.heartbeat.interval.ms",
        "2000",
        "How often a broker shows that it lives.",
    ),
    int_ms(
        "broker.session.timeout.ms",
        "9000",
        "How long a silent broker keeps its leaderships.",
    ),
    key(
        "controlled.shutdown.enable",
        Boolean,
        "true",
        "Whether a stopping broker hands leaderships over first.",
    ),
    key(
        "auto.leader.rebalance.enable",
        Boolean,
        "true",
        "Whether leadership returns to preferred replicas.",
    )
    .high(),
    key(
        "leader.imbalance.check.interval.seconds",
        Long,
        "300",
        "How often that is looked at.",
    )
    .valid(AT_LEAST_1)
    .high(),
    long_ms(
        "unclean.leader.election.interval.ms",
        "300000",
        "How often partitions without a leader are looked at for an unclean one (internal).",
    ),
    key(
        "controller.quorum.append.linger.ms",
        Int,
        "25",
        "How long controllers gather records before they write.",
    )
    .valid(AT_LEAST_0),
    int_ms(
        "controller.quorum.election.timeout.ms",
        "1000",
        "How long an election of a controller may take.",
    )
    .high(),
    int_ms(
        "controller.quorum.fetch.timeout.ms",
        "2000",
        "How long a controller waits for its leader.",
    )
    .high(),
    key(
        "metadata.max.idle.interval.ms",
        Int,
        "500",
        "How often an idle controller writes an empty record.",
    )
    .valid(AT_LEAST_0)
    .ignored(),
    // Transactions.
    count(
        "transaction.state.log.num.partitions",
        "50",
        "Partitions of the transactions' log.",
    )
    .high(),
    factor(
        "transaction.state.log.replication.factor",
        "3",
        "Replicas of the transactions' log.",
    ),
    count(
        "transaction.state.log.min.isr",
        "2",
        "Replicas of that log that must be in sync.",
    )
    .high(),
    count(
        "transaction.state.log.segment.bytes",
        "104857600",
        "The size of that log's segments.",
    )
    .high()
    .ignored(),
    count(
        "transaction.state.log.load.buffer.size",
        "5242880",
        "Bytes that are read at once when it is loaded.",
    )
    .high()
    .ignored(),
    int_ms(
        "transaction.max.timeout.ms",
        "900000",
        "The longest transaction.timeout.ms of a producer.",
    )
    .high(),
    int_ms(
        "transactional.id.expiration.ms",
        "604800000",
        "How long an unused transactional id is remembered.",
    )
    .high(),
    int_ms(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "10000",
        "How often overdue transactions are looked for.",
    ),
    int_ms(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        "3600000",
        "How often unused transactional ids are looked for.",
    ),
    key(
        "transaction.partition.verification.enable",
        Boolean,
        "true",
        "Whether a leader asks if a transaction is really open.",
    ),
    int_ms(
        "add.partitions.to.txn.retry.backoff.ms",
        "20",
        "The first pause before the broker asks again.",
    )
    .high(),
    int_ms(
        "add.partitions.to.txn.retry.backoff.max.ms",
        "100",
        "The longest pause before the broker asks again.",
    )
    .high(),
    int_ms(
        "producer.id.expiration.ms",
        "86400000",
        "How long an unused producer id is remembered.",
    ),
    int_ms(
        "producer.id.expiration.check.interval.ms",
        "600000",
        "How often unused producer ids are looked for (internal).",
    ),
    key(
        "transaction.two.phase.commit.enable",
        Boolean,
        "false",
        "Whether outside coordinators may decide.",
    )
    .ignored(),
    // Groups.
    count(
        "offsets.topic.num.partitions",
        "50",
        "Partitions of the offsets' log.",
    )
    .high(),
    factor(
        "offsets.topic.replication.factor",
        "3",
        "Replicas of the offsets' log.",
    ),
    key(
        "group.initial.rebalance.delay.ms",
        Int,
        "3000",
        "How long a new group waits for members.",
    ),
    // What topics get that do not say otherwise.
    key(
        "min.insync.replicas",
        Int,
        "1",
        "How many replicas acks=all needs in sync.",
    )
    .valid(AT_LEAST_1)
    .high(),
    key(
        "unclean.leader.election.enable",
        Boolean,
        "false",
        "Whether a replica that fell behind may lead, at the price of lost records.",
    )
    .high(),
    key(
        "message.max.bytes",
        Int,
        "1048588",
        "The largest batch that is taken.",
    )
    .valid(AT_LEAST_0)
    .high(),
    key(
        "log.cleanup.policy",
        List,
        "delete",
        "Whether old segments go, old values go, or both.",
    )
    .valid(Valid::ItemsOf(&["compact", "delete"])),
    key(
        "log.retention.hours",
        Int,
        "168",
        "The age above which segments go, in hours.",
    )
    .high(),
    key(
        "log.retention.ms",
        Long,
        "",
        "The same in milliseconds, which counts first; -1 is never.",
    )
    .null()
    .high(),
    key(
        "log.retention.bytes",
        Long,
        "-1",
        "The size above which old segments go; -1 is no limit.",
    )
    .high(),
    key(
        "log.segment.bytes",
        Int,
        "1073741824",
        "The size at which a segment is closed.",
    )
    .valid(Valid::AtLeast(1_048_576))
    .high(),
    key(
        "log.roll.hours",
        Int,
        "168",
        "The age at which a segment is closed, in hours.",
    )
    .valid(AT_LEAST_1)
    .high(),
    key(
        "log.roll.ms",
        Long,
        "",
        "The same in milliseconds, which counts first.",
    )
    .null()
    .high(),
    key(
        "log.message.timestamp.type",
        String,
        "CreateTime",
        "Whose clock stamps records.",
    )
    .valid(Valid::OneOf(&["CreateTime", "LogAppendTime"])),
    long_ms(
        "log.message.timestamp.before.max.ms",
        FOREVER_MS,
        "How far a timestamp may lie in the past.",
    ),
    long_ms(
        "log.message.timestamp.after.max.ms",
        "3600000",
        "How far a timestamp may lie in the future.",
    ),
    key(
        "log.cleaner.min.cleanable.ratio",
        Double,
        "0.5",
        "The share of dirty bytes that starts a cleaning.",
    )
    .valid(Valid::BetweenDoubles(0.0, 1.0)),
    long_ms(
        "log.cleaner.delete.retention.ms",
        "86400000",
        "How long a tombstone outlives its cleaning.",
    ),
    long_ms(
        "log.cleaner.min.compaction.lag.ms",
        "0",
        "How long a record is safe from compaction.",
    ),
    long_ms(
        "log.cleaner.max.compaction.lag.ms",
        FOREVER_MS,
        "How long a record may wait for compaction.",
    )
    .valid(AT_LEAST_1),
    long_ms(
        "log.retention.check.interval.ms",
        "300000",
        "How often old segments are looked for.",
    )
    .valid(AT_LEAST_1),
    key("log.cleaner.threads", Int, "1", "Threads that compact.")
        .valid(AT_LEAST_0)
        .ignored(),
    long_ms(
        "log.cleaner.backoff.ms",
        "15000",
        "How long an idle cleaner sleeps.",
    )
    .ignored(),
    key(
        "log.cleaner.dedupe.buffer.size",
        Long,
        "134217728",
        "Bytes of memory for compaction.",
    )
    .ignored(),
    key(
        "num.recovery.threads.per.data.dir",
        Int,
        "2",
        "Threads that repair a log after a crash.",
    )
    .valid(AT_LEAST_1)
    .high()
    .ignored(),
    key(
        "compression.type",
        String,
        "producer",
        "How batches are stored; producer is as they came.",
    )
    .valid(Valid::OneOf(&[
        "uncompressed",
        "zstd",
        "lz4",
        "snappy",
        "gzip",
        "producer",
    ]))
    .high(),
    key(
        "compression.gzip.level",
        Int,
        "-1",
        "How hard gzip tries, where batches are stored with it.",
    )
    .valid(Valid::GzipLevel)
    .since(3, 8),
    key(
        "compression.lz4.level",
        Int,
        "9",
        "How hard LZ4 tries, where batches are stored with it.",
    )
    .valid(Valid::Between(1, 17))
    .since(3, 8),
    key(
        "compression.zstd.level",
        Int,
        "3",
        "How hard Zstandard tries, where batches are stored with it.",
    )
    .valid(Valid::Between(-131_072, 22))
    .since(3, 8),
];
