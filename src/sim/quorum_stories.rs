//! Stories: brokers that are controllers, too, and fail.

use crate::sim::command::{BrokerFault, Command, ElectionType, LinkFault};
use crate::sim::config::{Config, Peer};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::testing::{Run, load, topic, world};
use crate::sim::time::SimTime;

const EVENTS: PartitionIndex = PartitionIndex::of_first_topic(0);
const FIRST: BrokerIndex = BrokerIndex(0);
const SECOND: BrokerIndex = BrokerIndex(1);
const THIRD: BrokerIndex = BrokerIndex(2);
const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

/// One partition on three brokers that are controllers, too; the first leads and controls.
fn combined(timeline: &[(u64, BrokerIndex, BrokerFault)]) -> Config {
    let mut config = world();
    config.controllers = vec![FIRST, SECOND, THIRD];
    config.topics = vec![topic("events", 1, 3)];
    config.producers[0].loads.push(load(100));
    let commands = timeline.iter();
    config.timeline = commands
        .map(|&(ms, broker, fault)| (SimTime::from_millis(ms), Command::Broker(broker, fault)))
        .collect();
    config
}

fn elected(run: &Run) -> Vec<(u64, Option<BrokerIndex>)> {
    let facts = run.facts.iter();
    let changes = facts.filter_map(|stamped| match stamped.fact {
        Fact::ControllerChanged { broker, .. } => Some((stamped.at.as_millis(), broker)),
        _ => None,
    });
    changes.collect()
}

fn leader_after(run: &Run, since: u64) -> Option<u64> {
    let facts = run.facts.iter();
    let led = facts.filter(|stamped| {
        matches!(
            stamped.fact,
            Fact::LeaderChanged {
                leader: Some(_),
                ..
            }
        )
    });
    led.map(|stamped| stamped.at.as_millis())
        .find(|&at| since <= at)
}

#[test]
fn the_death_of_the_active_controller_costs_a_fetch_timeout_and_a_whole_session() {
    let mut run = Run::new(combined(&[(20_300, FIRST, KILL)]));
    run.to(40_000);
    // The others last heard from it at 20.0 s.
    assert_eq!(elected(&run), [(20_300, None), (22_002, Some(SECOND))]);
    // The eighth of its looks, each an eighth of a session, is a millisecond beyond 9 s.
    assert_eq!(leader_after(&run, 20_300), Some(22_002 + 9_001));
}

#[test]
fn the_death_of_another_controller_costs_a_session_only() {
    let mut config = combined(&[(20_300, FIRST, KILL)]);
    config.controllers = vec![SECOND, FIRST, THIRD];
    let mut run = Run::new(config);
    run.to(40_000);
    assert_eq!(elected(&run), []);
    let led = leader_after(&run, 20_300).unwrap();
    assert!((29_000..30_200).contains(&led), "{led}");
}

#[test]
fn one_controller_of_three_decides_nothing_until_another_is_back() {
    let mut run = Run::new(combined(&[
        (20_000, SECOND, KILL),
        (20_000, THIRD, KILL),
        (60_000, THIRD, BrokerFault::Start),
    ]));
    run.to(59_000);
    // It resigns after one and a half fetch timeouts.
    assert_eq!(elected(&run), [(23_000, None)]);
    assert_eq!(run.simulation.partition(EVENTS).isr.len(), 3);
    run.command(Command::ElectLeaders {
        election: ElectionType::Preferred,
        partition: None,
    });
    run.to(59_500);
    let refusals = run.facts.iter().filter_map(|stamped| match &stamped.fact {
        Fact::CommandRefused { reason, .. } => Some(reason.as_ref()),
        _ => None,
    });
    assert_eq!(refusals.collect::<Vec<_>>(), ["no controller is active"]);
    run.to(100_000);
    let (at, broker) = elected(&run)[1];
    assert!((63_000..65_000).contains(&at), "{at}");
    assert_eq!(broker, Some(FIRST));
    assert_eq!(run.simulation.partition(EVENTS).isr, [FIRST, THIRD]);
}

#[test]
fn a_controller_cut_off_from_the_others_loses_its_office_and_its_partitions() {
    let mut config = combined(&[]);
    let cut = Command::Link(Peer::Controller, Peer::Broker(FIRST), LinkFault::Cut);
    config.timeline.push((SimTime::from_millis(20_000), cut));
    let mut run = Run::new(config);
    run.to(40_000);
    assert_eq!(elected(&run), [(22_002, Some(SECOND))]);
    assert_eq!(run.simulation.partition(EVENTS).leader, Some(SECOND));
}

#[test]
fn a_pause_shorter_than_the_fetch_timeout_changes_no_controller() {
    let mut run = Run::new(combined(&[
        (20_000, FIRST, BrokerFault::Pause),
        (21_500, FIRST, BrokerFault::Resume),
    ]));
    run.to(40_000);
    assert_eq!(elected(&run), []);
}

#[test]
fn a_controller_that_shuts_down_in_order_hands_over_at_once() {
    let mut run = Run::new(combined(&[(20_000, FIRST, BrokerFault::Stop)]));
    run.to(40_000);
    let changes = elected(&run);
    let gap = changes[1].0 - changes[0].0;
    assert!(gap <= 2, "{changes:?}");
    assert_eq!(changes[1].1, Some(SECOND));
    // Its partitions were elsewhere before.
    assert_eq!(leader_after(&run, 20_000), Some(20_000));
}

#[test]
fn a_broker_that_shuts_down_without_a_controller_waits_for_one() {
    let mut run = Run::new(combined(&[
        (20_000, FIRST, KILL),
        (20_100, THIRD, BrokerFault::Stop),
    ]));
    run.to(40_000);
    let gone = run.first(|fact| {
        matches!(fact, Fact::BrokerChanged { broker, state }
            if *broker == THIRD && *state == crate::sim::fact::BrokerState::Fenced)
    });
    // Its next heartbeat after the election asks.
    let gone = gone.unwrap();
    assert!((22_000..24_300).contains(&gone), "{gone}");
}
