//! What a producer's records are made of, for the codecs, and the curves that were measured on it.
//!
//! A load's payload sample is compressed with the keys that the load draws; a script's records are
//! what the script says; values of which only the size is known do not shrink, or shrink as the
//! load says. Where several of them go to one topic, each counts as much as the others.
//!
//! Simplification: a batch of a keyed load is measured with keys of all partitions.

use std::io;
use std::sync::{Arc, OnceLock};

use crate::kafka::compression::{Codec, Curve, SampleRecord};
use crate::sim::config::{Call, Config, LoadConfig, ProducerConfig, Rate, ValueConfig};
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::rng::{Purpose, Stream};
use crate::sim::workload::{KeyHash, KeySource, KeyTable};

/// What values of unknown content shrink to, in parts per million: nothing is gained.
const INCOMPRESSIBLE_PPM: u32 = 1_000_000;
/// Records without values that are measured at most: their keys alone.
const TOMBSTONES_MEASURED: usize = 10_000;

/// What a codec makes of a producer's batches for one topic: measured when it is first asked for,
/// and shared by all runs of a configuration.
#[derive(Debug)]
pub struct KnownCurve {
    topic: TopicIndex,
    codec: Codec,
    curve: OnceLock<Option<Arc<Curve>>>,
}

/// Two of the same come to the same curve, whether it was measured yet or not.
impl PartialEq for KnownCurve {
    fn eq(&self, other: &Self) -> bool {
        (self.topic, self.codec) == (other.topic, other.codec)
    }
}

impl KnownCurve {
    /// A curve that will be asked for.
    pub const fn new(topic: TopicIndex, codec: Codec) -> Self {
        Self {
            topic,
            codec,
            curve: OnceLock::new(),
        }
    }
}

/// The curve of what a producer sends to a topic. None where it sends nothing there, or where the
/// codec's library has no memory left.
pub fn curve(
    config: &Config,
    producer: ProducerIndex,
    topic: TopicIndex,
    codec: Codec,
) -> Option<Arc<Curve>> {
    let measured = || {
        let curve = measure(config, producer, topic, codec);
        curve.ok().flatten().map(Arc::new)
    };
    let known = config.producers[producer.index()].curves.iter();
    let mut known = known.filter(|known| known.topic == topic && known.codec == codec);
    match known.next() {
        Some(known) => known.curve.get_or_init(measured).clone(),
        None => measured(),
    }
}

/// Compresses what a producer sends to a topic, at several batch depths.
fn measure(
    config: &Config,
    producer: ProducerIndex,
    topic: TopicIndex,
    codec: Codec,
) -> io::Result<Option<Curve>> {
    let producer = &config.producers[producer.index()];
    let mut curves = Vec::new();
    add_script(&mut curves, producer, topic, codec)?;
    for load in producer.loads.iter().filter(|load| load.topic == topic) {
        let Some(source) = load.replay else {
            curves.push(of_load(config, load, codec)?);
            continue;
        };
        for other in &config.producers {
            add_script(&mut curves, other, source, codec)?;
            let first_hand = |load: &&LoadConfig| load.topic == source && load.replay.is_none();
            for load in other.loads.iter().filter(first_hand) {
                curves.push(of_load(config, load, codec)?);
            }
        }
    }
    Ok(Curve::average(&curves))
}

/// Whether the content of what a load sends is known, or how well it compresses.
pub fn is_known(load: &LoadConfig) -> bool {
    let has_content = matches!(load.values, ValueConfig::Sample(_) | ValueConfig::Null);
    has_content || load.compresses_to_ppm.is_some() || load.replay.is_some()
}

fn add_script(
    curves: &mut Vec<Curve>,
    producer: &ProducerConfig,
    topic: TopicIndex,
    codec: Codec,
) -> io::Result<()> {
    let records = producer.script.iter().filter_map(|step| match &step.call {
        Call::Produce(record) if record.topic == topic => Some(SampleRecord {
            key: record.key.as_deref(),
            value: record.value.as_deref(),
        }),
        _ => None,
    });
    let records: Vec<_> = records.collect();
    if !records.is_empty() {
        curves.push(Curve::of_sample(codec, &records, 0)?);
    }
    Ok(())
}

fn of_load(config: &Config, load: &LoadConfig, codec: Codec) -> io::Result<Curve> {
    let interval_us = interval_us(config, load);
    match &load.values {
        ValueConfig::Sample(values) => {
            let values = values.iter().map(|value| Some(&**value));
            Curve::of_sample(codec, &with_keys(load, values), interval_us)
        }
        ValueConfig::Null => {
            let values = std::iter::repeat_n(None, TOMBSTONES_MEASURED);
            Curve::of_sample(codec, &with_keys(load, values), interval_us)
        }
        ValueConfig::Fixed(_) | ValueConfig::Uniform(..) => {
            let ratio_ppm = load.compresses_to_ppm.unwrap_or(INCOMPRESSIBLE_PPM);
            Curve::of_ratio(codec, ratio_ppm)
        }
    }
}

/// Values with keys as the load draws them.
fn with_keys<'a>(
    load: &'a LoadConfig,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Vec<SampleRecord<'a>> {
    let table = KeyTable::new(&load.keys, KeyHash::Murmur2, None, 1);
    let draws = Stream::new(0, Purpose::SampleKey, 0, 0);
    let mut source = KeySource::new(Arc::new(table), draws, (0, 1));
    let keys = &load.keys.keys;
    values
        .map(|value| {
            let key = (!keys.is_empty()).then(|| source.draw());
            let key = key.and_then(|key| keys.get(key as usize));
            SampleRecord {
                key: key.map(Vec::as_slice),
                value,
            }
        })
        .collect()
}

/// Time between two records of one batch at the load's highest rate, in microseconds: those with
/// keys are spread over partitions, those without go to one for a while.
fn interval_us(config: &Config, load: &LoadConfig) -> u64 {
    const MICRO_RECORDS_US: u64 = 1_000_000_000_000;
    let Rate::Steps(steps) = &load.rate else {
        return 0;
    };
    let rates = steps.iter().map(|step| step.micro_records_per_second);
    let Some(rate) = rates.max().filter(|rate| *rate > 0) else {
        return 0;
    };
    let is_spread = !load.keys.keys.is_empty() && load.keys.explicit_partition.is_none();
    let partitions = if is_spread {
        u64::from(config.partitions_of(load.topic)).max(1)
    } else {
        1
    };
    (MICRO_RECORDS_US / rate).saturating_mul(partitions)
}
