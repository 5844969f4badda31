//! The engine against theory: a simulator's own oracle.

use std::sync::Arc;

use crate::sim::Output;
use crate::sim::config::{Arrival, Config, ExistingTopic, Pacing, ValueConfig};
use crate::sim::fact::Flow;
use crate::sim::ids::BrokerIndex;
use crate::sim::simulation::Simulation;
use crate::sim::testing::{keyless, load, producer, world};
use crate::sim::time::{SimSpan, SimTime};

/// Many applications, each of which sends single records now and then.
const PRODUCERS: u64 = 40;
/// Records per second of each.
const RATE: u64 = 20;
/// Bytes of a batch with one record: 61 and a record of 1,000 bytes without key.
const BATCH_BYTES: u64 = 61 + 1009;

/// One broker's disk as an M/D/1 queue: Poisson arrivals, 1 ms of service for each batch.
fn queue() -> Config {
    let mut config = world();
    config.duration = SimSpan::from_seconds(200);
    config.brokers[0].append_rate = Some(BATCH_BYTES * 1000);
    let one = ExistingTopic {
        replicas: vec![vec![BrokerIndex(0)]],
        ..existing(&config)
    };
    config.topics[0].existing = Some(ExistingTopic {
        start_offsets: vec![0],
        ..one
    });
    config.producers = (0..PRODUCERS)
        .map(|n| {
            let mut load = keyless(load(RATE));
            (load.pacing, load.arrival) = (Pacing::Open, Arrival::Poisson);
            load.values = ValueConfig::Fixed(1000);
            let mut client = producer(&format!("p{n}"), &[("linger.ms", "0")]);
            client.loads.push(load);
            client
        })
        .collect();
    config
}

fn existing(config: &Config) -> ExistingTopic {
    config.topics[0]
        .existing
        .clone()
        .expect("the world's topic exists")
}

#[test]
fn a_disk_under_poisson_load_waits_as_an_m_d_1_queue_and_obeys_littles_law() {
    let mut simulation = Simulation::new(Arc::new(queue()));
    let mut out = Output::default();
    let (mut batches, mut seconds, mut in_hand, mut samples) = (0_u64, 0.0, 0_u64, 0_u64);
    let mut at = SimTime::from_seconds(1);
    while at < simulation.end() {
        let _ = simulation.advance_to(at, u64::MAX);
        simulation.drain(&mut out);
        for flow in &out.flows {
            let Flow::Acknowledged(batch) = flow else {
                continue;
            };
            if batch.records == 1 {
                batches += 1;
                seconds += batch.appended.since(batch.arrived).as_seconds();
            }
        }
        in_hand += u64::from(simulation.broker(BrokerIndex(0)).requests);
        samples += 1;
        at += SimSpan::from_nanos(7_300_000);
    }
    // Utilisation 0.8, service 1 ms: 1 + 0.8 / (2 · 0.2) = 3 ms.
    let sojourn_ms = seconds / batches as f64 * 1000.0;
    assert!((sojourn_ms - 3.0).abs() < 0.15, "{sojourn_ms} ms");
    // As many are there as arrive in the time that each stays.
    let arrival_rate = (PRODUCERS * RATE) as f64;
    let (present, expected) = (
        in_hand as f64 / samples as f64,
        arrival_rate * sojourn_ms / 1000.0,
    );
    assert!(
        (present - expected).abs() / expected < 0.05,
        "{present} against {expected}"
    );
}
