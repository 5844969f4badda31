//! Topics that get more partitions while producers write to them.

use proptest::prelude::*;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::hash::murmur2_partition;
use crate::kafka::settings::CleanupPolicy;
use crate::sim::command::{BrokerFault, Command};
use crate::sim::config::{Config, HistoryDetail, KeyChoice, KeyConfig, OnRefused};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::testing::{Run, keyless, load, producer, topic, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::PartitionView;

const EVENTS: TopicIndex = TopicIndex(0);

/// Three partitions that become six at the third second, and two producers that learn it after 5
/// and after 10 seconds.
fn growing() -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 3, 2), topic("orders", 2, 1)];
    config.producers = [("soon", "5000"), ("late", "10000")]
        .map(|(name, age)| producer(name, &[("metadata.max.age.ms", age)]))
        .into();
    for producer in &mut config.producers {
        producer.loads.push(load(500));
    }
    config.timeline.push((SimTime::from_seconds(3), to(6)));
    config
}

fn to(partitions: u32) -> Command {
    let topic = EVENTS;
    Command::AddPartitions { topic, partitions }
}

fn records(run: &Run) -> Vec<u64> {
    let views = run.simulation.partition_views();
    views.iter().map(|view| view.records_in).collect()
}

fn learned(run: &Run, who: u16) -> Option<u64> {
    run.first(|fact| {
        matches!(fact, Fact::PartitionsLearned { producer, from: 3, to: 6, .. }
            if *producer == ProducerIndex(who))
    })
}

#[test]
fn each_producer_learns_of_new_partitions_at_its_own_next_refresh() {
    let mut run = Run::new(growing());
    run.to(4_900);
    assert_eq!(records(&run)[3..6], [0, 0, 0]);
    run.to(20_000);
    let (soon, late) = (learned(&run, 0).unwrap(), learned(&run, 1).unwrap());
    assert!((5_000..5_020).contains(&soon), "{soon}");
    assert!((10_000..10_020).contains(&late), "{late}");
}

#[test]
fn from_then_on_keys_go_where_the_hash_sends_them_among_all_partitions() {
    let mut run = Run::new(growing());
    run.to(10_500);
    let before = records(&run);
    run.to(20_500);
    let keys = (1..=5_000).map(|n| format!("rider-{n}"));
    let mut expected = [0_u64; 6];
    for key in keys {
        // 500 records/s of two producers for ten seconds are every key twice.
        expected[murmur2_partition(key.as_bytes(), 6) as usize] += 2;
    }
    let came = records(&run);
    for number in 0..6 {
        let got = came[number] - before[number];
        assert!(got.abs_diff(expected[number]) <= 20, "{number}: {got}");
    }
}

#[test]
fn new_partitions_stand_on_the_brokers_that_the_operator_names() {
    let replicas = vec![vec![BrokerIndex(2), BrokerIndex(0)]; 5];
    let topic = EVENTS;
    let mut config = growing();
    let three = SimTime::from_seconds(3);
    config.timeline = vec![(three, Command::PlacePartitions { topic, replicas })];
    let before = Run::new(config.clone()).simulation.partition_views();
    let mut run = Run::new(config);
    run.to(4_000);
    let views = run.simulation.partition_views();
    let placed = |views: &[PartitionView]| -> Vec<Vec<BrokerIndex>> {
        views.iter().map(|view| view.replicas.clone()).collect()
    };
    assert_eq!(placed(&views)[..3], placed(&before)[..3]);
    assert_eq!(
        placed(&views)[3..5],
        vec![vec![BrokerIndex(2), BrokerIndex(0)]; 2]
    );
    assert_eq!(views[4].leader, Some(BrokerIndex(2)));
}

#[test]
fn new_partitions_come_behind_all_others_and_are_shown_with_their_topic() {
    let mut run = Run::new(growing());
    run.to(4_000);
    let names: Vec<_> = run
        .simulation
        .partitions()
        .map(|index| run.simulation.partition_name(index))
        .collect();
    let topics = [
        "events-0", "events-1", "events-2", "events-3", "events-4", "events-5",
    ];
    assert_eq!(names[..6], topics);
    assert_eq!(names[6..], ["orders-0", "orders-1"]);
    let places: Vec<_> = run
        .simulation
        .partitions()
        .map(PartitionIndex::index)
        .collect();
    assert_eq!(places, [0, 1, 2, 5, 6, 7, 3, 4]);
}

#[test]
fn new_partitions_have_as_many_replicas_and_are_led_by_different_brokers() {
    let mut run = Run::new(growing());
    run.to(4_000);
    let views = run.simulation.partition_views();
    let mut leaders: Vec<_> = views[3..6].iter().filter_map(|view| view.leader).collect();
    leaders.sort_unstable();
    assert_eq!(leaders, [0, 1, 2].map(BrokerIndex));
    assert!(views[3..6].iter().all(|view| view.isr.len() == 2));
}

#[test]
fn what_is_written_to_new_partitions_is_replicated() {
    let mut run = Run::new(growing());
    run.to(20_000);
    let views = run.simulation.partition_views();
    for view in &views[3..6] {
        assert!(view.log_end_offset - view.high_watermark < 200, "{view:?}");
        assert!(view.high_watermark > 1_000, "{view:?}");
    }
}

#[test]
fn keyless_records_are_spread_over_new_partitions_too() {
    let mut config = growing();
    for producer in &mut config.producers {
        producer.loads = vec![keyless(load(3_000))];
    }
    let mut run = Run::new(config);
    run.to(60_000);
    assert!(records(&run)[3..6].iter().all(|&records| records > 20_000));
}

#[test]
fn a_topic_never_shrinks_and_the_refusal_is_kafkas() {
    let mut run = Run::new(growing());
    run.to(4_000).command(to(4)).command(to(6)).to(4_001);
    let reasons: Vec<_> = run
        .facts
        .iter()
        .filter_map(|stamped| match &stamped.fact {
            Fact::CommandRefused { reason, .. } => Some(reason.as_ref()),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "The topic events currently has 6 partition(s); 4 would not be an increase.",
            "Topic already has 6 partition(s)."
        ]
    );
}

#[test]
fn a_dead_broker_gets_replicas_of_new_partitions_but_leads_none() {
    let mut config = growing();
    config.topics[0] = topic("events", 3, 3);
    let kill = BrokerFault::Kill {
        lose_tail_records: 0,
    };
    let dies = Command::Broker(BrokerIndex(1), kill);
    config.timeline = vec![
        (SimTime::from_seconds(1), dies),
        (SimTime::from_seconds(20), to(9)),
    ];
    let mut run = Run::new(config);
    run.to(22_000);
    let views = run.simulation.partition_views();
    let new = &views[3..9];
    assert!(
        new.iter()
            .all(|view| view.leader.is_some_and(|b| b != BrokerIndex(1)))
    );
    assert!(
        new.iter()
            .any(|view| view.replicas.contains(&BrokerIndex(1)))
    );
    assert!(new.iter().all(|view| !view.isr.contains(&BrokerIndex(1))));
}

#[test]
fn a_restarted_client_counts_records_of_new_partitions_on() {
    let mut run = Run::new(growing());
    run.to(12_000);
    let fault = crate::sim::command::ProducerFault::Restart;
    run.command(Command::Producer(ProducerIndex(0), fault));
    run.to(20_000);
    let totals = run.simulation.producer(ProducerIndex(0)).totals;
    assert!(totals.records_acked > 9_000, "{totals:?}");
}

/// The same world, with every record remembered.
fn remembered() -> Config {
    let mut config = growing();
    for existing in config
        .topics
        .iter_mut()
        .filter_map(|topic| topic.existing.as_mut())
    {
        existing.history = HistoryDetail::Records;
    }
    config.producers[0].trace = vec![b"rider-1".to_vec()];
    config
}

#[test]
fn remembering_records_changes_nothing() {
    let (mut plain, mut close) = (Run::new(growing()), Run::new(remembered()));
    plain.to(15_000);
    close.to(15_000);
    assert_eq!(plain.simulation.digest(), close.simulation.digest());
}

#[test]
fn keys_that_moved_are_found_on_both_partitions() {
    let mut run = Run::new(remembered());
    run.to(30_000);
    let moved = (1..=5_000)
        .map(|n| format!("rider-{n}"))
        .filter(|key| {
            let [before, after] = [3, 6].map(|count| murmur2_partition(key.as_bytes(), count));
            before != after
        })
        .count() as u64;
    // The two producers send every key within ten seconds, before they learn and after.
    assert_eq!(run.simulation.split_keys(EVENTS), Some(moved));
    let stayed = run.simulation.key_history(EVENTS, b"rider-1").unwrap();
    let records: u64 = stayed.spans.iter().map(|span| span.records).sum();
    assert_eq!(stayed.positions.len() as u64, records);
}

#[test]
fn a_split_key_is_said_with_its_partitions_when_it_first_is() {
    let mut run = Run::new(remembered());
    run.to(12_000);
    let first = run.facts.iter().find_map(|stamped| match &stamped.fact {
        Fact::KeySplit {
            key, partitions, ..
        } => Some((stamped.at, key.clone(), partitions.clone())),
        _ => None,
    });
    // One producer knows of the new partition and the other one does not: either may come first.
    let (at, key, mut partitions) = first.unwrap();
    partitions.sort_unstable();
    assert!((5_000..5_100).contains(&at.as_millis()), "{at}");
    let expected = [3, 6].map(|count| murmur2_partition(&key, count));
    assert_eq!(partitions, expected);
}

#[test]
fn a_log_whose_records_are_remembered_tells_their_keys() {
    let mut run = Run::new(remembered());
    run.to(2_000);
    let index = run.simulation.partitions().next().unwrap();
    let lines = run.simulation.log_lines(index);
    let first = (1..100).find(|n| murmur2_partition(format!("rider-{n}").as_bytes(), 3) == 0);
    assert_eq!(lines[0], format!("0 rider-{}", first.unwrap()));
}

/// A compacted topic with ten keys, cleaned as soon as a segment of two seconds is closed.
fn compacted() -> Config {
    let mut config = remembered();
    let existing = config.topics[0].existing.as_mut().unwrap();
    existing.settings.cleanup_policy = CleanupPolicy::Compact;
    existing.settings.segment_ms = 2_000;
    existing.settings.min_cleanable_dirty_ratio = 0.0;
    let keys = (1..=10).map(|n| format!("user-{n}").into_bytes()).collect();
    let keys = std::sync::Arc::new(KeyConfig {
        keys,
        choice: KeyChoice::Cycle,
        explicit_partition: None,
    });
    for producer in &mut config.producers {
        producer.loads[0].keys = keys.clone();
    }
    config
}

#[test]
fn a_compacted_topic_keeps_a_value_of_a_moved_key_on_each_of_its_partitions() {
    let mut run = Run::new(compacted());
    run.to(60_000);
    let moved = (1..=10).map(|n| format!("user-{n}")).filter(|key| {
        let [before, after] = [3, 6].map(|count| murmur2_partition(key.as_bytes(), count));
        before != after
    });
    assert_eq!(
        run.simulation.keys_kept_split(EVENTS),
        Some(moved.count() as u64)
    );
    let views = run.simulation.partition_views();
    let kept: u64 = views[..6].iter().map(|view| view.records_kept).sum();
    let written: u64 = views[..6].iter().map(|view| view.records_in).sum();
    assert!(
        written > 55_000 && kept < written / 3,
        "{kept} of {written}"
    );
}

#[test]
fn a_compacted_topic_refuses_records_without_a_key() {
    let mut config = compacted();
    for producer in &mut config.producers {
        producer.loads = vec![keyless(load(100))];
    }
    let mut run = Run::new(config);
    run.to(2_000);
    let is_refused = |fact: &Fact| {
        matches!(fact, Fact::BatchFailed { exception, .. }
        if exception.class.is_java(ExceptionClass::InvalidRecord))
    };
    assert!(run.first(is_refused).is_some());
    assert_eq!(records(&run)[..3], [0, 0, 0]);
}

/// The same world, in which a third producer copies `events` into `orders`, which has six.
fn copied() -> Config {
    let mut config = remembered();
    config.timeline.clear();
    config.topics[1] = topic("orders", 6, 2);
    config.topics[1].existing.as_mut().unwrap().history = HistoryDetail::Records;
    for producer in &mut config.producers {
        producer.loads[0].records_max = Some(4_000);
    }
    let mut copy = producer("copy", &[]);
    copy.start = SimTime::from_seconds(4);
    let mut load = keyless(load(3_000));
    (load.topic, load.replay, load.on_refused) = (TopicIndex(1), Some(EVENTS), OnRefused::Retry);
    copy.loads.push(load);
    config.producers.push(copy);
    config
}

#[test]
fn a_copy_brings_every_record_with_its_key_and_splits_none() {
    let mut run = Run::new(copied());
    run.to(20_000);
    let simulation = &run.simulation;
    let views = simulation.partition_views();
    let count = |topic: usize| -> u64 {
        let of_topic = views.iter().filter(|view| view.topic.index() == topic);
        of_topic.map(|view| view.records_in).sum()
    };
    assert_eq!((count(0), count(1)), (8_000, 8_000));
    assert_eq!(simulation.split_keys(TopicIndex(1)), Some(0));
    for n in [1, 77, 3_999] {
        let key = format!("rider-{n}");
        let history = simulation
            .key_history(TopicIndex(1), key.as_bytes())
            .unwrap();
        let expected = murmur2_partition(key.as_bytes(), 6);
        assert_eq!(history.spans[0].partition.name().number, expected);
        assert_eq!(history.spans[0].records, 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn growth_cleaning_and_copies_do_not_depend_on_how_a_run_is_sliced(
        cuts in prop::collection::vec(0_u64..30_000_000, 1..40),
    ) {
        let digest = |mut config: Config, cuts: &[u64]| {
            config.duration = SimSpan::from_seconds(30);
            let mut run = Run::new(config);
            for cut in cuts {
                run.until_nanos(cut * 1000);
            }
            run.to(30_000);
            run.simulation.digest()
        };
        let mut cuts = cuts;
        cuts.sort_unstable();
        prop_assert_eq!(digest(compacted(), &cuts), digest(compacted(), &[]));
        prop_assert_eq!(digest(copied(), &cuts), digest(copied(), &[]));
    }
}

#[test]
fn a_send_to_a_partition_that_does_not_exist_yet_goes_on_when_it_does() {
    let mut config = growing();
    for producer in &mut config.producers {
        let keys = KeyConfig {
            keys: Vec::new(),
            choice: KeyChoice::Cycle,
            explicit_partition: Some(5),
        };
        producer.loads[0].keys = std::sync::Arc::new(keys);
    }
    let mut run = Run::new(config);
    run.to(10_000);
    // Its thread asks for metadata again and again, so it does not wait for the next refresh.
    let learned = learned(&run, 0).unwrap();
    assert!((3_000..4_100).contains(&learned), "{learned}");
    assert!(records(&run)[5] > 3_000);
}
