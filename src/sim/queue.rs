//! The one ordered queue: by (virtual time, rank of the entity that scheduled it, that entity's
//! own running number).
//!
//! The running number belongs to the entity, not to the queue: a global counter would depend on
//! how far somebody ran ahead of the others, and so on how a run is sliced.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::sim::time::SimTime;

/// Who scheduled an event: entities act in this order at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl Rank {
    /// A producer's own next moment: after everything that the world does at that time.
    pub const RUN: Self = Self((1 << RANK_BITS) - 2);
    /// A command from outside: last of all at its moment, because a person who types it sees
    /// everything else of that moment done.
    pub const COMMAND: Self = Self((1 << RANK_BITS) - 1);
}

/// Events in order. `pop` and `push` cost O(log n).
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    numbers: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    /// Moment, rank and number, most significant first: one comparison decides.
    key: u128,
    event: E,
}

/// Bits of a key that hold an entity's running number, and then its rank; the moment has the rest.
const NUMBER_BITS: u32 = 40;
const RANK_BITS: u32 = 24;

/// A running number starts again after 10¹² events of one entity.
const NUMBER_MAX: u64 = (1 << NUMBER_BITS) - 1;

impl<E> EventQueue<E> {
    /// An empty queue for entities with ranks below `ranks`.
    pub fn new(ranks: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            numbers: vec![0; ranks],
        }
    }

    /// Schedules `event` at `at`, in the name of the entity `rank`.
    pub fn push(&mut self, at: SimTime, rank: Rank, event: E) {
        let number = &mut self.numbers[rank.0 as usize];
        *number += 1;
        let number = *number;
        self.push_numbered(at, rank, number, event);
    }

    /// Schedules `event` under an explicit number, for the ranks above all entities.
    pub fn push_numbered(&mut self, at: SimTime, rank: Rank, number: u64, event: E) {
        let order = u64::from(rank.0) << NUMBER_BITS | (number & NUMBER_MAX);
        let key = u128::from(at.as_nanos()) << u64::BITS | u128::from(order);
        self.heap.push(Entry { key, event });
    }

    /// Events that are scheduled.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<SimTime> {
        self.heap.peek().map(Entry::at)
    }

    /// Takes the next event, unless it is due after `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: SimTime) -> Option<(SimTime, E)> {
        if self.heap.peek()?.at() > limit {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at(), entry.event))
    }
}

impl<E> Entry<E> {
    fn at(&self) -> SimTime {
        SimTime::from_nanos((self.key >> u64::BITS) as u64)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed, because the standard heap gives its largest element first.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_keep_the_order_of_ranks_and_then_of_scheduling() {
        let mut queue = EventQueue::new(3);
        queue.push(SimTime::from_millis(1), Rank(2), "c");
        queue.push(SimTime::from_millis(1), Rank(1), "a");
        queue.push(SimTime::from_millis(1), Rank(1), "b");
        queue.push_numbered(SimTime::from_millis(1), Rank::COMMAND, 0, "e");
        queue.push_numbered(SimTime::from_millis(1), Rank::RUN, 0, "d");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::NEVER))
            .map(|(_, e)| e)
            .collect();
        assert_eq!(order, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn nothing_comes_out_before_its_time() {
        let mut queue = EventQueue::new(1);
        queue.push(SimTime::from_millis(5), Rank(0), ());
        assert_eq!(queue.pop_until(SimTime::from_millis(4)), None);
        assert_eq!(queue.next_at(), Some(SimTime::from_millis(5)));
    }

    proptest! {
        #[test]
        fn events_come_out_sorted_and_none_is_lost(
            times in prop::collection::vec((0_u64..50, 0_u32..4), 0..200),
        ) {
            let mut queue = EventQueue::new(4);
            for (i, (at, rank)) in times.iter().enumerate() {
                queue.push(SimTime::from_nanos(*at), Rank(*rank), i);
            }
            let out: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::NEVER)).collect();
            let mut expected: Vec<_> = times.iter().enumerate()
                .map(|(i, (at, rank))| (SimTime::from_nanos(*at), Rank(*rank), i)).collect();
            expected.sort();
            let expected: Vec<_> = expected.into_iter().map(|(at, _, i)| (at, i)).collect();
            prop_assert_eq!(out, expected);
        }
    }
}
