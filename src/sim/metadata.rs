//! Cluster metadata as the controller publishes it: versioned images, shared and never changed.

use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};

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

    /// A partition.
    pub fn partition(&self, index: PartitionIndex) -> &PartitionImage {
        &self.partitions[index.index()]
    }
}
