//! What brokers delete and refuse, and what clients make of it.

use crate::support::{assert_kept, run_to_end, written};
use kdrill::insight::sentence::sentence;
use kdrill::session::Session;

/// A run of one broker and a topic `events`; `rest` says what happens there and what must hold.
fn run(duration: &str, (cluster, topic): (&str, &str), rest: &str) -> Session {
    let text = format!(
        r#"# What happens at the limits?
        [scenario]
        format = 1
        title = "limits"
        duration = "{duration}"
        seed = 1
        [cluster]
        brokers = 1
        link = {{ rtt = "10ms", bandwidth = "10Gbit/s" }}
        {cluster}
        [[topic]]
        name = "events"
        {topic}
        {rest}"#
    );
    let session = run_to_end(written(&text));
    assert_kept(&session);
    session
}

fn sentences(session: &Session) -> Vec<String> {
    let config = session.simulation().config();
    let entries = session.insight().log().entries();
    entries
        .map(|entry| sentence(&entry.first.fact, config))
        .collect()
}

fn assert_said(session: &Session, words: &str) {
    let sentences = sentences(session);
    let is_said = sentences.iter().any(|sentence| sentence.contains(words));
    assert!(is_said, "{words}: {sentences:#?}");
}

/// 2 MB a second for so many records.
fn load(records: u32) -> String {
    format!(
        r#"
        [[producer]]
        name = "app"
        [[producer.load]]
        topic = "events"
        rate = 2000
        records = {records}
        value = {{ bytes = 1000 }}
        "#
    )
}

const CHECK_EVERY_SECOND: &str = "config.log.retention.check.interval.ms = 1000";

// === Retention

#[test]
fn a_log_keeps_retention_bytes_and_less_than_a_segment_more() {
    let topic = "config.retention.bytes = 4194304\nconfig.segment.bytes = 1048576";
    let rest = load(100_000)
        + r#"
        [[expect]]
        event = "segments-deleted"
        first-at = "30s"
        [[expect]]
        name = "4 MiB are about 4,100 records, and a segment has a quarter of that"
        metric = "topic.events.kdrill-records-kept"
        at = "60s"
        between = [4100, 5300]
        [[expect]]
        no = ["acknowledged-loss"]
        "#;
    run("60s", (CHECK_EVERY_SECOND, topic), &rest);
}

#[test]
fn what_is_too_old_goes_even_from_the_active_segment() {
    let topic = "config.retention.ms = 5000";
    let rest = load(2_000)
        + r#"
        [[expect]]
        metric = "topic.events.kdrill-records-kept"
        at = "29s"
        equals = 2000
        [[expect]]
        metric = "topic.events.kdrill-records-kept"
        at = "31s"
        equals = 0
        "#;
    let session = run("40s", (CHECK_EVERY_SECOND, topic), &rest);
    assert_said(&session, "2000 records are deleted by retention.ms");
}

#[test]
fn a_consumer_that_is_too_slow_loses_its_place_and_begins_again() {
    let topic = "config.retention.bytes = 4194304\nconfig.segment.bytes = 1048576";
    let rest = load(100_000)
        + r#"
        [[consumer]]
        group = "slow"
        topic = "events"
        rate = 100
        config.auto.offset.reset = "earliest"
        [[expect]]
        name = "once at the start, and again when its offset is gone"
        event = "offset-reset"
        count = { at-least = 2 }
        "#;
    run("90s", (CHECK_EVERY_SECOND, topic), &rest);
}

// === Sizes

#[test]
fn a_batch_above_segment_bytes_is_not_split() {
    let topic = "config.segment.bytes = 1048576\nconfig.max.message.bytes = 3000000";
    let rest = r#"
        [[producer]]
        name = "app"
        config.batch.size = 2000000
        config.max.request.size = 3000000
        config.linger.ms = 500
        [[producer.load]]
        topic = "events"
        rate = 10000
        records = 1500
        value = { bytes = 1000 }
        [[expect]]
        event = "RecordBatchTooLargeException"
        producer = "app"
        [[expect]]
        event = "batch-split"
        count = { exactly = 0 }
        "#;
    run("5s", ("", topic), rest);
}

#[test]
fn a_second_partition_waits_for_a_fetch_of_its_own_where_its_batch_is_above_the_limit() {
    // Two records above max.partition.fetch.bytes: each comes first in a fetch, one at a time.
    let rest = r#"
        [[producer]]
        name = "app"
        config.max.request.size = 3000000
        [[producer.script]]
        do = "produce events value=x partition=0"
        [[producer.load]]
        topic = "events"
        rate = 1
        records = 1
        partition = 0
        value = { bytes = 900000 }
        [[producer.load]]
        topic = "events"
        rate = 1
        records = 1
        partition = 1
        value = { bytes = 900000 }
        [[consumer]]
        group = "late"
        topic = "events"
        start = "5s"
        config.auto.offset.reset = "earliest"
        config.max.partition.fetch.bytes = 1000
        config.fetch.max.bytes = 1000
        [[expect]]
        metric = "consumer.late.kdrill-records-consumed"
        at = "20s"
        equals = 3
        "#;
    run("20s", ("", "partitions = 2"), rest);
}

// === Errors of a batch

/// Two records, the first of them refused with this error.
fn refused(error: &str, config: &str, rest: &str) -> Session {
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        {config}
        [[producer.script]]
        at = "1s"
        do = "produce events key=a"
        [[producer.script]]
        at = "3s"
        do = "produce events key=b"
        [[timeline]]
        at = "0.5s"
        do = "inject {error} --partition events-0"
        {rest}"#
    );
    run("6s", ("", "partitions = 1"), &rest)
}

#[test]
fn a_fatal_error_ends_an_idempotent_java_client() {
    let rest = r#"
        [[expect]]
        event = "client-failed"
        count = { exactly = 1 }
        [[expect]]
        event = "record-refused"
        count = { exactly = 1 }
        "#;
    let session = refused("CLUSTER_AUTHORIZATION_FAILED", "", rest);
    assert_said(
        &session,
        "The producer is not authorized to do idempotent sends",
    );
    assert_said(
        &session,
        "Cannot execute transactional method because we are in an error state",
    );
}

#[test]
fn without_idempotence_it_is_one_batch_that_fails() {
    let rest = r#"
        [[expect]]
        event = "client-failed"
        count = { exactly = 0 }
        [[expect]]
        log = "events-0"
        offsets = ["0 b"]
        "#;
    let config = "config.enable.idempotence = false";
    refused("CLUSTER_AUTHORIZATION_FAILED", config, rest);
}

#[test]
fn a_topic_that_may_not_be_written_is_named() {
    let rest = r#"
        [[expect]]
        log = "events-0"
        offsets = ["0 b"]
        "#;
    let session = refused("TOPIC_AUTHORIZATION_FAILED", "", rest);
    assert_said(&session, "Not authorized to access topics: [events]");
}

#[test]
fn a_broker_that_does_not_know_the_producer_is_asked_again() {
    let rest = r#"
        [[expect]]
        log = "events-0"
        offsets = ["0 a", "1 b"]
        [[expect]]
        event = "batch-retried"
        count = { exactly = 1 }
        "#;
    refused("UNKNOWN_PRODUCER_ID", "", rest);
}

#[test]
fn an_answer_that_comes_after_the_append_leaves_the_record_in_the_log() {
    let rest = r#"
        [[expect]]
        log = "events-0"
        offsets = ["0 a", "1 a", "2 b"]
        "#;
    for error in ["REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"] {
        refused(error, "config.enable.idempotence = false", rest);
    }
    let once = rest.replace("\"1 a\", \"2 b\"", "\"1 b\"");
    refused("REQUEST_TIMED_OUT", "", &once);
}
