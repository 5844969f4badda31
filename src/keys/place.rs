//! Where one key goes.

use crate::kafka::rdkafka_partitioner::{Choice, KeyHash, RdkafkaPartitioner};

/// The partitions that the hashes choose for one key, in the order of [`KeyHash::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places(pub [u32; KeyHash::ALL.len()]);

/// The hashes of one key.
#[derive(Clone, Copy, Debug)]
pub struct Hashes([u32; KeyHash::ALL.len()]);

/// A key with where it goes.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// As it was written.
    pub text: &'a [u8],
    /// As it is sent; none is a NULL key.
    pub key: Option<&'a [u8]>,
    /// Records with it.
    pub records: u64,
    /// Partitions before the topic grows.
    pub places: Places,
    /// Partitions after that.
    pub grown: Option<Places>,
}

impl Hashes {
    /// The hashes of a key; NULL hashes as an empty one.
    pub fn of(key: &[u8]) -> Self {
        Self(KeyHash::ALL.map(|hash| hash.of(key)))
    }

    /// Where they point among `partitions`, of which there must be one.
    pub fn places(self, partitions: u32) -> Places {
        Places(self.0.map(|hash| hash % partitions))
    }
}

impl Places {
    /// The place that a hash chooses.
    pub fn by(&self, hash: KeyHash) -> u32 {
        self.0[hash as usize]
    }

    /// Where `partitioner` sends a record with this key.
    pub fn choice(&self, partitioner: RdkafkaPartitioner, key: Option<&[u8]>) -> Choice {
        match partitioner.hash(key) {
            Some(hash) => Choice::Partition(self.by(hash)),
            None => Choice::Free,
        }
    }
}

impl Placed<'_> {
    /// Where `partitioner` sends it.
    pub fn choice(&self, partitioner: RdkafkaPartitioner) -> Choice {
        self.places.choice(partitioner, self.key)
    }

    /// Where `partitioner` sends it once the topic has grown; nothing when it does not grow.
    pub fn grown_choice(&self, partitioner: RdkafkaPartitioner) -> Option<Choice> {
        Some(self.grown?.choice(partitioner, self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_hashes_are_those_of_the_partitioners() {
        for key in [None, Some(&b""[..]), Some(b"user-3"), Some(b"\x00\xff")] {
            let places = Hashes::of(key.unwrap_or_default()).places(12);
            for partitioner in RdkafkaPartitioner::ALL {
                let name = partitioner.name();
                let choice = partitioner.choice(key, 12);
                assert_eq!(places.choice(partitioner, key), choice, "{name} {key:?}");
            }
        }
    }
}
