//! Dense identities: each indexes a `Vec`, so no order ever comes from a hash.

use std::fmt;
use std::hash::{Hash, Hasher};

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The position in the `Vec` that this id indexes.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

dense_id! {
    /// A broker by its place in [`crate::sim::config::Config::brokers`] (not its Kafka node id).
    BrokerIndex(u16)
}
dense_id! {
    /// A producer by its place in [`crate::sim::config::Config::producers`].
    ProducerIndex(u16)
}
impl ProducerIndex {
    /// Nobody's: what brokers write into a log by themselves.
    pub const NOBODY: Self = Self(u16::MAX);
}
dense_id! {
    /// A topic name by its place in [`crate::sim::config::Config::topics`], existing or not.
    TopicIndex(u16)
}

/// A partition by its name (Kafka's `TopicPartition`), whether it exists already or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic, from 0.
    pub number: u32,
}

/// A partition of a run: its place among all partitions in the order in which they came to be,
/// and its name. The places of the first ones follow topics and then numbers; partitions that are
/// added later come behind them, whatever their topic. The order of values is that of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartitionIndex {
    place: u32,
    name: TopicPartition,
}

impl PartitionIndex {
    /// The partition at a place. Only the cluster gives places away.
    pub const fn new(place: u32, name: TopicPartition) -> Self {
        Self { place, name }
    }

    /// The position in the `Vec`s that partitions index.
    pub const fn index(self) -> usize {
        self.place as usize
    }

    /// Its name.
    pub const fn name(self) -> TopicPartition {
        self.name
    }

    /// A partition of the first topic, before any was added.
    #[cfg(test)]
    pub const fn of_first_topic(number: u32) -> Self {
        let topic = TopicIndex(0);
        Self::new(number, TopicPartition { topic, number })
    }
}

/// The place says everything: the name never changes.
impl Hash for PartitionIndex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}
dense_id! {
    /// A consumer group by its place in [`crate::sim::config::Config::groups`].
    GroupIndex(u16)
}
dense_id! {
    /// A consumer, one member of a group, by its place in
    /// [`crate::sim::config::Config::consumers`].
    ConsumerIndex(u16)
}
