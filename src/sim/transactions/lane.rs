//! One partition's log as a row of runs: what belongs together, from the newest backwards.

use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::sim::partition::Partition;
use crate::sim::transactions::producer_states::{Fate, ProducerStates};
use crate::sim::view::EntryKind;

/// Neighbouring offsets with the same story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its first offset.
    pub offset: u64,
    /// How many offsets.
    pub offsets: u64,
    /// What stands there.
    pub what: RunKind,
}

/// What stands at some offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Records outside of transactions, or too old to be told apart.
    Plain,
    /// Records of a transaction, and what became of it.
    Records(ProducerIdAndEpoch, Fate),
    /// The control record that ends one, with the epoch that it carries.
    Marker(ProducerIdAndEpoch, TransactionResult),
}

impl Run {
    /// Offset after its last one.
    pub fn end_offset(&self) -> u64 {
        self.offset + self.offsets
    }
}

impl Partition {
    /// The last runs of the log, in order of offsets; `most` of them at most.
    pub fn lane(&self, most: usize) -> Vec<Run> {
        let (start, end) = (self.log.start_offset(), self.log.end_offset());
        let mut runs: Vec<Run> = Vec::new();
        let mut next = end;
        let entries = self.transactions().into_iter();
        for entry in entries.flat_map(ProducerStates::entries_from_last) {
            if runs.len() > most || entry.offset < start {
                break;
            }
            let (offsets, what) = match entry.what {
                EntryKind::Records { records, .. } => {
                    let states = self.transactions();
                    let fate = states.and_then(|states| states.fate(entry.offset));
                    let fate = fate.map_or(Fate::Committed, |(_, fate)| fate);
                    (u64::from(records), RunKind::Records(entry.producer, fate))
                }
                EntryKind::Marker(result) => (1, RunKind::Marker(entry.producer, result)),
            };
            let after = entry.offset + offsets;
            if after < next {
                push(&mut runs, after, next - after, RunKind::Plain);
            }
            push(&mut runs, entry.offset, offsets, what);
            next = entry.offset;
        }
        if runs.len() <= most && start < next {
            push(&mut runs, start, next - start, RunKind::Plain);
        }
        runs.truncate(most);
        runs.reverse();
        runs
    }
}

/// A run before all others; one with the same story becomes longer. Every marker stands alone.
fn push(runs: &mut Vec<Run>, offset: u64, offsets: u64, what: RunKind) {
    match runs.last_mut() {
        Some(last) if last.what == what && !matches!(what, RunKind::Marker(..)) => {
            (last.offset, last.offsets) = (offset, last.offsets + offsets);
        }
        _ => runs.push(Run {
            offset,
            offsets,
            what,
        }),
    }
}
