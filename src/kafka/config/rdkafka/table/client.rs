//! What every librdkafka client has: names, metadata, sockets, the log.

use super::super::property::Property;

/// What a build can have.
const FEATURES: &[&str] = &[
    "gzip",
    "snappy",
    "ssl",
    "sasl",
    "regex",
    "lz4",
    "sasl_gssapi",
    "sasl_plain",
    "sasl_scram",
    "plugins",
    "zstd",
    "sasl_oauthbearer",
    "http",
    "oidc",
];
/// Parts of the client that log.
const DEBUG_CONTEXTS: &[&str] = &[
    "generic",
    "broker",
    "topic",
    "metadata",
    "feature",
    "queue",
    "msg",
    "protocol",
    "cgrp",
    "security",
    "fetch",
    "interceptor",
    "plugin",
    "consumer",
    "admin",
    "eos",
    "mock",
    "assignor",
    "conf",
    "telemetry",
    "all",
];

/// Properties of the client itself.
pub(in super::super) const CLIENT: &[Property] = &[
    Property::words(
        "builtin.features",
        FEATURES,
        "Features that the build must have.",
    )
    .ignored(),
    Property::text("client.id", "rdkafka", "The name that brokers see."),
    Property::optional(
        "metadata.broker.list",
        "Addresses to learn the cluster from, as host or host:port.",
    )
    .high()
    .checked()
    .alias(&["bootstrap.servers"]),
    Property::integer(
        "message.max.bytes",
        (1000, 1_000_000_000),
        "1000000",
        "The largest message, and another limit on a batch.",
    )
    .medium(),
    Property::integer(
        "message.copy.max.bytes",
        (0, 1_000_000_000),
        "65535",
        "Messages up to this are copied into requests.",
    )
    .ignored(),
    Property::integer(
        "receive.message.max.bytes",
        (1000, 2_147_483_647),
        "100000000",
        "The largest answer that is taken.",
    )
    .medium()
    .ignored(),
    Property::integer(
        "max.in.flight.requests.per.connection",
        (1, 1_000_000),
        "1000000",
        "Requests that may wait for an answer on one connection.",
    )
    .alias(&["max.in.flight"]),
    Property::word(
        "metadata.recovery.strategy",
        &["none", "rebootstrap"],
        "rebootstrap",
        "What happens when no known broker can be reached.",
    ),
    Property::integer(
        "metadata.recovery.rebootstrap.trigger.ms",
        (0, 2_147_483_647),
        "300000",
        "How long metadata may fail before the client starts over.",
    ),
    Property::integer(
        "topic.metadata.refresh.interval.ms",
        (-1, 3_600_000),
        "300000",
        "How often metadata is asked for; -1 is only on demand.",
    ),
    Property::integer(
        "metadata.max.age.ms",
        (1, 86_400_000),
        "900000",
        "How long metadata is believed; three refresh intervals where it is not set.",
    ),
    Property::integer(
        "topic.metadata.refresh.fast.interval.ms",
        (1, 60_000),
        "100",
        "The first wait between questions for a lost leader.",
    ),
    Property::integer(
        "topic.metadata.refresh.fast.cnt",
        (0, 1000),
        "10",
        "Without effect.",
    )
    .deprecated(),
    Property::flag(
        "topic.metadata.refresh.sparse",
        "true",
        "Whether metadata is asked for only of topics in use.",
    )
    .ignored(),
    Property::integer(
        "topic.metadata.propagation.max.ms",
        (0, 3_600_000),
        "30000",
        "For how long after its first use a topic may be unknown.",
    ),
    Property::optional(
        "topic.blacklist",
        "Patterns of topics to be taken for missing.",
    )
    .ignored(),
    Property::words(
        "debug",
        DEBUG_CONTEXTS,
        "What is written to the log in detail.",
    )
    .medium()
    .ignored(),
    Property::integer(
        "socket.timeout.ms",
        (10, 300_000),
        "60000",
        "How long an answer may take.",
    ),
    Property::integer(
        "socket.blocking.max.ms",
        (1, 60_000),
        "1000",
        "Without effect.",
    )
    .deprecated(),
    Property::integer(
        "socket.send.buffer.bytes",
        (0, 100_000_000),
        "0",
        "The send buffer of a socket; 0 is the system's.",
    )
    .ignored(),
    Property::integer(
        "socket.receive.buffer.bytes",
        (0, 100_000_000),
        "0",
        "The receive buffer of a socket; 0 is the system's.",
    )
    .ignored(),
    Property::flag(
        "socket.keepalive.enable",
        "false",
        "Whether TCP asks idle connections for a sign of life.",
    )
    .ignored(),
    Property::flag(
        "socket.nagle.disable",
        "true",
        "Whether TCP sends small packets at once.",
    )
    .ignored(),
    Property::integer(
        "socket.max.fails",
        (0, 1_000_000),
        "1",
        "Requests that may time out before the connection closes; 0 is any number.",
    ),
    Property::integer(
        "broker.address.ttl",
        (0, 86_400_000),
        "1000",
        "How long a resolved address is used.",
    )
    .ignored(),
    Property::word(
        "broker.address.family",
        &["any", "v4", "v6"],
        "any",
        "Which addresses are used.",
    )
    .ignored(),
    Property::integer(
        "socket.connection.setup.timeout.ms",
        (1000, 2_147_483_647),
        "30000",
        "How long connecting may take.",
    )
    .medium(),
    Property::integer(
        "connections.max.idle.ms",
        (0, 2_147_483_647),
        "0",
        "How long a connection may be idle; 0 is for ever.",
    )
    .medium(),
    Property::integer(
        "reconnect.backoff.jitter.ms",
        (0, 3_600_000),
        "0",
        "Without effect.",
    )
    .deprecated(),
    Property::integer(
        "reconnect.backoff.ms",
        (0, 3_600_000),
        "100",
        "The first wait before a broker is connected to again.",
    )
    .medium(),
    Property::integer(
        "reconnect.backoff.max.ms",
        (0, 3_600_000),
        "10000",
        "The longest wait before a broker is connected to again.",
    )
    .medium(),
    Property::integer(
        "statistics.interval.ms",
        (0, 86_400_000),
        "0",
        "How often statistics are given; 0 is never.",
    )
    .high(),
    Property::integer(
        "enabled_events",
        (0, 2_147_483_647),
        "0",
        "Which events are given instead of callbacks.",
    )
    .ignored(),
    Property::integer("log_level", (0, 7), "6", "How much is logged.").ignored(),
    Property::flag("log.queue", "false", "Whether log lines wait to be polled.").ignored(),
    Property::flag(
        "log.thread.name",
        "true",
        "Whether log lines name their thread.",
    )
    .ignored(),
    Property::flag(
        "enable.random.seed",
        "true",
        "Whether random numbers differ from run to run.",
    )
    .ignored(),
    Property::flag(
        "log.connection.close",
        "true",
        "Whether closed connections are logged.",
    )
    .ignored(),
    Property::integer(
        "internal.termination.signal",
        (0, 128),
        "0",
        "A signal that ends the client's threads sooner.",
    )
    .ignored(),
    Property::flag(
        "api.version.request",
        "true",
        "Whether brokers are asked for their versions.",
    )
    .high()
    .deprecated(),
    Property::integer(
        "api.version.request.timeout.ms",
        (1, 300_000),
        "10000",
        "How long the answer about versions may take.",
    )
    .ignored(),
    Property::integer(
        "api.version.fallback.ms",
        (0, 604_800_000),
        "0",
        "How long a version is guessed where the question failed.",
    )
    .medium()
    .deprecated(),
    Property::text(
        "broker.version.fallback",
        "0.10.0",
        "The version that is guessed then.",
    )
    .medium()
    .deprecated(),
    Property::flag(
        "allow.auto.create.topics",
        "true",
        "Whether a question for a missing topic makes it.",
    ),
    Property::flag(
        "enable_sasl_queue",
        "false",
        "Whether logins are refreshed by their own queue.",
    )
    .ignored(),
    Property::flag(
        "enable.sparse.connections",
        "true",
        "Whether connections are made only when they are needed.",
    )
    .ignored(),
    Property::integer(
        "metadata.request.timeout.ms",
        (10, 900_000),
        "10",
        "Without effect.",
    )
    .deprecated(),
    Property::text(
        "client.software.name",
        "librdkafka",
        "The name that brokers log.",
    )
    .ignored(),
    Property::optional("client.software.version", "The version that brokers log.").ignored(),
    Property::integer(
        "test.mock.num.brokers",
        (0, 10_000),
        "0",
        "Brokers of a mock cluster.",
    )
    .ignored(),
    Property::integer(
        "test.mock.broker.rtt",
        (0, 3_600_000),
        "0",
        "The distance to them.",
    )
    .ignored(),
];
