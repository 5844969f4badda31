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
#[cfg(test)]
mod tests;

use crate::kafka::settings::{Acks, RequiredAcks};
use crate::sim::config::{ClientConfig, Config};
use crate::sim::fact::{Appended, Fact, Flow, UnassignedEnd};
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};
use crate::sim::{Cuts, Output};

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
                .map(|p| Identity::new(is_idempotent(&p.client)))
                .collect(),
            resent: Resent::default(),
            tallies: vec![Tally::default(); producers],
            total: Tally::default(),
        }
    }

    /// Takes what the engine said since the last time.
    pub fn observe(&mut self, output: &Output) {
        self.hear(output);
        self.take(&output.flows);
        self.count();
    }

    /// Hears what the engine said since the last time, but for the flows: those are handed over to
    /// [`Ledger::take`] afterwards, in one go or several, and counted by [`Ledger::count`].
    pub fn hear(&mut self, output: &Output) {
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
        if output.cuts == Cuts::Some {
            self.cut(&output.flows);
        }
    }

    /// Flows alone, whether logs were cut or not.
    #[cfg(test)]
    fn fold(&mut self, flows: &[Flow]) {
        self.cut(flows);
        self.take(flows);
        self.count();
    }

    /// Truncations among flows come before everything else that was handed over with them.
    fn cut(&mut self, flows: &[Flow]) {
        for flow in flows {
            if let Flow::Truncated {
                producer,
                partition,
                first_ordinal,
                records,
            } = *flow
            {
                let place = self.place(producer, partition);
                self.resent.touch(place, first_ordinal, u64::from(records));
                let (entry, pending) = self.entry(producer, partition);
                pending.truncate(entry, first_ordinal, u64::from(records));
            }
        }
    }

    /// Takes some of what was handed over. The order between entities does not matter: appends are
    /// taken in order of time.
    pub fn take(&mut self, flows: &[Flow]) {
        let is_in_order = self.is_in_order(flows);
        if !is_in_order {
            self.sort_and_append(flows);
        }
        for flow in flows {
            match flow {
                Flow::Appended(appended) if is_in_order => self.append(appended),
                flow => self.fold_outcome(flow),
            }
        }
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

    #[cold]
    fn sort_and_append(&mut self, flows: &[Flow]) {
        let mut sorted: Vec<&Appended> = appends(flows).collect();
        sorted.sort_by_key(|appended| (appended.at, appended.partition, appended.base_offset));
        for appended in sorted {
            self.append(appended);
        }
    }

    /// Whether each partition's appends stand in order of time.
    fn is_in_order(&mut self, flows: &[Flow]) -> bool {
        let mut in_order = true;
        for appended in appends(flows) {
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

    /// Counts the entries that changed anew; the sums are right from then on.
    pub fn count(&mut self) {
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

fn appends(flows: &[Flow]) -> impl Iterator<Item = &Appended> {
    flows.iter().filter_map(|flow| match flow {
        Flow::Appended(appended) => Some(appended),
        _ => None,
    })
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
