//! Diagnoses about librdkafka's queue.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::sim::view::QueueView;

/// Share of `queue.buffering.max.messages` that is worth a word when it waits for `poll()`.
const UNPOLLED_SHARE: f64 = 0.25;
/// Share of it from which on the queue counts as full.
const FULL_SHARE: f64 = 0.99;

/// Messages are done, and nobody polls their reports.
pub(super) struct ReportsUnpolled;

impl Diagnosis for ReportsUnpolled {
    fn name(&self) -> &'static str {
        "reports-unpolled"
    }

    fn summary(&self) -> &'static str {
        "producers do not poll"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, _, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some((queue, most)) = view.queue.as_ref().and_then(limited) else {
            return Verdict::Quiet;
        };
        if (queue.reported as f64) < UNPOLLED_SHARE * f64::from(most) {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "producer {name} does not poll: {} of {most} messages are done and keep their places \
             in the queue until rd_kafka_poll() serves their reports",
            queue.reported,
        ))
    }
}

/// The queue is full of messages that are not done.
pub(super) struct QueueFull;

impl Diagnosis for QueueFull {
    fn name(&self) -> &'static str {
        "queue-full"
    }

    fn summary(&self) -> &'static str {
        "producers have a full queue"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, _, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some(queue) = view.queue.as_ref() else {
            return Verdict::Quiet;
        };
        let by_count = limited(queue)
            .is_some_and(|(queue, most)| queue.messages as f64 >= FULL_SHARE * f64::from(most));
        let by_bytes = queue.value_bytes as f64 >= FULL_SHARE * queue.value_bytes_max as f64;
        let under_way = queue.messages - queue.reported;
        if !(by_count || by_bytes) || under_way < queue.reported {
            return Verdict::Quiet;
        }
        let limit = if by_count {
            "queue.buffering.max.messages"
        } else {
            "queue.buffering.max.kbytes"
        };
        Verdict::Raised(format!(
            "producer {name} has a full queue ({limit}): {under_way} messages wait for their \
             brokers, and produce() ends in _QUEUE_FULL",
        ))
    }
}

fn limited(queue: &QueueView) -> Option<(&QueueView, u32)> {
    queue.messages_max.map(|most| (queue, most))
}
