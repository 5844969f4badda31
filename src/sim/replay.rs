//! Loads that copy a topic: `replay = "old"` sends what stands in the logs of another topic once
//! more, with the same keys, each of its partitions in order.
//!
//! What was committed is fetched at fixed moments into the application's inbox, and sent from there
//! at the load's own rate; then the load waits for more. A process that starts again begins at the
//! beginning.
//!
//! Simplifications: the fetches cost no network and no broker's time; nothing is committed, and
//! there is no group. It is the tool that refills a topic, not a consumer.

use std::sync::Arc;

use crate::sim::cluster::Cluster;
use crate::sim::event::Event;
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::queue::Rank;
use crate::sim::records::{NotedValue, RecordBook};
use crate::sim::simulation::Simulation;
use crate::sim::time::{SimSpan, SimTime};

/// Time between two fetches.
const FETCH_INTERVAL: SimSpan = SimSpan::from_millis(100);
/// Records of one partition that one fetch brings at most, as `max.poll.records` does.
const FETCH_RECORDS_MAX: usize = 500;
/// Records that wait in an application's inbox at most: then it fetches nothing.
pub const INBOX_RECORDS_MAX: usize = 10_000;

/// A record that was read and is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Its key.
    pub key: Option<Arc<[u8]>>,
    /// Its value.
    pub value: NotedValue,
}

/// How far a load has read.
#[derive(Clone, Debug, Default)]
pub struct ReplayPosition {
    /// By number of the partition: the next offset.
    pub offsets: Vec<u64>,
}

impl Simulation {
    /// The first fetch of every load that copies a topic.
    pub(super) fn begin_replays(&mut self) {
        let config = Arc::clone(&self.config);
        for (producer, place) in config.producers.iter().zip(0..) {
            for (load, number) in producer.loads.iter().zip(0..) {
                if load.replay.is_some() {
                    let at = SimTime::ZERO + FETCH_INTERVAL;
                    self.schedule_replay(at, ProducerIndex(place), number);
                }
            }
        }
    }

    /// Nobody who waits for a fetch runs ahead of it.
    fn schedule_replay(&mut self, at: SimTime, producer: ProducerIndex, load: u16) {
        self.network.expect(producer, at);
        let event = Event::ReplayFetch { producer, load };
        self.queue.push(at, Rank::CONTROLLER, event);
    }

    /// What was committed since the last fetch reaches a load.
    pub(super) fn replay(&mut self, at: SimTime, producer: ProducerIndex, load: u16) {
        self.network.expected(producer, at);
        self.schedule_replay(at + FETCH_INTERVAL, producer, load);
        let loads = &self.config.producers[producer.index()].loads;
        let Some(source) = loads[load as usize].replay else {
            return;
        };
        let (mut ctx, cluster, producers) = self.split(at);
        let producer = &mut producers[producer.index()];
        producer.catch_up(&mut ctx);
        let Some((room, position)) = producer.replay_position(load as usize) else {
            return;
        };
        let fetched = fetch(cluster, ctx.records, (source, room), position);
        producer.on_replayed(&mut ctx, load as usize, fetched);
    }
}

/// Records behind a position, up to the high watermarks, partition after partition.
fn fetch(
    cluster: &Cluster,
    book: &RecordBook,
    (topic, room): (TopicIndex, usize),
    position: &mut ReplayPosition,
) -> Vec<Replayed> {
    let partitions = &cluster.topics()[topic.index()];
    position.offsets.resize(partitions.len(), 0);
    let mut fetched = Vec::new();
    for (offset, &index) in position.offsets.iter_mut().zip(partitions.iter()) {
        let left = room.saturating_sub(fetched.len()).min(FETCH_RECORDS_MAX);
        fetch_partition((cluster, book), index, (offset, left), &mut fetched);
    }
    fetched
}

fn fetch_partition(
    (cluster, book): (&Cluster, &RecordBook),
    index: PartitionIndex,
    (next, left): (&mut u64, usize),
    fetched: &mut Vec<Replayed>,
) {
    let partition = cluster.partition(index);
    for (offset, producer, ordinal) in partition.records_from(*next).take(left) {
        if offset >= partition.high_watermark {
            return;
        }
        *next = offset + 1;
        if let Some(noted) = book.find(producer, index, ordinal) {
            fetched.push(Replayed {
                key: noted.key.map(|key| Arc::clone(book.key(key))),
                value: noted.value,
            });
        }
    }
}
