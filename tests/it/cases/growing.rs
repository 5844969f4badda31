//! Public reports about growing and compacted topics, reproduced: the ids are those of the
//! collection of cases.

use std::sync::Arc;

use crate::support::{run_to_end, seconds, written};
use kdrill::scenario::Scenario;
use kdrill::session::Session;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::{GroupIndex, PartitionIndex, TopicIndex};
use kdrill::sim::time::SimTime;
use kdrill::sim::{Output, Simulation};

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

/// Old partitions have a backlog of a minute when the producer begins to write to new ones, which
/// another member reads at once; a minute later the backlog is read.
fn c21_read(rate_of_old: &str) -> Session {
    run_to_end(written(&format!(
        r#"# Whose events are overtaken?
        [scenario]
        format = 1
        title = "C21"
        duration = "140s"
        [cluster]
        brokers = 3
        [[topic]]
        name = "events"
        partitions = 4
        history = "records"
        [[producer]]
        name = "app"
        start = "10s"
        config.metadata.max.age.ms = 60000
        [[producer.load]]
        topic = "events"
        rate = 500
        key = {{ uniform = {KEYS}, format = "user-{{n}}" }}
        value = {{ bytes = 10 }}
        [[consumer]]
        name = "old"
        group = "views"
        topic = "events"
        {rate_of_old}
        config.auto.offset.reset = "earliest"
        config.metadata.max.age.ms = 61000
        config.max.poll.records = 1
        [[consumer]]
        name = "new"
        group = "views"
        topic = "events"
        start = "62s"
        config.auto.offset.reset = "earliest"
        [[timeline]]
        at = "60s"
        do = "kafka-topics.sh --alter --topic events --partitions 8"
        [[timeline]]
        at = "130s"
        do = "consumer rate views 1000000"
        "#
    )))
}

/// Keys that moved, with an event in the last minute before and one in the first minute after.
fn written_on_both_sides(session: &Session) -> usize {
    let keys = (1..=KEYS).map(|n| format!("user-{n}"));
    let is_on_both_sides = |key: &String| {
        let history = session.simulation().key_history(EVENTS, key.as_bytes());
        match history.map(|history| history.spans.as_slice()) {
            Some([old, new]) => old.last_at >= seconds(10.0) && new.first_at <= seconds(130.0),
            _ => false,
        }
    };
    keys.filter(is_on_both_sides).count()
}

fn overtaken(session: &Session) -> u64 {
    let reads = session.simulation().reads_out_of_order(GroupIndex(0));
    reads.expect("records are kept").keys
}

#[test]
fn c21_keys_with_events_in_the_minutes_before_and_after_are_overtaken_behind_a_lag_of_a_minute() {
    let session = c21_read("rate = 1");
    let (expected, found) = (written_on_both_sides(&session), overtaken(&session));
    assert!(expected > 4_000, "{expected}");
    let off = found as f64 / expected as f64 - 1.0;
    assert!(off.abs() < 0.01, "{found} of {expected}");
}

#[test]
fn c21_without_a_lag_no_key_is_overtaken() {
    let session = c21_read("");
    assert!(written_on_both_sides(&session) > 4_000);
    assert_eq!(overtaken(&session), 0);
}

// === C20: a consumer that starts new partitions at 'latest'

/// The topic doubles at the tenth second; the producer knows a minute later, and the consumer six.
fn c20(reset: &str, (producer_ms, consumer_ms): (u32, u32)) -> Arc<Scenario> {
    written(&format!(
        r#"# What is never read?
        [scenario]
        format = 1
        title = "C20"
        duration = "400s"
        [cluster]
        brokers = 3
        [[topic]]
        name = "events"
        partitions = 8
        [[producer]]
        name = "app"
        start = "7s"
        config.metadata.max.age.ms = {producer_ms}
        config.partitioner.class = "org.apache.kafka.clients.producer.RoundRobinPartitioner"
        [[producer.load]]
        topic = "events"
        rate = 1600
        value = {{ bytes = 10 }}
        [[consumer]]
        name = "alerts"
        group = "alerts"
        topic = "events"
        config.auto.offset.reset = "{reset}"
        config.metadata.max.age.ms = {consumer_ms}
        [[timeline]]
        at = "10s"
        do = "kafka-topics.sh --alter --topic events --partitions 16"
        "#
    ))
}

/// What became of records that the group had not seen when it learnt of new partitions.
#[derive(Default)]
struct Discovery {
    /// Records in old partitions before the offset at which it began there.
    skipped_old: u64,
    /// Records in new partitions before the offset at which it began there.
    skipped_new: u64,
    /// Records in new partitions when it began there, to within a tenth of a second.
    written_new: u64,
}

fn discovery(scenario: &Scenario) -> Discovery {
    let mut simulation = Simulation::new(scenario.config.clone());
    let (mut found, mut output) = (Discovery::default(), Output::default());
    for tenth in 1..=4_000 {
        let _ = simulation.advance_to(SimTime::from_millis(100 * tenth), u64::MAX);
        simulation.drain(&mut output);
        for stamped in &output.facts {
            let Fact::OffsetReset {
                partition, offset, ..
            } = stamped.fact
            else {
                continue;
            };
            if partition.name().number < 8 {
                found.skipped_old += offset;
                continue;
            }
            found.skipped_new += offset;
            found.written_new += simulation.partition(partition).records_in;
        }
    }
    found
}

const MINUTE_AND_SIX: (u32, u32) = (63_000, 370_000);

#[test]
fn c20_a_consumer_at_latest_never_reads_240_000_records_all_of_them_in_new_partitions() {
    let found = discovery(&c20("latest", MINUTE_AND_SIX));
    let off = found.skipped_new as f64 / 240_000.0 - 1.0;
    assert!(off.abs() < 0.01, "{}", found.skipped_new);
    assert_eq!(found.skipped_old, 0);
}

#[test]
fn c20_a_consumer_at_earliest_loses_none_and_finds_a_lag_of_240_000() {
    let found = discovery(&c20("earliest", MINUTE_AND_SIX));
    let off = found.written_new as f64 / 240_000.0 - 1.0;
    assert!(off.abs() < 0.01, "{}", found.written_new);
    assert_eq!((found.skipped_old, found.skipped_new), (0, 0));
}

#[test]
fn c20_a_consumer_that_discovers_new_partitions_first_loses_none() {
    let found = discovery(&c20("latest", (363_000, 70_000)));
    assert_eq!((found.skipped_old, found.skipped_new), (0, 0));
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
