//! What diagnoses remember of the last seconds, per producer.

use std::collections::VecDeque;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::Simulation;
use crate::sim::fact::{BlockedOn, ErrorClass, Fact, Flow};
use crate::sim::ids::{GroupIndex, ProducerIndex};
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};
use crate::sim::view::{GroupView, ProducerView, ThreadState};

use super::group_evidence::GroupEvidence;

/// Seconds that are remembered.
pub(super) const SECONDS: usize = 10;

/// What is remembered of all producers.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    producers: Vec<ProducerEvidence>,
    groups: Vec<GroupEvidence>,
    second: Option<u64>,
}

/// What is remembered of one producer.
#[derive(Clone, Debug, Default)]
pub(super) struct ProducerEvidence {
    /// At the first sample of each of the last seconds, oldest first; [`SECONDS`] + 1 at most.
    seconds: VecDeque<Counts>,
    /// Counts so far.
    pub(super) counts: Counts,
}

/// Counts since the start of the run, and gauges, at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) at: SimTime,
    pub(super) true_wait: SimSpan,
    pub(super) used_bytes: u64,
    pub(super) records_sent: u64,
    pub(super) records_acked: u64,
    pub(super) batches_acked: u64,
    pub(super) batches_retried: u64,
    pub(super) records_expired: u64,
    pub(super) records_lost_at_exit: u64,
    /// Samples, and those at which a thread waited for acknowledgements.
    pub(super) samples: u64,
    pub(super) samples_in_acks: u64,
    /// `bufferpool-wait-ratio`.
    pub(super) wait_ratio: Option<f64>,
}

impl Evidence {
    pub(crate) fn new(producers: usize) -> Self {
        Self {
            producers: vec![ProducerEvidence::default(); producers],
            groups: Vec::new(),
            second: None,
        }
    }

    pub(super) fn of(&self, producer: ProducerIndex) -> Option<&ProducerEvidence> {
        self.producers.get(producer.index())
    }

    pub(super) fn of_group(&self, group: GroupIndex) -> Option<&GroupEvidence> {
        self.groups.get(group.index())
    }

    /// Looks at the consumer groups at one checkup.
    pub(crate) fn note_groups(&mut self, views: &[GroupView]) {
        self.groups.resize(views.len(), GroupEvidence::default());
        for (group, view) in self.groups.iter_mut().zip(views) {
            group.note(view);
        }
    }

    pub(super) fn observe_fact(&mut self, fact: &Fact) {
        match *fact {
            Fact::BatchRetried { producer, .. } => {
                self.count(producer, |counts| counts.batches_retried += 1);
            }
            Fact::BatchFailed {
                producer,
                records,
                ref exception,
                ..
            } if is_expiry(exception.class) => {
                self.count(producer, |counts| {
                    counts.records_expired += u64::from(records);
                });
            }
            Fact::ApplicationExited {
                producer,
                records_lost,
            } => {
                self.count(producer, |counts| {
                    counts.records_lost_at_exit += records_lost;
                });
            }
            _ => {}
        }
    }

    pub(super) fn observe_flow(&mut self, flow: &Flow) {
        if let Flow::Acknowledged(batch) = flow {
            self.count(batch.producer, |counts| {
                counts.batches_acked += 1;
                counts.records_acked += u64::from(batch.records);
            });
        }
    }

    /// Looks at the producers at one sample.
    pub(crate) fn sample(&mut self, simulation: &Simulation, views: &[ProducerView]) {
        let now = simulation.now();
        let second = now.as_nanos() / NANOS_PER_SECOND;
        let is_new = self.second.replace(second) != Some(second);
        for (producer, view) in self.producers.iter_mut().zip(views) {
            let in_acks = view.threads.iter().any(|thread| {
                matches!(
                    thread.state,
                    ThreadState::Blocked {
                        on: BlockedOn::Acks,
                        ..
                    }
                )
            });
            let counts = &mut producer.counts;
            counts.samples += 1;
            counts.samples_in_acks += u64::from(in_acks);
            if is_new {
                counts.at = now;
                counts.true_wait = view.totals.true_wait;
                counts.used_bytes = view
                    .buffer
                    .total_bytes
                    .saturating_sub(view.buffer.available_bytes);
                counts.records_sent = view.totals.records_sent;
                counts.wait_ratio =
                    simulation.producer_metric(view.index, ProducerMetric::BufferpoolWaitRatio);
                if SECONDS < producer.seconds.len() {
                    producer.seconds.pop_front();
                }
                producer.seconds.push_back(producer.counts);
            }
        }
    }

    fn count(&mut self, producer: ProducerIndex, change: impl FnOnce(&mut Counts)) {
        if let Some(producer) = self.producers.get_mut(producer.index()) {
            change(&mut producer.counts);
        }
    }
}

impl ProducerEvidence {
    /// The state `seconds` whole seconds before the latest one, and the latest one; nothing while
    /// the run is younger than that.
    pub(super) fn over(&self, seconds: usize) -> Option<(&Counts, &Counts)> {
        let latest = self.seconds.back()?;
        let place = self.seconds.len().checked_sub(seconds + 1)?;
        Some((self.seconds.get(place)?, latest))
    }

    /// The state at the start of the latest second.
    pub(super) fn latest(&self) -> Option<&Counts> {
        self.seconds.back()
    }

    /// The states of the last `seconds` + 1 seconds, oldest first.
    pub(super) fn last(&self, seconds: usize) -> impl Iterator<Item = &Counts> {
        self.seconds
            .iter()
            .skip(self.seconds.len().saturating_sub(seconds + 1))
    }
}

/// Whether records failed with this because their time was over.
fn is_expiry(class: ErrorClass) -> bool {
    class == ExceptionClass::Timeout.into() || class == RdkafkaError::MsgTimedOut.into()
}
