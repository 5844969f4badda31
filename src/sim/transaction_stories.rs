//! Transactions from `initTransactions()` to the markers, told as short stories.

use crate::kafka::exception::ExceptionClass;
use crate::kafka::transaction::{TransactionState, TransactionVersion};
use crate::sim::command::{BrokerFault, Command, CoordinatorKill, ProducerFault};
use crate::sim::config::{
    AwaitAcks, Call, Config, LinkConfig, LinkOverride, Peer, ProducerConfig, ScriptRecord,
    ScriptStep,
};
use crate::sim::fact::{Exception, Fact};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition};
use crate::sim::testing::{Run, TRIPS, producer, topic, with_group, world};
use crate::sim::time::{SimSpan, SimTime};

/// Three brokers, topic `events` with three partitions on three replicas, and one transactional
/// producer whose script makes these calls, each at its millisecond.
fn owner(calls: &[(u64, Call)]) -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 3, 3)];
    config.producers = vec![scripted("trips", calls)];
    config.duration = SimSpan::from_seconds(100);
    config
}

fn scripted(name: &str, calls: &[(u64, Call)]) -> ProducerConfig {
    let mut owner = producer(name, &[("transactional.id", "fares")]);
    let step = |(at_ms, call): &(u64, Call)| ScriptStep {
        at: SimTime::from_millis(*at_ms),
        call: call.clone(),
        text: String::new(),
    };
    owner.script = calls.iter().map(step).collect();
    owner.start = owner.script.first().map_or(SimTime::ZERO, |first| first.at);
    owner
}

fn record(partition: u32) -> Call {
    Call::Produce(ScriptRecord {
        topic: TopicIndex(0),
        key: Some(b"trip".to_vec()),
        value: Some(vec![0; 10]),
        partition: Some(partition),
        await_ack: AwaitAcks::Every(1),
    })
}

fn lines(run: &Run, number: u32) -> Vec<String> {
    let topic = TopicIndex(0);
    let index = run
        .simulation
        .find_partition(TopicPartition { topic, number });
    let all = index.map(|index| run.simulation.log_lines(index));
    let all = all.unwrap_or_default();
    // Without the record's own name, which says nothing here.
    let short = |line: String| line.replace(" trips#", " #");
    all.into_iter().map(short).collect()
}

fn thrown(run: &Run, producer: ProducerIndex) -> Vec<&Exception> {
    let facts = run.facts.iter();
    facts
        .filter_map(|stamped| match &stamped.fact {
            Fact::CallReturned {
                producer: who,
                exception: Some(exception),
                ..
            } if *who == producer => Some(&**exception),
            _ => None,
        })
        .collect()
}

/// Initialised at 0, a transaction with a record in two partitions at 1 s, committed at 2 s.
fn committing() -> Vec<(u64, Call)> {
    vec![
        (0, Call::InitTransactions),
        (1_000, Call::BeginTransaction),
        (1_000, record(0)),
        (1_000, record(1)),
        (2_000, Call::CommitTransaction),
    ]
}

#[test]
fn a_commit_ends_in_a_marker_in_every_partition() {
    let mut run = Run::new(owner(&committing()));
    run.to(4_000);
    assert!(thrown(&run, TRIPS).is_empty());
    assert_eq!(lines(&run, 0), ["0 #0 committed", "1 COMMIT 0/1"]);
    assert_eq!(lines(&run, 1), ["0 #0 committed", "1 COMMIT 0/1"]);
    assert!(lines(&run, 2).is_empty());
    let states = run.simulation.transactions();
    assert_eq!(states[0].state, TransactionState::CompleteCommit);
}

#[test]
fn no_request_is_left_over_when_a_transactional_client_has_closed() {
    let mut calls = committing();
    calls.push((3_000, Call::Close(None)));
    let mut run = Run::new(owner(&calls));
    run.to(5_000);
    assert_eq!(run.simulation.requests.live(), 0);
}

#[test]
fn close_aborts_what_is_open() {
    let calls = [
        (0, Call::InitTransactions),
        (1_000, Call::BeginTransaction),
        (1_000, record(0)),
        (2_000, Call::Close(None)),
    ];
    let mut run = Run::new(owner(&calls));
    run.to(5_000);
    assert_eq!(lines(&run, 0), ["0 #0 aborted", "1 ABORT 0/1"]);
    assert!(
        run.first(|fact| matches!(fact, Fact::ClientClosed { .. }))
            .is_some()
    );
}

#[test]
fn the_last_stable_offset_stands_at_the_open_transaction() {
    let mut config = owner(&committing());
    config.producers[0].script[4].at = SimTime::from_seconds(50);
    let mut run = Run::new(config);
    let view = |run: &Run| {
        let name = TopicPartition {
            topic: TopicIndex(0),
            number: 0,
        };
        let index = run.simulation.find_partition(name).unwrap();
        let view = run.simulation.partition(index);
        (view.last_stable_offset, view.high_watermark)
    };
    run.to(3_000);
    assert_eq!(view(&run), (0, 1));
    run.to(51_000);
    assert_eq!(view(&run), (2, 2));
}

/// The broker that coordinates the id `fares`: partition 19 of 50 in a ring of three.
const COORDINATOR: BrokerIndex = BrokerIndex(1);

/// A commit of which one marker is written, and the other is still on its way.
fn in_the_middle() -> Run {
    let mut config = owner(&committing());
    // Partition 1 is led by the coordinator itself, partition 2 from far away.
    config.producers[0].script[2].call = record(1);
    config.producers[0].script[3].call = record(2);
    let far = LinkOverride {
        a: Peer::Broker(COORDINATOR),
        b: Peer::Broker(BrokerIndex(2)),
        link: LinkConfig {
            latency: SimSpan::from_millis(100),
            ..config.link
        },
    };
    config.links = vec![far];
    let mut run = Run::new(config);
    run.to(2_000);
    let has_marker = |fact: &Fact| matches!(fact, Fact::MarkerWritten { .. });
    let mut now_ms = 2_000;
    while run.first(has_marker).is_none() && now_ms < 4_000 {
        now_ms += 1;
        run.to(now_ms);
    }
    run
}

#[test]
fn a_coordinator_whose_disk_is_full_completes_a_commit_when_there_is_room_again() {
    let mut run = in_the_middle();
    run.command(Command::Broker(COORDINATOR, BrokerFault::DiskFull));
    run.to(6_000);
    let state = |run: &Run| run.simulation.transactions()[0].state;
    assert_eq!(state(&run), TransactionState::PrepareCommit);
    run.command(Command::Broker(COORDINATOR, BrokerFault::DiskHeal));
    run.to(7_000);
    assert_eq!(state(&run), TransactionState::CompleteCommit);
}

#[test]
fn the_coordinator_of_an_id_can_be_killed_without_knowing_who_it_is() {
    let mut run = in_the_middle();
    run.command(Command::KillCoordinator(CoordinatorKill {
        transactional_id: "fares".to_owned(),
        lose_tail_records: 0,
        found: None,
    }));
    run.to(2_500);
    let killed = run.first(|fact| {
        matches!(fact, Fact::CommandApplied(command)
            if matches!(&**command, Command::KillCoordinator(kill)
                if kill.found == Some(COORDINATOR)))
    });
    assert!(killed.is_some());
    run.command(Command::KillCoordinator(CoordinatorKill {
        transactional_id: "fares".to_owned(),
        lose_tail_records: 0,
        found: None,
    }));
    run.to(2_600);
    let refused = run.first(|fact| matches!(fact, Fact::CommandRefused { .. }));
    assert!(
        refused.is_some(),
        "nobody coordinates it before an election"
    );
}

/// One replica of the coordinator's log, and the tail that goes with its broker.
fn after_losing(records: u64) -> Run {
    let mut config = owner(&committing()[..4]);
    for broker in &mut config.brokers {
        let settings = &mut broker.settings.transactions;
        settings.state_log_replication_factor = 1;
        settings.state_log_min_isr = 1;
    }
    let mut run = Run::new(config);
    run.to(3_000);
    run.command(Command::KillCoordinator(CoordinatorKill {
        transactional_id: "fares".to_owned(),
        lose_tail_records: records,
        found: None,
    }));
    run.to(3_100);
    run.command(Command::Broker(COORDINATOR, BrokerFault::Start));
    run.to(40_000);
    run
}

#[test]
fn a_coordinator_that_loses_the_tail_of_its_log_goes_on_from_the_record_before() {
    // Its records: the owner, and each of the two partitions.
    let ids = after_losing(1).simulation.transactions();
    assert_eq!(
        (ids[0].state, ids[0].partitions.len()),
        (TransactionState::Ongoing, 1)
    );
    let ids = after_losing(2).simulation.transactions();
    assert_eq!(ids[0].state, TransactionState::Empty);
    assert!(after_losing(3).simulation.transactions().is_empty());
}

#[test]
fn a_coordinator_that_dies_in_the_middle_changes_nothing_but_may_write_a_marker_twice() {
    let mut run = in_the_middle();
    run.command(Command::Broker(
        COORDINATOR,
        BrokerFault::Kill {
            lose_tail_records: 0,
        },
    ));
    run.to(40_000);
    for number in [1, 2] {
        let lines = lines(&run, number);
        assert_eq!(lines[0], "0 #0 committed", "{lines:?}");
        assert!(
            lines[1..].iter().all(|line| line.contains("COMMIT 0/1")),
            "{lines:?}"
        );
        assert!(lines.len() >= 2, "{lines:?}");
    }
    let states = run.simulation.transactions();
    assert_eq!(states[0].state, TransactionState::CompleteCommit);
    assert_ne!(states[0].coordinator, Some(COORDINATOR));
}

#[test]
fn without_enough_brokers_for_its_log_there_is_no_coordinator_and_the_call_times_out() {
    let mut config = owner(&[
        (0, Call::InitTransactions),
        (60_000, Call::BeginTransaction),
        (61_000, Call::InitTransactions),
    ]);
    config.brokers.truncate(1);
    config.topics = vec![topic("events", 1, 1)];
    let mut run = Run::new(config);
    run.to(70_000);
    let thrown = thrown(&run, TRIPS);
    assert!(
        thrown[0].class.is_java(ExceptionClass::Timeout),
        "{thrown:?}"
    );
    assert!(
        thrown[0]
            .text
            .starts_with("Timeout expired after 60000ms while awaiting InitProducerId")
    );
    assert_eq!(
        thrown[1].text,
        "Cannot attempt operation `beginTransaction` because the previous call to \
         `initTransactions` timed out and must be retried"
    );
}

#[test]
fn a_plain_producer_has_no_transactions() {
    let mut config = owner(&[(0, Call::BeginTransaction)]);
    let script = config.producers[0].script.clone();
    config.producers[0] = producer("trips", &[]);
    config.producers[0].script = script;
    let mut run = Run::new(config);
    run.to(1_000);
    let texts: Vec<_> = thrown(&run, TRIPS)
        .iter()
        .map(|thrown| &thrown.text)
        .collect();
    assert_eq!(
        texts,
        ["Transactional method invoked on a non-transactional producer."]
    );
}

#[test]
fn a_batch_that_is_never_acknowledged_can_only_be_aborted() {
    let mut calls = committing();
    calls.push((60_000, Call::AbortTransaction));
    let mut config = owner(&calls);
    config.producers[0] = {
        let mut owner = scripted("trips", &calls);
        owner.client = producer(
            "trips",
            &[
                ("transactional.id", "fares"),
                ("delivery.timeout.ms", "5000"),
                ("request.timeout.ms", "4000"),
                ("linger.ms", "0"),
            ],
        )
        .client;
        owner
    };
    let mut run = Run::new(config);
    // The leader of partition 0 hangs: its record is neither taken nor refused.
    run.to(500);
    run.command(Command::Broker(BrokerIndex(0), BrokerFault::Pause));
    run.to(8_000);
    let failed = thrown(&run, TRIPS);
    assert!(
        failed
            .iter()
            .all(|thrown| thrown.class.is_java(ExceptionClass::Kafka)),
        "{failed:?}"
    );
    assert!(!failed.is_empty());
}

#[test]
fn offsets_of_a_group_count_when_their_transaction_is_committed() {
    let name = TopicPartition {
        topic: TopicIndex(0),
        number: 0,
    };
    let offsets = Call::SendOffsets(GroupIndex(0), vec![(name, 7)]);
    let calls = [
        (0, Call::InitTransactions),
        (1_000, Call::BeginTransaction),
        (1_000, offsets.clone()),
        (2_000, Call::AbortTransaction),
        (3_000, Call::BeginTransaction),
        (3_000, offsets),
        (5_000, Call::CommitTransaction),
    ];
    for version in [TransactionVersion::One, TransactionVersion::Two] {
        let mut config = with_group(owner(&calls), 1, &[]);
        config.consumers[0].start = SimTime::from_seconds(90);
        config.transactions.version = version;
        let mut run = Run::new(config);
        let committed = |run: &Run| {
            let partitions = run.simulation.group(GroupIndex(0)).partitions;
            partitions.iter().find_map(|known| known.committed)
        };
        run.to(4_500);
        assert_eq!(committed(&run), None, "{version:?}");
        run.to(6_000);
        assert_eq!(committed(&run), Some(7), "{version:?}");
        assert!(thrown(&run, TRIPS).is_empty(), "{version:?}");
    }
}

#[test]
fn how_a_run_with_transactions_is_cut_changes_nothing() {
    let eventful = || {
        let mut config = owner(&committing());
        let second = [
            (2_500, Call::InitTransactions),
            (4_000, Call::BeginTransaction),
            (4_000, record(0)),
            (5_000, Call::CommitTransaction),
        ];
        config.producers.push(scripted("other", &second));
        config.timeline = vec![
            (
                SimTime::from_millis(1_010),
                Command::Producer(TRIPS, ProducerFault::Pause),
            ),
            (
                SimTime::from_millis(4_200),
                Command::Producer(TRIPS, ProducerFault::Resume),
            ),
            (
                SimTime::from_millis(4_500),
                Command::Broker(COORDINATOR, BrokerFault::Stop),
            ),
        ];
        Run::new(config)
    };
    let mut whole = eventful();
    whole.to(30_000);
    let mut cut = eventful();
    for step in 1..=3_000 {
        cut.to(step * 10);
    }
    assert_eq!(whole.simulation.digest(), cut.simulation.digest());
}
