//! Stories: what a producer and its cluster do, a few lines each.

use proptest::prelude::*;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::hash::murmur2_partition;
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::version::KafkaVersion;
use crate::sim::command::{BrokerFault, Command, LinkFault, ProducerFault};
use crate::sim::config::{
    Arrival, AtEnd, AwaitAcks, Config, KeyChoice, KeyConfig, LoadConfig, OnFailed, OnRefused,
    Pacing, Peer, ValueConfig,
};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::testing::{Run, TRIPS, keyless, load, producer, producer_of, topic, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::PartitionView;

fn loaded(load: LoadConfig) -> Config {
    let mut config = world();
    config.producers[0].loads.push(load);
    config
}

fn slow_disks(mut config: Config) -> Config {
    for broker in &mut config.brokers {
        broker.append_rate = Some(2 << 20);
    }
    config
}

fn client(mut config: Config, given: &[(&str, &str)]) -> Config {
    let loads = std::mem::take(&mut config.producers[0].loads);
    config.producers[0] = producer("trips", given);
    config.producers[0].loads = loads;
    config
}

fn replicated(mut config: Config, factor: u16) -> Config {
    config.topics[0] = topic("events", 12, factor);
    config
}

fn one_key_for_each_partition(count: u32) -> std::sync::Arc<KeyConfig> {
    let key_of = |wanted: u32| {
        let mut candidates = (0..).map(|n| format!("k{n}").into_bytes());
        candidates
            .find(|key| murmur2_partition(key, count) == wanted)
            .unwrap()
    };
    let keys = (0..count).map(key_of).collect();
    std::sync::Arc::new(KeyConfig {
        keys,
        choice: KeyChoice::Cycle,
        explicit_partition: None,
    })
}

const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

fn cut(at_seconds: u64, fault: LinkFault) -> (SimTime, Command) {
    let command = Command::Link(Peer::Producer(TRIPS), Peer::Any, fault);
    (SimTime::from_seconds(at_seconds), command)
}

#[test]
fn the_first_batch_needs_three_round_trips_for_metadata_and_two_for_its_leader() {
    let mut run = Run::new(loaded(load(1000)));
    run.to(20);
    assert_eq!(
        run.first(|f| matches!(f, Fact::MetadataUpdated { .. })),
        Some(3)
    );
    let connected = run
        .facts
        .iter()
        .filter(|s| matches!(s.fact, Fact::Connected { .. }))
        .count();
    assert_eq!(connected, 4);
}

#[test]
fn a_healthy_producer_acknowledges_everything_and_keeps_nothing() {
    let mut limited = load(10_000);
    limited.records_max = Some(50_000);
    let mut run = Run::new(loaded(limited));
    run.to(10_000);
    let view = run.simulation.producer(TRIPS);
    assert_eq!(
        (view.totals.records_sent, view.totals.records_acked),
        (50_000, 50_000)
    );
    assert_eq!(view.buffer.available_bytes, view.buffer.total_bytes);
}

#[test]
fn no_request_is_forgotten_by_both_client_and_world() {
    let mut config = slow_disks(loaded(load(10_000)));
    config.timeline.push(cut(5, LinkFault::Cut));
    config.timeline.push(cut(70, LinkFault::Heal));
    let kill = Command::Broker(BrokerIndex(1), KILL);
    config.timeline.push((SimTime::from_seconds(80), kill));
    let mut run = Run::new(config);
    run.to(190_000);
    // What two brokers have in flight, one request that waits for a dead one's metadata.
    assert!(
        run.simulation.requests.live() <= 12,
        "{}",
        run.simulation.requests.live()
    );
}

#[test]
fn the_pool_is_full_when_2048_batches_wait_and_not_when_the_bytes_say_so() {
    let mut run = Run::new(slow_disks(loaded(load(10_000))));
    run.to(10_000);
    let full = run
        .first(|f| matches!(f, Fact::PoolExhausted { .. }))
        .unwrap();
    assert!((7_400..=8_000).contains(&full), "{full}");
}

#[test]
fn a_full_pool_slows_the_loop_to_what_the_cluster_drains() {
    let mut run = Run::new(slow_disks(loaded(load(10_000))));
    run.to(20_000);
    let before = run.simulation.producer(TRIPS).totals.records_sent;
    run.to(60_000);
    let rate = (run.simulation.producer(TRIPS).totals.records_sent - before) as f64 / 40.0;
    assert!((rate - 6_000.0).abs() < 180.0, "{rate}");
}

#[test]
fn a_full_disk_takes_nothing_until_it_is_healed() {
    const AT: BrokerIndex = BrokerIndex(0);
    let mut run = Run::new(loaded(load(1_000)));
    let end = |run: &Run| {
        run.simulation
            .partition(PartitionIndex::of_first_topic(0))
            .log_end_offset
    };
    run.to(2_000)
        .command(Command::Broker(AT, BrokerFault::DiskFull))
        .to(2_100);
    let when_full = end(&run);
    run.to(4_000);
    assert_eq!(end(&run), when_full);
    run.command(Command::Broker(AT, BrokerFault::DiskHeal))
        .to(6_000);
    assert!(when_full + 100 < end(&run), "{when_full} {}", end(&run));
}

#[test]
fn a_healed_disk_is_as_fast_as_it_was_configured_and_no_faster() {
    const AT: BrokerIndex = BrokerIndex(0);
    let healed = |fault| {
        let mut run = Run::new(slow_disks(loaded(load(10_000))));
        for fault in [fault, BrokerFault::DiskHeal] {
            run.command(Command::Broker(AT, fault));
        }
        run.to(20_000).simulation.broker(AT).bytes_appended
    };
    let untouched = Run::new(slow_disks(loaded(load(10_000))))
        .to(20_000)
        .simulation
        .broker(AT)
        .bytes_appended;
    assert_eq!(healed(BrokerFault::DiskRate(Some(1_000))), untouched);
    assert_eq!(healed(BrokerFault::DiskRate(None)), untouched);
}

#[test]
fn the_wait_ratio_climbs_late() {
    let mut run = Run::new(slow_disks(loaded(load(10_000))));
    let ratio = |run: &Run| {
        run.simulation
            .producer_metric(TRIPS, ProducerMetric::BufferpoolWaitRatio)
            .unwrap()
    };
    for (second, expected) in [(20, 0.12), (37, 0.20), (50, 0.40)] {
        run.to(second * 1000);
        assert!(
            (ratio(&run) - expected).abs() < 0.015,
            "{second}: {}",
            ratio(&run)
        );
    }
}

#[test]
fn a_record_that_finds_no_memory_for_a_minute_is_refused_in_the_clients_own_words() {
    let mut config = slow_disks(loaded(load(10_000)));
    config.timeline.push(cut(60, LinkFault::Cut));
    let mut run = Run::new(config);
    run.to(125_000);
    let refusals: Vec<_> = run
        .facts
        .iter()
        .filter_map(|stamped| match &stamped.fact {
            Fact::RecordRefused { exception, .. } => Some((stamped.at, exception.clone())),
            _ => None,
        })
        .collect();
    let [(at, exception)] = &refusals[..] else {
        panic!("{refusals:?}")
    };
    assert!((119_000..=121_000).contains(&at.as_millis()));
    assert_eq!(exception.class, ExceptionClass::BufferExhausted.into());
    assert_eq!(
        exception.text,
        "Failed to allocate 16384 bytes within the configured max blocking time 60000 ms. Total \
         memory: 33554432 bytes. Available memory: 0 bytes. Poolable size: 16384 bytes"
    );
}

#[test]
fn refused_connections_wipe_topics_and_the_next_send_waits_for_metadata() {
    let mut config = slow_disks(loaded(load(10_000)));
    config.timeline.push(cut(60, LinkFault::Refuse));
    let mut run = Run::new(config);
    run.to(185_000);
    let wiped = run
        .first(|f| matches!(f, Fact::Rebootstrapped { .. }))
        .unwrap();
    assert!(wiped < 61_000, "{wiped}");
    let text = "Topic events not present in metadata after 60000 ms.";
    let is_wanted =
        |f: &Fact| matches!(f, Fact::RecordRefused { exception, .. } if exception.text == text);
    let last = run
        .facts
        .iter()
        .rfind(|stamped| is_wanted(&stamped.fact))
        .unwrap();
    assert!(
        (179_000..=181_000).contains(&last.at.as_millis()),
        "{last:?}"
    );
}

#[test]
fn one_dead_leader_pins_the_pool_of_healthy_partitions_too() {
    let mut even = load(6_000);
    even.keys = one_key_for_each_partition(12);
    let mut config = loaded(even);
    let leaders = [0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1];
    let existing = config.topics[0].existing.as_mut().unwrap();
    existing.replicas = leaders
        .iter()
        .map(|&broker| vec![BrokerIndex(broker)])
        .collect();
    let kill = Command::Broker(BrokerIndex(0), KILL);
    config.timeline.push((SimTime::from_seconds(10), kill));
    let mut run = Run::new(config);
    run.to(190_000);
    let first_wait = run
        .first(|f| matches!(f, Fact::PoolExhausted { .. }))
        .unwrap();
    assert!((70_000..=73_000).contains(&first_wait), "{first_wait}");
    assert_eq!(run.simulation.producer(TRIPS).totals.records_refused, 0);
}

#[test]
fn a_waited_for_record_lingers_alone() {
    let mut synchronous = load(1_000_000);
    synchronous.await_acks = AwaitAcks::Every(1);
    let mut run = Run::new(client(loaded(synchronous), &[("linger.ms", "100")]));
    run.to(10_000);
    let sent = run.simulation.producer(TRIPS).totals.records_sent;
    assert!((97..=99).contains(&sent), "{sent}");
}

#[test]
fn an_unknown_topic_blocks_send_for_max_block_ms() {
    let mut config = loaded(load(1000));
    config.topics[0].existing = None;
    for broker in &mut config.brokers {
        broker.settings.auto_create_topics = false;
    }
    let mut run = Run::new(config);
    run.to(130_000);
    let refused = run
        .first(|f| matches!(f, Fact::RecordRefused { .. }))
        .unwrap();
    assert!((60_000..=60_002).contains(&refused), "{refused}");
    assert_eq!(run.simulation.producer(TRIPS).totals.records_refused, 2);
}

#[test]
fn brokers_create_a_missing_topic_unless_they_are_told_not_to() {
    let mut config = loaded(load(1000));
    config.topics[0].existing = None;
    let mut run = Run::new(config);
    run.to(5_000);
    assert!(run.simulation.producer(TRIPS).totals.records_acked > 4_000);
}

#[test]
fn a_process_that_exits_without_flush_loses_what_it_buffered() {
    let mut short = load(10_000);
    (short.records_max, short.at_end) = (Some(1_000), AtEnd::Exit);
    let mut run = Run::new(client(loaded(short), &[("linger.ms", "1000")]));
    run.to(5_000);
    let totals = run.simulation.producer(TRIPS).totals;
    assert_eq!(
        totals.records_sent,
        totals.records_acked + totals.records_abandoned
    );
    assert!(totals.records_abandoned > 0);
}

#[test]
fn close_sends_what_is_left_before_it_returns() {
    let mut short = load(10_000);
    (short.records_max, short.at_end) = (Some(1_000), AtEnd::Close);
    let mut run = Run::new(client(loaded(short), &[("linger.ms", "1000")]));
    run.to(5_000);
    assert_eq!(run.simulation.producer(TRIPS).totals.records_acked, 1_000);
    assert!(
        run.first(|f| matches!(f, Fact::ClientClosed { .. }))
            .is_some()
    );
}

#[test]
fn acks_all_waits_for_a_dead_follower_until_the_controller_fences_it() {
    let mut config = replicated(loaded(load(1000)), 3);
    let kill = Command::Broker(BrokerIndex(2), KILL);
    config.timeline.push((SimTime::from_seconds(10), kill));
    let mut run = Run::new(config);
    run.to(15_000);
    let stalled = run.simulation.producer(TRIPS).totals.records_acked;
    assert!((9_000..=10_100).contains(&stalled), "{stalled}");
    run.to(40_000);
    let totals = run.simulation.producer(TRIPS).totals;
    assert!(
        totals.records_acked + 200 > totals.records_sent,
        "{totals:?}"
    );
    let fenced = run
        .first(|f| matches!(f, Fact::LeaderChanged { .. }))
        .unwrap();
    assert!((17_000..=20_200).contains(&fenced), "{fenced}");
}

#[test]
fn a_healed_cut_lets_everything_through_and_nothing_stands_twice() {
    let mut limited = load(5_000);
    limited.records_max = Some(100_000);
    let mut config = loaded(limited);
    config.timeline.push(cut(5, LinkFault::Cut));
    config.timeline.push(cut(50, LinkFault::Heal));
    let mut run = Run::new(config);
    run.to(120_000);
    let appended: u64 = run
        .simulation
        .partition_views()
        .iter()
        .map(|partition| partition.records_in)
        .sum();
    let totals = run.simulation.producer(TRIPS).totals;
    assert_eq!(
        (totals.records_acked, appended),
        (100_000, 100_000),
        "{totals:?}"
    );
}

#[test]
fn without_keys_every_partition_gets_its_share() {
    let mut run = Run::new(loaded(keyless(load(20_000))));
    run.to(30_000);
    for partition in run.simulation.partition_views() {
        let share = partition.records_in as f64 / 600_000.0;
        assert!((share - 1.0 / 12.0).abs() < 0.01, "{share}");
    }
}

/// The share of keyless records that goes to each broker; the third takes 20 ms a request.
fn shares_beside_a_slow_broker(version: KafkaVersion) -> Vec<f64> {
    let mut config = world();
    config.brokers[2].request_time = SimSpan::from_millis(20);
    config.producers[0] = producer_of(version, "trips", &[]);
    config.producers[0].loads.push(keyless(load(10_000)));
    let mut run = Run::new(config);
    run.to(10_000);
    let views = run.simulation.partition_views();
    let records = |broker: u16| -> f64 {
        let led = views
            .iter()
            .filter(|view| view.leader == Some(BrokerIndex(broker)));
        let queued = |view: &PartitionView| view.queued_bytes / 1_037;
        led.map(|view| view.records_in + queued(view)).sum::<u64>() as f64
    };
    let sum: f64 = (0..3).map(records).sum();
    (0..3).map(|broker| records(broker) / sum).collect()
}

#[test]
fn a_client_that_sticks_by_batch_sends_most_to_the_slowest_broker() {
    let by_batch = shares_beside_a_slow_broker(KafkaVersion::new(3, 2, 0));
    assert!(by_batch[2] > 0.5, "{by_batch:?}");
    let by_bytes = shares_beside_a_slow_broker(KafkaVersion::DEFAULT);
    assert!(by_bytes[2] < 0.3, "{by_bytes:?}");
}

#[test]
fn keyless_records_went_round_before_2_4() {
    let shares = shares_beside_a_slow_broker(KafkaVersion::new(2, 3, 0));
    for share in &shares {
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{shares:?}");
    }
}

/// Records in each partition when a client of this version lets them go round, so slowly that
/// every record opens a batch of its own.
fn gone_round(version: KafkaVersion) -> Vec<u64> {
    let class = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
    let given = [("partitioner.class", class), ("linger.ms", "0")];
    let mut config = world();
    config.producers[0] = producer_of(version, "trips", &given);
    config.producers[0].loads.push(load(10));
    let mut run = Run::new(config);
    run.to(120_050);
    let views = run.simulation.partition_views();
    views.iter().map(|view| view.records_in).collect()
}

#[test]
fn round_robin_gives_every_partition_the_same() {
    assert_eq!(gone_round(KafkaVersion::DEFAULT), [100; 12]);
}

#[test]
fn round_robin_of_older_clients_skips_a_partition_for_every_new_batch() {
    let every_other: Vec<u64> = (0..12).map(|number| number % 2 * 200).collect();
    assert_eq!(gone_round(KafkaVersion::new(3, 9, 1)), every_other);
    assert_eq!(gone_round(KafkaVersion::new(3, 9, 2)), [100; 12]);
}

#[test]
fn a_restarted_process_goes_on_with_another_producer_id() {
    let mut config = loaded(load(1000));
    let restart = Command::Producer(TRIPS, ProducerFault::Restart);
    config.timeline.push((SimTime::from_seconds(5), restart));
    let mut run = Run::new(config);
    run.to(10_000);
    assert_eq!(run.simulation.producer(TRIPS).producer_id, Some((1000, 0)));
    assert!(run.simulation.producer(TRIPS).totals.records_acked > 9_000);
}

#[test]
fn a_new_linger_restarts_the_client_gracefully() {
    let mut run = Run::new(loaded(load(1000)));
    run.to(2_000);
    let key = "linger.ms".to_string();
    run.command(Command::SetClient {
        producer: TRIPS,
        key,
        value: "50".to_string(),
    });
    run.to(10_000);
    let totals = run.simulation.producer(TRIPS).totals;
    assert_eq!(totals.records_abandoned + totals.records_failed, 0);
    assert!(totals.records_acked > 9_500, "{totals:?}");
}

/// A world in which everything happens: faults, replicas, several threads, waits, refusals.
fn eventful(seed: u64) -> Config {
    let mut first = load(8_000);
    (first.threads, first.on_refused) = (3, OnRefused::Retry);
    let mut second = load(900);
    (second.topic, second.pacing, second.arrival) = (TopicIndex(1), Pacing::Open, Arrival::Poisson);
    second.values = ValueConfig::Uniform(10, 3000);
    second.on_failed = OnFailed::Resend;
    second = keyless(second);
    let mut config = client(
        slow_disks(loaded(first)),
        &[
            ("buffer.memory", "1000000"),
            ("max.block.ms", "700"),
            ("delivery.timeout.ms", "9000"),
            ("request.timeout.ms", "2000"),
            ("metadata.max.age.ms", "3000"),
        ],
    );
    config.seed = seed;
    config.link.jitter = SimSpan::from_micros(200);
    config.link.loss_ppm = 500;
    config.topics.push(topic("orders", 5, 3));
    config.producers[0].loads.push(second);
    config.producers.push(producer("other", &[]));
    config.producers[1].loads.push(load(2_000));
    config.duration = SimSpan::from_seconds(30);
    config.timeline = vec![
        cut(3, LinkFault::Cut),
        cut(6, LinkFault::Heal),
        (
            SimTime::from_seconds(8),
            Command::Broker(BrokerIndex(1), KILL),
        ),
        (
            SimTime::from_seconds(14),
            Command::Broker(BrokerIndex(1), BrokerFault::Start),
        ),
        (
            SimTime::from_seconds(20),
            Command::Producer(TRIPS, ProducerFault::Restart),
        ),
        grown(11, 0, 14),
        grown(16, 1, 8),
        grown(21, 0, 15),
        cut(23, LinkFault::Refuse),
        cut(25, LinkFault::Heal),
    ];
    config
}

fn grown(second: u64, topic: u16, partitions: u32) -> (SimTime, Command) {
    let topic = TopicIndex(topic);
    let command = Command::AddPartitions { topic, partitions };
    (SimTime::from_seconds(second), command)
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let digest = |seed| Run::new(eventful(seed)).to(30_000).simulation.digest();
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

/// The facts of a run that is cut into slices at these moments (in microseconds).
fn facts_of(config: &Config, cuts: &[u64]) -> (Vec<crate::sim::fact::Stamped>, u64) {
    let mut run = Run::new(config.clone());
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    for cut in cuts {
        run.until_nanos(cut * 1000);
    }
    run.to(30_000);
    (run.facts.clone(), run.simulation.digest())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn how_a_run_is_sliced_changes_nothing(
        seed in 0_u64..1000,
        cuts in prop::collection::vec(0_u64..30_000_000, 1..60),
    ) {
        let config = eventful(seed);
        let (whole, digest) = facts_of(&config, &[]);
        let (sliced, sliced_digest) = facts_of(&config, &cuts);
        for (a, b) in whole.iter().zip(&sliced) {
            prop_assert_eq!(a, b, "first divergence; seed {}", seed);
        }
        prop_assert_eq!(digest, sliced_digest);
    }

    #[test]
    fn a_clone_goes_on_as_its_original_would(seed in 0_u64..1000, at in 0_u64..30_000) {
        let mut run = Run::new(eventful(seed));
        run.to(at);
        let mut copy = run.simulation.clone();
        let _ = copy.advance_to(SimTime::from_seconds(30), u64::MAX);
        run.to(30_000);
        prop_assert_eq!(copy.digest(), run.simulation.digest());
    }
}

#[test]
fn a_thread_in_arrears_that_waits_for_memory_does_not_wait_out_the_linger() {
    let mut config = world();
    let given = [("buffer.memory", "32768"), ("linger.ms", "100")];
    config.producers[0] = producer("trips", &given);
    let mut in_arrears = load(10_000);
    in_arrears.pacing = Pacing::Open;
    config.producers[0].loads.push(in_arrears);
    let mut run = Run::new(config);
    run.to(2_000);
    // Two batches of a record or two each round trip of a millisecond, not each linger.
    let acked = run.simulation.producer(TRIPS).totals.records_acked;
    assert!(acked > 2_000, "{acked}");
}
