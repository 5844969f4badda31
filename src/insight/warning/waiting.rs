//! Diagnoses about threads that wait, or soon will.

use super::evidence::SECONDS;
use super::{Checkup, Diagnosis, Scope, Subject, Verdict, bytes};
use crate::insight::names;
use crate::sim::config::ClientConfig;
use crate::sim::fact::BlockedOn;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{ProducerView, ThreadState};

/// Share of its threads' time in `BufferPool.allocate` from which a producer is buffer-bound.
const BOUND_SHARE: f64 = 0.10;
/// Seconds over which a buffer must grow without pause to be called filling.
const FILLING_SECONDS: usize = 3;
/// Share of `buffer.memory` below which growth is nothing to speak of.
const FILLING_SHARE: f64 = 0.25;
/// How far ahead a full buffer is forecast.
const FORECAST_SECONDS_MAX: f64 = 60.0;
/// A wait for metadata that is worth a word.
const METADATA_WAIT: SimSpan = SimSpan::from_millis(1_000);
/// A wait for memory during which the windowed metric must have moved.
const LYING_WAIT: SimSpan = SimSpan::from_seconds(5);

/// Threads spend their time waiting for `buffer.memory`.
pub(super) struct BufferBound;

impl Diagnosis for BufferBound {
    fn name(&self) -> &'static str {
        "buffer-bound"
    }

    fn summary(&self) -> &'static str {
        "producers are buffer-bound"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some((before, latest)) = evidence.over(SECONDS) else {
            return Verdict::Unsure;
        };
        let spent = latest.at.since(before.at).as_seconds();
        let threads = view.threads.len().max(1) as f64;
        let waited = latest.true_wait.as_seconds() - before.true_wait.as_seconds();
        let share = waited / spent / threads;
        if share < BOUND_SHARE {
            return Verdict::Quiet;
        }
        let rate = (latest.records_sent - before.records_sent) as f64 / spent;
        let what = if view.queue.is_some() {
            "room in its queue"
        } else {
            "buffer.memory"
        };
        Verdict::Raised(format!(
            "producer {name} is buffer-bound: its threads spent {:.0} % of the last {SECONDS} s \
             waiting for {what}, and {rate:.0} records/s got in",
            share * 100.0,
        ))
    }
}

/// The accumulator grows and will be full before long.
pub(super) struct BufferFilling;

impl Diagnosis for BufferFilling {
    fn name(&self) -> &'static str {
        "buffer-filling"
    }

    fn summary(&self) -> &'static str {
        "producers fill their buffer"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some((before, latest)) = evidence.over(FILLING_SECONDS) else {
            return Verdict::Quiet;
        };
        let used: Vec<u64> = evidence
            .last(FILLING_SECONDS)
            .map(|counts| counts.used_bytes)
            .collect();
        let total = view.buffer.total_bytes;
        let is_growing = used.windows(2).all(|pair| pair[0] < pair[1]);
        let is_little = (latest.used_bytes as f64) < FILLING_SHARE * total as f64;
        if !is_growing || is_little || 0 < view.buffer.waiting_threads {
            return Verdict::Quiet;
        }
        let spent = latest.at.since(before.at).as_seconds();
        let growth = (latest.used_bytes - before.used_bytes) as f64 / spent;
        let left = total.saturating_sub(latest.used_bytes) as f64 / growth;
        if FORECAST_SECONDS_MAX < left {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "producer {name} fills its buffer: {}/s more come than leave, so buffer.memory \
             ({}) will be full {}",
            bytes(growth as u64),
            bytes(total),
            moment(left),
        ))
    }
}

/// When something will be that is this many seconds ahead.
fn moment(seconds: f64) -> String {
    if seconds < 1.0 {
        "within a second".to_owned()
    } else {
        format!("in about {seconds:.0} s")
    }
}

/// `send()` waits for metadata.
pub(super) struct MetadataBlocked;

impl Diagnosis for MetadataBlocked {
    fn name(&self) -> &'static str {
        "metadata-blocked"
    }

    fn summary(&self) -> &'static str {
        "producers wait for metadata"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, _, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let config = checkup.config();
        let waiting = view.threads.iter().find_map(|thread| match thread.state {
            ThreadState::Blocked {
                on: BlockedOn::Metadata { topic },
                since,
            } if METADATA_WAIT <= checkup.now().since(since) => Some((topic, since)),
            _ => None,
        });
        let Some((topic, since)) = waiting else {
            return Verdict::Quiet;
        };
        let max_block_ms = match &config.producers[view.index.index()].client {
            ClientConfig::Java(settings) => settings.max_block_ms,
            // Its calls never wait for metadata.
            ClientConfig::Rdkafka(_) => return Verdict::Quiet,
        };
        Verdict::Raised(format!(
            "producer {name} has waited for metadata of topic {} since {since}: send() blocks \
             until the topic is known, {max_block_ms} ms (max.block.ms) at most",
            names::topic(config, topic),
        ))
    }
}

/// The windowed metric falls while a thread waits without end.
pub(super) struct MetricLies;

impl Diagnosis for MetricLies {
    fn name(&self) -> &'static str {
        "metric-lies"
    }

    fn summary(&self) -> &'static str {
        "wait ratios look better than they are"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some(since) = memory_wait(view) else {
            return Verdict::Quiet;
        };
        if checkup.now().since(since) < LYING_WAIT {
            return Verdict::Quiet;
        }
        let Some(((before, latest), _)) = evidence.over(2).zip(evidence.latest()) else {
            return Verdict::Unsure;
        };
        match (before.wait_ratio, latest.wait_ratio) {
            (Some(before), Some(latest)) if latest < before || latest == 0.0 => {
                Verdict::Raised(format!(
                    "producer {name}'s bufferpool-wait-ratio reads {latest:.2} and falls, while a \
                     thread has been waiting for memory since {since}: a wait is recorded only \
                     when it ends"
                ))
            }
            _ => Verdict::Unsure,
        }
    }
}

/// Since when the thread that waits longest has waited for memory.
fn memory_wait(view: &ProducerView) -> Option<SimTime> {
    let waits = view.threads.iter().filter_map(|thread| match thread.state {
        ThreadState::Blocked {
            on: BlockedOn::Memory { .. },
            since,
        } => Some(since),
        _ => None,
    });
    waits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_less_than_a_second_ahead_is_not_said_to_be_now() {
        assert_eq!(moment(0.0), "within a second");
        assert_eq!(moment(0.4), "within a second");
        assert_eq!(moment(0.99), "within a second");
        assert_eq!(moment(1.0), "in about 1 s");
        assert_eq!(moment(20.6), "in about 21 s");
    }
}
