//! Where the time of a batch went, as histograms per producer and stage.
//!
//! Values are whole microseconds, kept to two significant digits whatever their size, so a
//! histogram takes a few tens of kilobytes for any run length. Beyond [`PRODUCERS_MAX`] producers
//! the rest share one set. One batch counts once, however many records it holds.

use std::sync::Arc;

use hdrhistogram::Histogram;

use crate::sim::fact::Acknowledged;
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

    /// Takes one batch.
    pub fn record(&mut self, batch: &Acknowledged) {
        let last = self.sets.len().saturating_sub(1);
        let Some(set) = self.sets.get_mut(batch.producer.index().min(last)) else {
            return;
        };
        let micros = |from: SimTime, to: SimTime| to.since(from).as_nanos() / 1_000;
        let spans = [
            micros(batch.created, batch.drained),
            micros(batch.drained, batch.arrived),
            micros(batch.arrived, batch.appended),
            micros(batch.appended, batch.answered),
            micros(batch.answered, batch.at),
            micros(batch.created, batch.at),
        ];
        for (histogram, span) in Arc::make_mut(set).iter_mut().zip(spans) {
            // It resizes itself to any value, so recording cannot fail.
            let _recorded = histogram.record(span);
        }
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

    fn batch(producer: u16, millis: [u64; 6]) -> Acknowledged {
        let [created, drained, arrived, appended, answered, at] = millis.map(SimTime::from_millis);
        Acknowledged {
            producer: ProducerIndex(producer),
            partition: PartitionIndex(0),
            first_ordinal: 0,
            records: 15,
            bytes: 16_000,
            created,
            drained,
            arrived,
            appended,
            answered,
            at,
        }
    }

    #[test]
    fn each_stage_gets_its_part_of_a_batch_s_life() {
        let mut latency = Latency::new(1);
        latency.record(&batch(0, [0, 5, 6, 26, 27, 28]));
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
    fn a_producer_without_acknowledgement_has_no_percentiles() {
        let mut latency = Latency::new(2);
        latency.record(&batch(0, [0, 1, 2, 3, 4, 5]));
        assert_eq!(latency.percentiles(ProducerIndex(1), Stage::Total), None);
        assert_eq!(latency.percentiles_of_all(Stage::Total).unwrap().batches, 1);
    }

    #[test]
    fn a_thousand_producers_share_a_bounded_number_of_histograms() {
        let mut latency = Latency::new(1_000);
        latency.record(&batch(999, [0, 1, 2, 3, 4, 5]));
        latency.record(&batch(100, [0, 1, 2, 3, 4, 5]));
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
        latency.record(&batch(0, [0, month, month, month, month, month]));
        let max = latency
            .percentiles(ProducerIndex(0), Stage::Total)
            .unwrap()
            .max;
        assert!(SimSpan::from_millis(month) <= max);
    }
}
