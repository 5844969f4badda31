//! Why partitions are uneven, as warnings and reports say it.

use crate::support::{run_to_end, written};
use kdrill::report::Report;
use kdrill::session::Session;

/// A run with this topic and these producers.
fn run(rest: &str) -> Session {
    run_to_end(written(&format!(
        r#"# Who gets how much?
        [scenario]
        format = 1
        title = "test"
        duration = "12s"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "1Gbit/s" }}
        {rest}
        "#
    )))
}

fn topic(partitions: u32) -> String {
    format!("[[topic]]\nname = \"events\"\npartitions = {partitions}\nreplication-factor = 1\n")
}

fn producer(name: &str, load: &str) -> String {
    format!(
        "[[producer]]\nname = \"{name}\"\n[[producer.load]]\ntopic = \"events\"\nrate = 1000\n\
         value = {{ bytes = 100 }}\n{load}\n"
    )
}

/// What the report says of the topic's skew.
fn cause(session: &Session) -> Option<&'static str> {
    let report = Report::of(session);
    report.topics["events"].skew.as_ref().map(|skew| skew.cause)
}

fn warning(session: &Session, name: &str) -> Option<String> {
    let all = session.insight().warnings().all();
    let found = all.iter().find(|warning| warning.name == name);
    found.map(|warning| warning.text.clone())
}

#[test]
fn a_key_with_most_records_of_its_partition_is_the_cause() {
    let load = "key = { zipf = 1.5, count = 1000 }";
    let session = run(&(topic(12) + &producer("a", load)));
    assert_eq!(cause(&session), Some("hot-key"));
    let report = Report::of(&session);
    let hottest = &report.topics["events"].hottest_keys[0];
    assert_eq!(hottest.key, "key-1");
    assert!((hottest.share - 0.39).abs() < 0.02, "{}", hottest.share);
}

#[test]
fn fewer_keys_than_partitions_are_the_cause() {
    let session = run(&(topic(12) + &producer("a", "key = { uniform = 3 }")));
    assert_eq!(cause(&session), Some("few-keys"));
}

#[test]
fn a_hot_key_is_the_cause_where_only_one_of_two_hashes_puts_it() {
    let load = "key = [{ key = \"acme\", weight = 30 }, \"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]";
    let rest = "[[producer.load]]\ntopic = \"events\"\nrate = 1000\nkey = { cycle = 500 }\n";
    let librdkafka = producer("b", load).replace(
        "[[producer.load]]",
        "client = \"librdkafka\"\n[[producer.load]]",
    );
    let both = producer("a", &(load.to_owned() + "\n" + rest)) + &librdkafka;
    let session = run(&(topic(24) + &both));
    assert_eq!(cause(&session), Some("hot-key"));
    assert!(warning(&session, "mixed-hashing").is_some());
}

#[test]
fn a_partition_that_the_application_names_is_the_cause() {
    let session = run(&(topic(6) + &producer("a", "partition = 4")));
    assert_eq!(cause(&session), Some("named-partition"));
}

#[test]
fn without_a_random_partitioner_null_keys_of_librdkafka_are_one_key() {
    let rdkafka = producer("a", "").replace(
        "[[producer.load]]",
        "client = \"librdkafka\"\nconfig.partitioner = \"murmur2\"\n[[producer.load]]",
    );
    assert_eq!(cause(&run(&(topic(6) + &rdkafka))), Some("null-key"));
}

#[test]
fn where_keys_are_ignored_a_slow_broker_is_a_cause_only_if_it_is_slow() {
    let brokers =
        "[[broker]]\nid = 1\nrequest-time = \"40ms\"\n[[broker]]\nid = 2\n[[broker]]\nid = 3\n";
    let ignoring = |slow: &str| {
        let load = "key = { uniform = 2 }\n";
        let old = producer("a", load).replace(
            "[[producer.load]]",
            "version = \"3.2\"\nconfig.partitioner.class = \
             \"org.apache.kafka.clients.producer.UniformStickyPartitioner\"\n[[producer.load]]",
        );
        let topic = topic(3) + "leaders = [1, 2, 3]\n";
        run(&(slow.to_owned() + &topic + &old.replace("rate = 1000", "rate = 4000")))
    };
    assert_eq!(cause(&ignoring(brokers)), Some("slow-broker"));
    assert_ne!(cause(&ignoring("")), Some("slow-broker"));
}

#[test]
fn even_keys_and_few_records_are_no_skew() {
    let load = "key = { cycle = 5000 }";
    assert_eq!(cause(&run(&(topic(6) + &producer("a", load)))), None);
    let few = "records = 50\nkey = { uniform = 1 }";
    assert_eq!(cause(&run(&(topic(6) + &producer("a", few)))), None);
}

#[test]
fn a_producer_that_does_not_look_at_keys_splits_their_history() {
    let load = "key = { uniform = 100, format = \"user-{n}\" }";
    let ignoring = producer("b", load).replace(
        "[[producer.load]]",
        "config.partitioner.ignore.keys = true\n[[producer.load]]",
    );
    let mixed = run(&(topic(6) + &producer("a", load) + &ignoring));
    assert_eq!(
        warning(&mixed, "mixed-hashing").as_deref(),
        Some(
            "key user-1 of topic events is on several partitions: producer a puts it on \
             partition 2, producer b puts it on any; its history is split"
        )
    );
    let alike = run(&(topic(6) + &producer("a", load) + &producer("b", load)));
    assert_eq!(warning(&alike, "mixed-hashing"), None);
}

#[test]
fn evenness_is_over_all_partitions_of_a_large_topic() {
    let session = run(&(topic(3_000) + &producer("a", "partition = 2500")));
    let report = Report::of(&session);
    assert_eq!(report.topics["events"].max_over_mean.get(), Some(3_000.0));
    assert_eq!(report.partitions["events-2500"].share.get(), Some(1.0));
}
