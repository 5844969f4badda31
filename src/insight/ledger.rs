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

mod entry;
mod tally;

use crate::kafka::settings::Acks;
use crate::sim::config::{ClientConfig, Config};
use crate::sim::fact::{Appended, Flow};
use crate::sim::ids::{PartitionIndex, ProducerIndex};

pub use entry::RUNS_MAX;
pub use tally::{Account, LedgerField, Tally};

use entry::{Confirmation, Entry};

/// No entry for this partition yet.
const NO_ENTRY: u32 = u32::MAX;

/// What became of every record of a run.
#[derive(Clone, Debug)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// By producer and partition: the place in `entries`, or [`NO_ENTRY`].
    places: Vec<Vec<u32>>,
    /// Entries that changed since they were last counted.
    changed: Vec<u32>,
    /// By producer: whether somebody confirms.
    confirmation: Vec<Confirmation>,
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
            places: vec![Vec::new(); producers],
            changed: Vec::new(),
            confirmation: config
                .producers
                .iter()
                .map(|p| confirmation(&p.client))
                .collect(),
            tallies: vec![Tally::default(); producers],
            total: Tally::default(),
        }
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
                self.entry(producer, partition)
                    .truncate(first_ordinal, records);
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
            let entry = self.entry(appended.producer, appended.partition);
            in_order &= entry.last_append <= appended.at;
            entry.last_append = entry.last_append.max(appended.at);
        }
        in_order
    }

    fn append(&mut self, appended: &Appended) {
        self.entry(appended.producer, appended.partition)
            .append(appended.first_ordinal, appended.records);
    }

    fn fold_outcome(&mut self, flow: &Flow) {
        match *flow {
            Flow::Appended(_) | Flow::Truncated { .. } => {}
            Flow::Acknowledged(ref batch) => self
                .entry(batch.producer, batch.partition)
                .acknowledge(batch.first_ordinal, batch.records),
            Flow::Failed {
                producer,
                partition,
                first_ordinal,
                records,
            } => {
                self.entry(producer, partition).fail(first_ordinal, records);
            }
            Flow::Abandoned {
                producer,
                partition,
                first_ordinal,
                records,
            } => {
                self.entry(producer, partition)
                    .abandon(first_ordinal, records);
            }
            Flow::Refused {
                producer, records, ..
            } => {
                if let Some(tally) = self.tallies.get_mut(producer.index()) {
                    tally.refused += u64::from(records);
                    self.total.refused += u64::from(records);
                }
            }
        }
    }

    /// The entry of a producer in a partition, made when it is first asked for, and marked as
    /// changed.
    fn entry(&mut self, producer: ProducerIndex, partition: PartitionIndex) -> &mut Entry {
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
        }
        let entry = &mut self.entries[place as usize];
        if !entry.changed {
            entry.changed = true;
            self.changed.push(place);
        }
        entry
    }

    /// Counts the entries that changed anew.
    fn count_changed(&mut self) {
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

fn confirmation(client: &ClientConfig) -> Confirmation {
    match client {
        ClientConfig::Java(settings) if settings.acks == Acks::None => Confirmation::ByNobody,
        ClientConfig::Java(_) => Confirmation::ByLeader,
    }
}
