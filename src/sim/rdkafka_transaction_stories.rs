//! Transactions of librdkafka, told as short stories.

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::{RdkafkaIdempotence, RdkafkaProducerSettings};
use crate::kafka::transaction::TransactionState;
use crate::sim::command::{BrokerFault, Command, ProducerFault};
use crate::sim::config::{
    AwaitAcks, Call, Config, LoadTransaction, OnFenced, Polling, ProducerConfig, ScriptRecord,
    ScriptStep, TransactionEnd,
};
use crate::sim::exception::Remedy;
use crate::sim::fact::{ErrorClass, Exception, Fact};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition};
use crate::sim::testing::{Run, TRIPS, load, rdkafka, topic, with_group, world};
use crate::sim::time::{SimSpan, SimTime};

fn transactional(settings: &mut RdkafkaProducerSettings) {
    settings.transactional_id = Some("fares".to_owned());
    settings.idempotence = RdkafkaIdempotence::On;
    settings.max_in_flight = 5;
    settings.message_timeout_ms = Some(60_000);
}

fn scripted(
    calls: &[(u64, Call)],
    configure: impl Fn(&mut RdkafkaProducerSettings),
) -> ProducerConfig {
    let mut owner = rdkafka("trips", |settings| {
        transactional(settings);
        configure(settings);
    });
    let step = |(at_ms, call): &(u64, Call)| ScriptStep {
        at: SimTime::from_millis(*at_ms),
        call: call.clone(),
        text: String::new(),
    };
    owner.script = calls.iter().map(step).collect();
    owner
}

/// Three brokers, topic `events` with three partitions on three replicas, and one owner of the id
/// `fares`.
fn owner(calls: &[(u64, Call)], configure: impl Fn(&mut RdkafkaProducerSettings)) -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 3, 3)];
    config.producers = vec![scripted(calls, configure)];
    config.duration = SimSpan::from_seconds(200);
    config
}

fn told(calls: &[(u64, Call)]) -> Run {
    Run::new(owner(calls, |_| {}))
}

fn record(partition: u32, await_ack: AwaitAcks) -> Call {
    Call::Produce(ScriptRecord {
        topic: TopicIndex(0),
        key: None,
        value: Some(vec![0; 10]),
        partition: Some(partition),
        await_ack,
    })
}

fn awaited(partition: u32) -> Call {
    record(partition, AwaitAcks::Every(1))
}

fn sent(partition: u32) -> Call {
    record(partition, AwaitAcks::None)
}

fn begun(at_ms: u64) -> Vec<(u64, Call)> {
    vec![(0, Call::InitTransactions), (at_ms, Call::BeginTransaction)]
}

fn lines(run: &Run, number: u32) -> Vec<String> {
    let topic = TopicIndex(0);
    let name = TopicPartition { topic, number };
    let index = run.simulation.find_partition(name);
    let all = index.map(|index| run.simulation.log_lines(index));
    let short = |line: String| line.replace(" trips#", " #");
    all.unwrap_or_default().into_iter().map(short).collect()
}

fn returned(run: &Run) -> Vec<&Exception> {
    let facts = run.facts.iter();
    let errors = facts.filter_map(|stamped| match &stamped.fact {
        Fact::CallReturned {
            exception: Some(exception),
            ..
        } => Some(&**exception),
        _ => None,
    });
    errors.collect()
}

fn names(run: &Run) -> Vec<(&'static str, Remedy)> {
    let errors = returned(run).into_iter();
    errors
        .map(|error| (error.class.name(), error.remedy))
        .collect()
}

fn failures(run: &Run, error: RdkafkaError) -> u32 {
    let facts = run.facts.iter();
    let records = facts.filter_map(|stamped| match &stamped.fact {
        Fact::BatchFailed {
            exception, records, ..
        } if exception.class == ErrorClass::Rdkafka(error) => Some(*records),
        _ => None,
    });
    records.sum()
}

/// The broker that coordinates the id `fares`: partition 19 of 50 in a ring of three.
const COORDINATOR: BrokerIndex = BrokerIndex(1);

#[test]
fn a_commit_delivers_what_is_queued_and_leaves_the_epoch_as_it_is() {
    let mut calls = begun(2_000);
    calls.push((2_000, sent(0)));
    calls.push((2_000, sent(1)));
    calls.push((2_001, Call::CommitTransaction));
    calls.push((3_000, Call::BeginTransaction));
    calls.push((3_000, awaited(0)));
    calls.push((3_500, Call::CommitTransaction));
    // Nothing is sent by itself before the commit.
    let mut run = Run::new(owner(&calls, |settings| settings.linger_us = 10_000_000));
    run.to(20_000);
    assert_eq!(names(&run), []);
    let expected = [
        "0 #0 committed",
        "1 COMMIT 0/0",
        "2 #1 committed",
        "3 COMMIT 0/0",
    ];
    assert_eq!(lines(&run, 0), expected);
    assert_eq!(lines(&run, 1), ["0 #0 committed", "1 COMMIT 0/0"]);
}

#[test]
fn an_abort_throws_away_what_was_not_sent_and_the_next_transaction_goes_on() {
    let mut calls = begun(2_000);
    calls.push((2_000, awaited(0)));
    calls.push((8_000, sent(0)));
    calls.push((8_000, sent(0)));
    calls.push((8_001, Call::AbortTransaction));
    calls.push((9_000, Call::BeginTransaction));
    calls.push((9_000, awaited(0)));
    calls.push((15_000, Call::CommitTransaction));
    let mut run = Run::new(owner(&calls, |settings| settings.linger_us = 5_000_000));
    run.to(30_000);
    assert_eq!(names(&run), []);
    assert_eq!(failures(&run, RdkafkaError::PurgeQueue), 2);
    let expected = [
        "0 #0 aborted",
        "1 ABORT 0/0",
        "2 #3 committed",
        "3 COMMIT 0/0",
    ];
    assert_eq!(lines(&run, 0), expected);
}

#[test]
fn an_empty_transaction_asks_nobody() {
    let mut calls = begun(2_000);
    calls.push((2_100, Call::CommitTransaction));
    calls.push((2_200, Call::BeginTransaction));
    calls.push((2_300, Call::AbortTransaction));
    let mut run = told(&calls);
    run.to(5_000);
    assert_eq!(names(&run), []);
    let states = run.simulation.transactions();
    assert_eq!(states[0].state, TransactionState::Empty);
}

#[test]
fn calls_that_the_state_does_not_allow_name_it() {
    let calls = [
        (0, Call::BeginTransaction),
        (100, Call::InitTransactions),
        (3_000, sent(0)),
        (3_000, Call::CommitTransaction),
    ];
    let mut run = told(&calls);
    run.to(5_000);
    let texts: Vec<_> = returned(&run).iter().map(|error| &*error.text).collect();
    let expected = [
        "Operation not valid in state Init",
        "Producing not allowed in transactional state Ready",
        "Operation not valid in state Ready",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn without_a_transactional_id_there_is_no_such_call() {
    let mut config = owner(&[(0, Call::InitTransactions)], |_| {});
    config.producers[0].client = rdkafka("trips", |_| {}).client;
    let mut run = Run::new(config);
    run.to(1_000);
    assert_eq!(names(&run), [("_NOT_CONFIGURED", Remedy::None)]);
}

#[test]
fn a_call_whose_time_is_over_goes_on_and_only_the_same_call_takes_it_up() {
    let limit = SimSpan::from_seconds(2);
    let mut calls = vec![
        (1_000, Call::Within(Box::new(Call::InitTransactions), limit)),
        (4_000, Call::BeginTransaction),
        (20_000, Call::InitTransactions),
        (21_000, Call::BeginTransaction),
    ];
    calls.push((21_000, awaited(0)));
    let mut run = told(&calls);
    run.to(10);
    for broker in (0..3).map(BrokerIndex) {
        run.command(Command::Broker(broker, BrokerFault::Pause));
    }
    run.to(6_000);
    for broker in (0..3).map(BrokerIndex) {
        run.command(Command::Broker(broker, BrokerFault::Resume));
    }
    run.to(30_000);
    let expected = [("_TIMED_OUT", Remedy::Retry), ("_CONFLICT", Remedy::Retry)];
    assert_eq!(names(&run), expected);
    let conflict = "Conflicting init_transactions API call is already in progress";
    assert_eq!(returned(&run)[1].text, conflict);
    assert_eq!(lines(&run, 0), ["0 #0 open"]);
}

#[test]
fn a_commit_that_cannot_deliver_says_how_much_is_left_and_is_made_again() {
    let limit = SimSpan::from_seconds(1);
    let mut calls = begun(2_000);
    calls.push((2_000, awaited(0)));
    calls.push((3_000, sent(0)));
    calls.push((
        3_000,
        Call::Within(Box::new(Call::CommitTransaction), limit),
    ));
    calls.push((20_000, Call::CommitTransaction));
    let mut run = told(&calls);
    run.to(2_900);
    run.command(Command::Broker(BrokerIndex(0), BrokerFault::Pause));
    run.to(6_000);
    run.command(Command::Broker(BrokerIndex(0), BrokerFault::Resume));
    run.to(40_000);
    assert_eq!(names(&run), [("_TIMED_OUT", Remedy::Retry)]);
    let text = "Failed to flush all outstanding messages within the API timeout: \
                1 message(s) remaining";
    assert_eq!(returned(&run)[0].text, text);
    let expected = ["0 #0 committed", "1 #1 committed", "2 COMMIT 0/0"];
    assert_eq!(lines(&run, 0), expected);
}

#[test]
fn messages_that_are_too_old_leave_only_an_abort_and_another_epoch() {
    let mut calls = begun(2_000);
    calls.push((2_000, awaited(0)));
    calls.push((2_000, awaited(1)));
    calls.push((3_000, sent(0)));
    calls.push((9_000, Call::CommitTransaction));
    calls.push((10_000, Call::AbortTransaction));
    calls.push((60_000, Call::BeginTransaction));
    calls.push((60_000, awaited(1)));
    calls.push((61_000, Call::CommitTransaction));
    let short = |settings: &mut RdkafkaProducerSettings| settings.message_timeout_ms = Some(3_000);
    let mut run = Run::new(owner(&calls, short));
    run.to(2_900);
    run.command(Command::Broker(BrokerIndex(0), BrokerFault::Pause));
    run.to(9_500);
    run.command(Command::Broker(BrokerIndex(0), BrokerFault::Resume));
    run.to(90_000);
    let names = names(&run);
    assert_eq!(names, [("_TIMED_OUT", Remedy::Abort)]);
    let text = "1 message(s) timed out on events [0]";
    assert_eq!(returned(&run)[0].text, text);
    let log = lines(&run, 1);
    assert_eq!(log[0], "0 #0 aborted", "{log:?}");
    let last: Vec<&str> = log.iter().map(String::as_str).rev().take(2).collect();
    assert!(
        last[0].contains("COMMIT") && !last[0].ends_with("/0"),
        "{log:?}"
    );
    assert!(last[1].contains("#1 committed"), "{log:?}");
}

#[test]
fn a_message_that_fails_before_it_is_sent_makes_the_commit_fail() {
    let mut calls = begun(2_000);
    calls.push((2_000, sent(17)));
    calls.push((2_500, Call::CommitTransaction));
    calls.push((2_600, Call::AbortTransaction));
    let mut run = told(&calls);
    run.to(5_000);
    assert_eq!(names(&run), [("_INCONSISTENT", Remedy::Abort)]);
    let text = "1 message(s) failed delivery (see individual delivery reports)";
    assert_eq!(returned(&run)[0].text, text);
}

#[test]
fn a_coordinator_that_dies_is_found_again() {
    let mut calls = begun(2_000);
    calls.push((2_000, awaited(0)));
    calls.push((2_000, awaited(2)));
    calls.push((3_000, Call::CommitTransaction));
    calls.push((60_000, Call::BeginTransaction));
    calls.push((60_000, awaited(0)));
    calls.push((61_000, Call::CommitTransaction));
    let mut run = told(&calls);
    run.to(2_900);
    let kill = BrokerFault::Kill {
        lose_tail_records: 0,
    };
    run.command(Command::Broker(COORDINATOR, kill));
    run.to(90_000);
    assert_eq!(names(&run), []);
    let states = run.simulation.transactions();
    assert_eq!(states[0].state, TransactionState::CompleteCommit);
    assert_ne!(states[0].coordinator, Some(COORDINATOR));
    let log = lines(&run, 0);
    assert_eq!(
        log.iter().filter(|line| line.contains("committed")).count(),
        2
    );
}

#[test]
fn offsets_of_a_group_count_when_their_transaction_is_committed() {
    let name = TopicPartition {
        topic: TopicIndex(0),
        number: 0,
    };
    let offsets = Call::SendOffsets(GroupIndex(0), vec![(name, 7)]);
    let mut calls = begun(2_000);
    calls.push((2_000, offsets.clone()));
    calls.push((3_000, Call::AbortTransaction));
    calls.push((4_000, Call::BeginTransaction));
    calls.push((4_000, offsets));
    calls.push((6_000, Call::CommitTransaction));
    let mut config = with_group(owner(&calls, |_| {}), 1, &[]);
    config.consumers[0].start = SimTime::from_seconds(190);
    let mut run = Run::new(config);
    let committed = |run: &Run| {
        let partitions = run.simulation.group(GroupIndex(0)).partitions;
        partitions.iter().find_map(|known| known.committed)
    };
    run.to(5_500);
    assert_eq!(committed(&run), None);
    run.to(8_000);
    assert_eq!((committed(&run), names(&run)), (Some(7), vec![]));
}

/// A load of 100 records a second in transactions of 20.
fn loaded() -> Config {
    let mut config = owner(&[], |_| {});
    let mut of_load = load(100);
    of_load.polling = Polling::Calls(1);
    of_load.transaction = Some(LoadTransaction {
        ends: TransactionEnd::Records(20),
        on_fenced: OnFenced::Exit,
    });
    config.producers[0].loads.push(of_load);
    config
}

#[test]
fn a_load_commits_its_transactions_one_after_the_other() {
    let mut run = Run::new(loaded());
    run.to(20_000);
    let commits = run.facts.iter().filter(|stamped| {
        matches!(&stamped.fact, Fact::TransactionChanged { state, .. }
            if *state == TransactionState::CompleteCommit)
    });
    assert!(commits.count() > 50);
    let failed = |fact: &Fact| matches!(fact, Fact::TransactionCallFailed { .. });
    assert_eq!(run.first(failed), None);
}

#[test]
fn no_request_is_left_over_when_a_transactional_client_has_closed() {
    let mut calls = begun(2_000);
    calls.push((2_000, awaited(0)));
    calls.push((2_500, Call::CommitTransaction));
    calls.push((3_000, Call::Close(None)));
    let mut run = told(&calls);
    run.to(6_000);
    assert_eq!(run.simulation.requests.live(), 0);
}

#[test]
fn how_a_run_with_transactions_of_librdkafka_is_cut_changes_nothing() {
    let eventful = || {
        let mut config = loaded();
        let mut second = scripted(&begun(9_000), |_| {});
        second.name = "other".to_owned();
        second.start = SimTime::from_millis(8_000);
        config.producers.push(second);
        config.timeline = vec![
            (
                SimTime::from_millis(3_010),
                Command::Producer(TRIPS, ProducerFault::Pause),
            ),
            (
                SimTime::from_millis(4_200),
                Command::Producer(TRIPS, ProducerFault::Resume),
            ),
            (
                SimTime::from_millis(5_500),
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
    let fenced = whole.first(|fact| {
        matches!(fact, Fact::ClientFailed { producer, exception }
            if *producer == ProducerIndex(0)
                && exception.class == ErrorClass::Rdkafka(RdkafkaError::Fenced))
    });
    assert!(fenced.is_some_and(|at_ms| at_ms > 8_000), "{fenced:?}");
}
