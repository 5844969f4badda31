//! Cluster metadata as the controller publishes it: versioned images, shared and never changed.

use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use std::sync::Arc;

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
    /// Replicas that left the ISR while too few remained, and may lead when it is empty.
    pub elr: Vec<BrokerIndex>,
    /// Who led last, while nobody does.
    pub last_known_leader: Option<BrokerIndex>,
    /// Whether its leader was elected without being in sync.
    pub recovery: Recovery,
}

/// A leader's recovery state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// It had everything that was committed, or has written back that it goes on.
    Recovered,
    /// It was elected uncleanly, and its ISR has not changed since.
    Recovering,
}

impl PartitionImage {
    /// A partition as it begins, led by the first of its in-sync replicas.
    pub fn new(isr: Vec<BrokerIndex>) -> Self {
        Self {
            leader: isr.first().copied(),
            epoch: 0,
            isr,
            elr: Vec::new(),
            last_known_leader: None,
            recovery: Recovery::Recovered,
        }
    }
}

impl Image {
    /// A topic.
    pub fn topic(&self, index: TopicIndex) -> &TopicImage {
        &self.topics[index.index()]
    }

    /// All partitions of a topic that this version knows, in order of their numbers.
    pub fn partitions_of(&self, topic: TopicIndex) -> impl Iterator<Item = PartitionIndex> {
        self.topic(topic).partitions.iter().copied()
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
