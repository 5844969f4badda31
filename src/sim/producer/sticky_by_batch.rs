//! Keyless records that stick to a partition until it needs a new batch (KIP-480), 2.4 to 3.2.
//!
//! Source: `StickyPartitionCache`, `DefaultPartitioner`, `UniformStickyPartitioner`. A partition
//! whose batches wait longer keeps the choice longer: slow brokers get more (what KIP-794 mended).

use crate::kafka::partition_load::Leadership;
use crate::sim::rng::Stream;

/// The sticky choice of one topic.
#[derive(Clone, Debug)]
pub struct StickyByBatch {
    current: Option<u32>,
    draws: Stream,
}

impl StickyByBatch {
    /// No choice yet.
    pub const fn new(draws: Stream) -> Self {
        Self {
            current: None,
            draws,
        }
    }

    /// Where keyless records go now. `partitions` are all of the topic, in order.
    pub fn choose(&mut self, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
        if let Some(current) = self.current {
            return current;
        }
        let chosen = self.draw(partitions);
        self.current = Some(chosen);
        chosen
    }

    /// A record needs a new batch in `previous`: if that is still the choice, another one.
    pub fn on_new_batch(
        &mut self,
        previous: u32,
        partitions: impl Iterator<Item = Leadership> + Clone,
    ) {
        if self.current == Some(previous) {
            self.current = Some(self.draw(partitions));
        }
    }

    /// One of the partitions with a leader, and not the present one if there are others; without
    /// any leader one of all.
    fn draw(&mut self, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
        let numbered = (0_u32..).zip(partitions);
        let count = numbered.clone().count() as u64;
        let led = numbered
            .filter(|(_, one)| one.is_led())
            .map(|(number, _)| number);
        let led: Vec<u32> = led.collect();
        let others: Vec<u32> = led
            .iter()
            .copied()
            .filter(|&number| Some(number) != self.current)
            .collect();
        match (led.as_slice(), others.len() as u64) {
            ([], _) => self.draws.below(count.max(1)) as u32,
            ([only], _) => *only,
            (_, count) => others[self.draws.below(count) as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Leadership::{Elsewhere, Leaderless};
    use super::*;
    use crate::sim::rng::Purpose;

    fn led() -> impl Iterator<Item = Leadership> + Clone {
        [Elsewhere; 6].into_iter()
    }

    fn sticky() -> StickyByBatch {
        StickyByBatch::new(Stream::new(7, Purpose::Sticky, 0, 0))
    }

    #[test]
    fn it_stays_until_its_own_partition_needs_a_batch() {
        let mut sticky = sticky();
        let first = sticky.choose(led());
        sticky.on_new_batch((first + 1) % 6, led());
        assert_eq!(sticky.choose(led()), first);
        sticky.on_new_batch(first, led());
        assert_ne!(sticky.choose(led()), first);
    }

    #[test]
    fn the_only_partition_with_a_leader_is_chosen_again() {
        let mut sticky = sticky();
        let partitions = || [Leaderless, Elsewhere, Leaderless].into_iter();
        assert_eq!(sticky.choose(partitions()), 1);
        sticky.on_new_batch(1, partitions());
        assert_eq!(sticky.choose(partitions()), 1);
    }

    #[test]
    fn without_any_leader_all_partitions_count() {
        let mut sticky = sticky();
        let mut seen = [false; 3];
        for _ in 0..100 {
            let chosen = sticky.choose([Leaderless; 3].into_iter());
            seen[chosen as usize] = true;
            sticky.on_new_batch(chosen, [Leaderless; 3].into_iter());
        }
        assert_eq!(seen, [true; 3]);
    }
}
