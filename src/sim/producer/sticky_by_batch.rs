//! Keyless records that stick to a partition until it needs a new batch (KIP-480), 2.4 to 3.2.
//!
//! Source: `StickyPartitionCache`, `DefaultPartitioner`, `UniformStickyPartitioner`. A partition
//! whose batches wait longer keeps the choice longer: slow brokers get more (what KIP-794 mended).

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

    /// Where keyless records go now. `leaders` says which of the topic's partitions have one.
    pub fn choose(&mut self, leaders: &[bool]) -> u32 {
        if let Some(current) = self.current {
            return current;
        }
        let chosen = self.draw(leaders);
        self.current = Some(chosen);
        chosen
    }

    /// A record needs a new batch in `previous`: if that is still the choice, another one.
    pub fn on_new_batch(&mut self, previous: u32, leaders: &[bool]) {
        if self.current == Some(previous) {
            self.current = Some(self.draw(leaders));
        }
    }

    /// One of the partitions with a leader, and not the present one if there are others; without
    /// any leader one of all.
    fn draw(&mut self, leaders: &[bool]) -> u32 {
        let led: Vec<u32> = (0..leaders.len() as u32)
            .filter(|&number| leaders[number as usize])
            .collect();
        let others: Vec<u32> = led
            .iter()
            .copied()
            .filter(|&number| Some(number) != self.current)
            .collect();
        match (led.as_slice(), others.len() as u64) {
            ([], _) => self.draws.below((leaders.len() as u64).max(1)) as u32,
            ([only], _) => *only,
            (_, count) => others[self.draws.below(count) as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;

    fn sticky() -> StickyByBatch {
        StickyByBatch::new(Stream::new(7, Purpose::Sticky, 0, 0))
    }

    #[test]
    fn it_stays_until_its_own_partition_needs_a_batch() {
        let mut sticky = sticky();
        let first = sticky.choose(&[true; 6]);
        sticky.on_new_batch((first + 1) % 6, &[true; 6]);
        assert_eq!(sticky.choose(&[true; 6]), first);
        sticky.on_new_batch(first, &[true; 6]);
        assert_ne!(sticky.choose(&[true; 6]), first);
    }

    #[test]
    fn the_only_partition_with_a_leader_is_chosen_again() {
        let mut sticky = sticky();
        let leaders = [false, true, false];
        assert_eq!(sticky.choose(&leaders), 1);
        sticky.on_new_batch(1, &leaders);
        assert_eq!(sticky.choose(&leaders), 1);
    }

    #[test]
    fn without_any_leader_all_partitions_count() {
        let mut sticky = sticky();
        let mut seen = [false; 3];
        for _ in 0..100 {
            let chosen = sticky.choose(&[false; 3]);
            seen[chosen as usize] = true;
            sticky.on_new_batch(chosen, &[false; 3]);
        }
        assert_eq!(seen, [true; 3]);
    }
}
