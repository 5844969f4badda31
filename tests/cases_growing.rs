//! Public reports about growing and compacted topics, reproduced: the ids are those of the
//! collection of cases.

mod support;

use kdrill::session::Session;
use kdrill::sim::ids::{PartitionIndex, TopicIndex};
use support::{run_to_end, written};

const EVENTS: TopicIndex = TopicIndex(0);

// === C21: growing a keyed topic moves keys

/// Every key is sent once before the topic grows and once after its producer knows.
fn c21(from: u32, to: u32) -> Session {
    run_to_end(written(&format!(
        r#"# How many keys move?
        [scenario]
        format = 1
        title = "C21"
        duration = "10s"
        [cluster]
        brokers = 3
        [[topic]]
        name = "events"
        partitions = {from}
        history = "records"
        [[producer]]
        name = "app"
        config.metadata.max.age.ms = 4000
        [[producer.load]]
        topic = "events"
        rate = 5000
        key = {{ cycle = {KEYS}, format = "user-{{n}}" }}
        value = {{ bytes = 10 }}
        [[timeline]]
        at = "3s"
        do = "kafka-topics.sh --alter --topic events --partitions {to}"
        "#
    )))
}

const KEYS: u64 = 20_000;

fn share_moved(session: &Session) -> f64 {
    let split = session
        .simulation()
        .split_keys(EVENTS)
        .expect("records are kept");
    split as f64 / KEYS as f64
}

#[test]
fn c21_half_of_all_keys_move_from_4_to_8_three_quarters_from_3_to_4_and_83_percent_from_10_to_12() {
    for (from, to, expected) in [(4, 8, 0.5), (3, 4, 0.75), (10, 12, 0.83)] {
        let moved = share_moved(&c21(from, to));
        assert!((moved - expected).abs() < 0.01, "{from} to {to}: {moved}");
    }
}

#[test]
fn c21_a_key_that_moves_from_4_to_8_moves_by_4() {
    let session = c21(4, 8);
    let mut moved = 0;
    for n in 1..=KEYS {
        let key = format!("user-{n}");
        let history = session.simulation().key_history(EVENTS, key.as_bytes());
        let spans = &history.expect("every key was sent").spans;
        if let [before, after] = spans.as_slice() {
            let number = |index: PartitionIndex| index.name().number;
            assert_eq!(
                number(after.partition),
                number(before.partition) + 4,
                "{key}"
            );
            moved += 1;
        }
    }
    assert!(moved > 9_000, "{moved}");
}

// === C56: compaction never touches the active segment

/// A tenth of everything in the report: segments of 107,374,182 bytes, 10,000 keys, records of
/// 957 bytes on disk, and a stop 38.6 MB into the third segment.
fn c56(segment_bytes: u64) -> Session {
    run_to_end(written(&format!(
        r#"# What is left after compaction?
        [scenario]
        format = 1
        title = "C56"
        duration = "35s"
        [cluster]
        brokers = 1
        [[topic]]
        name = "events"
        partitions = 1
        config.cleanup.policy = "compact"
        config.segment.bytes = {segment_bytes}
        config.min.cleanable.dirty.ratio = 0.01
        [[producer]]
        name = "app"
        [[producer.load]]
        topic = "events"
        rate = 10000
        key = {{ uniform = 10000, format = "key-{{n}}" }}
        value = {{ bytes = 936 }}
        records = 264700
        at-end = "flush"
        "#
    )))
}

#[test]
fn c56_a_compacted_log_keeps_the_keys_of_closed_segments_and_all_of_the_active_one() {
    let session = c56(107_374_182);
    let simulation = session.simulation();
    let partition = simulation.partition(simulation.partitions().next().expect("there is one"));
    assert_eq!(partition.log_end_offset, 264_700);
    let kept = partition.records_kept as f64;
    assert!((kept / 50_300.0 - 1.0).abs() < 0.05, "{kept}");
    // A consumer that counts offsets believes in more than five times as much.
    assert!(partition.log_end_offset - partition.log_start_offset > 5 * partition.records_kept);
}

#[test]
fn c56_smaller_segments_leave_less_untouched() {
    let session = c56(10_485_760);
    let simulation = session.simulation();
    let partition = simulation.partition(simulation.partitions().next().expect("there is one"));
    assert!(
        partition.records_kept <= 21_000,
        "{}",
        partition.records_kept
    );
}
