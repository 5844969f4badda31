//! Stories: which partition a record goes to.

use std::sync::Arc;

use crate::kafka::hash::murmur2_partition;
use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use crate::kafka::version::KafkaVersion;
use crate::sim::command::{BrokerFault, Command};
use crate::sim::config::{AtEnd, Config, KeyChoice, KeyConfig, LoadConfig};
use crate::sim::ids::BrokerIndex;
use crate::sim::testing::{Run, TRIPS, keyless, load, producer_of, world};
use crate::sim::time::{SimSpan, SimTime};

const RACK_AWARE: &[(&str, &str)] = &[("partitioner.rack.aware", "true"), ("client.rack", "a")];
const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

/// A world whose only producer is a client of this version and configuration under this load.
fn with(version: (u16, u16), given: &[(&str, &str)], load: LoadConfig) -> Config {
    let mut config = world();
    let version = KafkaVersion::new(version.0, version.1, 0);
    config.producers[0] = producer_of(version, "trips", given);
    config.producers[0].loads.push(load);
    config
}

/// Brokers 1, 2, 3 in racks a, b, c; broker b leads every partition p with p mod 3 = b - 1.
fn racked(mut config: Config) -> Config {
    for (broker, rack) in config.brokers.iter_mut().zip(["a", "b", "c"]) {
        broker.rack = Some(rack.to_string());
    }
    config
}

fn records(run: &Run) -> Vec<u64> {
    let views = run.simulation.partition_views();
    views.iter().map(|view| view.records_in).collect()
}

/// Records of the partitions that a broker led at the start.
fn records_of(run: &Run, broker: usize) -> u64 {
    records(run).iter().skip(broker).step_by(3).sum()
}

// === Racks

#[test]
fn a_rack_aware_client_sends_keyless_records_to_leaders_in_its_rack_alone() {
    let mut run = Run::new(racked(with((4, 4), RACK_AWARE, keyless(load(10_000)))));
    run.to(10_000);
    assert!(records_of(&run, 0) > 99_000, "{:?}", records(&run));
    assert_eq!([records_of(&run, 1), records_of(&run, 2)], [0, 0]);
    assert_eq!(run.simulation.producer_totals(TRIPS).cross_rack_bytes, 0);
}

#[test]
fn a_rack_without_leaders_leaves_all_partitions() {
    let elsewhere = [("partitioner.rack.aware", "true"), ("client.rack", "z")];
    let mut run = Run::new(racked(with((4, 4), &elsewhere, keyless(load(10_000)))));
    run.to(10_000);
    assert!(records(&run).iter().all(|&records| records > 5_000));
}

#[test]
fn when_the_racks_leaders_die_the_others_serve_from_the_next_metadata_on() {
    let mut config = racked(with((4, 4), RACK_AWARE, keyless(load(1_000))));
    let kill = Command::Broker(BrokerIndex(0), KILL);
    config.timeline.push((SimTime::from_seconds(5), kill));
    let mut run = Run::new(config);
    run.to(5_000);
    assert_eq!([records_of(&run, 1), records_of(&run, 2)], [0, 0]);
    run.to(60_000);
    assert!(records_of(&run, 1) > 5_000 && records_of(&run, 2) > 5_000);
}

#[test]
fn keyed_records_go_where_their_keys_say_whatever_the_rack() {
    let aware = {
        let mut run = Run::new(racked(with((4, 4), RACK_AWARE, load(10_000))));
        records(run.to(10_000))
    };
    let mut run = Run::new(racked(with((4, 4), &[], load(10_000))));
    assert_eq!(aware, records(run.to(10_000)));
}

#[test]
fn bytes_to_brokers_of_other_racks_are_counted() {
    let in_a = [("client.rack", "a")];
    let mut run = Run::new(racked(with((4, 4), &in_a, load(10_000))));
    run.to(10_000);
    let elsewhere: u64 = run
        .simulation
        .partition_views()
        .iter()
        .map(|view| {
            if view.number % 3 == 0 {
                0
            } else {
                view.bytes_in
            }
        })
        .sum();
    let counted = run.simulation.producer_totals(TRIPS).cross_rack_bytes;
    let share = counted as f64 / elsewhere as f64;
    assert!(
        (1.0..1.05).contains(&share),
        "{counted} of {elsewhere} bytes"
    );
}

#[test]
fn where_an_older_client_stands_is_known_from_its_machine() {
    let mut config = racked(with((4, 3), &[], load(1_000)));
    config.producers[0].rack = Some("b".to_string());
    let mut run = Run::new(config);
    run.to(10_000);
    assert!(run.simulation.producer_totals(TRIPS).cross_rack_bytes > 0);
}

// === The order of the choice

const SPREAD: &str = "com.example.HotKeySpread";
const ROUND_ROBIN: &str = "org.apache.kafka.clients.producer.RoundRobinPartitioner";

/// So many records of each of these keys in turn, then a flush.
fn turns(keys: &[&str], each: u64) -> LoadConfig {
    let keys = KeyConfig {
        keys: keys.iter().map(|key| key.as_bytes().to_vec()).collect(),
        choice: KeyChoice::Cycle,
        explicit_partition: None,
    };
    LoadConfig {
        records_max: Some(each * keys.keys.len() as u64),
        at_end: AtEnd::Flush,
        keys: Arc::new(keys),
        ..load(1_000)
    }
}

/// Records by partition when all of them have arrived.
fn placed(version: (u16, u16), given: &[(&str, &str)], load: LoadConfig) -> Vec<u64> {
    let mut run = Run::new(with(version, given, load));
    records(run.to(20_000))
}

/// All of `count` records in one partition of twelve.
fn all_in(partition: u32, count: u64) -> Vec<u64> {
    let records = |number| if number == partition { count } else { 0 };
    (0..12).map(records).collect()
}

#[test]
fn a_partition_that_the_record_names_is_taken_whatever_class_and_key_would_say() {
    let named = |load: LoadConfig| {
        let keys = KeyConfig {
            explicit_partition: Some(5),
            ..KeyConfig::clone(&load.keys)
        };
        LoadConfig {
            keys: Arc::new(keys),
            ..load
        }
    };
    let spread = [("partitioner.class", SPREAD), ("hot.keys", "a")];
    let ignoring = [("partitioner.ignore.keys", "true")];
    let round = [("partitioner.class", ROUND_ROBIN)];
    for given in [&[][..], &spread, &ignoring, &round] {
        assert_eq!(
            placed((4, 3), given, named(turns(&["a"], 100))),
            all_in(5, 100)
        );
    }
}

#[test]
fn a_class_is_asked_before_the_key() {
    let own = murmur2_partition(b"a", 12);
    assert_eq!(placed((4, 3), &[], turns(&["a"], 120)), all_in(own, 120));
    let round = placed(
        (4, 3),
        &[("partitioner.class", ROUND_ROBIN)],
        turns(&["a"], 120),
    );
    assert_eq!(round, [10; 12]);
    let given = [
        ("partitioner.class", SPREAD),
        ("hot.keys", "a"),
        ("hot.keys.spread", "3"),
    ];
    let spread = placed((4, 3), &given, turns(&["a"], 3_000));
    let reached = |place: u32| spread[((own + place) % 12) as usize];
    assert_eq!((0..3).map(reached).sum::<u64>(), 3_000);
    assert!(
        (0..3).all(|place| (900..1_100).contains(&reached(place))),
        "{spread:?}"
    );
}

#[test]
fn keys_that_are_ignored_stick_as_if_they_were_not_there() {
    let given = [("partitioner.ignore.keys", "true")];
    let by_bytes = placed((4, 3), &given, turns(&["a"], 10_000));
    assert!(by_bytes.iter().all(|&records| records > 0), "{by_bytes:?}");
    let uniform = "org.apache.kafka.clients.producer.UniformStickyPartitioner";
    let by_batch = placed(
        (3, 9),
        &[("partitioner.class", uniform)],
        turns(&["a"], 10_000),
    );
    assert!(by_batch.iter().all(|&records| records > 0), "{by_batch:?}");
}

#[test]
fn an_empty_key_is_a_key() {
    assert_eq!(placed((4, 3), &[], turns(&[""], 100)), all_in(9, 100));
}

// === Classes of the application

#[test]
fn vip_keys_have_the_last_partitions_to_themselves() {
    let given = [
        ("partitioner.class", "com.example.VipRouting"),
        ("vip.keys", "banana, kiwi"),
    ];
    let keys = ["banana", "apple", "kiwi", "pear", "plum"];
    let records = placed((4, 3), &given, turns(&keys, 100));
    assert_eq!(records[11], 200);
    for key in ["apple", "pear", "plum"] {
        assert!(
            records[murmur2_partition(key.as_bytes(), 11) as usize] >= 100,
            "{key}"
        );
    }
}

#[test]
fn a_java_client_with_crc32_agrees_with_librdkafka() {
    let crc32 = [("partitioner.class", "com.example.Crc32")];
    for key in ["user-1", "user-2", "user-3"] {
        let theirs = RdkafkaPartitioner::ConsistentRandom.choice(Some(key.as_bytes()), 12);
        let records = placed((4, 3), &crc32, turns(&[key], 50));
        let filled = records.iter().position(|&records| records == 50);
        assert_eq!(
            filled.map(|number| Choice::Partition(number as u32)),
            Some(theirs)
        );
    }
}

#[test]
fn a_class_that_decides_by_key_decides_the_same_when_it_is_asked_twice() {
    let crc32 = [("partitioner.class", "com.example.Crc32")];
    let keys = ["user-1", "user-2", "user-3", "user-4"];
    let old = placed((3, 9), &crc32, turns(&keys, 50));
    assert_eq!(old, placed((4, 3), &crc32, turns(&keys, 50)));
}

// === Slow leaders

/// The share of records that goes to broker 3, which takes 20 ms a request.
fn share_of_slow_leader(given: &[(&str, &str)], load: LoadConfig) -> f64 {
    let mut config = with((4, 3), given, load);
    config.brokers[2].request_time = SimSpan::from_millis(20);
    config.producers[0].loads[0].records_max = Some(100_000);
    let mut run = Run::new(config);
    run.to(60_000);
    records_of(&run, 2) as f64 / records(&run).iter().sum::<u64>() as f64
}

#[test]
fn keyless_records_avoid_a_slow_leader_and_more_so_one_that_is_late() {
    let adaptive = share_of_slow_leader(&[], keyless(load(10_000)));
    let late = [("partitioner.availability.timeout.ms", "5")];
    let late = share_of_slow_leader(&late, keyless(load(10_000)));
    let uniform = [("partitioner.adaptive.partitioning.enable", "false")];
    let uniform = share_of_slow_leader(&uniform, keyless(load(10_000)));
    assert!(
        late < adaptive && adaptive < 0.3 && 0.31 < uniform,
        "{late} {adaptive} {uniform}"
    );
}

#[test]
fn keyed_records_wait_for_their_slow_leader() {
    let fast = {
        let mut run = Run::new(with((4, 3), &[], load(10_000)));
        run.to(10_000);
        records_of(&run, 2) as f64 / records(&run).iter().sum::<u64>() as f64
    };
    let late = [("partitioner.availability.timeout.ms", "5")];
    let slow = share_of_slow_leader(&late, load(10_000));
    assert!((slow - fast).abs() < 0.001, "{slow} {fast}");
}
