//! Stories: what a librdkafka producer and its cluster do, a few lines each.

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::{DeliveryReports, RdkafkaProducerSettings};
use crate::sim::config::{
    AwaitAcks, Call, Config, KeyChoice, KeyConfig, LoadConfig, OnRefused, Polling, ScriptRecord,
    ScriptStep,
};
use crate::sim::fact::{ErrorClass, Fact};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::testing::{Run, TRIPS, keyless, load, rdkafka, topic, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::QueueView;

/// A world with one librdkafka producer.
pub(super) fn configured(configure: impl Fn(&mut RdkafkaProducerSettings)) -> Config {
    let mut config = world();
    config.producers[0] = rdkafka("trips", configure);
    config
}

pub(super) fn polling(load: LoadConfig, polling: Polling) -> LoadConfig {
    LoadConfig { polling, ..load }
}

pub(super) fn loaded(load: LoadConfig, configure: impl Fn(&mut RdkafkaProducerSettings)) -> Config {
    let mut config = configured(configure);
    config.producers[0].loads.push(load);
    config
}

/// A topic of one partition, and records to it at one moment.
pub(super) fn at_once(mut config: Config, millis: u64, records: usize) -> Config {
    config.topics[0] = topic("events", 1, 1);
    let script = (0..records).map(|_| record(millis));
    config.producers[0].script.extend(script);
    config
}

pub(super) fn record(millis: u64) -> ScriptStep {
    step(
        millis,
        Call::Produce(ScriptRecord {
            topic: TopicIndex(0),
            key: None,
            value: Some(vec![0; 10]),
            partition: Some(0),
            await_ack: AwaitAcks::None,
        }),
    )
}

pub(super) fn step(millis: u64, call: Call) -> ScriptStep {
    ScriptStep {
        at: SimTime::from_millis(millis),
        call,
        text: String::new(),
    }
}

pub(super) fn queue(run: &Run) -> QueueView {
    run.simulation.producer(TRIPS).queue.unwrap()
}

pub(super) fn refusals(run: &Run, error: RdkafkaError) -> usize {
    let is_so = |fact: &Fact| {
        matches!(fact, Fact::RecordRefused { exception, .. }
            if exception.class == ErrorClass::Rdkafka(error))
    };
    run.facts.iter().filter(|s| is_so(&s.fact)).count()
}

pub(super) fn failures(run: &Run, error: RdkafkaError) -> Vec<u64> {
    let is_so = |fact: &Fact| match fact {
        Fact::BatchFailed { exception, .. } | Fact::UnassignedFailed { exception, .. } => {
            exception.class == ErrorClass::Rdkafka(error)
        }
        _ => false,
    };
    let failed = run.facts.iter().filter(|s| is_so(&s.fact));
    failed.map(|stamped| stamped.at.as_millis()).collect()
}

pub(super) fn retries(run: &Run) -> Vec<u64> {
    let is_retry = |s: &&crate::sim::fact::Stamped| matches!(s.fact, Fact::BatchRetried { .. });
    let moments = run.facts.iter().filter(is_retry);
    moments.map(|stamped| stamped.at.as_millis()).collect()
}

#[test]
fn a_healthy_producer_that_polls_hears_of_everything_and_keeps_nothing() {
    let limited = LoadConfig {
        records_max: Some(50_000),
        ..polling(load(10_000), Polling::Calls(1))
    };
    let mut run = Run::new(loaded(limited, |_| {}));
    run.to(10_000);
    let totals = run.simulation.producer(TRIPS).totals;
    assert_eq!(
        (totals.records_sent, totals.records_acked),
        (50_000, 50_000)
    );
    assert_eq!(queue(&run).messages, 0);
    assert_eq!(run.simulation.requests.live(), 0);
}

#[test]
fn an_application_that_never_polls_fills_the_queue_of_a_healthy_client() {
    let never = polling(load(1_000), Polling::Never);
    let mut run = Run::new(loaded(never, |client| {
        client.queue.messages_max = Some(500);
    }));
    run.to(5_000);
    let view = queue(&run);
    assert_eq!(
        (view.messages, view.reported, view.in_flight),
        (500, 500, 0)
    );
    assert!(refusals(&run, RdkafkaError::QueueFull) > 4_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 0);
    let written: u64 = run
        .simulation
        .partition_views()
        .iter()
        .map(|p| p.records_in)
        .sum();
    assert_eq!(written, 500);
}

#[test]
fn without_a_callback_a_message_gives_up_its_place_when_it_is_acknowledged() {
    let never = polling(load(1_000), Polling::Never);
    let mut run = Run::new(loaded(never, |client| {
        client.queue.messages_max = Some(500);
        client.delivery_reports = DeliveryReports::None;
    }));
    run.to(5_000);
    assert_eq!(refusals(&run, RdkafkaError::QueueFull), 0);
    assert!(run.simulation.producer(TRIPS).totals.records_acked > 4_900);
}

#[test]
fn a_poll_every_second_frees_the_queue_every_second() {
    let slow = polling(load(1_000), Polling::Interval(SimSpan::from_seconds(1)));
    let mut run = Run::new(loaded(slow, |client| {
        client.queue.messages_max = Some(500);
    }));
    run.to(999);
    assert_eq!(queue(&run).messages, 500);
    run.to(1_001);
    assert!(queue(&run).messages < 10);
    run.to(10_000);
    let acked = run.simulation.producer(TRIPS).totals.records_acked;
    assert!((4_500..=5_000).contains(&acked), "{acked}");
}

#[test]
fn a_thread_that_blocks_on_a_full_queue_and_alone_polls_never_goes_on() {
    let blocking = LoadConfig {
        on_refused: OnRefused::Block,
        ..polling(load(100_000), Polling::Calls(10_000))
    };
    let config = |load: LoadConfig| loaded(load, |client| client.queue.messages_max = Some(500));
    let mut run = Run::new(config(blocking.clone()));
    run.to(5_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_sent, 500);
    // Another thread that polls lets it go on.
    let interval = Polling::Interval(SimSpan::from_millis(10));
    let mut run = Run::new(config(polling(blocking, interval)));
    run.to(5_000);
    assert!(run.simulation.producer(TRIPS).totals.records_sent > 100_000);
    assert_eq!(refusals(&run, RdkafkaError::QueueFull), 0);
}

#[test]
fn a_retry_on_a_full_queue_polls_and_loses_nothing() {
    let retrying = LoadConfig {
        on_refused: OnRefused::Retry,
        records_max: Some(20_000),
        ..polling(load(1_000_000), Polling::Calls(1))
    };
    let mut run = Run::new(loaded(retrying, |client| {
        client.queue.messages_max = Some(500);
    }));
    run.to(20_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 20_000);
    assert!(refusals(&run, RdkafkaError::QueueFull) > 0);
}

#[test]
fn linger_counts_from_the_oldest_message() {
    let mut slow = polling(load(1_000), Polling::Calls(1));
    slow.keys = Arc::new(KeyConfig {
        keys: Vec::new(),
        choice: KeyChoice::Cycle,
        explicit_partition: Some(0),
    });
    slow.records_max = Some(1_000);
    let mut config = loaded(slow, |_| {});
    config.topics[0] = topic("events", 1, 1);
    let mut run = Run::new(config);
    run.to(5_000);
    // Six records fall into five milliseconds, both ends included.
    let requests: u64 = (0..3)
        .map(|broker| run.simulation.broker(BrokerIndex(broker)).produce_requests)
        .sum();
    assert!((160..=170).contains(&requests), "{requests}");
}

#[test]
fn keyless_messages_stay_with_a_partition_for_a_time_and_not_for_a_size() {
    let many = keyless(polling(load(2_000), Polling::Calls(1)));
    let mut run = Run::new(loaded(many, |_| {}));
    run.to(60_000);
    let views = run.simulation.partition_views();
    let mean = views.iter().map(|p| p.records_in).sum::<u64>() / 12;
    // Each draw brings about 21 records, whatever their size.
    assert!(views.iter().all(|p| p.records_in.abs_diff(mean) < mean / 2));
}

#[test]
fn the_backlog_before_metadata_is_spread_and_does_not_stick() {
    let mut config = configured(|_| {});
    let keyless_record = |millis| {
        let mut step = record(millis);
        if let Call::Produce(record) = &mut step.call {
            record.partition = None;
        }
        step
    };
    config.producers[0].script = (0..1_200).map(|_| keyless_record(0)).collect();
    let mut run = Run::new(config);
    run.to(1);
    assert_eq!(queue(&run).unassigned, 1_200);
    run.to(1_000);
    let views = run.simulation.partition_views();
    assert!(
        views.iter().all(|p| (60..=140).contains(&p.records_in)),
        "{views:?}"
    );
}

#[test]
fn a_topic_that_does_not_exist_fails_its_messages_when_it_had_time_to_appear() {
    let mut config = at_once(configured(|_| {}), 0, 3);
    config.topics[0].existing = None;
    for broker in &mut config.brokers {
        broker.settings.auto_create_topics = false;
    }
    config.producers[0]
        .script
        .push(step(40_000, Call::Poll(SimSpan::ZERO)));
    config.producers[0].script.push(record(41_000));
    let mut run = Run::new(config);
    run.to(45_000);
    assert_eq!(failures(&run, RdkafkaError::UnknownTopicOrPart).len(), 1);
    assert_eq!(refusals(&run, RdkafkaError::UnknownTopic), 1);
}

#[test]
fn a_message_larger_than_the_client_allows_is_refused_at_once() {
    let mut config = at_once(configured(|client| client.message_max_bytes = 1_000), 0, 1);
    if let Call::Produce(record) = &mut config.producers[0].script[0].call {
        record.value = Some(vec![0; 1_000 - 35]);
    }
    let mut run = Run::new(config);
    run.to(1_000);
    assert_eq!(refusals(&run, RdkafkaError::MsgSizeTooLarge), 1);
}
