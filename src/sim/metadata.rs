//! Cluster metadata as the controller publishes it: versioned images, shared and never changed.

use std::sync::Arc;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicImage {
    /// Its partitions by number; none while the cluster does not have the topic.
    pub partitions: Arc<[PartitionIndex]>,
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
    pub fn topic(&self, index: TopicIndex) -> &TopicImage {
        &self.topics[index.index()]
    }

    /// A partition that this image, or an earlier one, has.
    pub fn partition(&self, index: PartitionIndex) -> &PartitionImage {
        &self.partitions[index.index()]
    }

    /// A partition, unless it was added after this image.
    pub fn find(&self, index: PartitionIndex) -> Option<&PartitionImage> {
        self.partitions.get(index.index())
    }
}
