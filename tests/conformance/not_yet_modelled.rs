//! Recorded cases that the simulation cannot follow yet.

/// `probe/case`; a `*` at the end stands for any rest.
pub const NOT_YET_MODELLED: &[&str] = &[
    // By design a read leaves no trace; a real client's windows begin with the first read.
    "full-buffer/exact-one-broker-32-mib-read-from-start",
    // No librdkafka in the engine yet: its issue is the next but one.
    "keys-rdkafka/*",
    "rdkafka-config/*",
    "rdkafka-queue/*",
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
