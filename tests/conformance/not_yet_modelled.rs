//! Recorded cases that the simulation cannot follow yet.

/// `probe/case`; a `*` at the end stands for any rest.
pub const NOT_YET_MODELLED: &[&str] = &[
    // By design a read leaves no trace; a real client's windows begin with the first read.
    "full-buffer/exact-one-broker-32-mib-read-from-start",
    // Brokers here always name the new leader, as since 3.7; scenarios know no older ones.
    "retries/exact-moved-leader-unnamed",
    // The controller quorum never fails here.
    "failover/crash-of-controller/*",
    // librdkafka's transactions come with its own API.
    "transactions/rdkafka/*",
    // How long calls take is mostly the recording machine's own time.
    "transactions/java-1/back-to-back",
    "transactions/java-2/back-to-back",
    // Markers alone are held back, or their coordinator is killed while they are.
    "transactions/java-1/concurrent",
    "transactions/java-2/concurrent",
    "transactions/java-1/coordinator-killed",
    "transactions/java-2/coordinator-killed",
    // A late write behind a marker, and the tools that find it.
    "transactions/java-1/hanging",
    // The lags of readers are compared with the lanes.
    "transactions/java-1/readers",
    "transactions/java-2/readers",
    // The simulated application always has addresses and serializers.
    "java-config/bootstrap-absent",
    "java-config/serializer-absent",
    // Classes outside Kafka's own packages are the application's, and taken to exist.
    "java-config/interceptor-duplicate",
    "java-config/interceptor-unknown",
    "java-config/serializer-unknown",
    // A login may come from outside the configuration, and is taken to be there.
    "java-config/sasl-without-jaas",
    // The operator's tools come with the commands.
    "tools/*",
];

/// Whether an entry of the list stands for a case.
pub fn matches(entry: &str, case: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(start) => case.starts_with(start),
        None => entry == case,
    }
}
