//! Public reports about transactions, reproduced: the ids are those of the collection of cases.

use crate::support::{assert_kept, run_to_end, seconds, written};
use kdrill::session::Session;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::{TopicIndex, TopicPartition};
use kdrill::sim::view::PartitionView;

/// Both clients, where a report does not depend on which.
const CLIENTS: [&str; 2] = ["java", "librdkafka"];

/// A run of three brokers and a topic `events`; `rest` says what happens and what must hold.
fn run((duration, cluster): (&str, &str), topic: &str, rest: &str) -> Session {
    run_to_end(written(&format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "{duration}"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        next-producer-id = 7
        {cluster}
        config.group.initial.rebalance.delay.ms = 0
        [[topic]]
        name = "events"
        replication-factor = 3
        history = "records"
        {topic}
        {rest}"#
    )))
}

fn kept(setting: (&str, &str), topic: &str, rest: &str) -> Session {
    let session = run(setting, topic, rest);
    assert_kept(&session);
    session
}

fn owner(client: &str, name: &str, rest: &str) -> String {
    format!(
        "[[producer]]\nname = \"{name}\"\nclient = \"{client}\"\n\
         config.transactional.id = \"{name}\"\n{rest}\n"
    )
}

/// Calls of one thread: each at its moment in seconds.
fn script(calls: &[(f64, &str)]) -> String {
    let call =
        |(at, call): &(f64, &str)| format!("[[producer.script]]\nat = \"{at}s\"\ndo = '{call}'\n");
    calls.iter().map(call).collect()
}

/// A load of so many records in transactions of so many.
fn load(rate: u32, records: u32, each: u32) -> String {
    format!(
        "[[producer.load]]\ntopic = \"events\"\nrate = {rate}\nvalue = {{ bytes = 10 }}\n\
         records = {records}\ntransaction = {{ records = {each} }}\n"
    )
}

fn readers(group: &str, isolation: &str) -> String {
    format!(
        "[[consumer]]\ngroup = \"{group}\"\ntopic = \"events\"\nisolation = \"{isolation}\"\n\
         config.auto.offset.reset = \"earliest\"\nconfig.auto.commit.interval.ms = 100\n"
    )
}

fn figure(metric: &str, bounds: &str) -> String {
    format!("[[expect]]\nmetric = \"{metric}\"\n{bounds}\n")
}

fn partition(session: &Session, number: u32) -> PartitionView {
    let topic = TopicIndex(0);
    let simulation = session.simulation();
    let index = simulation.find_partition(TopicPartition { topic, number });
    simulation.partition(index.expect("a partition of the topic"))
}

fn count(session: &Session, is: impl Fn(&Fact) -> bool) -> usize {
    let entries = session.insight().log().entries();
    let of_kind = entries.filter(|entry| is(&entry.first.fact));
    of_kind.map(|entry| entry.count as usize).sum()
}

// === C45: markers take offsets

#[test]
fn c45_a_marker_is_an_offset_behind_the_last_record_and_a_reader_is_at_its_end() {
    for client in CLIENTS {
        // Records, records in a transaction, and where the log ends.
        for (records, each, end) in [(1, 1, 2), (100, 100, 101), (2, 1, 4)] {
            let rest = owner(client, "app", &load(100, records, each))
                + &readers("readers", "read_committed")
                + &figure("topic.events.0.LogEndOffset", &format!("equals = {end}"))
                + &figure("consumer.readers.kdrill-lag", "equals = 0")
                + &figure(
                    "consumer.readers.kdrill-records-consumed",
                    &format!("equals = {records}"),
                );
            kept(("20s", ""), "partitions = 1", &rest);
        }
    }
}

#[test]
fn c45_99_records_with_88_markers_span_187_offsets() {
    for client in CLIENTS {
        let two = owner(client, "by-two", &load(50, 22, 2));
        let one = owner(client, "by-one", &load(50, 77, 1));
        let end = figure("topic.events.0.LogEndOffset", "equals = 187");
        kept(("30s", ""), "partitions = 1", &(two + &one + &end));
    }
}

#[test]
fn c45_a_transaction_over_n_partitions_has_n_markers() {
    for client in CLIENTS {
        let calls: Vec<String> = (0..5)
            .map(|number| format!("produce events value=x partition={number}"))
            .collect();
        let mut steps = vec![(0.0, "init_transactions"), (2.0, "begin_transaction")];
        steps.extend(calls.iter().map(|call| (2.0, call.as_str())));
        steps.push((3.0, "commit_transaction"));
        let rest = owner(client, "app", &script(&steps))
            + "[[expect]]\nevent = \"marker-written\"\ncount = { exactly = 5 }\n";
        kept(("6s", ""), "partitions = 6", &rest);
    }
}

// === C46: a partition with nothing but an aborted record

#[test]
fn c46_an_aborted_record_and_its_marker_are_two_offsets_that_nobody_is_given() {
    for client in CLIENTS {
        let steps = [
            (0.0, "init_transactions"),
            (2.0, "begin_transaction"),
            (2.0, "produce events key=a value=x partition=0 await=true"),
            (3.0, "abort_transaction"),
            (8.0, "begin_transaction"),
            (8.0, "produce events key=b value=x partition=0 await=true"),
            (9.0, "commit_transaction"),
        ];
        let end = "topic.events.0.LogEndOffset";
        let given = "consumer.readers.kdrill-records-consumed";
        let rest = owner(client, "app", &script(&steps))
            + &readers("readers", "read_committed")
            + &figure(end, "at = \"7s\"\nequals = 2")
            + &figure(given, "at = \"7s\"\nequals = 0")
            + &figure("consumer.readers.kdrill-unread", "at = \"7s\"\nequals = 0")
            + &figure(given, "at = \"12s\"\nequals = 1")
            + &figure("consumer.readers.kdrill-lag", "at = \"12s\"\nequals = 0");
        let session = kept(("12s", ""), "partitions = 1", &rest);
        assert_eq!(partition(&session, 0).last_stable_offset, 4);
    }
}

// === C47: the lag behind an open transaction

#[test]
fn c47_behind_an_open_transaction_the_groups_lag_grows_and_there_is_nothing_to_read() {
    for client in CLIENTS {
        // 199 records and a marker, and then a transaction of 1,463 that stays open until 20 s;
        // the second load sends nothing, and keeps it from ending before.
        let open = "start = \"5s\"\n[[producer.load]]\ntopic = \"events\"\nrate = 1000\n\
                    value = { bytes = 10 }\nrecords = 1463\ntransaction = { every = \"15s\" }\n\
                    [[producer.load]]\ntopic = \"events\"\nrate = 0.01\nvalue = { bytes = 10 }\n";
        let (committed, all) = ("consumer.committed", "consumer.all");
        let of = |group: &str, name: &str| format!("{group}.{name}");
        let rest = owner(client, "first", &load(1_000, 199, 199))
            + &owner(client, "second", open)
            + &readers("committed", "read_committed")
            + &readers("all", "read_uncommitted")
            + &figure(
                "topic.events.0.kdrill-high-watermark",
                "at = \"18s\"\nequals = 1663",
            )
            + &figure(&of(committed, "kdrill-lag"), "at = \"18s\"\nequals = 1463")
            + &figure(
                &of(committed, "kdrill-records-consumed"),
                "at = \"18s\"\nequals = 199",
            )
            + &figure(&of(all, "kdrill-lag"), "at = \"18s\"\nequals = 0")
            + &figure(
                &of(committed, "kdrill-records-consumed"),
                "at = \"28s\"\nequals = 1662",
            )
            + &figure(&of(committed, "kdrill-lag"), "at = \"28s\"\nequals = 0");
        kept(("28s", ""), "partitions = 1", &rest);
    }
}

// === C49: the pause after CONCURRENT_TRANSACTIONS

/// Transactions of so many records, one after the other, with markers that take 5 ms; how many
/// were committed in ten seconds.
fn c49(client: &str, version: u32, records: u32) -> usize {
    let rate = format!(
        "config.linger.ms = 0\n[[producer.load]]\ntopic = \"events\"\nrate = 100000\n\
         value = {{ bytes = 10 }}\ntransaction = {{ records = {records} }}\nawait = \"none\"\n"
    );
    // The coordinator of `app` is not the leader, and markers travel between the two.
    let cluster = format!("transaction-version = {version}");
    let between = "[[link]]\nbetween = [1, 2]\nrtt = \"5ms\"\n[[link]]\nbetween = [1, 3]\n\
                   rtt = \"5ms\"\n[[link]]\nbetween = [2, 3]\nrtt = \"5ms\"\n";
    let rest = format!("{between}{}", owner(client, "app", &rate));
    let session = run(("12s", &cluster), "partitions = 1", &rest);
    count(&session, |fact| matches!(fact, Fact::MarkerWritten { .. }))
}

#[test]
fn c49_tiny_transactions_in_a_row_end_at_the_rate_of_the_pause() {
    for client in CLIENTS {
        let per_second = c49(client, 1, 1) as f64 / 10.0;
        assert!(
            (25.0..=50.0).contains(&per_second),
            "{client}: {per_second}"
        );
    }
}

#[test]
fn c49_with_1000_records_a_transaction_the_pause_is_less_than_a_millisecond_a_record() {
    for client in CLIENTS {
        let transactions = c49(client, 1, 1_000);
        let millis = 10_000.0 / (transactions as f64 * 1_000.0);
        assert!(millis < 1.0, "{client}: {millis} ms a record");
    }
}

// === C50: two services, one id

fn c50(client: &str, ids: [&str; 2]) -> Session {
    let service = |number: usize| {
        format!(
            "[[producer]]\nname = \"service-{number}\"\nclient = \"{client}\"\nstart = \"{number}s\"\n\
             config.transactional.id = \"{}\"\n[[producer.load]]\ntopic = \"events\"\nrate = 50\n\
             value = {{ bytes = 10 }}\ntransaction = {{ records = 20 }}\n\
             on-fenced = {{ rebuild-after = \"1s\" }}\n",
            ids[number]
        )
    };
    let rest = service(0) + &service(1) + &readers("readers", "read_committed");
    run(("60s", ""), "partitions = 1", &rest)
}

fn fences(session: &Session) -> usize {
    count(session, |fact| match fact {
        Fact::TransactionCallFailed { exception, .. } => {
            ["ProducerFencedException", "_FENCED"].contains(&exception.class.name())
        }
        _ => false,
    })
}

#[test]
fn c50_two_services_with_one_id_fence_each_other_for_as_long_as_they_come_back() {
    for client in CLIENTS {
        let session = c50(client, ["app", "app"]);
        let fences = fences(&session);
        assert!((20..=120).contains(&fences), "{client}: {fences} fences");
        let account = session.insight().account(session.simulation());
        assert_eq!(account.imbalance(), None);
    }
}

#[test]
fn c50_with_an_id_each_nobody_is_fenced() {
    for client in CLIENTS {
        assert_eq!(fences(&c50(client, ["app-1", "app-2"])), 0, "{client}");
    }
}

// === C51: idle for seven days, at a minute a day

/// What the calls after so many idle seconds gave: the names of errors.
fn c51(client: &str, idle: f64, then: &[(f64, &str)]) -> Vec<&'static str> {
    let mut steps = vec![
        (0.0, "init_transactions"),
        (3.0, "begin_transaction"),
        (3.0, "produce events key=a value=x partition=0 await=true"),
        (4.0, "commit_transaction"),
    ];
    steps.extend(then.iter().map(|(at, call)| (4.0 + idle + at, *call)));
    let cluster = "config.transactional.id.expiration.ms = 420000";
    let rest = owner(client, "app", &script(&steps));
    let session = run(("520s", cluster), "partitions = 1", &rest);
    let mut errors = Vec::new();
    for entry in session.insight().log().entries() {
        if let Fact::CallReturned {
            exception: Some(exception),
            ..
        } = &entry.first.fact
        {
            errors.push(exception.class.name());
        }
    }
    errors
}

const NEXT: [(f64, &str); 3] = [
    (0.0, "begin_transaction"),
    (0.0, "produce events key=b value=x partition=0 await=true"),
    (1.0, "commit_transaction"),
];

#[test]
fn c51_an_hour_before_the_id_expires_it_can_still_be_used() {
    for client in CLIENTS {
        assert_eq!(c51(client, 415.0, &NEXT), Vec::<&str>::new(), "{client}");
    }
}

#[test]
fn c51_when_the_id_has_expired_a_kept_java_producer_fails_for_ever_and_a_new_one_does_not() {
    let again = [
        (3.0, "abort_transaction"),
        (4.0, "begin_transaction"),
        (4.0, "produce events key=c value=x partition=0 await=true"),
    ];
    let kept = c51("java", 440.0, &[&NEXT[..], &again[..]].concat());
    assert!(kept.len() >= 4, "{kept:?}");
    let replaced = [
        (3.0, "new_producer"),
        (4.0, "init_transactions"),
        (6.0, "begin_transaction"),
        (6.0, "produce events key=c value=x partition=0 await=true"),
        (7.0, "commit_transaction"),
    ];
    let replaced = c51("java", 440.0, &[&NEXT[..], &replaced[..]].concat());
    assert!(replaced.len() < kept.len(), "{replaced:?} {kept:?}");
}

#[test]
fn c51_librdkafka_aborts_and_goes_on_with_another_producer_id() {
    let again = [
        (3.0, "abort_transaction"),
        (8.0, "begin_transaction"),
        (8.0, "produce events key=c value=x partition=0 await=true"),
        (9.0, "commit_transaction"),
    ];
    let errors = c51("librdkafka", 440.0, &[&NEXT[..], &again[..]].concat());
    assert_eq!(errors, ["INVALID_PRODUCER_ID_MAPPING"]);
}

// === C54: a marker is sent again by another coordinator

#[test]
fn c54_a_second_marker_takes_an_offset_and_changes_nothing() {
    for client in CLIENTS {
        // The coordinator of `fares` is broker 2; the leader of the other topic is far from it.
        let others = "leaders = [1]\n[[link]]\nbetween = [2, 3]\nrtt = \"600ms\"\n\
                      [[topic]]\nname = \"payouts\"\npartitions = 1\nleaders = [3]\n";
        let steps = [
            (0.0, "init_transactions"),
            (4.0, "begin_transaction"),
            (4.0, "produce events key=a value=x partition=0 await=true"),
            (5.0, "produce payouts key=a value=x partition=0 await=true"),
            (8.0, "commit_transaction"),
            (22.0, "begin_transaction"),
            (22.0, "produce events key=b value=x partition=0 await=true"),
            (24.0, "commit_transaction"),
        ];
        let epochs = if client == "java" { [1, 2] } else { [0, 0] };
        let log = format!(
            "[[expect]]\nlog = \"events-0\"\noffsets = [\"0 a committed\", \"1 COMMIT 7/{0}\", \
             \"2 COMMIT 7/{0}\", \"3 b committed\", \"4 COMMIT 7/{1}\"]\n",
            epochs[0], epochs[1]
        );
        let rest = format!(
            "{others}{}[[timeline]]\nat = \"8.8s\"\ndo = \"broker kill 2\"\n{log}",
            owner(client, "fares", &script(&steps))
        );
        let session = kept(("30s", ""), "partitions = 1", &rest);
        assert_eq!(partition(&session, 0).last_stable_offset, 5);
        assert!(session.now() >= seconds(30.0));
    }
}
