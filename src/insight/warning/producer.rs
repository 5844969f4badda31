//! Diagnoses about what a producer does with its batches.

use super::evidence::SECONDS;
use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::sentence::count;
use crate::sim::config::ClientConfig;

/// Records a batch below which batching does nothing.
const TINY_RECORDS: f64 = 2.0;
/// Tiny batches per second from which they cost the cluster something.
const TINY_BATCHES_PER_SECOND: f64 = 1_000.0;
/// Share of samples at which a thread waits for acknowledgements, from which that is what it does.
const ACK_BOUND_SHARE: f64 = 0.5;

/// Batches reach `delivery.timeout.ms`.
pub(super) struct BatchesExpiring;

impl Diagnosis for BatchesExpiring {
    fn name(&self) -> &'static str {
        "batches-expiring"
    }

    fn summary(&self) -> &'static str {
        "producers let batches expire"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let before = evidence
            .last(SECONDS)
            .next()
            .map_or(0, |counts| counts.records_expired);
        let expired = evidence.counts.records_expired - before;
        if expired == 0 {
            return Verdict::Quiet;
        }
        let (key, timeout_ms) = match &checkup.config().producers[view.index.index()].client {
            ClientConfig::Java(settings) => ("delivery.timeout.ms", settings.delivery_timeout_ms),
            ClientConfig::Rdkafka(settings) => (
                "message.timeout.ms",
                settings.message_timeout_ms.unwrap_or(0),
            ),
        };
        Verdict::Raised(format!(
            "producer {name} gave up {} in the last {SECONDS} s: no acknowledgement within \
             {key} ({timeout_ms} ms)",
            count(expired, "record"),
        ))
    }
}

/// Retries may overtake each other.
pub(super) struct ReorderingRisk;

impl Diagnosis for ReorderingRisk {
    fn name(&self) -> &'static str {
        "reordering-risk"
    }

    fn summary(&self) -> &'static str {
        "producers may reorder records"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let (idempotence, max_in_flight) =
            match &checkup.config().producers[view.index.index()].client {
                ClientConfig::Java(settings) => (settings.idempotence, settings.max_in_flight),
                ClientConfig::Rdkafka(settings) => {
                    (settings.idempotence.is_on(), settings.max_in_flight)
                }
            };
        let before = evidence
            .last(SECONDS)
            .next()
            .map_or(0, |counts| counts.batches_retried);
        let retried = evidence.counts.batches_retried - before;
        if idempotence || max_in_flight <= 1 || retried == 0 {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "producer {name} sent {} again in the last {SECONDS} s, without idempotence and with \
             up to {} requests in flight: later records may stand before earlier ones, and \
             records may stand twice",
            batches(retried),
            max_in_flight,
        ))
    }
}

/// Batches hold hardly more than one record, and that is what limits the producer.
pub(super) struct TinyBatches;

impl Diagnosis for TinyBatches {
    fn name(&self) -> &'static str {
        "tiny-batches"
    }

    fn summary(&self) -> &'static str {
        "producers send tiny batches"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let Some((before, latest)) = evidence.over(SECONDS) else {
            return Verdict::Quiet;
        };
        let batches = latest.batches_acked - before.batches_acked;
        let records = latest.records_acked - before.records_acked;
        if batches == 0 {
            return Verdict::Unsure;
        }
        let per_batch = records as f64 / batches as f64;
        let batch_rate = batches as f64 / latest.at.since(before.at).as_seconds();
        let samples = (latest.samples - before.samples).max(1);
        let in_acks = (latest.samples_in_acks - before.samples_in_acks) as f64 / samples as f64;
        if TINY_RECORDS <= per_batch {
            return Verdict::Quiet;
        }
        if ACK_BOUND_SHARE <= in_acks {
            return Verdict::Raised(format!(
                "producer {name} sends {per_batch:.1} records a batch because it waits for every \
                 acknowledgement: {batch_rate:.0} records/s are all that its round trips allow"
            ));
        }
        if TINY_BATCHES_PER_SECOND <= batch_rate {
            let linger_us = match &checkup.config().producers[view.index.index()].client {
                ClientConfig::Java(settings) => settings.linger_ms.saturating_mul(1_000),
                ClientConfig::Rdkafka(settings) => settings.linger_us,
            };
            return Verdict::Raised(format!(
                "producer {name} sends {batch_rate:.0} batches/s of {per_batch:.1} records with \
                 linger.ms={}: brokers pay for every batch",
                linger_us as f64 / 1_000.0,
            ));
        }
        Verdict::Quiet
    }
}

/// A process ended while its client held records.
pub(super) struct LostAtExit;

impl Diagnosis for LostAtExit {
    fn name(&self) -> &'static str {
        "lost-at-exit"
    }

    fn summary(&self) -> &'static str {
        "producers lost records at exit"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((_, evidence, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let lost = evidence.counts.records_lost_at_exit;
        if lost == 0 {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "producer {name} ended without flush() or close(), and {} in its buffer went with it",
            count(lost, "record"),
        ))
    }
}

fn batches(number: u64) -> String {
    if number == 1 {
        "1 batch".to_owned()
    } else {
        format!("{number} batches")
    }
}
