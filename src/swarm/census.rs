//! Every record of a run by itself: what its producer was told, and how often logs hold it.
//!
//! Nothing here is the engine's own bookkeeping, nor the ledger's: what producers were told comes
//! from the moments when callbacks ran, and what became of records is read from the logs.

use crate::sim::Simulation;
use crate::sim::fact::{Flow, UnassignedEnd};
use crate::sim::ids::{PartitionIndex, ProducerIndex};

/// What one producer was told, and what logs hold of it.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// By partition and ordinal.
    records: Vec<Vec<Record>>,
    /// Records that failed before they had a partition.
    pub failed_unassigned: u64,
    /// Records that went away with their process before they had a partition.
    pub abandoned_unassigned: u64,
    /// Records that the application gave up after a refusal.
    pub refused: u64,
}

/// One record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    acknowledged: u8,
    failed: u8,
    abandoned: u8,
    /// Times that it stands in the log.
    pub copies: u16,
}

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Acknowledged, and a log holds it.
    AcknowledgedPresent,
    /// Acknowledged, and no log holds it.
    AcknowledgedLost,
    /// Failed, and no log holds it.
    FailedAbsent,
    /// Failed, and a log holds it all the same.
    FailedPresent,
    /// Its process ended first, and no log holds it.
    AbandonedAbsent,
    /// Its process ended first, and a log holds it.
    AbandonedPresent,
    /// Nobody was told anything.
    UnderWay,
    /// Its producer was told more than one thing, or one thing twice.
    Contradicted,
}

impl Record {
    /// What became of it.
    pub fn fate(self) -> Fate {
        let is_present = self.copies > 0;
        match (self.acknowledged, self.failed, self.abandoned) {
            (0, 0, 0) => Fate::UnderWay,
            (1, 0, 0) if is_present => Fate::AcknowledgedPresent,
            (1, 0, 0) => Fate::AcknowledgedLost,
            (0, 1, 0) if is_present => Fate::FailedPresent,
            (0, 1, 0) => Fate::FailedAbsent,
            (0, 0, 1) if is_present => Fate::AbandonedPresent,
            (0, 0, 1) => Fate::AbandonedAbsent,
            _ => Fate::Contradicted,
        }
    }

    fn is_acknowledged(self) -> bool {
        self.acknowledged > 0
    }
}

/// All records of a run.
#[derive(Clone, Debug)]
pub struct Census {
    producers: Vec<Told>,
}

/// A place in a log where two acknowledged records of one producer stand the wrong way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// Where.
    pub partition: PartitionIndex,
    /// The earlier record, which stands behind.
    pub earlier: u64,
    /// The later one.
    pub later: u64,
    /// The offset of the earlier one.
    pub offset: u64,
}

impl Census {
    /// Nobody was told anything yet.
    pub fn new(producers: usize) -> Self {
        Self {
            producers: vec![Told::default(); producers],
        }
    }

    /// Takes what producers were told.
    pub fn hear(&mut self, flows: &[Flow]) {
        for flow in flows {
            match *flow {
                Flow::Acknowledged(ref batch) => {
                    let place = (batch.producer, batch.partition);
                    self.mark(place, (batch.first_ordinal, batch.records), |record| {
                        record.acknowledged = record.acknowledged.saturating_add(1);
                    });
                }
                Flow::Failed {
                    producer,
                    partition,
                    first_ordinal,
                    records,
                } => self.mark((producer, partition), (first_ordinal, records), |record| {
                    record.failed = record.failed.saturating_add(1);
                }),
                Flow::Abandoned {
                    producer,
                    partition,
                    first_ordinal,
                    records,
                } => self.mark((producer, partition), (first_ordinal, records), |record| {
                    record.abandoned = record.abandoned.saturating_add(1);
                }),
                Flow::Refused {
                    producer, records, ..
                } => self.producers[producer.index()].refused += u64::from(records),
                Flow::Unassigned {
                    producer,
                    records,
                    end,
                    ..
                } => {
                    let told = &mut self.producers[producer.index()];
                    match end {
                        UnassignedEnd::Failed => told.failed_unassigned += u64::from(records),
                        UnassignedEnd::Abandoned => {
                            told.abandoned_unassigned += u64::from(records);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads all logs: how often each record stands there.
    pub fn read_logs(&mut self, simulation: &Simulation) {
        for told in &mut self.producers {
            for record in told.records.iter_mut().flatten() {
                record.copies = 0;
            }
        }
        for partition in simulation.partitions() {
            for (_, producer, ordinal) in simulation.log_records(partition) {
                self.mark((producer, partition), (ordinal, 1), |record| {
                    record.copies = record.copies.saturating_add(1);
                });
            }
        }
    }

    /// What one producer was told.
    pub fn of(&self, producer: ProducerIndex) -> &Told {
        &self.producers[producer.index()]
    }

    /// The first place in a log where acknowledged records of a producer are out of order; copies
    /// beyond a record's first do not count.
    pub fn overtaken(&self, producer: ProducerIndex, simulation: &Simulation) -> Option<Overtaken> {
        simulation
            .partitions()
            .find_map(|partition| self.overtaken_in(producer, partition, simulation))
    }

    fn overtaken_in(
        &self,
        producer: ProducerIndex,
        partition: PartitionIndex,
        simulation: &Simulation,
    ) -> Option<Overtaken> {
        let records = self.producers[producer.index()]
            .records
            .get(partition.index())?;
        let mut is_seen = vec![false; records.len()];
        let mut latest = None;
        for (offset, _, ordinal) in simulation
            .log_records(partition)
            .filter(|(_, whose, _)| *whose == producer)
        {
            let place = ordinal as usize;
            let is_known = records.get(place).is_some_and(|r| r.is_acknowledged());
            if !is_known || is_seen[place] {
                continue;
            }
            is_seen[place] = true;
            if let Some(later) = latest.filter(|&later| ordinal < later) {
                return Some(Overtaken {
                    partition,
                    earlier: ordinal,
                    later,
                    offset,
                });
            }
            latest = Some(ordinal);
        }
        None
    }

    fn mark(
        &mut self,
        (producer, partition): (ProducerIndex, PartitionIndex),
        (first, count): (u64, u32),
        change: impl Fn(&mut Record),
    ) {
        let partitions = &mut self.producers[producer.index()].records;
        if partitions.len() <= partition.index() {
            partitions.resize_with(partition.index() + 1, Vec::new);
        }
        let records = &mut partitions[partition.index()];
        let (first, end) = (first as usize, first as usize + count as usize);
        if records.len() < end {
            records.resize(end, Record::default());
        }
        records[first..end].iter_mut().for_each(change);
    }
}

impl Told {
    /// All records that ever had a partition: the partition's place, the ordinal, the record.
    pub fn records(&self) -> impl Iterator<Item = (usize, u64, Record)> + '_ {
        self.records.iter().enumerate().flat_map(|(place, all)| {
            let numbered = (0_u64..).zip(all);
            numbered.map(move |(ordinal, record)| (place, ordinal, *record))
        })
    }

    /// How many ended so.
    pub fn count(&self, fate: Fate) -> u64 {
        let counted = self
            .records()
            .filter(|(_, _, record)| record.fate() == fate);
        counted.count() as u64
    }

    /// Copies beyond the first, over all records.
    pub fn surplus(&self) -> u64 {
        let copies = self
            .records()
            .map(|(_, _, record)| u64::from(record.copies));
        copies.map(|copies| copies.saturating_sub(1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_one_fate_and_two_answers_contradict_each_other() {
        let record = |acknowledged, failed, copies| Record {
            acknowledged,
            failed,
            abandoned: 0,
            copies,
        };
        assert_eq!(record(0, 0, 1).fate(), Fate::UnderWay);
        assert_eq!(record(1, 0, 0).fate(), Fate::AcknowledgedLost);
        assert_eq!(record(0, 1, 2).fate(), Fate::FailedPresent);
        assert_eq!(record(1, 1, 1).fate(), Fate::Contradicted);
        assert_eq!(record(2, 0, 1).fate(), Fate::Contradicted);
    }
}
