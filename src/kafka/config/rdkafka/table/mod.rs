//! The table of librdkafka's properties.
//!
//! Invariants: properties stand in the order of librdkafka's own table, topics' last; ranges and
//! defaults are those of a producer.
//!
//! Simplification: the table is that of 2.16 for every release; properties that came after 2.12
//! are consumers' and logins'.

mod client;
mod consumer;
mod producer;
mod security;

pub(super) use client::CLIENT;
pub(super) use consumer::CONSUMER;
pub(super) use producer::{PRODUCER, TOPIC};
pub(super) use security::SECURITY;

/// Objects and functions of the application, which have setters of their own.
pub(super) const WITH_SETTERS: &[&str] = &[
    "error_cb",
    "throttle_cb",
    "stats_cb",
    "log_cb",
    "background_event_cb",
    "socket_cb",
    "connect_cb",
    "closesocket_cb",
    "open_cb",
    "resolve_cb",
    "opaque",
    "default_topic_conf",
    "ssl_key",
    "ssl_certificate",
    "ssl_ca",
    "ssl_engine_callback_data",
    "ssl.certificate.verify_cb",
    "oauthbearer_token_refresh_cb",
    "consume_cb",
    "rebalance_cb",
    "offset_commit_cb",
    "dr_cb",
    "dr_msg_cb",
    "partitioner_cb",
    "msg_order_cmp",
];

/// What keys of the Java client are called here, or why there is nothing like them.
pub(super) const JAVA_KEYS: &[(&str, &str)] = &[
    (
        "buffer.memory",
        "librdkafka limits its queue by queue.buffering.max.messages and queue.buffering.max.kbytes",
    ),
    (
        "max.block.ms",
        "librdkafka never waits for room: a full queue refuses at once (_QUEUE_FULL)",
    ),
    ("max.request.size", "librdkafka has message.max.bytes"),
    (
        "partitioner.class",
        "librdkafka has partitioner, such as murmur2_random",
    ),
    (
        "partitioner.ignore.keys",
        "librdkafka has partitioner=random",
    ),
    (
        "key.serializer",
        "librdkafka takes bytes: there are no serializers",
    ),
    (
        "value.serializer",
        "librdkafka takes bytes: there are no serializers",
    ),
    ("compression.gzip.level", "librdkafka has compression.level"),
    ("compression.lz4.level", "librdkafka has compression.level"),
    ("compression.zstd.level", "librdkafka has compression.level"),
    (
        "socket.connection.setup.timeout.max.ms",
        "librdkafka has socket.connection.setup.timeout.ms alone",
    ),
    (
        "send.buffer.bytes",
        "librdkafka has socket.send.buffer.bytes",
    ),
    (
        "receive.buffer.bytes",
        "librdkafka has socket.receive.buffer.bytes",
    ),
    (
        "metadata.max.idle.ms",
        "librdkafka forgets topics by metadata.max.age.ms",
    ),
];
