//! Where the time of a batch went, as histograms per producer and stage.
//!
//! Values are whole microseconds, kept to two significant digits whatever their size, so a
//! histogram takes a few tens of kilobytes for any run length. Beyond [`PRODUCERS_MAX`] producers
//! the rest share one set. One batch counts once, however many records it holds.

use std::sync::Arc;

use hdrhistogram::Histogram;

use crate::sim::fact::{Acknowledged, Flow};
use crate::sim::ids::ProducerIndex;
use crate::sim::time::{SimSpan, SimTime};

/// Producers with histograms of their own at most.
pub const PRODUCERS_MAX: usize = 100;
/// Significant digits of a latency.
const DIGITS: u8 = 2;

/// A stage of a batch's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// In the accumulator, from its first record to its (last) drain.
    Accumulator,
    /// From the drain to the broker.
    NetworkOut,
    /// In the broker's request queue and in its append.
    Broker,
    /// Waiting for the other replicas.
    Replication,
    /// From the broker's answer to the client's callbacks.
    NetworkBack,
    /// All of it: from the first record to the callbacks.
    Total,
}

impl Stage {
    /// All stages in the order of a batch's life, the total last.
    pub const ALL: [Self; 6] = [
        Self::Accumulator,
        Self::NetworkOut,
        Self::Broker,
        Self::Replication,
        Self::NetworkBack,
        Self::Total,
    ];

    /// A short name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accumulator => "accumulator",
            Self::NetworkOut => "network out",
            Self::Broker => "broker",
            Self::Replication => "replication",
            Self::NetworkBack => "network back",
            Self::Total => "total",
        }
    }
}

/// The latencies of one stage, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Batches.
    pub batches: u64,
    /// Half of them took at most this long.
    pub p50: SimSpan,
    /// 95 of 100 took at most this long.
    pub p95: SimSpan,
    /// 99 of 100 took at most this long.
    pub p99: SimSpan,
    /// The slowest.
    pub max: SimSpan,
}

/// Histograms of all stages, per producer.
#[derive(Clone, Debug)]
pub struct Latency {
    /// One set a producer; the last one is shared by all further producers. Clones share a set
    /// until one of them records.
    sets: Vec<Arc<[Histogram<u64>; 6]>>,
}

impl Latency {
    /// Empty histograms for `producers` producers.
    pub fn new(producers: usize) -> Self {
        let empty = Arc::new(std::array::from_fn(|_| empty()));
        Self {
            sets: vec![empty; producers.min(PRODUCERS_MAX + 1)],
        }
    }

    /// Takes the batches among `flows`. Those of one request stand together, and share all stages
    /// but their time in the accumulator.
    pub fn observe(&mut self, flows: &[Flow]) {
        let mut batches = flows.iter().filter_map(|flow| match flow {
            Flow::Acknowledged(batch) => Some(batch),
            _ => None,
        });
        let Some(mut first) = batches.next() else {
            return;
        };
        let mut together = 1;
        self.record_accumulator(first);
        for batch in batches {
            self.record_accumulator(batch);
            if of_one_request(first, batch) {
                together += 1;
            } else {
                self.record_trip(first, together);
                (first, together) = (batch, 1);
            }
        }
        self.record_trip(first, together);
    }

    /// What each batch of a request has for itself.
    fn record_accumulator(&mut self, batch: &Acknowledged) {
        if let Some(set) = self.set_of(batch.producer) {
            record(set, Stage::Accumulator, (batch.created, batch.drained), 1);
            record(set, Stage::Total, (batch.created, batch.at), 1);
        }
    }

    /// What the batches of a request have in common.
    fn record_trip(&mut self, batch: &Acknowledged, batches: u64) {
        if let Some(set) = self.set_of(batch.producer) {
            let stages = [
                (Stage::NetworkOut, batch.drained, batch.arrived),
                (Stage::Broker, batch.arrived, batch.appended),
                (Stage::Replication, batch.appended, batch.answered),
                (Stage::NetworkBack, batch.answered, batch.at),
            ];
            for (stage, from, to) in stages {
                record(set, stage, (from, to), batches);
            }
        }
    }

    fn set_of(&mut self, producer: ProducerIndex) -> Option<&mut [Histogram<u64>; 6]> {
        let last = self.sets.len().saturating_sub(1);
        let set = self.sets.get_mut(producer.index().min(last))?;
        Some(Arc::make_mut(set))
    }

    /// One stage of one producer; `None` while no batch of it was acknowledged. Producers beyond
    /// [`PRODUCERS_MAX`] answer with what they share.
    pub fn percentiles(&self, producer: ProducerIndex, stage: Stage) -> Option<Percentiles> {
        let last = self.sets.len().saturating_sub(1);
        let set = self.sets.get(producer.index().min(last))?;
        summed_up(&set[stage as usize])
    }

    /// One stage over all producers; `None` while no batch was acknowledged.
    pub fn percentiles_of_all(&self, stage: Stage) -> Option<Percentiles> {
        let mut all = empty();
        for set in &self.sets {
            // Both resize themselves, so adding cannot fail; a failure would only leave some out.
            let _added = all.add(&set[stage as usize]);
        }
        summed_up(&all)
    }
}

fn of_one_request(a: &Acknowledged, b: &Acknowledged) -> bool {
    let trip = |batch: &Acknowledged| {
        (
            batch.producer,
            batch.drained,
            batch.arrived,
            batch.appended,
            batch.answered,
            batch.at,
        )
    };
    trip(a) == trip(b)
}

fn record(
    set: &mut [Histogram<u64>; 6],
    stage: Stage,
    (from, to): (SimTime, SimTime),
    batches: u64,
) {
    let micros = to.since(from).as_nanos() / 1_000;
    // It resizes itself to any value, so recording cannot fail.
    let _recorded = set[stage as usize].record_n(micros, batches);
}

fn empty() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("two significant digits are a valid precision")
}

fn summed_up(histogram: &Histogram<u64>) -> Option<Percentiles> {
    let at = |quantile| SimSpan::from_micros(histogram.value_at_quantile(quantile));
    (!histogram.is_empty()).then(|| Percentiles {
        batches: histogram.len(),
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: SimSpan::from_micros(histogram.max()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::PartitionIndex;

    fn batch(producer: u16, millis: [u64; 6]) -> Flow {
        let [created, drained, arrived, appended, answered, at] = millis.map(SimTime::from_millis);
        Flow::Acknowledged(Acknowledged {
            producer: ProducerIndex(producer),
            partition: PartitionIndex::of_first_topic(0),
            first_ordinal: 0,
            records: 15,
            bytes: 16_000,
            created,
            drained,
            arrived,
            appended,
            answered,
            at,
        })
    }

    #[test]
    fn each_stage_gets_its_part_of_a_batch_s_life() {
        let mut latency = Latency::new(1);
        latency.observe(&[batch(0, [0, 5, 6, 26, 27, 28])]);
        let p50 = |stage| {
            latency
                .percentiles(ProducerIndex(0), stage)
                .unwrap()
                .p50
                .as_millis()
        };
        let spans: Vec<u64> = Stage::ALL.into_iter().map(p50).collect();
        assert_eq!(spans, [5, 1, 20, 1, 1, 28]);
    }

    #[test]
    fn every_batch_of_a_request_counts_in_every_stage() {
        let mut latency = Latency::new(1);
        let one = batch(0, [0, 5, 6, 26, 27, 28]);
        let earlier = batch(0, [1, 5, 6, 26, 27, 28]);
        let other_request = batch(0, [1, 5, 6, 26, 27, 29]);
        latency.observe(&[one, earlier, other_request]);
        for stage in Stage::ALL {
            let all = latency.percentiles_of_all(stage).unwrap();
            assert_eq!(all.batches, 3, "{}", stage.name());
        }
    }

    #[test]
    fn a_producer_without_acknowledgement_has_no_percentiles() {
        let mut latency = Latency::new(2);
        latency.observe(&[batch(0, [0, 1, 2, 3, 4, 5])]);
        assert_eq!(latency.percentiles(ProducerIndex(1), Stage::Total), None);
        assert_eq!(latency.percentiles_of_all(Stage::Total).unwrap().batches, 1);
    }

    #[test]
    fn a_thousand_producers_share_a_bounded_number_of_histograms() {
        let mut latency = Latency::new(1_000);
        latency.observe(&[batch(999, [0, 1, 2, 3, 4, 5])]);
        latency.observe(&[batch(100, [0, 1, 2, 3, 4, 5])]);
        assert_eq!(latency.sets.len(), PRODUCERS_MAX + 1);
        let shared = latency
            .percentiles(ProducerIndex(500), Stage::Total)
            .unwrap();
        assert_eq!(shared.batches, 2);
    }

    #[test]
    fn a_month_in_the_accumulator_still_fits() {
        let mut latency = Latency::new(1);
        let month = 30 * 24 * 3_600_000;
        latency.observe(&[batch(0, [0, month, month, month, month, month])]);
        let max = latency
            .percentiles(ProducerIndex(0), Stage::Total)
            .unwrap()
            .max;
        assert!(SimSpan::from_millis(month) <= max);
    }
}
