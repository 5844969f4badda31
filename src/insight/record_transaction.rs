//! Why a record of a transaction is visible, or is not.

use super::names;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::sim::Simulation;
use crate::sim::ids::PartitionIndex;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{EndedBy, EntryKind, TransactionStep, TransactionView};

/// What became of the transaction of a record that stands at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// When it was decided, and why; nothing while it is open, or where that is forgotten.
    pub decided: Option<(SimTime, String)>,
    /// What a reader of committed records sees of it.
    pub standing: String,
}

/// The outcome of the record at `offset`, appended at `appended`; nothing where it is in no
/// transaction, or in one that the log has forgotten.
pub(super) fn outcome(
    simulation: &Simulation,
    partition: PartitionIndex,
    (offset, appended): (u64, SimTime),
) -> Option<Outcome> {
    let entries = simulation.transactional_entries(partition);
    let is_here = |kind: EntryKind, first: u64| match kind {
        EntryKind::Records { records, .. } => (first..first + u64::from(records)).contains(&offset),
        EntryKind::Marker(_) => false,
    };
    let (producer_id, _) = entries
        .iter()
        .find(|entry| is_here(entry.what, entry.offset))?
        .producer;
    let marker = entries.iter().find_map(|entry| match entry.what {
        EntryKind::Marker(result) if entry.offset > offset && entry.producer.0 == producer_id => {
            Some((entry.offset, result, entry.producer))
        }
        _ => None,
    });
    let ids = simulation.transactions();
    let id = ids.iter().find(|id| knows(id, producer_id));
    let decision = id.and_then(|id| decision(id, producer_id, appended));
    Some(Outcome {
        decided: id.zip(decision).map(|(id, step)| (step.at, why(id, step))),
        standing: match marker {
            Some((at, result, by)) => seen(result, at, by),
            None => still_open(id, decision),
        },
    })
}

fn knows(id: &TransactionView, producer_id: i64) -> bool {
    let mut steps = id.steps.iter();
    id.producer.0 == producer_id || steps.any(|step| step.producer.0 == producer_id)
}

/// The first end that was decided for this producer id after a moment.
fn decision(id: &TransactionView, producer_id: i64, after: SimTime) -> Option<&TransactionStep> {
    id.steps.iter().find(|step| {
        step.at >= after && step.producer.0 == producer_id && step.state.prepared().is_some()
    })
}

fn why(id: &TransactionView, step: &TransactionStep) -> String {
    let end = match step.state.prepared() {
        Some(TransactionResult::Commit) => "committed",
        _ => "aborted",
    };
    let (producer_id, epoch) = step.producer;
    let because = match step.ended_by {
        Some(EndedBy::Owner) => ": its owner asks for it".to_owned(),
        Some(EndedBy::NewOwner) => ": another owner initialises the id".to_owned(),
        Some(EndedBy::Timeout) => {
            format!(": transaction.timeout.ms ({}) is over", id.timeout_ms)
        }
        None => String::new(),
    };
    format!(
        "the transaction of {} is {end}{because} ({}, {producer_id}/{epoch})",
        names::shown(&id.transactional_id),
        step.state.name(),
    )
}

fn seen(result: TransactionResult, at: u64, (producer_id, epoch): ProducerIdAndEpoch) -> String {
    let readers = match result {
        TransactionResult::Commit => "for all readers",
        TransactionResult::Abort => "not for readers of committed records",
    };
    format!(
        "{readers}: {} {producer_id}/{epoch} at offset {at}",
        result.name()
    )
}

fn still_open(id: Option<&TransactionView>, decision: Option<&TransactionStep>) -> String {
    let Some(id) = id else {
        return "in a transaction that no coordinator knows: it hangs".to_owned();
    };
    if decision.is_some() {
        return "its marker is not written yet".to_owned();
    }
    let due = id
        .started
        .map(|started| started + SimSpan::from_millis(id.timeout_ms));
    match due.filter(|_| !id.state.is_settled()) {
        Some(due) => format!(
            "in an open transaction of {}, which its coordinator aborts after {:.3} s",
            names::shown(&id.transactional_id),
            due.as_seconds(),
        ),
        None => "in a transaction that no coordinator knows: it hangs".to_owned(),
    }
}
