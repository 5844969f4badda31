//! Cluster metadata as the controller publishes it: versioned images, shared and never changed.

use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};

/// What one metadata version says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Grows by one with every change.
    pub version: u64,
    /// By [`PartitionIndex`].
    pub partitions: Vec<PartitionImage>,
    /// By [`BrokerIndex`]: registered and not fenced.
    pub unfenced: Vec<bool>,
    /// By topic: whether the cluster has it.
    pub topics: Vec<TopicImage>,
}

/// One topic in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicImage {
    /// Its first partition.
    pub first: PartitionIndex,
    /// Its partitions; 0 while the cluster does not have the topic.
    pub partitions: u32,
}

/// One partition in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionImage {
    /// Its leader.
    pub leader: Option<BrokerIndex>,
    /// Leader epoch.
    pub epoch: u32,
    /// In-sync replicas.
    pub isr: Vec<BrokerIndex>,
}

impl Image {
    /// A topic.
    pub fn topic(&self, index: TopicIndex) -> TopicImage {
        self.topics[index.index()]
    }

    /// The partition with this number in a topic, if this version knows it.
    pub fn partition_at(&self, topic: TopicIndex, number: u32) -> Option<TopicPartition> {
        let known = self.topic(topic);
        (number < known.partitions).then(|| TopicPartition {
            topic,
            number,
            index: PartitionIndex(known.first.0 + number),
        })
    }

    /// All partitions of a topic that this version knows, in order of their numbers.
    pub fn partitions_of(&self, topic: TopicIndex) -> impl Iterator<Item = TopicPartition> {
        let count = self.topic(topic).partitions;
        (0..count).filter_map(move |number| self.partition_at(topic, number))
    }

    /// A partition.
    pub fn partition(&self, index: PartitionIndex) -> &PartitionImage {
        &self.partitions[index.index()]
    }
}
