//! The table of a Java producer's configuration keys.
//!
//! Invariants: the keys stand in the order in which the client defines, and so checks, them;
//! defaults and validators are those of `ProducerConfig`, with the defaults' history.

use super::super::class_names::{BYTE_ARRAY_SERIALIZER, DEFAULT_PARTITIONER};
use super::super::definition::{ConfigKey, DefaultValue, Valid, ValueKind};

use ValueKind::{Boolean, Class, Int, List, Long, String};

const AT_LEAST_0: Valid = Valid::AtLeast(0);
const AT_LEAST_1: Valid = Valid::AtLeast(1);

const fn key(
    name: &'static str,
    kind: ValueKind,
    default: &'static str,
    help: &'static str,
) -> ConfigKey {
    ConfigKey::new(name, kind, default, help)
}

/// The keys that the client defines before those of security.
pub(super) const DELIVERY: &[ConfigKey] = &[
    key(
        "bootstrap.servers",
        List,
        "",
        "Addresses to learn the cluster from, as host:port.",
    )
    .valid(Valid::DistinctItemsNotEmpty)
    .required()
    .high()
    .checked(),
    key(
        "client.dns.lookup",
        String,
        "use_all_dns_ips",
        "How a name with several addresses is used.",
    )
    .valid(Valid::OneOf(&[
        "use_all_dns_ips",
        "resolve_canonical_bootstrap_servers_only",
    ]))
    .medium()
    .ignored(),
    key(
        "buffer.memory",
        Long,
        "33554432",
        "Bytes of memory for batches that wait or are on the way.",
    )
    .valid(AT_LEAST_0)
    .high(),
    key(
        "retries",
        Int,
        "2147483647",
        "How often a batch is sent again after a retriable error.",
    )
    .valid(Valid::Between(0, 2_147_483_647))
    .high(),
    key(
        "acks",
        String,
        "all",
        "Whose append is waited for: none (0), the leader's (1) or all.",
    )
    .valid(Valid::OneOf(&["all", "-1", "0", "1"]))
    .before(3, 0, DefaultValue::Text("1")),
    key(
        "compression.type",
        String,
        "none",
        "How batches are compressed.",
    )
    .valid(Valid::OneOf(&["none", "gzip", "snappy", "lz4", "zstd"]))
    .high(),
    key(
        "compression.gzip.level",
        Int,
        "-1",
        "How hard gzip tries; -1 is its own default.",
    )
    .valid(Valid::GzipLevel)
    .medium()
    .since(3, 8),
    key("compression.lz4.level", Int, "9", "How hard LZ4 tries.")
        .valid(Valid::Between(1, 17))
        .medium()
        .since(3, 8),
    key(
        "compression.zstd.level",
        Int,
        "3",
        "How hard Zstandard tries.",
    )
    .valid(Valid::Between(-131_072, 22))
    .medium()
    .since(3, 8),
    key(
        "batch.size",
        Int,
        "16384",
        "Bytes of memory that a batch takes, and its usual limit.",
    )
    .valid(AT_LEAST_0)
    .medium(),
    key(
        "partitioner.adaptive.partitioning.enable",
        Boolean,
        "true",
        "Whether keyless records prefer partitions with short queues.",
    )
    .since(3, 3),
    key(
        "partitioner.availability.timeout.ms",
        Long,
        "0",
        "How long a broker may be unable to take data before its partitions are avoided; 0 is off.",
    )
    .valid(AT_LEAST_0)
    .since(3, 3),
    key(
        "partitioner.ignore.keys",
        Boolean,
        "false",
        "Whether keyed records are placed like keyless ones.",
    )
    .medium()
    .since(3, 3),
    key(
        "linger.ms",
        Long,
        "5",
        "How long a batch waits for company.",
    )
    .valid(AT_LEAST_0)
    .medium()
    .before(4, 0, DefaultValue::Text("0")),
    key(
        "delivery.timeout.ms",
        Int,
        "120000",
        "How long after its batch's creation a record may still be delivered.",
    )
    .valid(AT_LEAST_0)
    .medium(),
    key(
        "client.id",
        String,
        "",
        "The name that brokers see, for logs and quotas.",
    )
    .medium(),
    key(
        "send.buffer.bytes",
        Int,
        "131072",
        "The socket's send buffer; -1 leaves it to the system.",
    )
    .valid(Valid::AtLeast(-1))
    .medium()
    .ignored(),
    key(
        "receive.buffer.bytes",
        Int,
        "32768",
        "The socket's receive buffer; -1 leaves it to the system.",
    )
    .valid(Valid::AtLeast(-1))
    .medium()
    .ignored(),
    key(
        "max.request.size",
        Int,
        "1048576",
        "The largest request, and the largest record, in bytes.",
    )
    .valid(AT_LEAST_0)
    .medium(),
    key(
        "reconnect.backoff.ms",
        Long,
        "50",
        "The first wait before a node is connected to again.",
    )
    .valid(AT_LEAST_0),
    key(
        "reconnect.backoff.max.ms",
        Long,
        "1000",
        "The longest wait before a node is connected to again.",
    )
    .valid(AT_LEAST_0),
    key(
        "retry.backoff.ms",
        Long,
        "100",
        "The first wait before a request is sent again.",
    )
    .valid(AT_LEAST_0),
    key(
        "retry.backoff.max.ms",
        Long,
        "1000",
        "The longest wait before a request is sent again.",
    )
    .valid(AT_LEAST_0)
    .since(3, 7),
    key(
        "enable.metrics.push",
        Boolean,
        "true",
        "Whether the cluster may collect the client's metrics.",
    )
    .since(3, 7)
    .ignored(),
    key(
        "max.block.ms",
        Long,
        "60000",
        "How long send() may wait for metadata and memory, and transactional calls for answers.",
    )
    .valid(AT_LEAST_0)
    .medium(),
    key(
        "request.timeout.ms",
        Int,
        "30000",
        "How long an answer may take before the connection is given up.",
    )
    .valid(AT_LEAST_0)
    .medium(),
    key(
        "metadata.max.age.ms",
        Long,
        "300000",
        "How old metadata may become before it is refreshed.",
    )
    .valid(AT_LEAST_0),
    key(
        "metadata.max.idle.ms",
        Long,
        "300000",
        "How long an unused topic is remembered.",
    )
    .valid(Valid::AtLeast(5000))
    .since(2, 5),
    key(
        "metrics.sample.window.ms",
        Long,
        "30000",
        "How long one sample of a metric collects.",
    )
    .valid(AT_LEAST_0),
    key(
        "metrics.num.samples",
        Int,
        "2",
        "How many samples a metric looks back.",
    )
    .valid(AT_LEAST_1),
    key(
        "metrics.recording.level",
        String,
        "INFO",
        "How detailed the recorded metrics are.",
    )
    .valid(Valid::OneOf(&["INFO", "DEBUG", "TRACE"]))
    .ignored(),
    key(
        "metric.reporters",
        List,
        "org.apache.kafka.common.metrics.JmxReporter",
        "Classes that carry metrics elsewhere.",
    )
    .valid(Valid::DistinctItems)
    .ignored(),
    key(
        "max.in.flight.requests.per.connection",
        Int,
        "5",
        "How many requests may be unanswered on one connection.",
    )
    .valid(AT_LEAST_1),
    key(
        "key.serializer",
        Class,
        BYTE_ARRAY_SERIALIZER,
        "The class that makes bytes of keys.",
    )
    .required()
    .high()
    .checked(),
    key(
        "value.serializer",
        Class,
        BYTE_ARRAY_SERIALIZER,
        "The class that makes bytes of values.",
    )
    .required()
    .high()
    .checked(),
    key(
        "socket.connection.setup.timeout.ms",
        Long,
        "10000",
        "How long the first attempt to connect may take.",
    )
    .medium()
    .since(2, 7),
    key(
        "socket.connection.setup.timeout.max.ms",
        Long,
        "30000",
        "How long a later attempt to connect may take.",
    )
    .medium()
    .since(2, 7)
    .before(2, 8, DefaultValue::Text("127000")),
    key(
        "connections.max.idle.ms",
        Long,
        "540000",
        "How long an unused connection is kept.",
    )
    .medium(),
    key(
        "partitioner.class",
        Class,
        "",
        "The class that places records; without one, keys are hashed and the rest sticks.",
    )
    .null()
    .medium()
    .before(3, 3, DefaultValue::Text(DEFAULT_PARTITIONER)),
    key(
        "interceptor.classes",
        List,
        "",
        "Classes that see every record on its way.",
    )
    .valid(Valid::DistinctItems)
    .ignored(),
    key(
        "bootstrap.resolve.timeout.ms",
        Long,
        "0",
        "How long bootstrap names may take to resolve.",
    )
    .valid(AT_LEAST_0)
    .high()
    .since(4, 4)
    .ignored(),
    key(
        "metadata.cluster.check.enable",
        Boolean,
        "true",
        "Whether answers of another cluster are refused.",
    )
    .since(4, 4)
    .ignored(),
    key("client.rack", String, "", "Where the client stands.").since(4, 4),
    key(
        "partitioner.rack.aware",
        Boolean,
        "false",
        "Whether leaders in the client's rack are preferred.",
    )
    .since(4, 4),
    key(
        "buffer.memory.allocation.strategy",
        String,
        "full",
        "Whether a batch takes all of its memory at once (internal).",
    )
    .valid(Valid::OneOf(&["full", "incremental"]))
    .medium()
    .since(4, 4)
    .ignored(),
];

/// The keys that the client defines after those of security.
pub(super) const TRANSACTIONS: &[ConfigKey] = &[
    key(
        "enable.idempotence",
        Boolean,
        "true",
        "Whether retries can neither repeat nor reorder records.",
    )
    .before(3, 0, DefaultValue::Text("false")),
    key(
        "transaction.timeout.ms",
        Int,
        "60000",
        "How long a transaction may stay open before the coordinator aborts it.",
    ),
    key(
        "transaction.two.phase.commit.enable",
        Boolean,
        "false",
        "Whether an outside coordinator decides about transactions.",
    )
    .since(4, 1)
    .checked(),
    key(
        "transactional.id",
        String,
        "",
        "The name under which transactions outlive the process.",
    )
    .null()
    .valid(Valid::NonEmpty),
    key(
        "metadata.recovery.strategy",
        String,
        "rebootstrap",
        "What the client does when it can reach no broker that it knows.",
    )
    .valid(Valid::OneOfIgnoringCase(&["REBOOTSTRAP", "NONE"]))
    .since(3, 8)
    .before(4, 0, DefaultValue::Text("none")),
    key(
        "metadata.recovery.rebootstrap.trigger.ms",
        Long,
        "300000",
        "How long metadata may fail to arrive before the client starts from bootstrap.servers.",
    )
    .valid(AT_LEAST_0)
    .since(4, 0),
    key(
        "config.providers",
        List,
        "",
        "Names of sources that values can be fetched from.",
    )
    .valid(Valid::DistinctItems)
    .since(4, 2)
    .ignored(),
];
