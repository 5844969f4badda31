//! What must hold of transactions in every run.
//!
//! What coordinators wrote is heard while it happens; what became of each transaction is read from
//! the logs, batch by batch. What leaders and readers keep in mind of transactions is never asked.

use std::collections::{BTreeMap, BTreeSet};

use super::Broken;
use super::check::{Invariant, because, keeps_what_it_has};
use super::drive::Observed;
use crate::kafka::settings::IsolationLevel;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::sim::Simulation;
use crate::sim::config::Config;
use crate::sim::fact::{Acknowledged, Consumed, Fact, Stamped};

use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;
use crate::sim::view::PartitionView;
use crate::sim::view::{Content, LogBatch};

/// A transaction that its coordinator has decided.
#[derive(Clone, Debug)]
struct Decision {
    at: SimTime,
    transactional_id: String,
    /// The producer id, and the epoch of its markers.
    producer: ProducerIdAndEpoch,
    result: TransactionResult,
    partitions: Vec<PartitionIndex>,
}

/// What was seen of transactions so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TransactionWatch {
    decisions: Vec<Decision>,
    /// When the marker at an offset was written, the last time that one was.
    markers: BTreeMap<(PartitionIndex, u64), SimTime>,
    /// What readers of committed records were given.
    given: Vec<Consumed>,
    /// Producer ids and epochs that clients were given, with the clients.
    owners: BTreeMap<ProducerIdAndEpoch, ProducerIndex>,
    /// Clients that were given what another one has.
    shared: Vec<(ProducerIdAndEpoch, ProducerIndex, ProducerIndex)>,
    /// What transactional producers were told to be written.
    acknowledged: Vec<Acknowledged>,
}

impl TransactionWatch {
    /// Takes what the engine said.
    pub(super) fn hear(&mut self, stamped: &Stamped) {
        match &stamped.fact {
            Fact::TransactionChanged {
                transactional_id,
                state,
                producer_id,
                epoch,
                partitions,
            } => {
                if let Some(result) = state.prepared() {
                    self.decisions.push(Decision {
                        at: stamped.at,
                        transactional_id: transactional_id.to_string(),
                        producer: (*producer_id, *epoch),
                        result,
                        partitions: partitions.clone(),
                    });
                }
            }
            Fact::MarkerWritten {
                partition, offset, ..
            } => {
                self.markers.insert((*partition, *offset), stamped.at);
            }
            Fact::ProducerIdAssigned {
                producer,
                producer_id,
                epoch,
            } => {
                let owned = (*producer_id, *epoch);
                let before = self.owners.insert(owned, *producer);
                if let Some(before) = before.filter(|before| before != producer) {
                    self.shared.push((owned, before, *producer));
                }
            }
            _ => {}
        }
    }

    /// A transactional producer was told that records are written.
    pub(super) fn note_acknowledged(&mut self, acknowledged: &Acknowledged, config: &Config) {
        if id_of(config, acknowledged.producer).is_some() {
            self.acknowledged.push(*acknowledged);
        }
    }

    /// Whether the acknowledgement of a record is void, because its transaction was aborted next.
    pub(super) fn is_void(&self, config: &Config, record: (ProducerIndex, usize, u64)) -> bool {
        let (producer, place, ordinal) = record;
        let is_it = |batch: &&Acknowledged| {
            let ordinals = batch.first_ordinal..batch.first_ordinal + u64::from(batch.records);
            batch.producer == producer
                && batch.partition.index() == place
                && ordinals.contains(&ordinal)
        };
        let Some(batch) = self.acknowledged.iter().find(is_it) else {
            return false;
        };
        let mut decisions = self.decisions.iter();
        let next = decisions.find(|decision| {
            batch.at <= decision.at
                && id_of(config, producer) == Some(decision.transactional_id.as_str())
        });
        next.is_some_and(|decision| decision.result == TransactionResult::Abort)
    }

    /// An application was given records.
    pub(super) fn note_given(&mut self, consumed: &Consumed, simulation: &Simulation) {
        let reader = &simulation.config().consumers[consumed.consumer.index()];
        if reader.settings.fetch.isolation == IsolationLevel::ReadCommitted {
            self.given.push(*consumed);
        }
    }
}

fn id_of(config: &Config, producer: ProducerIndex) -> Option<&str> {
    config.producers[producer.index()].client.transactional_id()
}

/// What the log says of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is in no transaction.
    None,
    /// No marker came yet.
    Open,
    /// The marker at this offset ends it.
    Ended(TransactionResult, u64),
}

/// The data batches of a log, in order, with what became of each.
fn outcomes(simulation: &Simulation, partition: PartitionIndex) -> Vec<(LogBatch, Outcome)> {
    let mut open: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    let mut found: Vec<(LogBatch, Outcome)> = Vec::new();
    for batch in simulation.log_batches(partition) {
        let producer_id = batch.stamp.producer_id;
        match batch.stamp.content {
            Content::Plain => found.push((*batch, Outcome::None)),
            Content::Transactional => {
                open.entry(producer_id).or_default().push(found.len());
                found.push((*batch, Outcome::Open));
            }
            Content::Marker(result, _) => {
                for place in open.remove(&producer_id).unwrap_or_default() {
                    found[place].1 = Outcome::Ended(result, batch.base_offset);
                }
            }
        }
    }
    found
}

/// Offsets that a reader of this isolation is given, once everything is decided.
pub(super) fn visible(
    simulation: &Simulation,
    partition: PartitionIndex,
    isolation: IsolationLevel,
) -> Vec<u64> {
    let is_seen = |outcome| match isolation {
        IsolationLevel::ReadUncommitted => true,
        IsolationLevel::ReadCommitted => {
            matches!(
                outcome,
                Outcome::None | Outcome::Ended(TransactionResult::Commit, _)
            )
        }
    };
    outcomes(simulation, partition)
        .into_iter()
        .filter(|(_, outcome)| is_seen(*outcome))
        .flat_map(|(batch, _)| batch.base_offset..batch.end_offset())
        .collect()
}

/// Everything that does not hold of transactions at any time.
pub(super) fn check(run: &Observed) -> Vec<Broken> {
    let mut broken = Vec::new();
    for view in run.simulation.partition_views() {
        let found = outcomes(&run.simulation, view.index);
        broken.extend(owned_by_one(run, &view, &found));
        broken.extend(committed_once(run, &view, &found));
        if keeps_what_it_has(run, &view) && !run.watch.is_state_lost {
            broken.extend(atomic(run, &view));
            broken.extend(ended_by_its_own(run, &view, &found));
        }
        if !run.watch.partition(view.index).is_truncated {
            broken.extend(read_too_early(run, &view, &found));
        }
    }
    let shared = run.watch.transactions.shared.first();
    broken.extend(shared.map(|(owned, before, after)| {
        let text = format!(
            "{} and {} were both given {}",
            name_of(run, *before),
            name_of(run, *after),
            show(*owned)
        );
        because(Invariant::OneOwnerPerEpoch, text)
    }));
    broken
}

/// What does not hold once everything is cured: no transaction is open, neither for its coordinator
/// nor in a log. Where a log lost its marker, or a coordinator forgot what it had decided, a
/// transaction hangs until somebody ends it by hand.
pub(super) fn unfinished(run: &Observed) -> Option<Broken> {
    let simulation = &run.simulation;
    if run.watch.is_state_lost {
        return None;
    }
    let ids = simulation.transactions();
    let open = ids.iter().find(|id| !id.state.is_settled());
    let text = if let Some(id) = open {
        format!("{} is still {}", id.transactional_id, id.state.name())
    } else {
        let mut views = simulation.partition_views().into_iter();
        let stuck = views.find(|view| {
            let is_whole = !run.watch.partition(view.index).is_truncated;
            let is_bound_to_end = is_whole || keeps_what_it_has(run, view);
            is_bound_to_end && view.last_stable_offset < view.high_watermark
        })?;
        format!(
            "{}: the last stable offset is {} and the high watermark {}",
            simulation.partition_name(stuck.index),
            stuck.last_stable_offset,
            stuck.high_watermark
        )
    };
    Some(because(Invariant::TransactionsEnd, text))
}

/// The markers of a log are those that were decided, in order; each may stand more than once, since
/// a new coordinator sends them all again.
fn atomic(run: &Observed, view: &PartitionView) -> Option<Broken> {
    let mut markers: BTreeMap<i64, Vec<(i16, TransactionResult)>> = BTreeMap::new();
    for batch in run.simulation.log_batches(view.index) {
        if let Content::Marker(result, _) = batch.stamp.content {
            let of_id = markers.entry(batch.stamp.producer_id).or_default();
            of_id.push((batch.stamp.epoch, result));
        }
    }
    let mut decided: BTreeMap<i64, Vec<(i16, TransactionResult)>> = BTreeMap::new();
    for decision in &run.watch.transactions.decisions {
        if decision.partitions.contains(&view.index) {
            let (producer_id, epoch) = decision.producer;
            let of_id = decided.entry(producer_id).or_default();
            of_id.push((epoch, decision.result));
        }
    }
    let ids: BTreeSet<i64> = markers.keys().chain(decided.keys()).copied().collect();
    let nothing = Vec::new();
    ids.into_iter().find_map(|id| {
        let markers = markers.get(&id).unwrap_or(&nothing);
        let decided = decided.get(&id).unwrap_or(&nothing);
        (!repeats(markers, decided)).then(|| {
            let text = format!(
                "{}: of producer id {id} was decided {decided:?}, and its markers are {markers:?}",
                run.simulation.partition_name(view.index),
            );
            because(Invariant::Atomicity, text)
        })
    })
}

/// Whether `long` is `short` with each element once or more often in a row.
fn repeats<T: PartialEq>(long: &[T], short: &[T]) -> bool {
    // The lengths of `short` that what was read of `long` can stand for.
    let mut reached = BTreeSet::from([0]);
    for element in long {
        let again = reached
            .iter()
            .filter(|&&at| at > 0 && short[at - 1] == *element);
        let next = reached
            .iter()
            .filter(|&&at| short.get(at) == Some(element))
            .map(|at| at + 1);
        reached = again.copied().chain(next).collect();
    }
    reached.contains(&short.len())
}

/// A COMMIT carries the epoch of what it commits (version 1) or the next one (version 2).
fn ended_by_its_own(
    run: &Observed,
    view: &PartitionView,
    found: &[(LogBatch, Outcome)],
) -> Option<Broken> {
    let markers: BTreeMap<u64, i16> = run
        .simulation
        .log_batches(view.index)
        .map(|batch| (batch.base_offset, batch.stamp.epoch))
        .collect();
    found.iter().find_map(|(batch, outcome)| {
        let Outcome::Ended(TransactionResult::Commit, offset) = *outcome else {
            return None;
        };
        let of_marker = *markers.get(&offset)?;
        let is_its_own = [batch.stamp.epoch, batch.stamp.epoch.saturating_add(1)];
        (!is_its_own.contains(&of_marker)).then(|| {
            let text = format!(
                "{}: the COMMIT at {offset} of epoch {of_marker} ends a batch at {} of epoch {}",
                run.simulation.partition_name(view.index),
                batch.base_offset,
                batch.stamp.epoch
            );
            because(Invariant::Atomicity, text)
        })
    })
}

/// All records with one producer id and epoch are one client's.
fn owned_by_one(
    run: &Observed,
    view: &PartitionView,
    found: &[(LogBatch, Outcome)],
) -> Option<Broken> {
    let mut owners = BTreeMap::new();
    found.iter().find_map(|(batch, _)| {
        let owned = (batch.stamp.producer_id, batch.stamp.epoch);
        let first = *owners.entry(owned).or_insert(batch.producer);
        (batch.stamp.producer_id >= 0 && first != batch.producer).then(|| {
            let text = format!(
                "{}: {} and {} both wrote as {}",
                run.simulation.partition_name(view.index),
                name_of(run, first),
                name_of(run, batch.producer),
                show(owned)
            );
            because(Invariant::OneOwnerPerEpoch, text)
        })
    })
}

/// No record stands in a log twice in committed transactions.
fn committed_once(
    run: &Observed,
    view: &PartitionView,
    found: &[(LogBatch, Outcome)],
) -> Option<Broken> {
    let mut seen = BTreeSet::new();
    let committed = found
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Ended(TransactionResult::Commit, _)));
    for (batch, _) in committed {
        let ordinals = batch.first_ordinal..batch.first_ordinal + u64::from(batch.records);
        for ordinal in ordinals {
            if !seen.insert((batch.producer, ordinal)) {
                let text = format!(
                    "{}: record {ordinal} of {} is committed twice, the second time at {}",
                    run.simulation.partition_name(view.index),
                    name_of(run, batch.producer),
                    batch.base_offset
                );
                return Some(because(Invariant::CommittedOnce, text));
            }
        }
    }
    None
}

/// A reader of committed records was given what was aborted, or not decided yet.
fn read_too_early(
    run: &Observed,
    view: &PartitionView,
    found: &[(LogBatch, Outcome)],
) -> Option<Broken> {
    let watch = &run.watch.transactions;
    let given = watch.given.iter().filter(|c| c.partition == view.index);
    for consumed in given {
        let first = found.partition_point(|(batch, _)| batch.end_offset() <= consumed.from_offset);
        let within = found[first..]
            .iter()
            .take_while(|(batch, _)| batch.base_offset < consumed.to_offset);
        for (batch, outcome) in within {
            let decided = match *outcome {
                Outcome::None => continue,
                Outcome::Ended(TransactionResult::Commit, offset) => {
                    watch.markers.get(&(view.index, offset))
                }
                Outcome::Open | Outcome::Ended(TransactionResult::Abort, _) => None,
            };
            if decided.is_none_or(|at| *at > consumed.at) {
                let text = format!(
                    "{}: at {} a reader of committed records was given {}, whose transaction is \
                     {outcome:?} (decided at {decided:?})",
                    run.simulation.partition_name(view.index),
                    consumed.at,
                    batch.base_offset.max(consumed.from_offset),
                );
                return Some(because(Invariant::OnlyCommittedRead, text));
            }
        }
    }
    None
}

fn name_of(run: &Observed, producer: ProducerIndex) -> &str {
    &run.simulation.config().producers[producer.index()].name
}

fn show((producer_id, epoch): ProducerIdAndEpoch) -> String {
    format!("{producer_id}/{epoch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_may_come_again_and_none_may_be_missing_or_another() {
        let decided = ["commit", "commit", "abort"];
        assert!(repeats(&["commit", "commit", "abort"], &decided));
        assert!(repeats(
            &["commit", "commit", "commit", "abort", "abort"],
            &decided
        ));
        assert!(!repeats(&["commit", "abort"], &decided));
        assert!(!repeats(&["commit", "commit"], &decided));
        assert!(!repeats(&["commit", "commit", "abort", "commit"], &decided));
        assert!(repeats::<&str>(&[], &[]));
    }
}
