//! How long a batch that came back waits before it is sent again.
//!
//! Source: `RecordAccumulator.shouldBackoff`, `batchReady`. The jitter is drawn anew with every
//! look: whether the wait is over, how long it still lasts, and again when the batch is drained. So
//! waits are longer than one draw: of the first ones with the default of 100 ms, half take 109 ms
//! or more.

use crate::kafka::backoff::ExponentialBackoff;
use crate::sim::producer::batch::{Batch, LeaderOfRetry};
use crate::sim::rng::Stream;

/// `retry.backoff.ms` and `retry.backoff.max.ms`, with their draws.
pub struct RetryBackoff<'a> {
    /// The settings.
    pub backoff: ExponentialBackoff,
    /// One draw a look.
    pub draws: &'a mut Stream,
}

impl RetryBackoff<'_> {
    /// Whether a batch still waits, by another draw.
    pub fn holds_back(&mut self, batch: &Batch, now_ms: u64) -> bool {
        batch.attempts > 0 && batch.leader == LeaderOfRetry::Same && now_ms < self.over_at_ms(batch)
    }

    /// When its wait is over, by another draw.
    pub fn over_at_ms(&mut self, batch: &Batch) -> u64 {
        let attempts = batch.attempts.saturating_sub(1);
        let wait_ms = self.backoff.backoff_ms(attempts, self.draws.bits32());
        batch.last_attempt_ms.saturating_add(wait_ms)
    }
}
