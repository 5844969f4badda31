//! `BufferPool`: `buffer.memory` in pieces of `batch.size`, and threads that wait for it in order.
//!
//! Buffers are all alike, so the free list is a count. Kafka's lock is unfair: a new arrival may
//! overtake waiting threads. Here a freed buffer goes to the first waiter before anybody who
//! arrives at the same instant, and an arrival takes what is left.

use std::collections::VecDeque;

use crate::sim::time::SimTime;

/// The pool.
#[derive(Clone, Debug)]
pub struct BufferPool {
    total: u64,
    poolable: u64,
    free_buffers: u64,
    non_pooled: u64,
    waiters: VecDeque<Waiter>,
}

/// A thread in `allocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Which thread.
    pub thread: u32,
    /// What it needs.
    pub size: u64,
    /// What it has so far.
    pub accumulated: u64,
    /// Since when it waits.
    pub since: SimTime,
    /// What of its wait is already recorded: each wake-up records the sleep before it.
    pub recorded: SimTime,
}

/// What `allocate` gives at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// The memory.
    Granted,
    /// Not enough: the thread now waits.
    Waiting,
    /// More than the pool will ever have.
    Impossible,
}

impl BufferPool {
    /// A pool of `total` bytes in buffers of `poolable` bytes.
    pub fn new(total: u64, poolable: u32) -> Self {
        let poolable = u64::from(poolable.max(1));
        Self {
            total,
            poolable,
            free_buffers: 0,
            non_pooled: total,
            waiters: VecDeque::new(),
        }
    }

    /// `buffer.memory`.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// `buffer-available-bytes`.
    pub fn available_bytes(&self) -> u64 {
        self.non_pooled + self.free_buffers * self.poolable
    }

    /// The size of a pooled buffer.
    pub fn poolable_bytes(&self) -> u64 {
        self.poolable
    }

    /// Threads that wait, in order.
    pub fn waiters(&self) -> impl ExactSizeIterator<Item = &Waiter> {
        self.waiters.iter()
    }

    /// Whether anybody waits: then every partition may be sent at once.
    pub fn is_exhausted(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// Takes `size` bytes if they are there.
    pub fn allocate_at_once(&mut self, size: u64) -> bool {
        if size == self.poolable && self.free_buffers > 0 {
            self.free_buffers -= 1;
            return true;
        }
        let is_there = self.available_bytes() >= size;
        if is_there {
            self.unpool(size);
            self.non_pooled -= size;
        }
        is_there
    }

    /// Takes `size` bytes, or joins the queue.
    pub fn allocate(&mut self, thread: u32, size: u64, now: SimTime) -> Allocation {
        if size > self.total {
            return Allocation::Impossible;
        }
        if self.allocate_at_once(size) {
            return Allocation::Granted;
        }
        let waiter = Waiter {
            thread,
            size,
            accumulated: 0,
            since: now,
            recorded: now,
        };
        self.waiters.push_back(waiter);
        Allocation::Waiting
    }

    /// Gives back what a batch was created with. [`BufferPool::serve`] has to follow.
    pub fn deallocate(&mut self, size: u64) {
        if size == self.poolable {
            self.free_buffers += 1;
        } else {
            self.non_pooled += size;
        }
    }

    /// Lets the first waiter take what there is; gives it when it has all that it needs. To be
    /// called until it gives nothing.
    pub fn serve(&mut self) -> Option<Waiter> {
        let mut waiter = *self.waiters.front()?;
        if waiter.accumulated == 0 && waiter.size == self.poolable && self.free_buffers > 0 {
            self.free_buffers -= 1;
            return self.waiters.pop_front();
        }
        let wanted = waiter.size - waiter.accumulated;
        self.unpool(wanted);
        let got = wanted.min(self.non_pooled);
        self.non_pooled -= got;
        waiter.accumulated += got;
        if waiter.accumulated == waiter.size {
            return self.waiters.pop_front();
        }
        self.waiters[0] = waiter;
        None
    }

    /// A thread gives up: what it had gathered goes back. [`BufferPool::serve`] has to follow.
    pub fn give_up(&mut self, thread: u32) -> Option<Waiter> {
        let place = self
            .waiters
            .iter()
            .position(|waiter| waiter.thread == thread)?;
        let waiter = self.waiters.remove(place)?;
        self.non_pooled += waiter.accumulated;
        Some(waiter)
    }

    /// Notes that the first waiter was woken at `now`; gives the sleep that is recorded for it.
    pub fn note_wake_up(&mut self, now: SimTime) -> Option<u64> {
        let waiter = self.waiters.front_mut()?;
        let slept = now.since(waiter.recorded).as_nanos();
        waiter.recorded = now;
        Some(slept)
    }

    /// Releases idle buffers until `size` bytes are outside of buffers, or none is left.
    fn unpool(&mut self, size: u64) {
        if self.non_pooled >= size {
            return;
        }
        let buffers = (size - self.non_pooled)
            .div_ceil(self.poolable)
            .min(self.free_buffers);
        self.free_buffers -= buffers;
        self.non_pooled += buffers * self.poolable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: SimTime = SimTime::ZERO;

    #[test]
    fn the_default_pool_holds_2048_batches_and_the_next_one_waits() {
        let mut pool = BufferPool::new(33_554_432, 16_384);
        for _ in 0..2048 {
            assert_eq!(pool.allocate(0, 16_384, NOW), Allocation::Granted);
        }
        assert_eq!(pool.allocate(0, 16_384, NOW), Allocation::Waiting);
    }

    #[test]
    fn a_freed_buffer_goes_to_the_oldest_waiter() {
        let mut pool = BufferPool::new(100, 100);
        let _ = pool.allocate(0, 100, NOW);
        let _ = pool.allocate(1, 100, NOW);
        let _ = pool.allocate(2, 100, NOW);
        pool.deallocate(100);
        assert_eq!(pool.serve().map(|w| w.thread), Some(1));
        assert_eq!(pool.serve(), None);
    }

    #[test]
    fn a_large_waiter_gathers_memory_and_starves_smaller_ones_behind_it() {
        let mut pool = BufferPool::new(300, 100);
        for thread in 0..3 {
            let _ = pool.allocate(thread, 100, NOW);
        }
        let _ = pool.allocate(3, 250, NOW);
        let _ = pool.allocate(4, 100, NOW);
        pool.deallocate(100);
        assert_eq!(pool.serve(), None);
        assert_eq!(pool.available_bytes(), 0);
        pool.deallocate(100);
        assert_eq!(pool.serve(), None);
        pool.deallocate(100);
        assert_eq!(pool.serve().map(|w| w.thread), Some(3));
    }

    #[test]
    fn a_batch_larger_than_the_pool_is_impossible() {
        let mut pool = BufferPool::new(100, 200);
        assert_eq!(pool.allocate(0, 200, NOW), Allocation::Impossible);
    }

    proptest! {
        #[test]
        fn bytes_are_never_made_or_lost(
            steps in prop::collection::vec((0_u8..3, 1_u64..400), 1..200),
        ) {
            let mut pool = BufferPool::new(1000, 100);
            let (mut held, mut thread) = (Vec::new(), 0);
            for (step, size) in steps {
                match step {
                    0 => {
                        thread += 1;
                        if pool.allocate(thread, size, NOW) == Allocation::Granted {
                            held.push(size);
                        }
                    }
                    1 => if let Some(size) = held.pop() {
                        pool.deallocate(size);
                    },
                    _ => {
                        pool.give_up(thread);
                    }
                }
                while let Some(waiter) = pool.serve() {
                    held.push(waiter.size);
                }
                let gathered: u64 = pool.waiters().map(|w| w.accumulated).sum();
                prop_assert_eq!(pool.available_bytes() + gathered + held.iter().sum::<u64>(), 1000);
            }
        }
    }
}
