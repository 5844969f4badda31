//! Built-in sticky partitioning: stay until `batch.size` bytes are produced (KIP-794), weigh
//! partitions by their queues, avoid leaders that cannot be sent to, prefer those in the client's
//! rack (KIP-1123).
//!
//! Source: `BuiltInPartitioner`, `RecordAccumulator.updatePartitionLoadInfo`. The weights are in
//! `kafka::partition_load`.

use crate::kafka::partition_load::{Leadership, LoadTable, PartitionLoad, pick_evenly};
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

    /// Where the next keyless record goes. `partitions` are all of the topic, in order.
    pub fn choose(&mut self, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
        match self.current {
            Some(number) => number,
            None => self.switch(partitions),
        }
    }

    /// Bytes were appended to the current partition: moves on when enough are.
    pub fn note_appended(
        &mut self,
        bytes: u32,
        is_last_batch_full: bool,
        partitions: impl Iterator<Item = Leadership> + Clone,
    ) {
        self.produced_bytes += u64::from(bytes);
        let enough = self.produced_bytes >= self.threshold_bytes && is_last_batch_full;
        if enough || self.produced_bytes >= self.threshold_bytes * 2 {
            self.switch(partitions);
        }
    }

    /// Before an append: moves on when enough bytes are produced and the current partition has no
    /// open batch; says whether it did.
    pub fn moves_on(
        &mut self,
        is_last_batch_full: bool,
        partitions: impl Iterator<Item = Leadership> + Clone,
    ) -> bool {
        let moves = is_last_batch_full && self.produced_bytes >= self.threshold_bytes;
        if moves {
            self.switch(partitions);
        }
        moves
    }

    /// The sender looked at all queues: weighs partitions anew (`updatePartitionLoadInfo`).
    pub fn weigh(&mut self, loads: &[PartitionLoad]) {
        self.load = LoadTable::new(loads);
    }

    /// Forgets the weights: adaptive partitioning is off, or a partition was never produced to.
    pub fn forget_weights(&mut self) {
        self.load = None;
    }

    fn switch(&mut self, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
        let draw = self.draws.bits32() & 0x7fff_ffff;
        let number = match &self.load {
            Some(table) => table.pick(draw),
            None => pick_evenly(draw, partitions),
        };
        self.current = Some(number);
        self.produced_bytes = 0;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;

    fn sticky() -> Sticky {
        Sticky::new(16_384, Stream::new(1, Purpose::Sticky, 0, 0))
    }

    fn led() -> impl Iterator<Item = Leadership> + Clone {
        std::iter::repeat_n(Leadership::Elsewhere, 1000)
    }

    #[test]
    fn it_stays_until_the_threshold_is_reached_and_the_batch_is_full() {
        let mut sticky = sticky();
        let first = sticky.choose(led());
        sticky.note_appended(15_556, false, led());
        assert_eq!(sticky.choose(led()), first);
        sticky.note_appended(15_556, false, led());
        assert!(sticky.moves_on(true, led()));
    }

    #[test]
    fn twice_the_threshold_moves_it_in_any_case() {
        let mut sticky = sticky();
        sticky.choose(led());
        sticky.note_appended(40_000, false, led());
        assert_eq!(sticky.produced_bytes, 0);
    }

    #[test]
    fn weights_decide_between_all_partitions_until_they_are_forgotten() {
        let loads = |queue_size| PartitionLoad {
            number: if queue_size == 0 { 7 } else { 3 },
            queue_size,
            leadership: Leadership::Elsewhere,
            is_late: false,
        };
        let mut sticky = sticky();
        sticky.weigh(&[loads(1_000_000), loads(0)]);
        assert_eq!(sticky.choose(led()), 7);
        sticky.forget_weights();
        sticky.note_appended(40_000, false, std::iter::once(Leadership::Elsewhere));
        assert_eq!(sticky.current, Some(0));
    }
}
