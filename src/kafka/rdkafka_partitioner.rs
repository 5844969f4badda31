//! librdkafka's seven partitioners, as far as a key decides.
//!
//! Invariants: all functions are total; a key is bytes; NULL and an empty key are different keys.
//!
//! Source: librdkafka `rd_kafka_msg_partitioner_*` (`rdkafka_msg.c`), `rd_crc32`, `rd_fnv1a`,
//! `rd_murmur2`.

use super::hash::{murmur2, to_positive};

/// A value of librdkafka's `partitioner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RdkafkaPartitioner {
    /// `random`.
    Random,
    /// `consistent`.
    Consistent,
    /// `consistent_random`, the default.
    ConsistentRandom,
    /// `murmur2`.
    Murmur2,
    /// `murmur2_random`: for keys that are not NULL, the Java client's choice.
    Murmur2Random,
    /// `fnv1a`.
    Fnv1a,
    /// `fnv1a_random`.
    Fnv1aRandom,
}

/// The hashes that decide for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHash {
    /// The Java client's, without its sign.
    Murmur2,
    /// CRC32.
    Crc32,
    /// FNV-1a, made positive.
    Fnv1a,
}

/// Where a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Always to this partition.
    Partition(u32),
    /// Wherever the draws or the sticky choice of the moment say.
    Free,
}

impl RdkafkaPartitioner {
    /// All of them, in the order of librdkafka's documentation.
    pub const ALL: [Self; 7] = [
        Self::Random,
        Self::Consistent,
        Self::ConsistentRandom,
        Self::Murmur2,
        Self::Murmur2Random,
        Self::Fnv1a,
        Self::Fnv1aRandom,
    ];

    /// The word in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Consistent => "consistent",
            Self::ConsistentRandom => "consistent_random",
            Self::Murmur2 => "murmur2",
            Self::Murmur2Random => "murmur2_random",
            Self::Fnv1a => "fnv1a",
            Self::Fnv1aRandom => "fnv1a_random",
        }
    }

    /// The partitioner with this name, case-sensitive as the client compares.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|partitioner| partitioner.name() == name)
    }

    /// Where a record with this key goes among `partitions`; none is a NULL key. No partitions
    /// count as one.
    pub fn choice(self, key: Option<&[u8]>, partitions: u32) -> Choice {
        match self.hash(key) {
            None => Choice::Free,
            Some(hash) => Choice::Partition(hash.of(key.unwrap_or_default()) % partitions.max(1)),
        }
    }

    /// The hash that decides for this key, of which NULL is none; nothing where draws or the
    /// sticky choice of the moment decide.
    pub const fn hash(self, key: Option<&[u8]>) -> Option<KeyHash> {
        match (self, key) {
            (Self::Random, _)
            | (Self::ConsistentRandom | Self::Murmur2Random | Self::Fnv1aRandom, None)
            | (Self::ConsistentRandom, Some([])) => None,
            (Self::Consistent | Self::ConsistentRandom, _) => Some(KeyHash::Crc32),
            (Self::Murmur2 | Self::Murmur2Random, _) => Some(KeyHash::Murmur2),
            (Self::Fnv1a | Self::Fnv1aRandom, _) => Some(KeyHash::Fnv1a),
        }
    }
}

impl KeyHash {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Murmur2, Self::Crc32, Self::Fnv1a];

    /// The hash of a key, before the remainder is taken; a NULL key hashes as an empty one.
    pub fn of(self, key: &[u8]) -> u32 {
        match self {
            Self::Murmur2 => to_positive(murmur2(key)),
            Self::Crc32 => crc32fast::hash(key),
            Self::Fnv1a => fnv1a(key),
        }
    }
}

/// 32-bit FNV-1a, read as a signed number and made positive by negation, as librdkafka (after
/// Sarama) does it.
pub fn fnv1a(key: &[u8]) -> u32 {
    let hash = key.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    (hash as i32).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the partitioner puts `user-1` … `user-6` among six.
    fn users(partitioner: RdkafkaPartitioner) -> Vec<Choice> {
        (1..=6)
            .map(|user| partitioner.choice(Some(format!("user-{user}").as_bytes()), 6))
            .collect()
    }

    #[test]
    fn consistent_hashes_with_crc32_and_murmur2_random_as_java_does() {
        let crc32 = [2, 4, 0, 3, 3, 3].map(Choice::Partition);
        assert_eq!(users(RdkafkaPartitioner::ConsistentRandom), crc32);
        let java = [2, 2, 5, 1, 4, 5].map(Choice::Partition);
        assert_eq!(users(RdkafkaPartitioner::Murmur2Random), java);
    }

    #[test]
    fn an_empty_key_is_free_only_where_the_client_says_so() {
        let empty = |partitioner: RdkafkaPartitioner| partitioner.choice(Some(b""), 12);
        assert_eq!(empty(RdkafkaPartitioner::ConsistentRandom), Choice::Free);
        assert_eq!(
            empty(RdkafkaPartitioner::Murmur2Random),
            Choice::Partition(9)
        );
        assert_eq!(empty(RdkafkaPartitioner::Fnv1aRandom), Choice::Partition(3));
        assert_eq!(empty(RdkafkaPartitioner::Consistent), Choice::Partition(0));
    }

    #[test]
    fn a_null_key_is_free_for_every_random_one_and_an_empty_key_for_the_others() {
        for partitioner in RdkafkaPartitioner::ALL {
            let null = partitioner.choice(None, 12);
            let name = partitioner.name();
            if name.ends_with("random") {
                assert_eq!(null, Choice::Free, "{name}");
            } else {
                assert_eq!(null, partitioner.choice(Some(b""), 12), "{name}");
            }
        }
    }

    #[test]
    fn fnv1a_agrees_with_the_clients_own_vectors() {
        assert_eq!(fnv1a(b""), 0x7ee3_623b);
        assert_eq!(fnv1a(b"kafka"), 0x0d33_c4e1);
        assert_eq!(fnv1a(b"giberish123456789"), 0x77a5_8295);
    }
}
