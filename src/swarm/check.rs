//! What must hold in every run, whatever went wrong in it.
//!
//! Each check reads the logs, what producers were told, and the configuration: nothing of the
//! engine's own bookkeeping, which it would otherwise only repeat.

use std::fmt;

use super::census::{Fate, Told};
use super::drive::Observed;
use super::{readers, transactions};
use crate::insight::ledger::{Audit, DuplicateCause};
use crate::kafka::settings::Acks;
use crate::sim::Simulation;
use crate::sim::config::{AtEnd, ClientConfig, OnFailed, Peer, ProducerConfig};
use crate::sim::fact::{BrokerState, LinkState};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex};
use crate::sim::view::{PartitionView, ProcessState, ThreadState};

/// A promise of Kafka's, or of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every record ends in exactly one way.
    Conservation,
    /// What callbacks brought is what the application was told, and adds up to what it sent.
    ToldOnce,
    /// The offsets of a log follow each other from its first to its end.
    OffsetsGapless,
    /// Within a leader epoch a high watermark never goes back, and never beyond the log's end.
    HighWatermarkMonotone,
    /// With acks=all, two replicas in sync, clean elections and one failure at a time, what is
    /// acknowledged stays, unless its transaction was aborted.
    AcknowledgedStays,
    /// With idempotence a record is in the log at most once, unless its client bumped its epoch.
    AtMostOnce,
    /// A record stands in a log twice only where its client sent it again.
    TwiceOnlyIfRetried,
    /// The cause of every copy is known.
    DuplicatesNamed,
    /// Acknowledged records of one producer stand in the order in which they were sent.
    OrderKept,
    /// All partitions of a transaction get the outcome that was decided, and no other.
    Atomicity,
    /// No record is committed twice.
    CommittedOnce,
    /// Nobody who reads committed records is given one that is open or aborted.
    OnlyCommittedRead,
    /// A producer id with an epoch belongs to one client.
    OneOwnerPerEpoch,
    /// Within a leader epoch a last stable offset never goes back, and never beyond the high
    /// watermark.
    LastStableOffsetMonotone,
    /// Once everything is cured, no transaction is open.
    TransactionsEnd,
    /// Once everything is cured, no record is under way any more.
    Drained,
    /// Once everything is cured, applications have done all they had to do.
    ApplicationsDone,
    /// Once everything is cured, partitions have leaders, all their replicas, and nothing that is
    /// not committed.
    ClusterHealed,
    /// Once everything is cured, groups are at the end of what they read.
    GroupsDone,
    /// A group that reads from the beginning is given every record.
    EverythingRead,
    /// The ledger says what the logs and the producers say.
    LedgerAgrees,
    /// The same run again, however it is sliced, is the same run.
    SameDigest,
    /// Time goes on.
    TimePasses,
    /// The engine does not panic.
    NoPanic,
    /// The file that was drawn is one that kdrill accepts.
    Loads,
}

impl Invariant {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conservation => "conservation",
            Self::ToldOnce => "told-once",
            Self::OffsetsGapless => "offsets-gapless",
            Self::HighWatermarkMonotone => "high-watermark-monotone",
            Self::AcknowledgedStays => "acknowledged-stays",
            Self::AtMostOnce => "at-most-once",
            Self::TwiceOnlyIfRetried => "twice-only-if-retried",
            Self::DuplicatesNamed => "duplicates-named",
            Self::OrderKept => "order-kept",
            Self::Atomicity => "atomicity",
            Self::CommittedOnce => "committed-once",
            Self::OnlyCommittedRead => "only-committed-read",
            Self::OneOwnerPerEpoch => "one-owner-per-epoch",
            Self::LastStableOffsetMonotone => "last-stable-offset-monotone",
            Self::TransactionsEnd => "transactions-end",
            Self::Drained => "drained",
            Self::ApplicationsDone => "applications-done",
            Self::ClusterHealed => "cluster-healed",
            Self::GroupsDone => "groups-done",
            Self::EverythingRead => "everything-read",
            Self::LedgerAgrees => "ledger-agrees",
            Self::SameDigest => "same-digest",
            Self::TimePasses => "time-passes",
            Self::NoPanic => "no-panic",
            Self::Loads => "loads",
        }
    }
}

/// An invariant that does not hold, and what was seen instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub invariant: Invariant,
    /// What was seen, in words.
    pub text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant.name(), self.text)
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Every load is done and every fault cured, long before the end.
    Healed,
    /// Nobody knows: only what can be seen to be healed must have drained.
    Open,
}

/// Everything that does not hold in a run, the plainest first.
pub(super) fn check(run: &Observed, ending: Ending) -> Vec<Broken> {
    let mut broken = run.watch.broken.clone();
    let simulation = &run.simulation;
    for partition in simulation.partition_views() {
        broken.extend(offsets(simulation, &partition));
    }
    broken.extend(transactions::check(run));
    for place in 0..simulation.config().producers.len() {
        let producer = ProducerIndex(place as u16);
        broken.extend(conservation(run, producer));
        broken.extend(told_once(run, producer));
        broken.extend(copies(run, producer));
        broken.extend(acknowledged(run, producer));
        broken.extend(order(run, producer));
    }
    if ending == Ending::Healed || looks_healed(simulation) {
        broken.extend(at_the_end(run));
    }
    broken.extend(ledger(run));
    broken
}

/// What must hold once everything is cured.
fn at_the_end(run: &Observed) -> Vec<Broken> {
    let simulation = &run.simulation;
    let views = simulation.partition_views();
    let healed = views.iter().filter_map(|view| healed(simulation, view));
    let mut broken: Vec<Broken> = healed.collect();
    let mut producers = (0..simulation.config().producers.len()).map(|p| ProducerIndex(p as u16));
    if producers
        .clone()
        .any(|producer| is_out_of_sequence(run, producer))
    {
        return broken;
    }
    broken.extend(producers.find_map(|producer| drained(run, producer)));
    broken.extend(transactions::unfinished(run));
    for place in 0..simulation.config().groups.len() {
        broken.extend(readers::unfinished(run, GroupIndex(place as u16)));
    }
    broken
}

/// Whether a log lost records of a transactional producer of version 1: what comes next is out of
/// order there, and where that is noticed in a commit, the client aborts without another epoch and
/// fails again (`TransactionManager.maybeTransitionToErrorState`).
fn is_out_of_sequence(run: &Observed, producer: ProducerIndex) -> bool {
    let is_transactional = config(run, producer).client.transactional_id().is_some();
    is_transactional && run.census.of(producer).count(Fate::AcknowledgedLost) > 0
}

/// Whether every load ends by itself, all brokers run and no link is down.
fn looks_healed(simulation: &Simulation) -> bool {
    let config = simulation.config();
    let mut loads = config.producers.iter().flat_map(|producer| &producer.loads);
    let brokers = (0..config.brokers.len()).map(|place| BrokerIndex(place as u16));
    loads.all(|load| load.records_max.is_some())
        && brokers
            .into_iter()
            .all(|b| simulation.broker(b).state == BrokerState::Running)
        && simulation.link_state(Peer::Any, Peer::Any) == LinkState::Up
}

pub(super) fn because(invariant: Invariant, text: String) -> Broken {
    Broken { invariant, text }
}

fn config(run: &Observed, producer: ProducerIndex) -> &ProducerConfig {
    &run.simulation.config().producers[producer.index()]
}

fn offsets(simulation: &Simulation, view: &PartitionView) -> Option<Broken> {
    let name = simulation.partition_name(view.index);
    let mut expected = view.log_start_offset;
    for batch in simulation.log_batches(view.index) {
        if batch.base_offset != expected {
            let offset = batch.base_offset;
            let text = format!("{name}: offset {offset} stands where {expected} is due");
            return Some(because(Invariant::OffsetsGapless, text));
        }
        expected = batch.end_offset();
    }
    (expected != view.log_end_offset).then(|| {
        let text = format!(
            "{name}: the log ends at {}, its records at {expected}",
            view.log_end_offset
        );
        because(Invariant::OffsetsGapless, text)
    })
}

fn conservation(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let told = run.census.of(producer);
    let name = &config(run, producer).name;
    let contradicted = told
        .records()
        .find(|(_, _, record)| record.fate() == Fate::Contradicted);
    let text = if let Some((partition, ordinal, record)) = contradicted {
        format!(
            "{name}: record {ordinal} of partition {partition} ended more than once: {record:?}"
        )
    } else {
        let sent = run.simulation.producer_totals(producer).records_sent;
        let known =
            told.records().count() as u64 + told.failed_unassigned + told.abandoned_unassigned;
        // Records of which nothing was heard yet are under way too.
        let ended = known - told.count(Fate::UnderWay);
        if ended <= sent {
            return None;
        }
        format!("{name}: {sent} records were sent, and {ended} of them ended")
    };
    Some(because(Invariant::Conservation, text))
}

fn told_once(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let told = run.census.of(producer);
    let producer_config = config(run, producer);
    let watch = &run.watch.producers[producer.index()];
    let failed =
        told.count(Fate::FailedAbsent) + told.count(Fate::FailedPresent) + told.failed_unassigned;
    if failed != watch.told_failed {
        let text = format!(
            "{}: callbacks brought {} errors, and {failed} records failed",
            producer_config.name, watch.told_failed
        );
        return Some(because(Invariant::ToldOnce, text));
    }
    let mut loads = producer_config.loads.iter();
    let is_counted = loads
        .clone()
        .all(|load| load.on_failed == OnFailed::Count && load.records_max.is_some());
    let is_simple = is_counted && producer_config.script.is_empty() && !watch.is_restarted;
    let view = run.simulation.producer(producer);
    let is_done = view
        .threads
        .iter()
        .all(|thread| thread.state == ThreadState::Done);
    if !is_simple || !is_done {
        return None;
    }
    let meant = loads.try_fold(0, |sum, load| Some(sum + load.records_max?))?;
    let sent = run.simulation.producer_totals(producer).records_sent;
    (sent + told.refused != meant).then(|| {
        let text = format!(
            "{}: of {meant} records {sent} were sent and {} given up",
            producer_config.name, told.refused
        );
        because(Invariant::ToldOnce, text)
    })
}

fn copies(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let told = run.census.of(producer);
    let surplus = told.surplus();
    if surplus == 0 {
        return None;
    }
    let producer_config = config(run, producer);
    let watch = &run.watch.producers[producer.index()];
    let invariant = if watch.retries == 0 {
        Invariant::TwiceOnlyIfRetried
    } else if is_idempotent(&producer_config.client) && watch.bumps == 0 {
        Invariant::AtMostOnce
    } else {
        return unnamed(run, producer);
    };
    let (partition, ordinal, record) = told.records().find(|(_, _, r)| r.copies > 1)?;
    let text = format!(
        "{}: {surplus} copies too many; record {ordinal} of partition {partition} stands {} times",
        producer_config.name, record.copies
    );
    Some(because(invariant, text))
}

/// A copy whose cause the ledger does not know, or that it owes to a leader that forgot the
/// producer although nothing lets it forget.
fn unnamed(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let tally = run.ledger.of(producer);
    let causes = [DuplicateCause::Unknown, DuplicateCause::StateExpired];
    let cause = causes
        .into_iter()
        .find(|cause| tally.duplicated_by(*cause) > 0)?;
    let text = format!(
        "{}: {} copies were sent again {}",
        config(run, producer).name,
        tally.duplicated_by(cause),
        cause.words(),
    );
    Some(because(Invariant::DuplicatesNamed, text))
}

/// Acknowledged records that must still be there, and are not.
fn acknowledged(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let client = &config(run, producer).client;
    if client.acks() != Some(Acks::All) {
        return None;
    }
    if uses_sequences_again(run, producer) {
        return None;
    }
    let told = run.census.of(producer);
    let partitions = run.simulation.partition_views();
    let is_promised = |place: usize| {
        let view = partitions.iter().find(|view| view.index.index() == place);
        view.is_some_and(|view| {
            keeps_what_it_has(run, view) && !concludes_too_much(run, client, view)
        })
    };
    let is_void = |place, ordinal| {
        let record = (producer, place, ordinal);
        run.watch
            .transactions
            .is_void(run.simulation.config(), record)
    };
    let lost = told.records().find(|&(place, ordinal, record)| {
        record.fate() == Fate::AcknowledgedLost && is_promised(place) && !is_void(place, ordinal)
    });
    let (place, ordinal, _) = lost?;
    let partition = partitions.iter().find(|view| view.index.index() == place)?;
    let text = format!(
        "{}: record {ordinal} was acknowledged, and {} lost it ({} in all)",
        config(run, producer).name,
        run.simulation.partition_name(partition.index),
        told.count(Fate::AcknowledgedLost),
    );
    Some(because(Invariant::AcknowledgedStays, text))
}

/// Whether a transactional client may have used a sequence number twice: of a batch that fails
/// while it commits it takes the numbers back, and bumps no epoch (`handleFailedBatch` and
/// `maybeTransitionToErrorState` of `TransactionManager`). If the batch was written after all, the
/// next one passes for it.
fn uses_sequences_again(run: &Observed, producer: ProducerIndex) -> bool {
    let is_transactional = config(run, producer).client.transactional_id().is_some();
    is_transactional && run.watch.producers[producer.index()].told_failed > 0
}

/// Whether an idempotent librdkafka may take a message for written that was not: a leader that
/// does not know it takes any first sequence, so the second batch may be acknowledged where the
/// first was refused, and what comes before an acknowledged one counts as delivered
/// (`rd_kafka_dr_implicit_ack`).
fn concludes_too_much(run: &Observed, client: &ClientConfig, view: &PartitionView) -> bool {
    matches!(client, ClientConfig::Rdkafka(_))
        && is_idempotent(client)
        && run.watch.partition(view.index).refusals > 0
}

/// Whether nothing that is committed in this partition may go away.
pub(super) fn keeps_what_it_has(run: &Observed, view: &PartitionView) -> bool {
    let settings = run.simulation.topic_settings(view.topic);
    let is_safe = settings.is_some_and(|settings| {
        settings.min_insync_replicas >= 2 && !settings.unclean_leader_election
    });
    let watch = run.watch.partition(view.index);
    let is_whole = view.log_start_offset == watch.start_offset;
    is_safe && view.replicas.len() >= 2 && is_whole && !watch.is_void
}

fn order(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let producer_config = config(run, producer);
    let is_bumped = run.watch.producers[producer.index()].bumps > 0;
    if !promises_order(&producer_config.client, is_bumped) {
        return None;
    }
    let found = run.census.overtaken(producer, &run.simulation)?;
    let text = format!(
        "{}: in {} record {} stands at offset {}, behind record {}",
        producer_config.name,
        run.simulation.partition_name(found.partition),
        found.earlier,
        found.offset,
        found.later,
    );
    Some(because(Invariant::OrderKept, text))
}

/// Nothing of a producer is under way, and its application has done all it had to do.
fn drained(run: &Observed, producer: ProducerIndex) -> Option<Broken> {
    let name = &config(run, producer).name;
    let view = run.simulation.producer(producer);
    let told = run.census.of(producer);
    let ended = told.records().count() as u64 - told.count(Fate::UnderWay)
        + told.failed_unassigned
        + told.abandoned_unassigned;
    let under_way = view.totals.records_sent.saturating_sub(ended);
    if under_way > 0 {
        let sent = view.totals.records_sent;
        let text = format!("{name}: {under_way} of {sent} records are under way");
        return Some(because(Invariant::Drained, text));
    }
    if matches!(view.state, ProcessState::Exited | ProcessState::Closed) {
        return None;
    }
    // What comes back to an application that has closed its client can go nowhere.
    let mut loads = config(run, producer).loads.iter();
    if loads.any(|load| matches!(load.at_end, AtEnd::Close | AtEnd::Exit)) {
        return None;
    }
    let held: u64 = view.threads.iter().map(|t| t.spilled + t.outside).sum();
    let busy = view.threads.iter().find(|t| t.state != ThreadState::Done);
    let text = match (held, busy) {
        (0, None) => return None,
        (0, Some(thread)) => format!("{name}: a thread is still busy: {:?}", thread.state),
        (held, _) => format!("{name}: its application still holds {held} records"),
    };
    Some(because(Invariant::ApplicationsDone, text))
}

/// A partition has its leader and all its replicas again, and everything is committed.
fn healed(simulation: &Simulation, view: &PartitionView) -> Option<Broken> {
    let name = simulation.partition_name(view.index);
    let text = if view.leader.is_none() {
        format!("{name} has no leader")
    } else if view.isr.len() != view.replicas.len() {
        format!(
            "{name}: {} of {} replicas are in sync",
            view.isr.len(),
            view.replicas.len()
        )
    } else if view.high_watermark != view.log_end_offset {
        format!(
            "{name}: the high watermark is {} and the log's end {}",
            view.high_watermark, view.log_end_offset
        )
    } else {
        return None;
    };
    Some(because(Invariant::ClusterHealed, text))
}

/// The interval sums of the ledger against records counted one by one.
fn ledger(run: &Observed) -> Option<Broken> {
    for (place, producer) in run.simulation.config().producers.iter().enumerate() {
        let index = ProducerIndex(place as u16);
        let (told, tally) = (run.census.of(index), run.ledger.of(index));
        let pairs = [
            (
                "acknowledged and present",
                Fate::AcknowledgedPresent,
                tally.acknowledged_present,
            ),
            (
                "acknowledged and lost",
                Fate::AcknowledgedLost,
                tally.acknowledged_lost + tally.unconfirmed,
            ),
            (
                "failed and present",
                Fate::FailedPresent,
                tally.failed_present,
            ),
            (
                "gone and present",
                Fate::AbandonedPresent,
                tally.abandoned_present,
            ),
        ];
        let apart = [
            (
                "failed and absent",
                told.count(Fate::FailedAbsent) + told.failed_unassigned,
                tally.failed_absent,
            ),
            (
                "gone and absent",
                told.count(Fate::AbandonedAbsent) + told.abandoned_unassigned,
                tally.abandoned_absent,
            ),
            (
                "copies too many",
                told.surplus(),
                tally.duplicated - tally.duplicated_by(DuplicateCause::Application),
            ),
            ("given up", told.refused, tally.refused),
        ];
        let counted = pairs.map(|(what, fate, said)| (what, told.count(fate), said));
        let differs = counted
            .into_iter()
            .chain(apart)
            .find(|(_, seen, said)| seen != said);
        if let Some((what, seen, said)) = differs {
            let name = &producer.name;
            let text = format!("{name}: {seen} records are {what}, and the ledger says {said}");
            return Some(because(Invariant::LedgerAgrees, text));
        }
    }
    match run.ledger.audit(&run.simulation) {
        Audit::Differs(text) => Some(because(Invariant::LedgerAgrees, text)),
        Audit::NothingSeen | Audit::Agrees(_) => None,
    }
}

/// The acks that a client asks for, where a broker takes them.
fn is_idempotent(client: &ClientConfig) -> bool {
    match client {
        ClientConfig::Java(settings) => settings.idempotence,
        ClientConfig::Rdkafka(settings) => settings.idempotence.is_on(),
    }
}

/// Whether acknowledged records keep their order. A Java client with one request in flight mutes
/// a partition until its batch is done, wherever its leader is. librdkafka counts requests of a
/// connection, so a message for an old leader can be overtaken by later ones for a new one.
///
/// A leader that does not know an idempotent producer takes any sequence: where the first batch
/// was refused and the second was not, they stand the wrong way round, and the client bumps its
/// epoch (`ProducerAppendInfo.checkSequence`).
fn promises_order(client: &ClientConfig, is_bumped: bool) -> bool {
    match client {
        ClientConfig::Java(settings) => {
            let is_single = settings.max_in_flight == 1 && settings.acks != Acks::None;
            is_single || (settings.idempotence && !is_bumped)
        }
        ClientConfig::Rdkafka(settings) => settings.idempotence.is_on() && !is_bumped,
    }
}

/// Records by fate, for people.
pub(super) fn summary(told: &Told) -> [(&'static str, u64); 6] {
    [
        ("acknowledged", told.count(Fate::AcknowledgedPresent)),
        ("acknowledged and lost", told.count(Fate::AcknowledgedLost)),
        (
            "failed",
            told.count(Fate::FailedAbsent) + told.failed_unassigned,
        ),
        ("failed but present", told.count(Fate::FailedPresent)),
        ("copies too many", told.surplus()),
        ("refused", told.refused),
    ]
}
