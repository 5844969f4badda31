//! Stories: how a librdkafka producer fares when something breaks, a few lines each.

use crate::kafka::error::ErrorCode;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::rdkafka_version::RdkafkaVersion;
use crate::kafka::settings::{Acks, RdkafkaIdempotence, RequiredAcks};
use crate::sim::command::{BrokerFault, Command, LinkFault};
use crate::sim::config::{
    AwaitAcks, Call, HistoryDetail, LoadConfig, OnRefused, Peer, Polling, ValueConfig,
};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::rdkafka_stories::{
    at_once, configured, failures, loaded, polling, queue, record, refusals, retries, step,
};
use crate::sim::testing::{Run, TRIPS, keyless, load, topic};
use crate::sim::time::{SimSpan, SimTime};

const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

/// One record to a partition whose broker refuses it three times.
fn refused(error: ErrorCode) -> Run {
    let mut config = at_once(configured(|client| client.linger_us = 0), 500, 1);
    config.producers[0].script.insert(0, record(0));
    let inject = Command::Inject {
        error,
        partition: PartitionIndex::of_first_topic(0).name(),
        count: 3,
    };
    config.timeline.push((SimTime::from_millis(400), inject));
    let mut run = Run::new(config);
    run.to(5_000);
    run
}

#[test]
fn a_retry_that_counts_waits_twice_as_long_each_time() {
    let moments = retries(&refused(ErrorCode::NotEnoughReplicas));
    assert_eq!(moments.len(), 3);
    assert!(
        (80..=125).contains(&(moments[1] - moments[0])),
        "{moments:?}"
    );
    assert!(
        (160..=245).contains(&(moments[2] - moments[1])),
        "{moments:?}"
    );
}

#[test]
fn a_retry_for_a_leader_that_moved_does_not_count_and_waits_as_long_each_time() {
    let moments = retries(&refused(ErrorCode::NotLeaderOrFollower));
    assert_eq!(moments.len(), 3);
    assert!(
        (80..=125).contains(&(moments[1] - moments[0])),
        "{moments:?}"
    );
    assert!(
        (80..=125).contains(&(moments[2] - moments[1])),
        "{moments:?}"
    );
}

#[test]
fn an_error_that_is_final_fails_the_batch() {
    let run = refused(ErrorCode::MessageTooLarge);
    assert!(retries(&run).is_empty());
    // Nobody polls: the application never hears of it.
    assert_eq!(queue(&run).reported, 2);
}

#[test]
fn a_retried_batch_is_overtaken_without_idempotence_and_not_with_it() {
    let order = |idempotence| {
        let mut config = at_once(
            configured(|client| {
                client.idempotence = idempotence;
                client.max_in_flight = 5;
                (client.linger_us, client.batch_messages_max) = (0, 1);
            }),
            1_000,
            3,
        );
        config.producers[0].script.insert(0, record(0));
        if let Some(existing) = &mut config.topics[0].existing {
            existing.history = HistoryDetail::Batches;
        }
        let inject = Command::Inject {
            error: ErrorCode::NotEnoughReplicas,
            partition: PartitionIndex::of_first_topic(0).name(),
            count: 1,
        };
        config.timeline.push((SimTime::from_millis(900), inject));
        let mut run = Run::new(config);
        run.to(5_000);
        run.simulation.log_lines(PartitionIndex::of_first_topic(0))
    };
    let overtaken = ["0 trips#0", "1 trips#2", "2 trips#3", "3 trips#1"];
    assert_eq!(order(RdkafkaIdempotence::Off), overtaken);
    let in_order = ["0 trips#0", "1 trips#1", "2 trips#2", "3 trips#3"];
    assert_eq!(order(RdkafkaIdempotence::On), in_order);
}

#[test]
fn an_idempotent_producer_sends_nothing_in_its_first_half_second() {
    let mut config = at_once(
        configured(|client| client.idempotence = RdkafkaIdempotence::On),
        0,
        10,
    );
    config.producers[0].script.push(step(5_000, Call::Flush));
    let mut run = Run::new(config);
    run.to(499);
    assert_eq!(queue(&run).waiting, 10);
    run.to(600);
    assert_eq!(queue(&run).reported, 10);
    let assigned = run.first(|fact| matches!(fact, Fact::ProducerIdAssigned { .. }));
    assert!((500..520).contains(&assigned.unwrap()), "{assigned:?}");
}

#[test]
fn the_idempotent_gate_counts_messages() {
    let in_flight = |messages: u32| {
        let mut config = at_once(
            configured(|client| {
                client.idempotence = RdkafkaIdempotence::On;
                (client.max_in_flight, client.batch_messages_max) = (5, messages);
            }),
            1_000,
            2_000,
        );
        config.link.latency = SimSpan::from_millis(200);
        let mut run = Run::new(config);
        let mut most = 0;
        for millis in (1_000..6_000).step_by(50) {
            most = most.max(queue(run.to(millis)).in_flight);
        }
        most
    };
    assert_eq!([1, 3, 100].map(in_flight), [5, 6, 100]);
}

#[test]
fn an_idempotent_producer_goes_on_with_the_next_epoch_after_a_gap() {
    let mut config = at_once(
        configured(|client| client.idempotence = RdkafkaIdempotence::On),
        1_000,
        3,
    );
    config.producers[0].script.push(record(2_000));
    let inject = Command::Inject {
        error: ErrorCode::MessageTooLarge,
        partition: PartitionIndex::of_first_topic(0).name(),
        count: 1,
    };
    config.timeline.push((SimTime::from_millis(900), inject));
    let mut run = Run::new(config);
    run.to(5_000);
    let epochs: Vec<i16> = run
        .facts
        .iter()
        .filter_map(|stamped| match stamped.fact {
            Fact::ProducerIdAssigned { epoch, .. } => Some(epoch),
            _ => None,
        })
        .collect();
    assert_eq!(epochs, [0, 1]);
    assert_eq!(
        run.simulation
            .partition(PartitionIndex::of_first_topic(0))
            .records_in,
        1
    );
}

#[test]
fn without_gaps_allowed_the_same_error_is_fatal() {
    let mut config = at_once(
        configured(|client| client.idempotence = RdkafkaIdempotence::Gapless),
        1_000,
        3,
    );
    config.producers[0].script.push(record(2_000));
    let inject = Command::Inject {
        error: ErrorCode::MessageTooLarge,
        partition: PartitionIndex::of_first_topic(0).name(),
        count: 1,
    };
    config.timeline.push((SimTime::from_millis(900), inject));
    let mut run = Run::new(config);
    run.to(5_000);
    let fatal = run.first(|fact| matches!(fact, Fact::ClientFailed { .. }));
    assert!(fatal.is_some());
    assert_eq!(refusals(&run, RdkafkaError::Fatal), 1);
}

/// Ten records 300 ms after the brokers died, and one poll a little after their time is over.
fn dead_brokers(version: RdkafkaVersion) -> Vec<u64> {
    let mut config = at_once(
        configured(|client| {
            client.version = version;
            client.message_timeout_ms = Some(2_500);
        }),
        10_300,
        10,
    );
    config.producers[0].script.insert(0, record(0));
    let last = config.producers[0].script.len() as u64;
    for poll in 0..200 {
        let at = 10_300 + last + poll * 100;
        let call = Call::Poll(SimSpan::from_millis(100));
        config.producers[0].script.push(step(at, call));
    }
    for broker in 0..3 {
        let kill = Command::Broker(BrokerIndex(broker), KILL);
        config.timeline.push((SimTime::from_seconds(10), kill));
    }
    let mut run = Run::new(config);
    run.to(40_000);
    failures(&run, RdkafkaError::MsgTimedOut)
}

#[test]
fn messages_time_out_at_their_deadline_since_2_16_and_after_a_wait_to_reconnect_before() {
    let young = dead_brokers(RdkafkaVersion::DEFAULT);
    assert!(
        young.iter().all(|at| (12_800..=12_810).contains(at)),
        "{young:?}"
    );
    let old = dead_brokers(RdkafkaVersion::new(2, 12, 1));
    assert!(
        !old.is_empty() && old.iter().all(|at| *at > 12_810),
        "{old:?}"
    );
}

#[test]
fn acks_0_is_done_when_it_is_written() {
    let many = LoadConfig {
        records_max: Some(1_000),
        ..polling(load(10_000), Polling::Calls(1))
    };
    let mut run = Run::new(loaded(many, |client| {
        client.acks = RequiredAcks::Valid(Acks::None);
    }));
    run.to(5_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 1_000);
    let written: u64 = run
        .simulation
        .partition_views()
        .iter()
        .map(|p| p.records_in)
        .sum();
    assert_eq!(written, 1_000);
}

#[test]
fn close_sends_what_is_left_and_waits_for_it() {
    let mut config = at_once(
        configured(|client| client.linger_us = 60_000_000),
        1_000,
        100,
    );
    config.producers[0]
        .script
        .push(step(2_000, Call::Close(None)));
    let mut run = Run::new(config);
    run.to(3_000);
    let closed = run.first(|fact| matches!(fact, Fact::ClientClosed { .. }));
    assert!((2_000..2_010).contains(&closed.unwrap()), "{closed:?}");
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 100);
}

#[test]
fn a_close_whose_time_is_over_purges() {
    let mut config = at_once(configured(|_| {}), 1_000, 100);
    let cut = Command::Link(Peer::Producer(TRIPS), Peer::Any, LinkFault::Cut);
    config.timeline.push((SimTime::from_millis(500), cut));
    let close = Call::Close(Some(SimSpan::from_seconds(1)));
    config.producers[0].script.push(step(2_000, close));
    let mut run = Run::new(config);
    run.to(5_000);
    let purged = [RdkafkaError::PurgeQueue, RdkafkaError::PurgeInflight];
    let count: usize = purged.map(|error| failures(&run, error).len()).iter().sum();
    assert!(count > 0);
    assert_eq!(queue(&run).messages, 0);
}

#[test]
fn await_waits_for_each_acknowledgement_from_the_first_record_on() {
    let each = LoadConfig {
        await_acks: AwaitAcks::Every(1),
        records_max: Some(50),
        ..polling(load(1_000_000), Polling::Calls(1))
    };
    let mut run = Run::new(loaded(each, |client| client.linger_us = 0));
    run.to(5_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 50);
    assert_eq!(queue(&run).messages, 0);
}

#[test]
fn after_a_dead_leader_messages_go_to_the_next_one_and_nothing_is_lost() {
    let steady = LoadConfig {
        records_max: Some(100_000),
        ..polling(load(10_000), Polling::Calls(1))
    };
    let mut config = loaded(steady, |client| client.message_timeout_ms = Some(120_000));
    config.topics[0] = topic("events", 12, 3);
    let kill = Command::Broker(BrokerIndex(1), KILL);
    config.timeline.push((SimTime::from_seconds(3), kill));
    let mut run = Run::new(config);
    run.to(120_000);
    let totals = run.simulation.producer(TRIPS).totals;
    assert_eq!((totals.records_acked, totals.records_failed), (100_000, 0));
}

#[test]
fn waiting_to_reconnect_grows_fourfold_with_each_failure() {
    let mut config = at_once(configured(|_| {}), 1_000, 1);
    for broker in 0..3 {
        let kill = Command::Broker(BrokerIndex(broker), KILL);
        config.timeline.push((SimTime::from_millis(500), kill));
    }
    config.producers[0].script.insert(0, record(0));
    let mut run = Run::new(config);
    run.to(60_000);
    let refused = |s: &&crate::sim::fact::Stamped| {
        matches!(s.fact, Fact::Disconnected { node: crate::sim::fact::Node::Broker(b), .. }
            if b == BrokerIndex(0))
    };
    let moments: Vec<u64> = run
        .facts
        .iter()
        .filter(refused)
        .map(|s| s.at.as_millis())
        .collect();
    let gaps: Vec<u64> = moments.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        gaps.len() >= 5 && gaps.iter().any(|gap| *gap > 5_000),
        "{gaps:?}"
    );
    assert!(gaps[1..].iter().all(|gap| *gap <= 10_010), "{gaps:?}");
}

#[test]
fn all_brokers_down_sends_the_client_back_to_its_bootstrap_list() {
    let mut config = at_once(configured(|_| {}), 1_000, 1);
    for broker in 0..3 {
        let kill = Command::Broker(BrokerIndex(broker), KILL);
        config.timeline.push((SimTime::from_millis(500), kill));
    }
    config.producers[0].script.insert(0, record(0));
    let mut run = Run::new(config);
    run.to(60_000);
    assert!(
        run.first(|fact| matches!(fact, Fact::Rebootstrapped { .. }))
            .is_some()
    );
}

#[test]
fn how_a_run_is_sliced_changes_nothing() {
    let config = || {
        let steady = LoadConfig {
            on_refused: OnRefused::Retry,
            values: ValueConfig::Uniform(100, 2_000),
            ..polling(keyless(load(20_000)), Polling::Calls(7))
        };
        let mut config = loaded(steady, |client| {
            client.queue.messages_max = Some(2_000);
            client.idempotence = RdkafkaIdempotence::On;
            client.max_in_flight = 5;
        });
        config.topics[0] = topic("events", 12, 3);
        let kill = Command::Broker(BrokerIndex(1), KILL);
        config.timeline.push((SimTime::from_seconds(2), kill));
        config
    };
    let mut whole = Run::new(config());
    whole.to(15_000);
    let mut sliced = Run::new(config());
    for millis in (0..15_000).step_by(137) {
        sliced.to(millis);
    }
    sliced.to(15_000);
    assert_eq!(whole.simulation.digest(), sliced.simulation.digest());
}
