//! Records that go round the partitions, one each.
//!
//! Source: `RoundRobinPartitioner`, and `DefaultPartitioner` up to 2.3 for keyless records.
//! Simplification: partitions are walked in ascending order, where Kafka walks a hash map.

use crate::kafka::hash::to_positive;

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
    pub fn choose(&mut self, leaders: &[bool]) -> u32 {
        let turn = to_positive(self.next as i32) as usize;
        self.next = self.next.wrapping_add(1);
        let mut led = (0..leaders.len()).filter(|&number| leaders[number]);
        let count = led.clone().count();
        let number = match count {
            0 => turn % leaders.len().max(1),
            count => led.nth(turn % count).unwrap_or(0),
        };
        number as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_without_a_leader_are_passed_over_while_others_have_one() {
        let mut round = RoundRobin::default();
        let chosen: Vec<_> = (0..4).map(|_| round.choose(&[true, false, true])).collect();
        assert_eq!(chosen, [0, 2, 0, 2]);
        let chosen: Vec<_> = (0..3).map(|_| round.choose(&[false; 3])).collect();
        assert_eq!(chosen, [1, 2, 0]);
    }

    #[test]
    fn the_counter_goes_on_beyond_its_largest_number() {
        let mut round = RoundRobin::starting_at(u32::MAX);
        let chosen: Vec<_> = (0..3).map(|_| round.choose(&[true; 4])).collect();
        assert_eq!(chosen, [3, 0, 1]);
    }
}
