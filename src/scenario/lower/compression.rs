//! Compression: which codecs each producer's records will meet, in its client and at its brokers.
//!
//! Payloads are compressed when a run first asks, by these codecs and by no others.

use std::sync::Arc;

use crate::kafka::compression::{Codec, Writer};
use crate::kafka::settings::{CompressionType, StoredCompression};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::command::Command;
use crate::sim::config::{Call, Config, LoadConfig, ProducerConfig};
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::payload::{self, KnownCurve};

use super::World;

/// Lists the curves of all producers. Those of one table differ in nothing but their name.
pub(super) fn curves(world: &mut World<'_>, root: Fields<'_>, config: &mut Config) {
    let mut first = 0;
    for fields in root.tables("producer") {
        let count = fields.whole::<usize>("count").unwrap_or(1);
        let range = first..(first + count).min(config.producers.len());
        first += count;
        if range.is_empty() {
            return;
        }
        let curves: Arc<[_]> = of_producer(world, &fields, config, range.start).into();
        for producer in &mut config.producers[range] {
            producer.curves = Arc::clone(&curves);
        }
    }
}

fn of_producer(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    config: &Config,
    index: usize,
) -> Vec<KnownCurve> {
    let producer = &config.producers[index];
    let sent = codecs_sent(config, ProducerIndex(index as u16));
    let mut curves = Vec::new();
    for topic in topics_of(producer) {
        let mut wanted: Vec<Codec> = sent.iter().copied().filter(is_any).collect();
        wanted.extend(stored_anew(config, topic, &sent));
        if !wanted.is_empty() {
            note_unknown(world, fields, (producer, topic));
        }
        let known = wanted.into_iter();
        curves.extend(known.map(|codec| KnownCurve::new(topic, codec)));
    }
    curves
}

/// The codecs that a producer's client uses, as configured and as the timeline changes it.
fn codecs_sent(config: &Config, me: ProducerIndex) -> Vec<Codec> {
    let producer = &config.producers[me.index()];
    let mut given = producer.given.clone();
    let mut codecs = vec![producer.client.codec()];
    for (_, command) in &config.timeline {
        let Command::SetClient {
            producer: changed,
            key,
            value,
        } = command
        else {
            continue;
        };
        if *changed != me {
            continue;
        }
        given.retain(|(known, _)| known != key);
        given.push((key.clone(), value.clone()));
        if let Some(client) = producer.client.with(&given)
            && !codecs.contains(&client.codec())
        {
            codecs.push(client.codec());
        }
    }
    codecs
}

/// The codec of a topic that stores what it is sent in another way.
fn stored_anew(config: &Config, topic: TopicIndex, sent: &[Codec]) -> Option<Codec> {
    let existing = config.topics[topic.index()].existing.as_ref()?;
    let StoredCompression::With(compression) = existing.settings.compression else {
        return None;
    };
    let codec = Codec {
        compression,
        writer: Writer::Java,
    };
    let differs = |sent: &Codec| sent.compression.codec != compression.codec;
    (is_any(&codec) && sent.iter().any(differs)).then_some(codec)
}

fn is_any(codec: &Codec) -> bool {
    codec.compression.codec != CompressionType::None
}

/// The topics that a producer sends to, each once.
fn topics_of(producer: &ProducerConfig) -> Vec<TopicIndex> {
    let loads = producer.loads.iter().map(|load| load.topic);
    let scripted = producer.script.iter().filter_map(|step| match &step.call {
        Call::Produce(record) => Some(record.topic),
        _ => None,
    });
    let mut topics: Vec<_> = loads.chain(scripted).collect();
    topics.sort_unstable();
    topics.dedup();
    topics
}

/// Values of which only the size is known do not shrink, which is not what their author had in
/// mind.
fn note_unknown(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    (producer, topic): (&ProducerConfig, TopicIndex),
) {
    let is_unknown = |load: &LoadConfig| load.topic == topic && !payload::is_known(load);
    let loads = fields.tables("load");
    for (load, place) in producer.loads.iter().zip(loads) {
        if is_unknown(load) {
            let note = Problem::new("nothing is known of what these values are made of");
            let label = "compressed, they stay as large as they are";
            let hint = "value = { sample = \"file\" }, or { bytes = 1024, compresses-to = 0.3 }";
            let note = note.at(place.place_of("value"), label).hint(hint);
            world.findings.note(note);
        }
    }
}
