//! Compression in a run: what shrinks with the batches, and who pays for it.

use std::sync::Arc;

use crate::kafka::metric_name::ProducerMetric as M;
use crate::kafka::settings::{Compression, CompressionType, StoredCompression};
use crate::sim::config::{Config, LoadConfig, ProducerConfig, ValueConfig};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, TopicIndex};
use crate::sim::payload::KnownCurve;
use crate::sim::testing::{Run, TRIPS, keyless, load, producer, rdkafka, topic, with_group, world};
use crate::sim::view::LoopState;

/// Events that have much in common, 100 to 110 bytes each.
fn events() -> ValueConfig {
    let event = |n: u32| {
        let user = n * 7_919 % 50_000;
        let ms = n * 31 % 977;
        let text = format!(
            "{{\"user\":\"u-{user}\",\"page\":\"/basket\",\"device\":\"mobile\",\"country\":\"DE\",\
             \"agent\":\"browser\",\"ms\":{ms}}}"
        );
        text.into_bytes().into_boxed_slice()
    };
    ValueConfig::Sample((0..5_000).map(event).collect())
}

fn of_events(records_per_second: u64) -> LoadConfig {
    LoadConfig {
        values: events(),
        ..keyless(load(records_per_second))
    }
}

/// One partition, and a client that sends it 5,000 events a second.
fn sending(mut client: ProducerConfig) -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 1, 1)];
    client.loads.push(of_events(5_000));
    config.producers = vec![client];
    config
}

fn java(codec: &str) -> Config {
    sending(producer(
        "trips",
        &[("compression.type", codec), ("linger.ms", "1000")],
    ))
}

fn stored_with(mut config: Config, codec: CompressionType) -> Config {
    let compression = Compression { codec, level: None };
    let existing = config.topics[0].existing.as_mut().expect("it exists");
    existing.settings.compression = StoredCompression::With(compression);
    config
}

fn at_10_s(config: Config) -> Run {
    let mut run = Run::new(config);
    run.to(10_000);
    run
}

fn log_bytes(run: &Run) -> u64 {
    let partitions = run.simulation.partition_views();
    partitions.iter().map(|partition| partition.bytes_in).sum()
}

fn metric(run: &Run, metric: M) -> f64 {
    run.simulation
        .producer_metric(TRIPS, metric)
        .expect("the client reports it")
}

#[test]
fn requests_and_log_shrink_with_the_batches() {
    let (plain, packed) = (at_10_s(java("none")), at_10_s(java("zstd")));
    let rate = metric(&packed, M::CompressionRateAvg);
    assert!(rate < 0.35, "{rate}");
    let of_plain = |bytes: f64| bytes / log_bytes(&plain) as f64;
    assert!((of_plain(log_bytes(&packed) as f64) - rate).abs() < 0.03);
    assert!((of_plain(metric(&packed, M::OutgoingByteTotal)) - rate).abs() < 0.03);
}

#[test]
fn a_batch_is_filled_by_the_estimate_and_holds_its_whole_memory() {
    let mut run = Run::new(java("zstd"));
    run.to(300);
    let first = metric(&run, M::BatchSizeMax);
    run.to(10_000);
    let later = metric(&run, M::BatchSizeMax);
    assert!(first < 5_000.0, "nothing is known of the ratio: {first}");
    assert!(
        later > 1.1 * first,
        "half a percent from each batch: {later}"
    );
    let available = metric(&run, M::BufferAvailableBytes);
    let total = metric(&run, M::BufferTotalBytes);
    assert!((total - available) % 16_384.0 < 0.5, "{available}");
}

#[test]
fn values_of_unknown_content_do_not_shrink() {
    let mut config = java("zstd");
    config.producers[0].loads[0].values = ValueConfig::Fixed(105);
    let rate = metric(&at_10_s(config), M::CompressionRateAvg);
    assert!((1.0..1.01).contains(&rate), "{rate}");
}

#[test]
fn values_of_a_known_ratio_shrink_by_it() {
    let mut config = java("lz4");
    config.producers[0].loads[0].values = ValueConfig::Fixed(105);
    config.producers[0].loads[0].compresses_to_ppm = Some(400_000);
    let rate = metric(&at_10_s(config), M::CompressionRateAvg);
    assert!((0.4..0.41).contains(&rate), "{rate}");
}

#[test]
fn a_leader_that_compresses_anew_takes_time_and_stores_less() {
    let as_sent = at_10_s(java("snappy"));
    let anew = at_10_s(stored_with(java("snappy"), CompressionType::Gzip));
    assert!(log_bytes(&anew) * 10 < log_bytes(&as_sent) * 9);
    let later = |run: &Run| metric(run, M::RequestLatencyMax);
    assert!(later(&anew) > later(&as_sent));
    let sent = |run: &Run| metric(run, M::OutgoingByteTotal);
    assert_eq!(sent(&anew).to_bits(), sent(&as_sent).to_bits());
}

#[test]
fn a_leader_leaves_a_batch_of_the_topics_codec_alone() {
    let as_sent = at_10_s(java("gzip"));
    let same = at_10_s(stored_with(java("gzip"), CompressionType::Gzip));
    assert_eq!(as_sent.simulation.digest(), same.simulation.digest());
}

#[test]
fn an_uncompressed_topic_gets_what_was_sent_unpacked() {
    let plain = at_10_s(java("none"));
    let unpacked = at_10_s(stored_with(java("lz4"), CompressionType::None));
    let share = log_bytes(&unpacked) as f64 / log_bytes(&plain) as f64;
    assert!((0.97..1.03).contains(&share), "{share}");
}

#[test]
fn librdkafka_compresses_what_it_has_gathered_by_messages_and_bytes() {
    let with = |codec| {
        rdkafka("trips", |settings| {
            settings.linger_us = 200_000;
            settings.compression = Compression { codec, level: None };
        })
    };
    let plain = at_10_s(sending(with(CompressionType::None)));
    let packed = at_10_s(sending(with(CompressionType::Lz4)));
    let requests = |run: &Run| run.simulation.broker(BrokerIndex(0)).produce_requests;
    assert_eq!(requests(&packed), requests(&plain));
    assert!(log_bytes(&packed) * 2 < log_bytes(&plain));
}

#[test]
fn librdkafka_sends_as_it_was_what_does_not_shrink() {
    let with = |codec| {
        let client = rdkafka("trips", |settings| {
            settings.compression = Compression { codec, level: None };
        });
        let mut config = sending(client);
        config.producers[0].loads[0].values = ValueConfig::Fixed(105);
        at_10_s(config)
    };
    let (plain, packed) = (with(CompressionType::None), with(CompressionType::Lz4));
    assert_eq!(log_bytes(&packed), log_bytes(&plain));
}

#[test]
fn a_reader_pays_for_decompression() {
    let is_ever_busy = |codec| {
        let mut run = Run::new(with_group(java(codec), 1, &[]));
        run.to(9_000);
        (0..5_000).any(|_| {
            let _ = run.simulation.step();
            let reader = run.simulation.consumer(ConsumerIndex(0));
            matches!(reader.application, LoopState::Processing { .. })
        })
    };
    assert!(is_ever_busy("gzip"));
    assert!(!is_ever_busy("none"), "nothing else takes time here");
}

#[test]
fn a_known_curve_is_measured_once_and_shared() {
    let mut config = java("gzip");
    let codec = config.producers[0].client.codec();
    let known = KnownCurve::new(TopicIndex(0), codec);
    config.producers[0].curves = Arc::new([known]);
    let digest = |config: &Config| at_10_s(config.clone()).simulation.digest();
    assert_eq!(digest(&config), digest(&java("gzip")));
}
