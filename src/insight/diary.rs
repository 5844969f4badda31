//! What happened to batches of topics whose records are remembered one by one, so that a record
//! can be followed from `send()` to its last copy.
//!
//! Memory: a partition keeps its latest [`STEPS_MAX`] steps and as many deliveries to readers, in
//! chunks that snapshots share.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::sim::Output;
use crate::sim::config::{Config, HistoryDetail};
use crate::sim::fact::{Acknowledged, Consumed, ErrorClass, Flow};
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};

/// Steps that are kept of one partition, and deliveries to readers.
pub const STEPS_MAX: usize = 131_072;
/// Entries in a sealed chunk.
const CHUNK: usize = 1_024;

/// One step of records in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: SimTime,
    /// Whose records.
    pub producer: ProducerIndex,
    /// Ordinal of the first.
    pub first_ordinal: u64,
    /// How many.
    pub records: u32,
    /// What happened.
    pub happened: Happened,
}

impl Step {
    /// Ordinal after the last record.
    pub fn end_ordinal(&self) -> u64 {
        self.first_ordinal.saturating_add(u64::from(self.records))
    }
}

/// What happened to records in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happened {
    /// Their client wrote them to a connection.
    Sent {
        /// To whom.
        broker: BrokerIndex,
        /// How often it did so by now.
        attempt: u32,
    },
    /// A leader appended them.
    Appended {
        /// Offset of the first.
        base_offset: u64,
    },
    /// A leader recognised them as appended already.
    Recognised {
        /// Whose log.
        broker: BrokerIndex,
        /// Offset of the first.
        base_offset: u64,
    },
    /// Their client has them back, to send them again.
    Retried(ErrorCode),
    /// Their callbacks ran without an error.
    Acknowledged(Acknowledged),
    /// Their callbacks brought an error.
    Failed(ErrorClass),
    /// Their process ended first.
    Abandoned,
    /// They left the last log that held them.
    Truncated {
        /// Where the first of them stood.
        from_offset: u64,
    },
    /// Their application sent one record again; these are the new one.
    SentAgain {
        /// Where it was sent before.
        partition: PartitionIndex,
        /// Its ordinal there.
        ordinal: u64,
    },
}

/// Everything that is remembered.
#[derive(Clone, Debug, Default)]
pub struct Diary {
    /// By topic: whether its records are followed.
    is_followed: Vec<bool>,
    /// By partition.
    pages: Vec<Page>,
}

#[derive(Clone, Debug, Default)]
struct Page {
    steps: Chunks<Step>,
    deliveries: Chunks<Consumed>,
}

/// The latest entries of a list, in chunks that clones share.
#[derive(Clone, Debug)]
struct Chunks<T> {
    sealed: Vec<Arc<[T]>>,
    open: Vec<T>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self {
            sealed: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl<T> Chunks<T> {
    fn push(&mut self, entry: T) {
        self.open.push(entry);
        if self.open.len() >= CHUNK {
            if self.sealed.len() >= STEPS_MAX / CHUNK {
                self.sealed.remove(0);
            }
            self.sealed.push(std::mem::take(&mut self.open).into());
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.sealed
            .iter()
            .flat_map(|chunk| chunk.iter())
            .chain(&self.open)
    }
}

impl Diary {
    /// Empty, for a run.
    pub fn new(config: &Config) -> Self {
        let is_followed = |topic: &crate::sim::config::TopicConfig| {
            let existing = topic.existing.as_ref();
            existing.is_some_and(|existing| existing.history == HistoryDetail::Records)
        };
        Self {
            is_followed: config.topics.iter().map(is_followed).collect(),
            pages: Vec::new(),
        }
    }

    /// Takes what the engine said since the last time.
    pub fn observe(&mut self, output: &Output) {
        if !self.is_followed.contains(&true) {
            return;
        }
        for trace in &output.traces {
            self.note_trace(trace);
        }
        for flow in &output.flows {
            match *flow {
                Flow::Appended(appended) => {
                    let step = Step {
                        at: appended.at,
                        producer: appended.producer,
                        first_ordinal: appended.first_ordinal,
                        records: appended.records,
                        happened: Happened::Appended {
                            base_offset: appended.base_offset,
                        },
                    };
                    self.note(appended.partition, step);
                }
                Flow::Acknowledged(batch) => {
                    let step = Step {
                        at: batch.at,
                        producer: batch.producer,
                        first_ordinal: batch.first_ordinal,
                        records: batch.records,
                        happened: Happened::Acknowledged(batch),
                    };
                    self.note(batch.partition, step);
                }
                Flow::Consumed(consumed) => {
                    if let Some(page) = self.page(consumed.partition) {
                        page.deliveries.push(consumed);
                    }
                }
                _ => {}
            }
        }
    }

    /// The steps of a partition's records, those of one batch in order of time.
    pub fn steps(&self, partition: PartitionIndex) -> impl Iterator<Item = &Step> {
        let page = self.pages.get(partition.index());
        page.into_iter().flat_map(|page| page.steps.iter())
    }

    /// What readers were given of a partition, each reader in order of time.
    pub fn deliveries(&self, partition: PartitionIndex) -> impl Iterator<Item = &Consumed> {
        let page = self.pages.get(partition.index());
        page.into_iter().flat_map(|page| page.deliveries.iter())
    }

    fn note_trace(&mut self, trace: &Trace) {
        let happened = match trace.step {
            TraceStep::Sent { broker, attempt } => Happened::Sent { broker, attempt },
            TraceStep::Retried { error } => Happened::Retried(error),
            TraceStep::Failed { error } => Happened::Failed(error),
            TraceStep::Abandoned => Happened::Abandoned,
            TraceStep::Truncated { from_offset } => Happened::Truncated { from_offset },
            TraceStep::Recognised {
                broker,
                base_offset,
            } => Happened::Recognised {
                broker,
                base_offset,
            },
            TraceStep::SentAgain { partition, ordinal } => {
                Happened::SentAgain { partition, ordinal }
            }
        };
        let step = Step {
            at: trace.at,
            producer: trace.producer,
            first_ordinal: trace.first_ordinal,
            records: trace.records,
            happened,
        };
        self.note(trace.partition, step);
    }

    fn note(&mut self, partition: PartitionIndex, step: Step) {
        if let Some(page) = self.page(partition) {
            page.steps.push(step);
        }
    }

    /// The page of a partition whose topic is followed.
    fn page(&mut self, partition: PartitionIndex) -> Option<&mut Page> {
        let topic = partition.name().topic.index();
        if !self.is_followed.get(topic).copied().unwrap_or(false) {
            return None;
        }
        if self.pages.len() <= partition.index() {
            self.pages.resize_with(partition.index() + 1, Page::default);
        }
        self.pages.get_mut(partition.index())
    }
}

impl Happened {
    /// What comes first at one moment.
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::SentAgain { .. } => 0,
            Self::Sent { .. } => 1,
            Self::Appended { .. } | Self::Recognised { .. } => 2,
            Self::Truncated { .. } => 3,
            Self::Retried(_) => 4,
            Self::Acknowledged(_) | Self::Failed(_) | Self::Abandoned => 5,
        }
    }
}
