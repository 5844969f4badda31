//! Where librdkafka's seven partitioners put the 10,000 keys, NULL and empty ones.

use kdrill::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;
use crate::keys::{KEYS_DIGEST, digest_of_keys, digest_of_partitions, keys, numbers};

const MECHANISM: &str = "librdkafka's partitioners, by key";
/// Partitions where a case does not say.
const PARTITIONS: u32 = 12;

/// Every case in which a key decides.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("keys-rdkafka");
    let keys = keys();
    let cases = golden.cases.iter().filter_map(|(case, real)| {
        let comparison = Comparison::new(golden.path(case), MECHANISM);
        let parts: Vec<&str> = case.split('/').collect();
        match parts.as_slice() {
            [name] => Some(by_count(comparison, named(name)?, real, &keys)),
            ["end-to-end", name] => end_to_end(comparison, named(name)?, real, &keys),
            ["choices", name, kind] => choices(comparison, named(name)?, kind, real),
            ["sticky", name, kind] => one_partition(comparison, named(name)?, kind, real),
            _ => None,
        }
    });
    cases.collect()
}

fn named(name: &str) -> Option<RdkafkaPartitioner> {
    let mut all = RdkafkaPartitioner::ALL.into_iter();
    all.find(|partitioner| partitioner.name() == name)
}

/// A key that the recording names by its kind.
fn key_of(kind: &str) -> Option<&'static [u8]> {
    (kind == "empty").then_some(b"")
}

fn place(partitioner: RdkafkaPartitioner, key: Option<&[u8]>, count: u32) -> u32 {
    match partitioner.choice(key, count) {
        Choice::Partition(number) => number,
        Choice::Free => u32::MAX,
    }
}

/// All keys over many counts of partitions, in full or as digests.
fn by_count(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    real: &Value,
    keys: &[Vec<u8>],
) -> Comparison {
    let placed = |count: u32| -> Vec<u32> {
        keys.iter()
            .map(|key| place(partitioner, Some(key), count))
            .collect()
    };
    let counts = |figure: &str| -> Vec<(u32, Value)> {
        let counts = real[figure].as_object().into_iter().flatten();
        counts
            .filter_map(|(count, value)| Some((count.parse().ok()?, value.clone())))
            .collect()
    };
    let mut comparison = comparison
        .text("keys", KEYS_DIGEST, digest_of_keys(keys))
        .list("huge", &numbers(&real["huge"]), &placed(i32::MAX as u32));
    for (count, partitions) in counts("partitions") {
        comparison = comparison.list(
            &format!("{count} partitions"),
            &numbers(&partitions),
            &placed(count),
        );
    }
    for (count, digest) in counts("digests") {
        comparison = comparison.text(
            format!("digest of {count} partitions"),
            digest.as_str().unwrap_or_default(),
            digest_of_partitions(&placed(count)),
        );
    }
    for kind in ["null", "empty"] {
        for (count, number) in counts(kind) {
            comparison = comparison.text(
                format!("{kind} key, {count} partitions"),
                number.to_string(),
                place(partitioner, key_of(kind), count).to_string(),
            );
        }
    }
    comparison
}

/// The same through a producer and a broker; what is drawn there has no digest.
fn end_to_end(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    real: &Value,
    keys: &[Vec<u8>],
) -> Option<Comparison> {
    let Some(digest) = real["digest"].as_str() else {
        return choices(comparison, partitioner, "a key", real);
    };
    let keys = keys.iter().filter(|key| !key.is_empty());
    let placed: Vec<u32> = keys
        .map(|key| place(partitioner, Some(key), PARTITIONS))
        .collect();
    Some(comparison.text("digest", digest, digest_of_partitions(&placed)))
}

/// One key again and again: always the same partition, or any.
fn choices(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    kind: &str,
    real: &Value,
) -> Option<Comparison> {
    let counts: Vec<u64> = real["counts"]
        .as_array()?
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let used: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > 0).collect();
    let real = match used.as_slice() {
        [only] => format!("always {only}"),
        used if used.len() == PARTITIONS as usize => "any".to_string(),
        used => format!("{used:?}"),
    };
    let key = if kind == "null" {
        None
    } else {
        key_of(kind).or(Some(b"k"))
    };
    let simulated = match partitioner.choice(key, PARTITIONS) {
        Choice::Partition(number) => format!("always {number}"),
        Choice::Free => "any".to_string(),
    };
    Some(comparison.text("partition", real, simulated))
}

/// Stickiness has no say where the key decides; where it has, it is not modelled yet.
fn one_partition(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    kind: &str,
    real: &Value,
) -> Option<Comparison> {
    match partitioner.choice(key_of(kind), PARTITIONS) {
        Choice::Partition(_) => {
            let used = real["partitions_used"].as_u64()?;
            Some(comparison.text("partitions used", used.to_string(), "1"))
        }
        Choice::Free => None,
    }
}
