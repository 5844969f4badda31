//! Which partition a message goes to.
//!
//! Source: `rd_kafka_msg_partitioner_*`, `rd_kafka_msg_sticky_partition`,
//! `rd_kafka_topic_partition_available`.

use std::collections::VecDeque;

use crate::kafka::rdkafka_partitioner::RdkafkaPartitioner;
use crate::sim::ids::TopicIndex;
use crate::sim::producer::append::Route;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::records::NotedValue;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::workload::HashedKey;

/// A topic as the client knows it.
#[derive(Clone, Debug, Default)]
pub struct Topic {
    /// What metadata said of it.
    pub knowledge: Knowledge,
    /// When it was first produced to.
    pub first_used: Option<SimTime>,
    /// When metadata last told of it.
    pub told: Option<SimTime>,
    /// Places of its partitions, once known.
    pub toppars: Vec<u32>,
    /// Messages that wait for metadata, oldest first.
    pub unassigned: VecDeque<Unassigned>,
    /// How many left that queue, so that its places have numbers that stay.
    pub unassigned_gone: u64,
    /// The partition of messages whose key does not decide.
    sticky: Sticky,
}

/// What metadata said of a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Nothing yet.
    #[default]
    Unknown,
    /// The cluster has it.
    Known,
    /// The cluster does not have it, and had time enough to get it.
    Missing,
    /// A broker said that the client may not write to it: until metadata tells otherwise.
    Unauthorized,
}

/// A message whose partition is to be found when metadata is there.
#[derive(Clone, Debug)]
pub struct Unassigned {
    /// The message.
    pub message: Message,
    /// How its partition is found.
    pub route: Route,
    /// What is to be noted of it then, in a topic whose records are remembered.
    pub noted: Option<Box<ToNote>>,
}

/// Key and value of a record that has no place yet.
#[derive(Clone, Debug)]
pub struct ToNote {
    /// Its key.
    pub key: Option<Box<[u8]>>,
    /// Its value.
    pub value: NotedValue,
}

/// The sticky choice of one topic, by time.
#[derive(Clone, Copy, Debug, Default)]
struct Sticky {
    current: u32,
    /// When it was drawn; nothing is long ago.
    drawn: Option<SimTime>,
}

impl Rdkafka {
    /// How the partition of a message with this key is found.
    pub(super) fn route_of(&self, key: Option<HashedKey>) -> Route {
        use RdkafkaPartitioner as P;
        let partitioner = self.settings.partitioner;
        let is_empty = key.is_none_or(|key| key.length == 0);
        let key_decides = match partitioner {
            P::Random => false,
            P::ConsistentRandom => !is_empty,
            P::Murmur2Random | P::Fnv1aRandom => key.is_some(),
            P::Consistent | P::Murmur2 | P::Fnv1a => true,
        };
        if key_decides {
            // NULL hashes as an empty key does.
            let empty = || crate::sim::workload::KeyHash::of_partitioner(partitioner).hash(b"");
            return Route::Hash(key.unwrap_or_else(empty).hash);
        }
        // `random` is asked about every key, an empty one too, and then draws.
        let is_asked = partitioner == P::Random && key.is_some();
        if is_asked || self.settings.sticky_linger_ms == 0 {
            Route::Drawn
        } else {
            Route::Sticky
        }
    }

    /// The number of a message's partition in a topic that is known.
    pub(super) fn number_of(&mut self, topic: TopicIndex, route: Route, now: SimTime) -> u32 {
        let count = self.topics[topic.index()].toppars.len() as u32;
        match route {
            Route::Partition(number) => number,
            Route::Hash(hash) => hash % count.max(1),
            // An application's own partitioner is not simulated for librdkafka.
            Route::Drawn | Route::Custom(_) => self.draw(topic),
            Route::Sticky => self.stick(topic, now),
        }
    }

    /// A partition's leader is known and its broker's thread has it. Whether that broker is
    /// connected does not matter.
    fn is_available(&self, topic: TopicIndex, number: u32) -> bool {
        let toppar = self.topics[topic.index()].toppars.get(number as usize);
        toppar.is_some_and(|&place| self.toppars[place as usize].thread.is_some())
    }

    /// A uniform draw; once more where nobody leads the first.
    fn draw(&mut self, topic: TopicIndex) -> u32 {
        let count = self.topics[topic.index()].toppars.len() as u64;
        let first = self.draws.partition.below(count) as u32;
        if self.is_available(topic, first) {
            return first;
        }
        self.draws.partition.below(count) as u32
    }

    /// The partition of the moment, drawn anew when it has been used for long enough.
    #[inline]
    fn stick(&mut self, topic: TopicIndex, now: SimTime) -> u32 {
        let sticky = self.topics[topic.index()].sticky;
        let linger = SimSpan::from_millis(self.settings.sticky_linger_ms);
        let is_fresh = sticky.drawn.is_some_and(|drawn| now.since(drawn) <= linger);
        if is_fresh && self.is_available(topic, sticky.current) {
            return sticky.current;
        }
        let current = self.draw(topic);
        self.topics[topic.index()].sticky = Sticky {
            current,
            drawn: Some(now),
        };
        current
    }
}
