//! Stories: replicas that part and come together again.

use crate::kafka::version::KafkaVersion;
use crate::sim::command::{
    BrokerFault, Command, EarlierMoves, ElectionType, LinkFault, Placement, Reassign, Throttles,
};
use crate::sim::config::{Config, HistoryDetail, Peer};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::testing::{Run, TRIPS, load, producer, topic, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::PartitionView;

const EVENTS: PartitionIndex = PartitionIndex::of_first_topic(0);
const NAME: TopicPartition = TopicPartition {
    topic: TopicIndex(0),
    number: 0,
};
const FIRST: BrokerIndex = BrokerIndex(0);
const SECOND: BrokerIndex = BrokerIndex(1);
const THIRD: BrokerIndex = BrokerIndex(2);
const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

/// One partition on three brokers, the first leading; 100 records/s.
fn replicated(given: &[(&str, &str)], min_isr: u32) -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 1, 3)];
    let existing = config.topics[0].existing.as_mut().unwrap();
    existing.settings.min_insync_replicas = min_isr;
    existing.history = HistoryDetail::Batches;
    config.producers[0] = producer("trips", given);
    config.producers[0].loads.push(load(100));
    for broker in &mut config.brokers {
        broker.settings.replication.lag_time_max_ms = 5_000;
    }
    config.duration = SimSpan::from_seconds(120);
    config
}

const ACKS_1: &[(&str, &str)] = &[("acks", "1"), ("enable.idempotence", "false")];

fn at(config: &mut Config, millis: u64, command: Command) {
    config
        .timeline
        .push((SimTime::from_millis(millis), command));
}

fn broker(broker: BrokerIndex, fault: BrokerFault) -> Command {
    Command::Broker(broker, fault)
}

fn link(a: BrokerIndex, b: BrokerIndex, fault: LinkFault) -> Command {
    Command::Link(Peer::Broker(a), Peer::Broker(b), fault)
}

fn controller(of: BrokerIndex, fault: LinkFault) -> Command {
    Command::Link(Peer::Controller, Peer::Broker(of), fault)
}

fn view(run: &Run) -> PartitionView {
    run.simulation.partition(EVENTS)
}

fn cut_by(run: &Run, whose: BrokerIndex) -> u64 {
    let cuts = run.facts.iter().filter_map(|stamped| match stamped.fact {
        Fact::TailCut {
            broker, records, ..
        } if broker == whose => Some(records),
        _ => None,
    });
    cuts.sum()
}

#[test]
fn a_leader_cut_off_from_the_controller_takes_acks_1_and_loses_it() {
    let mut config = replicated(ACKS_1, 1);
    at(&mut config, 10_000, controller(FIRST, LinkFault::Cut));
    at(&mut config, 40_000, controller(FIRST, LinkFault::Heal));
    let mut run = Run::new(config);
    run.to(39_000);
    assert_eq!(view(&run).leader, Some(SECOND));
    // Nobody told the client, which has no reason to ask.
    let acked = run.simulation.producer(TRIPS).totals.records_acked;
    assert!(acked > 3_850, "{acked}");
    let held = view(&run).log_end_offset;
    assert!(held < 2_100, "{held}");
    run.to(60_000);
    let lost = cut_by(&run, FIRST);
    assert!((1_900..2_300).contains(&lost), "{lost}");
    assert_eq!(view(&run).isr.len(), 3);
}

#[test]
fn a_leader_cut_off_from_the_controller_cannot_confirm_acks_all() {
    let mut config = replicated(&[], 2);
    at(&mut config, 10_000, controller(FIRST, LinkFault::Cut));
    let mut run = Run::new(config);
    run.to(25_000);
    let before = run.simulation.producer(TRIPS).totals.records_acked;
    run.to(45_000);
    let during = run.simulation.producer(TRIPS).totals.records_acked;
    assert!(during < before + 20, "{before} {during}");
}

#[test]
fn a_follower_cuts_back_to_where_an_unclean_leader_begins() {
    let mut config = replicated(ACKS_1, 1);
    let existing = config.topics[0].existing.as_mut().unwrap();
    existing.settings.unclean_leader_election = true;
    // The third is cut off first, the second later: 1,000 and 500 records behind.
    at(&mut config, 10_000, link(FIRST, THIRD, LinkFault::Cut));
    at(&mut config, 15_000, link(FIRST, SECOND, LinkFault::Cut));
    at(&mut config, 25_000, broker(SECOND, KILL));
    at(&mut config, 40_000, broker(FIRST, KILL));
    at(&mut config, 41_000, link(FIRST, SECOND, LinkFault::Heal));
    at(&mut config, 41_000, link(FIRST, THIRD, LinkFault::Heal));
    at(&mut config, 60_000, broker(FIRST, BrokerFault::Start));
    at(&mut config, 60_000, broker(SECOND, BrokerFault::Start));
    let mut run = Run::new(config);
    run.to(55_000);
    assert_eq!(view(&run).leader, Some(THIRD));
    run.to(100_000);
    let (first, second) = (cut_by(&run, FIRST), cut_by(&run, SECOND));
    assert!((2_900..3_100).contains(&first), "{first}");
    assert!((450..550).contains(&second), "{second}");
    assert_eq!(view(&run).isr.len(), 3);
}

#[test]
fn an_eligible_replica_leads_and_not_the_one_that_lost_its_tail() {
    let mut config = replicated(&[], 2);
    at(&mut config, 10_000, broker(SECOND, BrokerFault::Stop));
    at(&mut config, 20_000, broker(THIRD, BrokerFault::Stop));
    let power_loss = BrokerFault::Kill {
        lose_tail_records: 200,
    };
    at(&mut config, 30_000, broker(FIRST, power_loss));
    at(&mut config, 42_000, broker(FIRST, BrokerFault::Start));
    at(&mut config, 60_000, broker(THIRD, BrokerFault::Start));
    let mut run = Run::new(config.clone());
    run.to(55_000);
    assert_eq!((view(&run).leader, view(&run).elr), (None, vec![THIRD]));
    run.to(70_000);
    assert_eq!(view(&run).leader, Some(THIRD));

    config.kafka = KafkaVersion::new(4, 0, 0);
    let mut before = Run::new(config);
    before.to(55_000);
    assert_eq!(view(&before).leader, Some(FIRST));
}

#[test]
fn a_last_known_leader_comes_back_uncleanly_when_nobody_is_eligible() {
    let mut config = replicated(&[], 1);
    at(&mut config, 10_000, broker(SECOND, KILL));
    at(&mut config, 10_000, broker(THIRD, KILL));
    at(&mut config, 30_000, broker(FIRST, KILL));
    at(&mut config, 45_000, broker(FIRST, BrokerFault::Start));
    let mut run = Run::new(config);
    run.to(42_000);
    let waiting = view(&run);
    assert_eq!((waiting.leader, waiting.isr.len()), (None, 0));
    assert_eq!(waiting.last_known_leader, Some(FIRST));
    run.to(60_000);
    assert_eq!(view(&run).leader, Some(FIRST));
    let unclean = run.first(|f| matches!(f, Fact::LeaderChanged { unclean: true, .. }));
    assert!(unclean.is_some());
}

#[test]
fn a_preferred_election_brings_the_leader_home_at_once() {
    let mut config = replicated(&[], 2);
    at(&mut config, 10_000, broker(FIRST, BrokerFault::Stop));
    at(&mut config, 15_000, broker(FIRST, BrokerFault::Start));
    let election = Command::ElectLeaders {
        election: ElectionType::Preferred,
        partition: Some(NAME),
    };
    at(&mut config, 40_000, election);
    let mut run = Run::new(config);
    run.to(39_000);
    assert_eq!(view(&run).leader, Some(SECOND));
    run.to(41_000);
    assert_eq!(view(&run).leader, Some(FIRST));
}

#[test]
fn an_unclean_election_is_refused_where_somebody_leads() {
    let mut config = replicated(&[], 2);
    let unclean = Command::ElectLeaders {
        election: ElectionType::Unclean,
        partition: Some(NAME),
    };
    at(&mut config, 10_000, unclean);
    let mut run = Run::new(config);
    run.to(12_000);
    assert_eq!(view(&run).leader_epoch, 0);
}

fn moved_to_the_third(throttle: Option<u64>) -> Run {
    let mut config = replicated(&[], 1);
    config.topics = vec![topic("events", 1, 1)];
    config.producers[0].loads[0] = load(1_000);
    let plan = vec![Placement {
        partition: NAME,
        replicas: vec![THIRD],
    }];
    let execute = Reassign::Execute {
        plan: plan.clone(),
        throttle_bytes_per_second: throttle,
        earlier: EarlierMoves::Forbidden,
    };
    at(&mut config, 10_000, Command::Reassign(execute));
    let verify = Reassign::Verify {
        plan,
        throttles: Throttles::Lifted,
    };
    at(&mut config, 60_000, Command::Reassign(verify));
    Run::new(config)
}

#[test]
fn a_partition_moves_with_all_its_records() {
    let mut run = moved_to_the_third(None);
    run.to(30_000);
    let moved = view(&run);
    assert_eq!((moved.leader, moved.replicas), (Some(THIRD), vec![THIRD]));
    let totals = run.simulation.producer(TRIPS).totals;
    assert!(totals.records_acked + 100 > 30_000, "{totals:?}");
    assert_eq!(totals.records_failed, 0);
}

#[test]
fn a_throttle_makes_a_move_as_slow_as_it_says() {
    // 10 MB are there and 1 MB/s comes: at 2 MB/s they are one after 10 s.
    let mut run = moved_to_the_third(Some(2_074_000));
    let until = |run: &mut Run| {
        (11..60).find(|second| {
            run.to(second * 1_000);
            view(run).replicas.len() == 1
        })
    };
    let done = until(&mut run).unwrap();
    assert!((19..=22).contains(&done), "{done}");
}
