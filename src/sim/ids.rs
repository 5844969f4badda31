//! Dense identities: each indexes a `Vec`, so no order ever comes from a hash.

use std::fmt;

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
dense_id! {
    /// A topic name by its place in [`crate::sim::config::Config::topics`], existing or not.
    TopicIndex(u16)
}
dense_id! {
    /// A partition over all topics, in topic order and then by number.
    PartitionIndex(u32)
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

/// A partition by its topic and number there, in that order, with its place over all topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// Its place over all topics.
    pub index: PartitionIndex,
}
