//! What became of every record.
//!
//! A record is (producer, partition, ordinal there). Acknowledged, failed and abandoned ordinals
//! are interval sets; how often an ordinal stands in the log is a signed count per ordinal, so that
//! the appends and truncations of different brokers add up in whatever order they are handed over.
//!
//! Invariants:
//! - A healthy run of any length is one interval per (producer, partition) and set.
//! - `sent = acknowledged + failed + abandoned + under way`, see [`Ledger::account`].
//! - An entry that grows beyond [`RUNS_MAX`] settles its older half into plain numbers; what comes
//!   later about settled ordinals is counted as what it says, and in [`Tally::late`].
//!
//! Simplification: with `acks=0` nobody confirms. An acknowledged record that no log holds counts
//! as lost once a later record of the same producer stands in the partition, and as unconfirmed
//! before: it may still be on the wire.

mod audit;
mod cause;
mod entry;
mod pending;
mod resent;
mod tally;

use crate::kafka::settings::{Acks, RequiredAcks};
use crate::sim::config::{ClientConfig, Config};
use crate::sim::Output;
use crate::sim::fact::{Appended, Fact, Flow, UnassignedEnd};
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};

pub use audit::Audit;
pub use cause::DuplicateCause;
pub use entry::RUNS_MAX;
pub use tally::{Account, LedgerField, Tally};

use cause::Identity;
use entry::{Confirmation, Entry};
use pending::Pending;
use resent::Resent;

/// No entry for this partition yet.
const NO_ENTRY: u32 = u32::MAX;

/// What became of every record of a run.
#[derive(Clone, Debug)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// What came for each entry since the last count.
    pending: Vec<Pending>,
    /// By partition: when the latest append happened.
    last_appends: Vec<SimTime>,
    /// By producer and partition: the place in `entries`, or [`NO_ENTRY`].
    places: Vec<Vec<u32>>,
    /// Entries that changed since they were last counted.
    changed: Vec<u32>,
    /// By producer: whether somebody confirms.
    confirmation: Vec<Confirmation>,
    /// By producer: what leaders know it by.
    identities: Vec<Identity>,
    /// What applications sent again.
    resent: Resent,
    /// By producer: the sum over its entries, and its refused records.
    tallies: Vec<Tally>,
    /// Over all producers.
    total: Tally,
}

impl Ledger {
    /// An empty ledger for a run.
    pub fn new(config: &Config) -> Self {
        let producers = config.producers.len();
        Self {
            entries: Vec::new(),
            pending: Vec::new(),
            last_appends: Vec::new(),
            places: vec![Vec::new(); producers],
            changed: Vec::new(),
            confirmation: config
                .producers
                .iter()
                .map(|p| confirmation(&p.client))
                .collect(),
            identities: config
                .producers
                .iter()
                .map(|p| Identity {
                    is_idempotent: is_idempotent(&p.client),
                    ..Identity::default()
                })
                .collect(),
            resent: Resent::default(),
            tallies: vec![Tally::default(); producers],
            total: Tally::default(),
        }
    }

    /// Takes what the engine said since the last time.
    pub fn observe(&mut self, output: &Output) {
        for stamped in &output.facts {
            if let Fact::ProducerIdAssigned {
                producer, epoch, ..
            } = stamped.fact
                && epoch > 0
            {
                self.identity(producer).bump(stamped.at);
            }
        }
        for trace in &output.traces {
            self.fold_trace(trace);
        }
        self.fold(&output.flows);
    }

    /// Takes what was handed over at one moment of the run. The order between entities does not
    /// matter: truncations come first, and appends are taken in order of time.
    pub fn fold(&mut self, flows: &[Flow]) {
        for flow in flows {
            if let Flow::Truncated {
                producer,
                partition,
                first_ordinal,
                records,
            } = *flow
            {
                let place = self.place(producer, partition);
                self.resent
                    .touch(place, first_ordinal, u64::from(records));
                let (entry, pending) = self.entry(producer, partition);
                pending.truncate(entry, first_ordinal, u64::from(records));
            }
        }
        self.fold_appends(flows);
        for flow in flows {
            self.fold_outcome(flow);
        }
        self.count_changed();
    }

    /// One producer's sums.
    pub fn of(&self, producer: ProducerIndex) -> Tally {
        self.tallies
            .get(producer.index())
            .copied()
            .unwrap_or_default()
    }

    /// The sums of all producers in one partition. Refused records have no partition.
    pub fn of_partition(&self, partition: PartitionIndex) -> Tally {
        let mut sum = Tally::default();
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.partition == partition)
        {
            sum.add(entry.tally());
        }
        sum
    }

    /// The sums over everything.
    pub fn total(&self) -> Tally {
        self.total
    }

    /// The whole account, given how many records the accumulators took.
    pub fn account(&self, records_sent: u64) -> Account {
        Account::new(self.total, records_sent)
    }

    /// One producer's account, given how many records its accumulator took.
    pub fn account_of(&self, producer: ProducerIndex, records_sent: u64) -> Account {
        Account::new(self.of(producer), records_sent)
    }

    /// Appends in order of time. They already are, except around a change of leader.
    fn fold_appends(&mut self, flows: &[Flow]) {
        let appends = || {
            flows.iter().filter_map(|flow| match flow {
                Flow::Appended(appended) => Some(appended),
                _ => None,
            })
        };
        if self.in_order(appends()) {
            appends().for_each(|appended| self.append(appended));
        } else {
            let mut sorted: Vec<&Appended> = appends().collect();
            sorted.sort_by_key(|appended| (appended.at, appended.partition, appended.base_offset));
            for appended in sorted {
                self.append(appended);
            }
        }
    }

    fn in_order<'a>(&mut self, appends: impl Iterator<Item = &'a Appended>) -> bool {
        let mut in_order = true;
        for appended in appends {
            let place = appended.partition.index();
            if self.last_appends.len() <= place {
                self.last_appends.resize(place + 1, SimTime::ZERO);
            }
            let last = &mut self.last_appends[place];
            in_order &= *last <= appended.at;
            *last = appended.at.max(*last);
        }
        in_order
    }

    fn append(&mut self, appended: &Appended) {
        let place = self.place(appended.producer, appended.partition);
        let range = (appended.first_ordinal, u64::from(appended.records));
        self.resent.touch(place, range.0, range.1);
        let entry = &mut self.entries[place as usize];
        let nobody = Identity::default();
        let identity = self.identities.get(appended.producer.index());
        let identity = identity.unwrap_or(&nobody);
        self.pending[place as usize].append(entry, range, appended.at, identity);
    }

    fn fold_trace(&mut self, trace: &Trace) {
        let end = trace.first_ordinal.saturating_add(u64::from(trace.records));
        match trace.step {
            TraceStep::Retried { error } => {
                let (entry, _) = self.entry(trace.producer, trace.partition);
                entry
                    .retries
                    .note(trace.at, (trace.first_ordinal, end), error);
            }
            TraceStep::SentAgain { partition, ordinal } => {
                let old = (self.place(trace.producer, partition), ordinal);
                let new = self.place(trace.producer, trace.partition);
                self.resent.note(old, (new, trace.first_ordinal));
            }
            _ => {}
        }
    }

    fn identity(&mut self, producer: ProducerIndex) -> &mut Identity {
        if self.identities.len() <= producer.index() {
            self.identities
                .resize(producer.index() + 1, Identity::default());
        }
        &mut self.identities[producer.index()]
    }

    fn fold_outcome(&mut self, flow: &Flow) {
        match *flow {
            Flow::Appended(_) | Flow::Truncated { .. } | Flow::Consumed(_) => {}
            Flow::Acknowledged(ref batch) => {
                let (entry, pending) = self.entry(batch.producer, batch.partition);
                pending.acknowledge(entry, batch.first_ordinal, u64::from(batch.records));
            }
            Flow::Failed {
                producer,
                partition,
                first_ordinal,
                records,
            } => {
                let (entry, _) = self.entry(producer, partition);
                entry.fail(first_ordinal, u64::from(records));
            }
            Flow::Abandoned {
                producer,
                partition,
                first_ordinal,
                records,
            } => {
                let (entry, _) = self.entry(producer, partition);
                entry.abandon(first_ordinal, u64::from(records));
            }
            Flow::Refused {
                producer, records, ..
            } => self.count_apart(producer, |tally| tally.refused += u64::from(records)),
            Flow::Unassigned {
                producer,
                records,
                end,
                ..
            } => self.count_apart(producer, |tally| match end {
                UnassignedEnd::Failed => tally.failed_absent += u64::from(records),
                UnassignedEnd::Abandoned => tally.abandoned_absent += u64::from(records),
            }),
        }
    }

    /// Counts records that no entry knows: they never had a partition.
    fn count_apart(&mut self, producer: ProducerIndex, count: impl Fn(&mut Tally)) {
        if let Some(tally) = self.tallies.get_mut(producer.index()) {
            count(tally);
            count(&mut self.total);
        }
    }

    /// The entry of a producer in a partition, made when it is first asked for, and marked as
    /// changed.
    fn entry(
        &mut self,
        producer: ProducerIndex,
        partition: PartitionIndex,
    ) -> (&mut Entry, &mut Pending) {
        let place = self.place(producer, partition) as usize;
        (&mut self.entries[place], &mut self.pending[place])
    }

    /// The place of that entry.
    fn place(&mut self, producer: ProducerIndex, partition: PartitionIndex) -> u32 {
        if self.places.len() <= producer.index() {
            self.places.resize_with(producer.index() + 1, Vec::new);
            self.tallies.resize(producer.index() + 1, Tally::default());
        }
        let places = &mut self.places[producer.index()];
        if places.len() <= partition.index() {
            places.resize(partition.index() + 1, NO_ENTRY);
        }
        let mut place = places[partition.index()];
        if place == NO_ENTRY {
            place = self.entries.len() as u32;
            places[partition.index()] = place;
            let confirmation = self.confirmation.get(producer.index()).copied();
            let confirmation = confirmation.unwrap_or(Confirmation::ByLeader);
            self.entries
                .push(Entry::new(producer, partition, confirmation));
            self.pending.push(Pending::default());
        }
        let pending = &mut self.pending[place as usize];
        if !pending.is_changed {
            pending.is_changed = true;
            self.changed.push(place);
        }
        place
    }

    /// Counts the entries that changed anew.
    fn count_changed(&mut self) {
        for &place in &self.changed {
            self.pending[place as usize].enter(&mut self.entries[place as usize]);
        }
        let resent = self.resent.count(&mut self.entries);
        self.changed.extend(resent);
        for place in self.changed.drain(..) {
            let entry = &mut self.entries[place as usize];
            let before = *entry.tally();
            entry.recount();
            let tally = &mut self.tallies[entry.producer.index()];
            tally.replace(&before, entry.tally());
            self.total.replace(&before, entry.tally());
        }
    }
}

fn is_idempotent(client: &ClientConfig) -> bool {
    match client {
        ClientConfig::Java(settings) => settings.idempotence,
        ClientConfig::Rdkafka(settings) => settings.idempotence.is_on(),
    }
}

fn confirmation(client: &ClientConfig) -> Confirmation {
    match client {
        ClientConfig::Java(settings) if settings.acks == Acks::None => Confirmation::ByNobody,
        ClientConfig::Rdkafka(settings) if settings.acks == RequiredAcks::Valid(Acks::None) => {
            Confirmation::ByNobody
        }
        ClientConfig::Java(_) | ClientConfig::Rdkafka(_) => Confirmation::ByLeader,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::insight::testing::config;
    use crate::kafka::error::ErrorCode;
    use crate::sim::fact::Acknowledged;
    use crate::sim::ids::TopicIndex;
    use crate::sim::time::SimTime;

    const TRIPS: ProducerIndex = ProducerIndex(0);

    fn appended(partition: u32, batch: u64, base_offset: u64, millis: u64) -> Flow {
        Flow::Appended(Appended {
            producer: TRIPS,
            partition: PartitionIndex::of_first_topic(partition),
            first_ordinal: batch * 10,
            records: 10,
            bytes: 10_000,
            base_offset,
            at: SimTime::from_millis(millis),
        })
    }

    fn acknowledged(partition: u32, batch: u64) -> Flow {
        Flow::Acknowledged(Acknowledged {
            producer: TRIPS,
            partition: PartitionIndex::of_first_topic(partition),
            first_ordinal: batch * 10,
            records: 10,
            bytes: 10_000,
            created: SimTime::ZERO,
            drained: SimTime::ZERO,
            arrived: SimTime::ZERO,
            appended: SimTime::ZERO,
            answered: SimTime::ZERO,
            at: SimTime::ZERO,
        })
    }

    fn failed(partition: u32, batch: u64) -> Flow {
        let partition = PartitionIndex::of_first_topic(partition);
        Flow::Failed {
            producer: TRIPS,
            partition,
            first_ordinal: batch * 10,
            records: 10,
        }
    }

    #[test]
    fn a_healthy_hour_adds_up_and_is_one_interval_a_partition() {
        let mut ledger = Ledger::new(&config());
        for batch in 0..10_000 {
            ledger.fold(&[
                appended(2, batch, batch * 10, batch),
                acknowledged(2, batch),
            ]);
        }
        let account = ledger.account_of(TRIPS, 100_020);
        assert_eq!(account.tally.acknowledged_present, 100_000);
        assert_eq!(account.under_way, 20);
        assert_eq!(account.imbalance(), None);
        assert_eq!(
            ledger.of_partition(PartitionIndex::of_first_topic(2)),
            ledger.total()
        );
    }

    #[test]
    fn a_message_that_ended_before_it_had_a_partition_is_accounted_for() {
        let mut ledger = Ledger::new(&config());
        let unassigned = |records, end| Flow::Unassigned {
            producer: TRIPS,
            topic: TopicIndex(0),
            records,
            end,
        };
        ledger.fold(&[
            unassigned(3, UnassignedEnd::Failed),
            unassigned(2, UnassignedEnd::Abandoned),
        ]);
        let account = ledger.account(6);
        assert_eq!((account.tally.failed(), account.tally.abandoned()), (3, 2));
        assert_eq!((account.under_way, account.imbalance()), (1, None));
    }

    #[test]
    fn a_refused_record_was_never_sent() {
        let mut ledger = Ledger::new(&config());
        ledger.fold(&[Flow::Refused {
            producer: TRIPS,
            topic: TopicIndex(0),
            records: 3,
        }]);
        let account = ledger.account(0);
        assert_eq!((account.tally.refused, account.under_way), (3, 0));
    }

    fn retried(batch: u64, millis: u64, error: ErrorCode) -> Trace {
        Trace {
            at: SimTime::from_millis(millis),
            producer: TRIPS,
            partition: PartitionIndex::of_first_topic(0),
            first_ordinal: batch * 10,
            records: 10,
            step: TraceStep::Retried { error },
        }
    }

    /// Batch 0 stands twice, since it was sent again after a timeout.
    fn doubled() -> Ledger {
        let mut ledger = Ledger::new(&config());
        ledger.identities[0].is_idempotent = false;
        ledger.observe(&Output {
            flows: vec![appended(0, 0, 0, 5), appended(0, 0, 10, 2_000)],
            traces: vec![retried(0, 1_000, ErrorCode::RequestTimedOut)],
            ..Output::default()
        });
        ledger
    }

    #[test]
    fn a_copy_has_its_cause() {
        let total = doubled().total();
        assert_eq!(total.duplicated, 10);
        assert_eq!(total.duplicated_by(DuplicateCause::Timeout), 10);
    }

    #[test]
    fn a_copy_that_is_truncated_takes_its_cause_along() {
        let mut ledger = doubled();
        ledger.fold(&[Flow::Truncated {
            producer: TRIPS,
            partition: PartitionIndex::of_first_topic(0),
            first_ordinal: 0,
            records: 10,
        }]);
        let total = ledger.total();
        assert_eq!((total.duplicated, total.duplicated_by), (0, [0; 7]));
    }

    #[test]
    fn a_record_sent_again_by_its_application_is_a_duplicate_only_where_both_stand() {
        let mut ledger = Ledger::new(&config());
        let again = TraceStep::SentAgain {
            partition: PartitionIndex::of_first_topic(0),
            ordinal: 3,
        };
        let again = Trace {
            first_ordinal: 10,
            records: 1,
            step: again,
            ..retried(0, 500, ErrorCode::RequestTimedOut)
        };
        ledger.observe(&Output {
            flows: vec![failed(0, 0), appended(0, 1, 0, 900)],
            traces: vec![again],
            ..Output::default()
        });
        assert_eq!(ledger.total().duplicated, 0);
        // The first attempt comes late, and is appended after all.
        ledger.fold(&[appended(0, 0, 10, 5_000)]);
        let total = ledger.total();
        assert_eq!(total.duplicated_by(DuplicateCause::Application), 1);
        assert_eq!((total.duplicated, total.failed_present), (1, 10));
    }

    #[test]
    fn appends_of_an_old_and_a_new_leader_are_taken_in_order_of_time() {
        // The new leader's flows come first here: it has the lower rank.
        let mut ledger = Ledger::new(&config());
        ledger.fold(&[appended(0, 1, 10, 9_000), appended(0, 0, 0, 5)]);
        assert_eq!(ledger.total().reordered, 0);
    }

    proptest! {
        #[test]
        fn the_order_between_entities_does_not_matter(
            fates in prop::collection::vec(0u8..4, 1..60),
            seed in any::<u64>(),
        ) {
            let mut flows = Vec::new();
            for (batch, fate) in (0u64..).zip(&fates) {
                let partition = (batch % 3) as u32;
                let append = appended(partition, batch, batch * 10, batch);
                match fate {
                    0 => flows.extend([append, acknowledged(partition, batch)]),
                    1 => flows.extend([append, failed(partition, batch)]),
                    2 => flows.push(failed(partition, batch)),
                    _ => {}
                }
            }
            let mut shuffled = flows.clone();
            let mut state = seed | 1;
            for place in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(place, (state >> 33) as usize % (place + 1));
            }
            let (mut one, mut two) = (Ledger::new(&config()), Ledger::new(&config()));
            one.fold(&flows);
            two.fold(&shuffled);
            prop_assert_eq!(one.total(), two.total());
            let account = one.account(fates.len() as u64 * 10);
            prop_assert_eq!(account.imbalance(), None);
            let open = fates.iter().filter(|&&fate| 2 < fate).count() as u64;
            prop_assert_eq!(account.under_way, open * 10);
        }

        #[test]
        fn batches_handed_over_together_count_like_one_after_the_other(
            // Retries, gaps and duplicates, on one partition.
            batches in prop::collection::vec((0u64..12, any::<bool>()), 1..60),
        ) {
            let flows: Vec<Flow> = (0u64..)
                .zip(&batches)
                .map(|(moment, &(batch, is_append))| {
                    if is_append {
                        appended(0, batch, moment * 10, moment)
                    } else {
                        acknowledged(0, batch)
                    }
                })
                .collect();
            let (mut together, mut singly) = (Ledger::new(&config()), Ledger::new(&config()));
            together.fold(&flows);
            for flow in &flows {
                singly.fold(std::slice::from_ref(flow));
            }
            prop_assert_eq!(together.total(), singly.total());
        }
    }
}
