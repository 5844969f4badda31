//! Records that go round the partitions, one each.
//!
//! Source: `RoundRobinPartitioner`, and `DefaultPartitioner` up to 2.3 for keyless records.
//! Simplification: partitions are walked in ascending order, where Kafka walks a hash map.

use crate::kafka::hash::to_positive;
use crate::kafka::partition_load::Leadership;

/// The counter of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin {
    next: u32,
}

impl RoundRobin {
    /// A counter that begins at `first`.
    pub const fn starting_at(first: u32) -> Self {
        Self { next: first }
    }

    /// The next partition: among those with a leader, if there are any.
    pub fn choose(&mut self, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
        let turn = to_positive(self.next as i32) as usize;
        self.next = self.next.wrapping_add(1);
        let mut led = (0_u32..)
            .zip(partitions.clone())
            .filter(|(_, one)| one.is_led());
        match led.clone().count() {
            0 => (turn % partitions.count().max(1)) as u32,
            count => led.nth(turn % count).map_or(0, |(number, _)| number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Leadership::{Elsewhere, Leaderless};
    use super::*;

    #[test]
    fn partitions_without_a_leader_are_passed_over_while_others_have_one() {
        let mut round = RoundRobin::default();
        let chosen: Vec<_> = (0..4)
            .map(|_| round.choose([Elsewhere, Leaderless, Elsewhere].into_iter()))
            .collect();
        assert_eq!(chosen, [0, 2, 0, 2]);
        let chosen: Vec<_> = (0..3)
            .map(|_| round.choose([Leaderless; 3].into_iter()))
            .collect();
        assert_eq!(chosen, [1, 2, 0]);
    }

    #[test]
    fn the_counter_goes_on_beyond_its_largest_number() {
        let mut round = RoundRobin::starting_at(u32::MAX);
        let chosen: Vec<_> = (0..3)
            .map(|_| round.choose([Elsewhere; 4].into_iter()))
            .collect();
        assert_eq!(chosen, [3, 0, 1]);
    }
}
