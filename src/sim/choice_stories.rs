//! Stories: which partition a record goes to, and what becomes of the others.

use crate::kafka::version::KafkaVersion;
use crate::sim::command::{BrokerFault, Command};
use crate::sim::config::{Config, LoadConfig};
use crate::sim::ids::BrokerIndex;
use crate::sim::testing::{Run, TRIPS, keyless, load, producer_of, world};
use crate::sim::time::SimTime;

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
