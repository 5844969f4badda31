//! The table of a Java consumer's configuration keys.
//!
//! Invariants: the keys stand in the order in which the client defines, and so checks, them;
//! defaults and validators are those of `ConsumerConfig`, with the defaults' history.

use super::super::definition::{ConfigKey, DefaultValue, Valid, ValueKind};

use ValueKind::{Boolean, Int, List, Long, String};

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
pub(super) const CONSUMER: &[ConfigKey] = &[
    key("bootstrap.servers", List, "", "Addresses to learn the cluster from, as host:port.").valid(Valid::DistinctItemsNotEmpty).required().high().checked(),
    key("client.dns.lookup", String, "use_all_dns_ips", "How a name with several addresses is used.").valid(Valid::OneOf(&["use_all_dns_ips","resolve_canonical_bootstrap_servers_only"])).medium().ignored(),
    key("group.id", String, "", "The group that this consumer is a member of.").null().high().checked(),
    key("group.instance.id", String, "", "A name that makes a member static: it keeps its place over a restart.").null().valid(Valid::NonEmpty).medium().since(2, 3).ignored(),
    key("session.timeout.ms", Int, "45000", "How long a member may be silent before the group goes on without it.").high().before(3, 0, DefaultValue::Text("10000")),
    key("heartbeat.interval.ms", Int, "3000", "Every how long a member says that it lives.").high(),
    key("partition.assignment.strategy", List, "org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "How partitions are spread over members, in order of preference.").valid(Valid::DistinctItems).medium().before(3, 0, DefaultValue::Text("org.apache.kafka.clients.consumer.RangeAssignor")),
    key("metadata.max.age.ms", Long, "300000", "How long metadata is believed: new partitions are seen when it is over.").valid(AT_LEAST_0),
    key("enable.auto.commit", Boolean, "true", "Whether poll() commits offsets from time to time.").medium(),
    key("auto.commit.interval.ms", Int, "5000", "Every how long poll() commits offsets.").valid(AT_LEAST_0),
    key("client.id", String, "", "A name for logs and metrics."),
    key("client.rack", String, "", "Where the consumer stands, for fetching from a replica nearby.").since(2, 4).ignored(),
    key("max.partition.fetch.bytes", Int, "1048576", "Bytes of one partition in one answer, at most.").valid(AT_LEAST_0).high(),
    key("send.buffer.bytes", Int, "131072", "TCP send buffer; -1 is the system's.").valid(Valid::AtLeast(-1)).medium().ignored(),
    key("receive.buffer.bytes", Int, "65536", "TCP receive buffer; -1 is the system's.").valid(Valid::AtLeast(-1)).medium().ignored(),
    key("fetch.min.bytes", Int, "1", "Bytes that an answer waits for.").valid(AT_LEAST_0).high(),
    key("fetch.max.bytes", Int, "52428800", "Bytes of one answer, at most.").valid(AT_LEAST_0).medium(),
    key("fetch.max.wait.ms", Int, "500", "How long an answer waits for enough bytes.").valid(AT_LEAST_0),
    key("reconnect.backoff.ms", Long, "50", "First wait before a node is connected to again.").valid(AT_LEAST_0),
    key("reconnect.backoff.max.ms", Long, "1000", "Longest wait before a node is connected to again.").valid(AT_LEAST_0),
    key("retry.backoff.ms", Long, "100", "First wait before a failed request is sent again.").valid(AT_LEAST_0),
    key("retry.backoff.max.ms", Long, "1000", "Longest wait before a failed request is sent again.").valid(AT_LEAST_0).since(3, 7),
    key("enable.metrics.push", Boolean, "true", "Whether the client pushes metrics that the cluster asks for.").since(3, 7).ignored(),
    key("auto.offset.reset", String, "latest", "Where to begin without a committed offset: earliest, latest or none.").medium(),
    key("check.crcs", Boolean, "true", "Whether the checksums of records are looked at.").ignored(),
    key("metrics.sample.window.ms", Long, "30000", "How long a sample of a metric takes.").valid(AT_LEAST_0),
    key("metrics.num.samples", Int, "2", "How many samples make a metric.").valid(AT_LEAST_1),
    key("metrics.recording.level", String, "INFO", "Which metrics are recorded.").valid(Valid::OneOf(&["INFO","DEBUG","TRACE"])).ignored(),
    key("metric.reporters", List, "org.apache.kafka.common.metrics.JmxReporter", "Classes that report metrics.").valid(Valid::DistinctItems).ignored(),
    key("key.deserializer", String, "", "The class that reads keys.").required().high().checked(),
    key("value.deserializer", String, "", "The class that reads values.").required().high().checked(),
    key("request.timeout.ms", Int, "30000", "How long an answer is waited for.").valid(AT_LEAST_0).medium(),
    key("default.api.timeout.ms", Int, "60000", "How long calls without a timeout of their own may take.").valid(AT_LEAST_0).medium().since(2, 0).ignored(),
    key("socket.connection.setup.timeout.ms", Long, "10000", "First limit on connecting.").medium().since(2, 7),
    key("socket.connection.setup.timeout.max.ms", Long, "30000", "Longest limit on connecting.").medium().since(2, 7),
    key("connections.max.idle.ms", Long, "540000", "How long an unused connection stays open.").medium().ignored(),
    key("interceptor.classes", List, "", "Classes that see every record.").valid(Valid::DistinctItems).ignored(),
    key("max.poll.records", Int, "500", "Records that one poll() returns, at most.").valid(AT_LEAST_1).medium(),
    key("max.poll.interval.ms", Int, "300000", "How long the application may take between two calls of poll().").valid(AT_LEAST_1).medium(),
    key("exclude.internal.topics", Boolean, "true", "Whether patterns leave internal topics out.").medium().ignored(),
    key("isolation.level", String, "read_uncommitted", "Whether records of open and aborted transactions are read.").valid(Valid::OneOf(&["read_committed","read_uncommitted"])).medium(),
    key("allow.auto.create.topics", Boolean, "true", "Whether asking for a topic may create it.").medium().since(2, 3),
    key("group.protocol", String, "classic", "Which protocol the group speaks.").valid(Valid::OneOfIgnoringCase(&["CONSUMER","CLASSIC"])).high().since(3, 7).checked(),
    key("group.remote.assignor", String, "", "Which assignor of the broker the new protocol uses.").null().medium().since(3, 7).ignored(),
    key("metadata.recovery.strategy", String, "rebootstrap", "What happens when no known broker can be reached.").valid(Valid::OneOfIgnoringCase(&["NONE","REBOOTSTRAP"])).since(3, 8).ignored(),
    key("metadata.recovery.rebootstrap.trigger.ms", Long, "300000", "How long metadata may fail before the client bootstraps anew.").valid(AT_LEAST_0).since(4, 0).ignored(),
    key("config.providers", List, "", "Classes that replace variables in values.").valid(Valid::DistinctItems).since(4, 1).ignored(),
];
