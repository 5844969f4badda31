//! Public reports with numbers, reproduced: the ids are those of the collection of cases.

use crate::support::{run_to, run_to_end, seconds, written};
use kdrill::insight::judge::Outcome;
use kdrill::insight::sentence::sentence;
use kdrill::kafka::exception::ExceptionClass;
use kdrill::session::Session;
use kdrill::sim::ids::ProducerIndex;
use kdrill::sim::time::SimTime;

/// What the event pane lists: when (the last time, where it came often) and the sentence.
fn happenings(session: &Session) -> Vec<(f64, String)> {
    let config = session.simulation().config();
    let entries = session.insight().log().entries();
    entries
        .map(|e| (e.last_at.as_seconds(), sentence(&e.first.fact, config)))
        .collect()
}

const APP: ProducerIndex = ProducerIndex(0);

/// A cluster of three brokers and a topic with `partitions`; `rest` says what happens there.
fn world(duration: &str, partitions: u32, rest: &str) -> String {
    format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "{duration}"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        [[topic]]
        name = "events"
        partitions = {partitions}
        replication-factor = 1
        {rest}"#
    )
}

/// C09: records of 1 KB to many partitions while brokers stop acknowledging.
fn c09(rate: u32, append_rate: &str, duration: &str) -> String {
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        [[producer.load]]
        topic = "events"
        rate = {rate}
        key = {{ cycle = 5000, format = "key-{{n}}" }}
        value = {{ bytes = 1000 }}
        "#
    );
    world(duration, 12, &rest).replace(
        "brokers = 3",
        &format!("brokers = 3\nappend-rate = \"{append_rate}\""),
    )
}

#[test]
fn c09_the_first_exception_comes_max_block_ms_after_that_call_blocked() {
    let rest = "\n[[timeline]]\nat = \"1s\"\ndo = \"link cut app *\"\n";
    let text = c09(100_000, "1GiB/s", "70s") + rest;
    let session = run_to(written(&text), SimTime::from_seconds(70));
    let producer = session.simulation().producer(APP);
    assert!(producer.buffer.batches <= 2048);
    let refused: u64 = session
        .insight()
        .errors(APP)
        .get(&ExceptionClass::BufferExhausted.into())
        .copied()
        .unwrap_or(0);
    assert_eq!(refused, 1);
}

#[test]
fn c09_the_pool_is_empty_after_its_size_over_the_difference_of_rates() {
    // 10,000 in, 5,000 of 1,022 bytes out. A batch takes 16 of them, and the pool 2,048 batches.
    let text = c09(10_000, "1703333B/s", "20s");
    let session = run_to(written(&text), SimTime::from_seconds(20));
    let exhausted = happenings(&session)
        .into_iter()
        .find(|(_, sentence)| sentence.contains("full"));
    let expected = 2048.0 * 16.0 / 5_000.0;
    let (at, _) = exhausted.expect("the pool is full within 20 s");
    assert!(
        (at - expected).abs() / expected < 0.05,
        "{at} s, expected about {expected} s"
    );
}

/// C24 (a): every record awaited under a linger of 5 s.
#[test]
fn c24_a_lone_awaited_record_takes_one_linger() {
    let rest = r#"
        [[producer]]
        name = "app"
        config.linger.ms = 5000
        [[producer.load]]
        topic = "events"
        rate = "max"
        value = { bytes = 100 }
        await = "each"
        "#;
    let session = run_to(
        written(&world("1000s", 1, rest)),
        SimTime::from_seconds(1000),
    );
    let acked = session.simulation().producer(APP).totals.records_acked;
    // 200,000 of them take 200,000 × 5 s = 11.57 days.
    assert!((199..=200).contains(&acked), "{acked}");
}

#[test]
fn c24_not_awaited_they_are_done_after_one_linger() {
    let rest = r#"
        [[producer]]
        name = "app"
        config.linger.ms = 5000
        [[producer.load]]
        topic = "events"
        rate = "max"
        records = 20000
        value = { bytes = 100 }
        "#;
    let session = run_to(written(&world("6s", 1, rest)), SimTime::from_seconds(6));
    assert_eq!(
        session.simulation().producer(APP).totals.records_acked,
        20_000
    );
}

/// C27: three records for a missing topic, three rounds, one thread.
fn c27(max_block_ms: u32, version: &str) -> f64 {
    let rest = format!(
        r#"
        [cluster.config]
        auto.create.topics.enable = false
        [[producer]]
        name = "app"
        version = "{version}"
        config.max.block.ms = {max_block_ms}
        [[producer.load]]
        topic = "missing"
        rate = "max"
        records = 9
        value = {{ bytes = 100 }}
        "#
    );
    let session = run_to_end(written(&world("600s", 1, &rest)));
    let refused = session.simulation().producer(APP).totals.records_refused;
    assert_eq!(refused, 9);
    let text = format!("Topic missing not present in metadata after {max_block_ms} ms.");
    let refusals = happenings(&session);
    let last = refusals
        .iter()
        .rfind(|(_, sentence)| sentence.contains(&text));
    last.expect("a refusal in the client's words").0
}

#[test]
fn c27_max_block_ms_is_paid_for_each_record_in_each_round() {
    assert!((c27(60_000, "2.5") - 540.0).abs() < 5.4);
    assert!((c27(15_000, "2.5") - 135.0).abs() < 1.35);
}

/// C55: the size check of the client looks at the serialised record, whatever compression does.
#[test]
fn c55_three_of_four_sizes_are_refused_at_once_with_both_figures() {
    let load = |bytes: u32| {
        format!(
            r#"
        [[producer.load]]
        topic = "events"
        rate = 10
        records = 1
        value = {{ bytes = {bytes} }}
        "#
        )
    };
    let calls = [1_000_000, 1_051_237, 1_628_919, 4_021_051]
        .map(load)
        .concat();
    let rest = format!("[[producer]]\nname = \"app\"\nconfig.compression.type = \"zstd\"\n{calls}");
    let session = run_to(written(&world("10s", 1, &rest)), seconds(10.0));
    let totals = session.simulation().producer(APP).totals;
    assert_eq!((totals.records_acked, totals.records_refused), (1, 3));
    let text = "which is the value of the max.request.size configuration.";
    let refusals = happenings(&session);
    assert!(refusals.iter().any(|(_, sentence)| sentence.contains(text)));
}

#[test]
fn an_expectation_that_cannot_be_decided_is_inconclusive() {
    let rest = r#"
        [[producer]]
        name = "app"
        [[expect]]
        metric = "ledger.records-acked"
        at = "20s"
        above = 1
        "#;
    let mut session = run_to(written(&world("30s", 1, rest)), SimTime::from_seconds(5));
    session.finish();
    assert_eq!(
        session.insight().judgements()[0].outcome,
        Outcome::Inconclusive
    );
}
