//! Public reports about transactions, markers and readers, reproduced: the ids are those of the
//! collection of cases.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use kdrill::kafka::transaction::TransactionState;
use kdrill::session::Session;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::{GroupIndex, ProducerIndex, TopicIndex, TopicPartition};
use kdrill::sim::time::SimTime;
use kdrill::sim::view::PartitionView;
use kdrill::sim::{Output, Simulation};

use crate::support::{run_to, run_to_end, seconds, written};

/// A cluster of three brokers and topic `fares` with `partitions`; `rest` says what happens there.
fn world((seconds, partitions): (u32, u32), rest: &str) -> String {
    format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "{seconds}s"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        next-producer-id = 4001
        config.group.initial.rebalance.delay.ms = 0
        [[topic]]
        name = "fares"
        partitions = {partitions}
        replication-factor = 3
        {rest}"#
    )
}

/// A producer whose script makes these calls, each at its second.
fn script(name: &str, id: &str, calls: &[(f64, &str)]) -> String {
    let mut text = format!(
        "[[producer]]\nname = \"{name}\"\nconfig.transactional.id = \"{id}\"\nstart = \"{}s\"\n",
        calls[0].0
    );
    for (at, call) in calls {
        let _written = write!(
            text,
            "[[producer.script]]\nat = \"{at}s\"\ndo = \"{call}\"\n"
        );
    }
    text
}

/// A producer that sends so many records in transactions of so many each.
fn load(name: &str, (records, each): (u32, u32)) -> String {
    format!(
        r#"[[producer]]
        name = "{name}"
        config.transactional.id = "{name}"
        [[producer.load]]
        topic = "fares"
        rate = 500
        value = {{ bytes = 10 }}
        records = {records}
        transaction = {{ records = {each} }}
        "#
    )
}

fn reader(group: &str, isolation: &str) -> String {
    format!(
        r#"[[consumer]]
        group = "{group}"
        topic = "fares"
        config.auto.offset.reset = "earliest"
        config.auto.commit.interval.ms = 1000
        isolation = "{isolation}"
        "#
    )
}

fn partition(session: &Session, number: u32) -> PartitionView {
    let topic = TopicIndex(0);
    let simulation = session.simulation();
    let index = simulation.find_partition(TopicPartition { topic, number });
    simulation.partition(index.expect("it is there"))
}

fn lag(session: &Session, group: u16) -> Option<u64> {
    session.simulation().group(GroupIndex(group)).lag()
}

/// All facts of a run.
fn facts(text: &str) -> Vec<Fact> {
    let config = &written(text).config;
    let mut simulation = Simulation::new(std::sync::Arc::clone(config));
    let _ended = simulation.advance_to(simulation.end(), u64::MAX);
    let mut output = Output::default();
    simulation.drain(&mut output);
    output
        .facts
        .into_iter()
        .map(|stamped| stamped.fact)
        .collect()
}

#[test]
fn c45_every_transaction_takes_one_more_offset_in_every_partition_that_it_touches() {
    let end = |rest: &str| {
        let session = run_to_end(written(&world((20, 1), rest)));
        partition(&session, 0).log_end_offset
    };
    assert_eq!(end(&load("one", (1, 1))), 2);
    assert_eq!(end(&load("hundred", (100, 100))), 101);
    let mixed = load("ones", (77, 1)) + &load("twos", (22, 2));
    assert_eq!(end(&mixed), 99 + 88);
    assert_eq!(end(&load("two", (2, 1))), 4);
}

#[test]
fn c45_a_reader_that_skips_the_marker_has_no_lag() {
    let rest = load("hundred", (100, 100)) + &reader("new", "read_committed");
    let session = run_to_end(written(&world((20, 1), &rest)));
    assert_eq!(lag(&session, 0), Some(0));
}

#[test]
fn c45_a_transaction_in_three_partitions_ends_in_three_markers() {
    let calls = [
        (0.0, "init_transactions"),
        (1.0, "begin_transaction"),
        (1.0, "produce fares key=a value=1 partition=0 await=true"),
        (1.0, "produce fares key=b value=1 partition=1 await=true"),
        (1.0, "produce fares key=c value=1 partition=2 await=true"),
        (2.0, "commit_transaction"),
    ];
    let facts = facts(&world((5, 3), &script("app", "fares", &calls)));
    let markers = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::MarkerWritten { .. }));
    assert_eq!(markers.count(), 3);
}

/// One record that is aborted at 2 s, and one that is committed at 6 s.
const ABORTED: [(f64, &str); 7] = [
    (0.0, "init_transactions"),
    (1.0, "begin_transaction"),
    (1.0, "produce fares key=a value=1 await=true"),
    (2.0, "abort_transaction"),
    (5.0, "begin_transaction"),
    (5.0, "produce fares key=a value=2 await=true"),
    (6.0, "commit_transaction"),
];

#[test]
fn c46_of_an_aborted_record_a_committed_reader_gets_nothing_and_moves_on() {
    let rest = script("app", "fares", &ABORTED) + &reader("timelines", "read_committed");
    let text = world((10, 1), &rest);
    let session = run_to(written(&text), seconds(4.5));
    let view = partition(&session, 0);
    assert_eq!((view.last_stable_offset, view.log_end_offset), (2, 2));
    let group = session.simulation().group(GroupIndex(0));
    assert_eq!(group.partitions[0].position, Some(2));
    let consumed = |moment: SimTime| {
        let session = run_to(written(&text), moment);
        let consumer = kdrill::sim::ids::ConsumerIndex(0);
        session.simulation().consumer(consumer).totals.records
    };
    assert_eq!([4.5, 10.0].map(seconds).map(consumed), [0, 1]);
    let session = run_to_end(written(&text));
    assert_eq!(lag(&session, 0), Some(0));
}

/// 199 records and their marker; then 1,463 records in a transaction that is open until 15 s.
fn c47(moment: f64) -> Session {
    let rest = r#"[[producer]]
        name = "first"
        config.transactional.id = "first"
        [[producer.load]]
        topic = "fares"
        rate = 500
        value = { bytes = 10 }
        records = 199
        transaction = { records = 199 }
        [[producer]]
        name = "second"
        config.transactional.id = "second"
        start = "5s"
        config.transaction.timeout.ms = 60000
        [[producer.load]]
        topic = "fares"
        rate = 1000
        value = { bytes = 10 }
        records = 2000
        transaction = { records = 1463 }
        "#;
    let readers = reader("committed", "read_committed") + &reader("all", "read_uncommitted");
    let pause = r#"[[timeline]]
        at = "6.45s"
        do = "rate second 0"
        [[timeline]]
        at = "15s"
        do = "rate second 1000"
        "#;
    let text = world((30, 1), &(rest.to_owned() + &readers + pause));
    run_to(written(&text), seconds(moment))
}

#[test]
fn c47_while_a_transaction_is_open_the_lag_to_the_high_watermark_is_all_of_it() {
    let session = c47(14.0);
    let view = partition(&session, 0);
    assert_eq!(view.last_stable_offset, 200);
    let open = view.high_watermark - 200;
    assert!(open > 1_300, "{open} offsets are open");
    let group = session.simulation().group(GroupIndex(0));
    assert_eq!(group.partitions[0].position, Some(200));
    assert_eq!((lag(&session, 0), lag(&session, 1)), (Some(open), Some(0)));
}

#[test]
fn c47_once_it_is_committed_there_is_no_lag_for_anybody() {
    let session = c47(30.0);
    let view = partition(&session, 0);
    assert_eq!(view.last_stable_offset, view.high_watermark);
    assert_eq!((lag(&session, 0), lag(&session, 1)), (Some(0), Some(0)));
}

/// Transactions a second of a client of version 1 that does nothing else, with brokers that take
/// 5 ms for a request.
fn c49(client: &str, backoff_ms: u32, each: u32) -> f64 {
    let text = world(
        (21, 1),
        &format!(
            r#"[[producer]]
            name = "app"
            {client}
            config.transactional.id = "fares"
            config.retry.backoff.ms = {backoff_ms}
            [[producer.load]]
            topic = "fares"
            rate = 100000
            value = {{ bytes = 10 }}
            transaction = {{ records = {each} }}
            "#
        ),
    );
    let facts = facts(&text);
    let commits = facts.iter().filter(|fact| {
        matches!(
            fact,
            Fact::TransactionChanged {
                state: TransactionState::PrepareCommit,
                ..
            }
        )
    });
    commits.count() as f64 / 20.0
}

#[test]
fn c49_the_pause_before_another_try_bounds_transactions_in_a_row() {
    // The first partition of a transaction is asked for again after 20 ms at most (KAFKA-5477).
    let [slow, quick] = [100, 1].map(|backoff_ms| c49(JAVA, backoff_ms, 1));
    assert!(
        (30.0..=50.0).contains(&slow),
        "{slow} transactions a second"
    );
    assert!(
        (75.0..=250.0).contains(&quick),
        "{quick} transactions a second"
    );
}

#[test]
fn c49_librdkafka_asks_again_after_20_ms_whatever_its_backoff() {
    let [slow, quick] = [100, 1].map(|backoff_ms| c49(LIBRDKAFKA, backoff_ms, 1));
    assert!((slow - quick).abs() < 1.0, "{slow} and {quick} a second");
    assert!(
        (15.0..=50.0).contains(&slow),
        "{slow} transactions a second"
    );
}

#[test]
fn c49_with_a_thousand_records_each_the_pause_is_less_than_a_millisecond_a_record() {
    let records_per_second = c49(JAVA, 100, 1_000) * 1_000.0;
    assert!(
        records_per_second > 1_000.0,
        "{records_per_second} records a second"
    );
}

/// Two instances of a service for a minute, each of which builds another client a second after it
/// was fenced.
fn c50(client: &str, ids: [&str; 2]) -> Vec<Fact> {
    let instance = |name: &str, start: &str, id: &str| {
        format!(
            r#"[[producer]]
            name = "{name}"
            start = "{start}"
            {client}
            config.transactional.id = "{id}"
            [[producer.load]]
            topic = "fares"
            rate = 100
            value = {{ bytes = 10 }}
            transaction = {{ every = "200ms" }}
            on-fenced = {{ rebuild-after = "1s" }}
            "#
        )
    };
    let rest = instance("a", "0s", ids[0]) + &instance("b", "1s", ids[1]);
    facts(&world((61, 1), &rest))
}

const JAVA: &str = "version = \"3.9\"";
const LIBRDKAFKA: &str = "client = \"librdkafka\"";

#[test]
fn c50_two_services_with_one_id_shut_each_other_out_about_once_a_second() {
    // librdkafka asks for an epoch again 500 ms after the open transaction of the other one was in
    // its way: a turn takes 1.5 s.
    for (client, turns) in [(JAVA, 50..=62), (LIBRDKAFKA, 38..=42)] {
        let facts = c50(client, ["fares", "fares"]);
        they_take_turns(&facts, &turns);
    }
}

fn they_take_turns(facts: &[Fact], turns: &RangeInclusive<usize>) {
    let inits: Vec<(ProducerIndex, i64, i16)> = facts
        .iter()
        .filter_map(|fact| match *fact {
            Fact::ProducerIdAssigned {
                producer,
                producer_id,
                epoch,
            } => Some((producer, producer_id, epoch)),
            _ => None,
        })
        .collect();
    assert!(
        turns.contains(&inits.len()),
        "{} inits in a minute",
        inits.len()
    );
    for pair in inits.windows(2) {
        let ((one, id, before), (other, same, after)) = (pair[0], pair[1]);
        assert_ne!(one, other, "they take turns");
        assert_eq!(id, same);
        assert!(after > before, "epoch {before}, then {after}");
    }
}

#[test]
fn c50_with_an_id_each_nobody_is_fenced() {
    for client in [JAVA, LIBRDKAFKA] {
        let facts = c50(client, ["fares-a", "fares-b"]);
        let inits = facts
            .iter()
            .filter(|fact| matches!(fact, Fact::ProducerIdAssigned { .. }));
        assert_eq!(inits.count(), 2, "{client}");
        let thrown = facts
            .iter()
            .any(|fact| matches!(fact, Fact::TransactionCallFailed { .. }));
        assert!(!thrown, "{client}");
    }
}

#[test]
fn c50_who_is_shut_out_of_librdkafka_hears_that_it_is_fenced() {
    let facts = c50(LIBRDKAFKA, ["fares", "fares"]);
    let mut fenced = 0;
    for fact in &facts {
        if let Fact::ClientFailed { exception, .. } = fact {
            assert_eq!(exception.class.name(), "_FENCED");
            fenced += 1;
        }
    }
    assert!((37..=41).contains(&fenced), "{fenced} times in a minute");
}

/// A transaction after so many seconds without one, where ids are forgotten after 70 minutes (a
/// 144th of seven days); then another one by the same client, or by a new one.
fn c51(idle: u32, replaced: &str) -> Vec<Option<String>> {
    let after = f64::from(idle);
    let mut calls = vec![
        (0.0, "init_transactions"),
        (after, "begin_transaction"),
        (after, "produce fares key=a value=1 await=true"),
        (after + 1.0, "commit_transaction"),
    ];
    if replaced == "replace" {
        calls.push((after + 2.0, "new_producer"));
        calls.push((after + 2.0, "init_transactions"));
    } else {
        calls.push((after + 2.0, "abort_transaction"));
    }
    calls.push((after + 3.0, "begin_transaction"));
    calls.push((after + 3.0, "produce fares key=a value=2 await=true"));
    calls.push((after + 4.0, "commit_transaction"));
    let world = world((idle + 10, 1), &script("app", "fares", &calls));
    let short = "config.transactional.id.expiration.ms = 4200000\n\
                 config.transaction.remove.expired.transaction.cleanup.interval.ms = 600000\n\
                 [[topic]]";
    let commits = [3, calls.len() as u32 - 1];
    let facts = facts(&world.replacen("[[topic]]", short, 1));
    let returned = facts.iter().filter_map(|fact| match fact {
        Fact::CallReturned {
            call, exception, ..
        } if commits.contains(call) => Some(
            exception
                .as_ref()
                .map(|exception| exception.class.name().to_owned()),
        ),
        _ => None,
    });
    returned.collect()
}

#[test]
fn c51_an_id_that_was_idle_a_little_less_than_the_limit_goes_on() {
    assert_eq!(c51(4_100, "keep"), [None, None]);
}

#[test]
fn c51_a_client_whose_id_is_forgotten_never_gets_well_and_another_one_does() {
    // The next look for forgotten ids comes within ten minutes.
    let [kept, replaced] = ["keep", "replace"].map(|client| c51(4_900, client));
    assert!(kept.iter().all(Option::is_some), "{kept:?}");
    assert!(
        replaced[0].is_some() && replaced[1].is_none(),
        "{replaced:?}"
    );
}
