//! Diagnoses about compression: effort that gains nothing, and effort that somebody else makes.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::settings::{CompressionType, StoredCompression};
use crate::sim::config::ClientConfig;

/// Share of a batch's bytes from which on compressing it was for nothing.
const IN_VAIN_SHARE: f64 = 0.95;

/// A producer compresses, and nothing shrinks.
pub(super) struct CompressedInVain;

impl Diagnosis for CompressedInVain {
    fn name(&self) -> &'static str {
        "compressed-in-vain"
    }

    fn summary(&self) -> &'static str {
        "producers compress and gain nothing"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, _, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let client = &checkup.config().producers[view.index.index()].client;
        let ClientConfig::Java(settings) = client else {
            return Verdict::Quiet;
        };
        let codec = settings.compression.codec;
        let metric = ProducerMetric::CompressionRateAvg;
        let rate = checkup.simulation.producer_metric(view.index, metric);
        match rate {
            _ if codec == CompressionType::None => Verdict::Quiet,
            None => Verdict::Unsure,
            Some(rate) if rate < IN_VAIN_SHARE => Verdict::Quiet,
            Some(rate) => Verdict::Raised(format!(
                "producer {name} compresses with {} and {:.0} % of the bytes are left: its values \
                 are compressed already, or its batches hold too few records",
                codec.name(),
                rate * 100.0,
            )),
        }
    }
}

/// A topic's leaders compress anew what was compressed already.
pub(super) struct CompressedTwice;

impl Diagnosis for CompressedTwice {
    fn name(&self) -> &'static str {
        "compressed-twice"
    }

    fn summary(&self) -> &'static str {
        "topics are compressed by their leaders"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Topic(topic) = subject else {
            return Verdict::Quiet;
        };
        let mut partitions = checkup.partitions_of(topic);
        if partitions.all(|partition| partition.records_in == 0) {
            return Verdict::Quiet;
        }
        let settings = checkup.simulation.topic_settings(topic);
        let Some(StoredCompression::With(stored)) = settings.map(|topic| topic.compression) else {
            return Verdict::Quiet;
        };
        let config = checkup.config();
        let mut senders = config.producers.iter().filter_map(|producer| {
            let sent = producer.client.codec().compression.codec;
            let writes = producer.loads.iter().any(|load| load.topic == topic);
            (writes && sent != stored.codec).then_some((producer, sent))
        });
        let Some((producer, sent)) = senders.next() else {
            return Verdict::Quiet;
        };
        let kind = match stored.codec {
            CompressionType::None => "uncompressed",
            codec => codec.name(),
        };
        Verdict::Raised(format!(
            "every batch of producer {} for topic {} costs its leader time: it comes with \
             compression.type={}, and the topic's is {kind}",
            producer.name,
            names::topic(config, topic),
            sent.name(),
        ))
    }
}
