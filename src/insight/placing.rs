//! How the loads of a topic find partitions for their records: whether a key decides, and what does
//! where it does not.

use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use crate::kafka::settings::PartitionerSettings;
use crate::sim::config::{ClientConfig, Config, KeyConfig, LoadConfig, ProducerConfig};
use crate::sim::ids::{ProducerIndex, TopicIndex};

/// Keys of a load that are looked at to say whether keys decide, at most: of a partitioner that
/// spreads some keys, others follow.
const KEYS_LOOKED_AT_MAX: usize = 64;

/// How a load finds the partition of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing<'a> {
    /// As the Java client's partitioner does.
    Java(&'a PartitionerSettings),
    /// As librdkafka's does.
    Librdkafka(RdkafkaPartitioner),
    /// The application names it.
    Named(u32),
}

impl<'a> Placing<'a> {
    /// How a load of this producer does.
    pub fn of(producer: &'a ProducerConfig, load: &LoadConfig) -> Self {
        if let Some(number) = load.keys.explicit_partition {
            return Self::Named(number);
        }
        match &producer.client {
            ClientConfig::Java(settings) => Self::Java(&settings.partitioner),
            ClientConfig::Rdkafka(settings) => Self::Librdkafka(settings.partitioner),
        }
    }

    /// The partition of every record with this key, of which none is a null key; nothing where they
    /// go to several.
    pub fn place(self, key: Option<&[u8]>, partitions: u32) -> Option<u32> {
        match (self, key) {
            (Self::Java(settings), Some(key)) => settings.partition_of(key, partitions),
            // No class of the Java client has one place for all records without a key.
            (Self::Java(_), None) => None,
            (Self::Librdkafka(partitioner), key) => match partitioner.choice(key, partitions) {
                Choice::Partition(number) => Some(number),
                Choice::Free => None,
            },
            (Self::Named(number), _) => Some(number),
        }
    }

    /// Where records with this key go, in words: `puts it on partition 4`.
    pub fn words(self, key: &[u8], partitions: u32) -> String {
        match (self, self.place(Some(key), partitions)) {
            (Self::Named(number), _) => format!("names partition {number}"),
            (_, Some(place)) => format!("puts it on partition {place}"),
            (_, None) => "puts it on any".to_owned(),
        }
    }

    /// Whether keys decide about records with these keys.
    fn is_decided_by(self, keys: &KeyConfig, partitions: u32) -> bool {
        let mut looked_at = keys.keys.iter().take(KEYS_LOOKED_AT_MAX);
        match self {
            Self::Named(_) => false,
            _ if keys.keys.is_empty() => self.place(None, partitions).is_some(),
            _ => looked_at.any(|key| self.place(Some(key), partitions).is_some()),
        }
    }
}

/// A load of a topic.
#[derive(Clone, Copy, Debug)]
pub struct Placer<'a> {
    /// Whose it is.
    pub producer: ProducerIndex,
    /// How its records find partitions.
    pub placing: Placing<'a>,
    /// What it is.
    pub load: &'a LoadConfig,
}

impl Placer<'_> {
    /// Whether keys decide about its records, of a topic with so many partitions.
    pub fn is_keyed(&self, partitions: u32) -> bool {
        self.placing.is_decided_by(&self.load.keys, partitions)
    }

    /// Whether neither a key nor the application decides about its records.
    pub fn is_free(&self, partitions: u32) -> bool {
        !matches!(self.placing, Placing::Named(_)) && !self.is_keyed(partitions)
    }
}

/// All loads of a topic, in order of their producers.
pub fn placers(config: &Config, topic: TopicIndex) -> impl Iterator<Item = Placer<'_>> {
    let producers = (0_u16..).map(ProducerIndex).zip(&config.producers);
    let loads = producers.flat_map(|(index, producer)| {
        producer
            .loads
            .iter()
            .map(move |load| (index, producer, load))
    });
    loads
        .filter(move |(.., load)| load.topic == topic)
        .map(|(index, producer, load)| Placer {
            producer: index,
            placing: Placing::of(producer, load),
            load,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::version::KafkaVersion;
    use crate::sim::config::KeyChoice;

    fn keys(keys: &[&str]) -> KeyConfig {
        KeyConfig {
            keys: keys.iter().map(|key| key.as_bytes().to_vec()).collect(),
            choice: KeyChoice::Uniform,
            explicit_partition: None,
        }
    }

    #[test]
    fn keys_decide_unless_the_partitioner_ignores_them() {
        let mut settings = PartitionerSettings::defaults(KafkaVersion::DEFAULT);
        assert!(Placing::Java(&settings).is_decided_by(&keys(&["a"]), 6));
        settings.ignore_keys = true;
        assert!(!Placing::Java(&settings).is_decided_by(&keys(&["a"]), 6));
        let random = Placing::Librdkafka(RdkafkaPartitioner::Random);
        assert!(!random.is_decided_by(&keys(&["a"]), 6));
    }

    #[test]
    fn a_null_key_is_a_key_for_partitioners_of_librdkafka_without_random_in_their_name() {
        let decides = |partitioner| Placing::Librdkafka(partitioner).is_decided_by(&keys(&[]), 6);
        assert!(decides(RdkafkaPartitioner::Murmur2));
        assert!(!decides(RdkafkaPartitioner::Murmur2Random));
    }
}
