//! Partitioners that an application brings along (`partitioner.class`): three worked examples, as
//! far as a key and one draw decide.
//!
//! Kafka asks such a class with the serialized key and all partitions of the topic, led or not, and
//! takes what it says: nothing of the built-in choice is left, for keyless records neither.
//!
//! Invariants: everything is total; a key is bytes; no partitions count as one; a record whose
//! partition its key decides is placed without a draw.

use std::collections::BTreeSet;

use super::hash::{murmur2, to_positive};

/// A partitioner with what `configure()` made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomPartitioner {
    /// `com.example.HotKeySpread`: records of a hot key go to one of `spread` partitions that
    /// follow each other, any of them, beginning with the key's own; other keys are hashed.
    HotKeySpread {
        /// `hot.keys`: their serialized bytes, as a string serializer makes them.
        hot_keys: BTreeSet<Vec<u8>>,
        /// `hot.keys.spread`, at least 1.
        spread: u32,
    },
    /// `com.example.VipRouting`: the last `reserved` partitions are for these keys alone, hashed
    /// among them; everything else is hashed among the others. Of a topic with no more
    /// partitions than that nothing is reserved.
    VipRouting {
        /// `vip.keys`: their serialized bytes, as a string serializer makes them.
        vip_keys: BTreeSet<Vec<u8>>,
        /// `vip.partitions`, at least 1.
        reserved: u32,
    },
    /// `com.example.Crc32`: keys are hashed as librdkafka's `consistent_random` does, so that a
    /// Java producer and one of librdkafka agree.
    Crc32,
}

/// Where a partitioner of an application wants a record, for topics of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The partition of this hash.
    Hashed(u32),
    /// One of `spread` partitions from that of the hash on; after the last comes the first.
    Spread {
        /// What the key hashes to.
        hash: u32,
        /// How many partitions share its records.
        spread: u32,
    },
    /// The partition of this hash among the last `reserved`.
    Reserved {
        /// What the key hashes to.
        hash: u32,
        /// How many partitions are set apart.
        reserved: u32,
    },
    /// The partition of this hash among all but the last `reserved`.
    Unreserved {
        /// What the key hashes to.
        hash: u32,
        /// How many partitions are set apart.
        reserved: u32,
    },
    /// Any partition but the last `reserved`, all alike.
    Anywhere {
        /// How many partitions are set apart, 0 for none.
        reserved: u32,
    },
}

impl CustomPartitioner {
    /// Where a record with this key goes; none is a null key.
    pub fn destination(&self, key: Option<&[u8]>) -> Destination {
        let java_hash = |key| to_positive(murmur2(key));
        match self {
            Self::HotKeySpread { hot_keys, spread } => match key {
                None => Destination::Anywhere { reserved: 0 },
                Some(key) if hot_keys.contains(key) => Destination::Spread {
                    hash: java_hash(key),
                    spread: *spread,
                },
                Some(key) => Destination::Hashed(java_hash(key)),
            },
            Self::VipRouting { vip_keys, reserved } => match (key, *reserved) {
                (None, reserved) => Destination::Anywhere { reserved },
                (Some(key), reserved) if vip_keys.contains(key) => Destination::Reserved {
                    hash: java_hash(key),
                    reserved,
                },
                (Some(key), reserved) => Destination::Unreserved {
                    hash: java_hash(key),
                    reserved,
                },
            },
            Self::Crc32 => match key {
                None | Some([]) => Destination::Anywhere { reserved: 0 },
                Some(key) => Destination::Hashed(crc32fast::hash(key)),
            },
        }
    }
}

impl Destination {
    /// Between how many partitions a draw decides, of a topic with so many; 1 where the key does.
    pub fn choices(self, partitions: u32) -> u32 {
        let partitions = partitions.max(1);
        match self {
            Self::Spread { spread, .. } => spread.clamp(1, partitions),
            Self::Anywhere { reserved } => unreserved(partitions, reserved),
            Self::Hashed(_) | Self::Reserved { .. } | Self::Unreserved { .. } => 1,
        }
    }

    /// The partition among `partitions`; `draw` is below [`Self::choices`].
    pub fn partition(self, partitions: u32, draw: u32) -> u32 {
        let partitions = partitions.max(1);
        match self {
            Self::Hashed(hash) => hash % partitions,
            Self::Spread { hash, .. } => {
                let first = u64::from(hash % partitions);
                ((first + u64::from(draw)) % u64::from(partitions)) as u32
            }
            Self::Reserved { hash, reserved } => {
                let others = unreserved(partitions, reserved);
                match partitions - others {
                    0 => hash % partitions,
                    vips => others + hash % vips,
                }
            }
            Self::Unreserved { hash, reserved } => hash % unreserved(partitions, reserved),
            Self::Anywhere { .. } => draw % partitions,
        }
    }
}

/// Partitions that are not set apart: all, where none would be left.
const fn unreserved(partitions: u32, reserved: u32) -> u32 {
    if reserved < partitions {
        partitions - reserved
    } else {
        partitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::hash::murmur2_partition;
    use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};

    fn keys(keys: &[&str]) -> BTreeSet<Vec<u8>> {
        keys.iter().map(|key| key.as_bytes().to_vec()).collect()
    }

    /// All partitions of twelve that the records of a key can go to.
    fn reached(partitioner: &CustomPartitioner, key: Option<&str>, partitions: u32) -> Vec<u32> {
        let destination = partitioner.destination(key.map(str::as_bytes));
        let draws = 0..destination.choices(partitions);
        draws
            .map(|draw| destination.partition(partitions, draw))
            .collect()
    }

    #[test]
    fn a_hot_key_reaches_its_own_partition_and_those_that_follow() {
        let spread = CustomPartitioner::HotKeySpread {
            hot_keys: keys(&["tenant-1", "tenant-3"]),
            spread: 4,
        };
        assert_eq!(reached(&spread, Some("tenant-1"), 12), [7, 8, 9, 10]);
        assert_eq!(reached(&spread, Some("tenant-3"), 12), [9, 10, 11, 0]);
        assert_eq!(reached(&spread, Some("tenant-2"), 12), [6]);
        assert_eq!(reached(&spread, Some("tenant-1"), 2), [1, 0]);
        assert_eq!(reached(&spread, None, 3), [0, 1, 2]);
    }

    #[test]
    fn reserved_partitions_are_for_their_keys_alone() {
        let routing = CustomPartitioner::VipRouting {
            vip_keys: keys(&["banana"]),
            reserved: 1,
        };
        assert_eq!(reached(&routing, Some("banana"), 12), [11]);
        for n in 0..1000 {
            let key = format!("user-{n}");
            assert_eq!(
                reached(&routing, Some(&key), 12),
                [murmur2_partition(key.as_bytes(), 11)]
            );
        }
        assert_eq!(reached(&routing, None, 4), [0, 1, 2]);
    }

    #[test]
    fn a_topic_that_is_too_small_reserves_nothing() {
        let routing = CustomPartitioner::VipRouting {
            vip_keys: keys(&["banana"]),
            reserved: 3,
        };
        for key in ["banana", "user-1"] {
            let own = murmur2_partition(key.as_bytes(), 3);
            assert_eq!(reached(&routing, Some(key), 3), [own]);
        }
        assert_eq!(reached(&routing, None, 3), [0, 1, 2]);
        assert_eq!(reached(&routing, Some("banana"), 0), [0]);
    }

    #[test]
    fn crc32_agrees_with_librdkafka() {
        for n in 0..1000 {
            let key = format!("user-{n}");
            let theirs = RdkafkaPartitioner::ConsistentRandom.choice(Some(key.as_bytes()), 12);
            let ours = reached(&CustomPartitioner::Crc32, Some(&key), 12);
            assert_eq!([theirs], [Choice::Partition(ours[0])]);
        }
        assert_eq!(reached(&CustomPartitioner::Crc32, Some(""), 3), [0, 1, 2]);
        assert_eq!(reached(&CustomPartitioner::Crc32, None, 3), [0, 1, 2]);
    }
}
