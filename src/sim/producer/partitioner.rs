//! Built-in sticky partitioning: stay until `batch.size` bytes are produced (KIP-794), weigh
//! partitions by their queues, avoid leaders that cannot be sent to.
//!
//! Source: `BuiltInPartitioner`, `RecordAccumulator.updatePartitionLoadInfo`. Partitions are walked
//! in ascending order, where Kafka walks hash maps.

use crate::sim::rng::Stream;

/// The sticky choice of one topic.
#[derive(Clone, Debug)]
pub struct Sticky {
    /// Where keyless records go now, by place in the topic's partitions; none before first use.
    pub current: Option<u32>,
    produced_bytes: u64,
    threshold_bytes: u64,
    load: Option<LoadTable>,
    draws: Stream,
}

/// Cumulative weights of partitions: the shorter the queue, the heavier.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LoadTable {
    numbers: Vec<u32>,
    cumulative: Vec<u64>,
}

/// One partition as the load table sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionLoad {
    /// Its place in the topic's partitions.
    pub number: u32,
    /// Batches in its deque.
    pub queue_size: u32,
    /// Whether its leader is known and took data within `partitioner.availability.timeout.ms`.
    pub is_available: bool,
}

impl Sticky {
    /// No choice yet; `threshold_bytes` is `batch.size`.
    pub fn new(threshold_bytes: u32, draws: Stream) -> Self {
        Self {
            current: None,
            produced_bytes: 0,
            threshold_bytes: u64::from(threshold_bytes.max(1)),
            load: None,
            draws,
        }
    }

    /// Where the next keyless record goes. `leaders` says which of the topic's partitions have one.
    pub fn choose(&mut self, leaders: &[bool]) -> u32 {
        match self.current {
            Some(number) if (number as usize) < leaders.len() => number,
            _ => self.switch(leaders),
        }
    }

    /// Bytes were appended to the current partition: moves on when enough are.
    pub fn note_appended(&mut self, bytes: u32, is_last_batch_full: bool, leaders: &[bool]) {
        self.produced_bytes += u64::from(bytes);
        let enough = self.produced_bytes >= self.threshold_bytes && is_last_batch_full;
        if enough || self.produced_bytes >= self.threshold_bytes * 2 {
            self.switch(leaders);
        }
    }

    /// Before an append: moves on when enough bytes are produced and the current partition has no
    /// open batch; says whether it did.
    pub fn moves_on(&mut self, is_last_batch_full: bool, leaders: &[bool]) -> bool {
        let moves = is_last_batch_full && self.produced_bytes >= self.threshold_bytes;
        if moves {
            self.switch(leaders);
        }
        moves
    }

    /// The sender looked at all queues: weighs partitions anew (`updatePartitionLoadInfo`). With
    /// fewer than two partitions, or all queues alike, the choice is uniform.
    pub fn weigh(&mut self, loads: &[PartitionLoad]) {
        let kept = || loads.iter().filter(|load| load.is_available);
        let (Some(max), Some(min)) = (
            kept().map(|l| l.queue_size).max(),
            kept().map(|l| l.queue_size).min(),
        ) else {
            self.load = None;
            return;
        };
        let count = kept().count();
        if loads.len() < 2 || (max == min && count == loads.len()) {
            self.load = None;
            return;
        }
        let mut sum = 0;
        let cumulative = kept()
            .map(|load| {
                sum += u64::from(max + 1 - load.queue_size);
                sum
            })
            .collect();
        self.load = Some(LoadTable {
            numbers: kept().map(|load| load.number).collect(),
            cumulative,
        });
    }

    /// Forgets the weights: adaptive partitioning is off, or a partition was never produced to.
    pub fn forget_weights(&mut self) {
        self.load = None;
    }

    fn switch(&mut self, leaders: &[bool]) -> u32 {
        let draw = u64::from(self.draws.bits32() & 0x7fff_ffff);
        let number = match &self.load {
            Some(table) => table.pick(draw),
            None => uniform(draw, leaders),
        };
        self.current = Some(number);
        self.produced_bytes = 0;
        number
    }
}

impl LoadTable {
    fn pick(&self, draw: u64) -> u32 {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let weighted = draw % total;
        let place = self.cumulative.partition_point(|&sum| sum <= weighted);
        self.numbers.get(place).copied().unwrap_or(0)
    }
}

/// A partition with a leader, all alike; any partition when none has one.
fn uniform(draw: u64, leaders: &[bool]) -> u32 {
    let available = leaders.iter().filter(|&&has_leader| has_leader).count() as u64;
    if available == 0 {
        return (draw % (leaders.len() as u64).max(1)) as u32;
    }
    let wanted = (draw % available) as usize;
    let mut places = (0_u32..)
        .zip(leaders)
        .filter(|(_, has_leader)| **has_leader);
    places.nth(wanted).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;

    fn sticky() -> Sticky {
        Sticky::new(16_384, Stream::new(1, Purpose::Sticky, 0, 0))
    }

    fn load(number: u32, queue_size: u32) -> PartitionLoad {
        PartitionLoad {
            number,
            queue_size,
            is_available: true,
        }
    }

    #[test]
    fn it_stays_until_the_threshold_is_reached_and_the_batch_is_full() {
        let mut sticky = sticky();
        let first = sticky.choose(&[true; 1000]);
        sticky.note_appended(15_556, false, &[true; 1000]);
        assert_eq!(sticky.choose(&[true; 1000]), first);
        sticky.note_appended(15_556, false, &[true; 1000]);
        assert!(sticky.moves_on(true, &[true; 1000]));
    }

    #[test]
    fn twice_the_threshold_moves_it_in_any_case() {
        let mut sticky = sticky();
        sticky.choose(&[true; 1000]);
        sticky.note_appended(40_000, false, &[true; 1000]);
        assert_eq!(sticky.produced_bytes, 0);
    }

    #[test]
    fn queues_of_0_3_1_batches_weigh_4_1_3() {
        let mut sticky = sticky();
        sticky.weigh(&[load(0, 0), load(1, 3), load(2, 1)]);
        assert_eq!(sticky.load.as_ref().unwrap().cumulative, [4, 5, 8]);
    }

    #[test]
    fn equal_queues_need_no_weights() {
        let mut sticky = sticky();
        sticky.weigh(&[load(0, 2), load(1, 2)]);
        assert_eq!(sticky.load, None);
    }

    #[test]
    fn partitions_without_a_leader_are_not_chosen() {
        assert_eq!(uniform(5, &[false, true, false]), 1);
        assert_eq!(uniform(4, &[false, false, false]), 1);
    }
}
