//! Diagnoses about transactions.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::kafka::settings::IsolationLevel;
use crate::kafka::transaction::ProducerIdAndEpoch;
use crate::sim::ids::{GroupIndex, PartitionIndex};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{EntryKind, PartitionView, ProcessState, TransactionView};

/// How long a transaction may be open before its readers are worth a word.
const OPEN_FOR: SimSpan = SimSpan::from_seconds(5);

/// Readers of committed records stand at an open transaction.
pub(super) struct ReadersWait;

impl Diagnosis for ReadersWait {
    fn name(&self) -> &'static str {
        "readers-wait-for-transaction"
    }

    fn summary(&self) -> &'static str {
        "readers of committed records stand at an open transaction"
    }

    fn scope(&self) -> Scope {
        Scope::Groups
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Group(group) = subject else {
            return Verdict::Quiet;
        };
        let Some(view) = stuck_at(group, checkup) else {
            return Verdict::Quiet;
        };
        let Some((offset, owner)) = first_open(view.index, view, checkup) else {
            return Verdict::Quiet;
        };
        let Some(because) = because(view.index, owner, checkup) else {
            return Verdict::Quiet;
        };
        Verdict::Raised(format!(
            "group {} cannot read on in {} from offset {offset} to {}: it waits for {because}",
            names::group(checkup.config(), group),
            names::partition(checkup.config(), view.index),
            view.high_watermark,
        ))
    }
}

/// The first partition of a group that reads committed records, in which it has read all that it
/// may, and more is written.
fn stuck_at<'a>(group: GroupIndex, checkup: &Checkup<'a>) -> Option<&'a PartitionView> {
    let mut members = checkup.config().consumers.iter();
    let is_committed = members.any(|member| {
        member.group == group && member.settings.fetch.isolation == IsolationLevel::ReadCommitted
    });
    let of_group = checkup.groups.get(group.index()).filter(|_| is_committed)?;
    of_group.partitions.iter().find_map(|read| {
        let mut all = checkup.partitions.iter();
        let view = all.find(|view| view.index == read.partition)?;
        let has_all = read
            .position
            .is_some_and(|at| at >= view.last_stable_offset);
        (has_all && view.last_stable_offset < view.high_watermark).then_some(view)
    })
}

/// The batch at the last stable offset.
fn first_open(
    partition: PartitionIndex,
    view: &PartitionView,
    checkup: &Checkup<'_>,
) -> Option<(u64, ProducerIdAndEpoch)> {
    let entries = checkup.simulation.transactional_entries(partition);
    let first = entries.iter().find(|entry| {
        let is_records = matches!(entry.what, EntryKind::Records { .. });
        is_records && entry.offset >= view.last_stable_offset
    })?;
    Some((first.offset, first.producer))
}

/// What its readers wait for; nothing where that is no news.
fn because(
    partition: PartitionIndex,
    (producer_id, epoch): ProducerIdAndEpoch,
    checkup: &Checkup<'_>,
) -> Option<String> {
    let ids = checkup.simulation.transactions();
    let takes_part = |id: &&TransactionView| {
        id.producer.0 == producer_id && !id.state.is_settled() && id.partitions.contains(&partition)
    };
    let Some(id) = ids.iter().find(takes_part) else {
        return Some(format!(
            "a transaction of {producer_id}/{epoch} that no coordinator knows: it hangs until \
             kafka-transactions.sh aborts it"
        ));
    };
    let started = id.started?;
    let is_old = checkup.now() >= started + OPEN_FOR;
    if !is_old || id.state.prepared().is_some() {
        return None;
    }
    let due = started + SimSpan::from_millis(id.timeout_ms);
    Some(format!(
        "the transaction of {}, open since {}{}; its coordinator aborts it after {} \
         (transaction.timeout.ms)",
        names::shown(&id.transactional_id),
        moment(started),
        owner(id, checkup),
        moment(due),
    ))
}

/// Who has it open, and how that one is.
fn owner(id: &TransactionView, checkup: &Checkup<'_>) -> String {
    let clients = checkup.simulation.transactional_clients();
    let mut owners = clients.iter().filter(|client| {
        client.transactional_id == id.transactional_id
            && client.owns.is_some_and(|(of, _)| of == id.producer.0)
    });
    let Some(client) = owners.next_back() else {
        return " by a client that is gone".to_owned();
    };
    let name = names::producer(checkup.config(), client.producer);
    let view = checkup.producers.get(client.producer.index());
    match view.map(|view| view.state) {
        Some(ProcessState::Paused) => format!(" by {name}, which is stopped"),
        Some(ProcessState::Running) | None => format!(" by {name}"),
        Some(_) => format!(" by {name}, which is gone"),
    }
}

fn moment(at: SimTime) -> String {
    format!("{:.1} s", at.as_seconds())
}
