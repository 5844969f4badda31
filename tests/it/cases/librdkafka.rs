//! Public reports about librdkafka's queue, partitioners and `flush()`, reproduced with the client
//! of 2.16: the ids are those of the collection of cases.

use crate::support::{run_to, seconds, written};
use kdrill::session::Session;
use kdrill::sim::ids::ProducerIndex;
use kdrill::sim::view::QueueView;

const APP: ProducerIndex = ProducerIndex(0);

/// A cluster of one broker, or of one for each partition of topic `events`; `last` says what is
/// special about the last broker.
fn world(brokers: usize, last: &str, partitions: usize, rest: &str) -> String {
    let broker = |id| format!("[[broker]]\nid = {id}\n");
    let others: Vec<String> = (1..brokers).map(broker).collect();
    let others = others.concat();
    let leaders: Vec<usize> = (0..partitions).map(|p| 1 + p % brokers).collect();
    format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "120s"
        seed = 1
        kafka = "4.3"
        [cluster]
        link = {{ rtt = "0.2ms", bandwidth = "10Gbit/s" }}
        {others}
        [[broker]]
        id = {brokers}
        {last}
        [[topic]]
        name = "events"
        partitions = {partitions}
        replication-factor = 1
        leaders = {leaders:?}
        {rest}"#
    )
}

/// One producer with librdkafka and a load.
fn app(config: &str, load: &str) -> String {
    format!(
        r#"
        [[producer]]
        name = "app"
        client = "librdkafka"
        {config}
        [[producer.load]]
        topic = "events"
        {load}
        "#
    )
}

fn queue(session: &Session) -> QueueView {
    let queue = session.simulation().producer(APP).queue;
    queue.expect("librdkafka has a queue")
}

fn accepted(session: &Session) -> u64 {
    session.simulation().producer(APP).totals.records_sent
}

fn records(session: &Session) -> Vec<u64> {
    let views = session.simulation().partition_views();
    views.iter().map(|view| view.records_in).collect()
}

fn go_on(session: &mut Session, moment: f64) {
    let _ = session.advance_to(seconds(moment), u64::MAX);
}

fn assert_about(actual: f64, expected: f64, tolerance: f64) {
    let off = (actual / expected - 1.0).abs();
    assert!(off <= tolerance, "{actual}, expected {expected}");
}

// === C03: reports that nobody collects

/// A tenth of the report's queue, 209,715 KiB, filled with 48,000 messages/s of 2,557 bytes.
fn c03(poll: &str) -> Session {
    let config = "config.queue.buffering.max.messages = 10000000\n\
        config.queue.buffering.max.kbytes = 209715\n\
        config.batch.num.messages = 1\n\
        config.acks = 0";
    let load = format!("rate = 48000\nvalue = {{ bytes = 2557 }}\npoll = {poll}");
    run_to(
        written(&world(1, "", 1, &app(config, &load))),
        seconds(0.25),
    )
}

#[test]
fn c03_without_poll_all_that_was_ever_produced_occupies_the_queue_until_it_is_full() {
    let mut session = c03("\"never\"");
    for moment in [0.25, 0.5, 0.75, 1.0, 1.25, 1.5] {
        go_on(&mut session, moment);
        let queue = queue(&session);
        assert_eq!(queue.messages, accepted(&session));
        // By far the most are at the broker, whose answer nobody waits for.
        assert!(queue.reported * 100 >= queue.messages * 94, "{queue:?}");
        assert_eq!(queue.full, 0);
    }
    go_on(&mut session, 2.0);
    let queue = queue(&session);
    assert!(queue.full > 0);
    assert_eq!(queue.messages, 209_715 * 1024 / 2557);
}

#[test]
fn c03_with_poll_there_is_room() {
    let mut session = c03("\"100ms\"");
    for step in 3..=20 {
        go_on(&mut session, f64::from(step) * 0.1 + 0.05);
        let queue = queue(&session);
        assert!(queue.messages < 10_000, "{queue:?}");
        assert_eq!(queue.full, 0);
    }
}

// === C05: as many under way as the queue holds

/// A tenth of the report: the broker takes 22,800 messages/s of 1,024 bytes, and the application
/// sends whatever the queue takes.
fn c05(messages_max: u32) {
    let config = format!("config.queue.buffering.max.messages = {messages_max}");
    let load =
        "rate = \"max\"\nvalue = { bytes = 1024 }\non-refused = \"retry\"\npoll = { every = 1 }";
    let slow = "append-rate = \"23.53MB/s\"";
    let mut session = run_to(
        written(&world(1, slow, 1, &app(&config, load))),
        seconds(1.0),
    );
    let (before, written_before) = (accepted(&session), records(&session)[0]);
    for moment in [1.0, 2.0, 3.0, 4.0] {
        go_on(&mut session, moment);
        let queue = queue(&session);
        // Short of it by what a batch has just freed.
        let most = u64::from(messages_max);
        assert!((most - 1_000..=most).contains(&queue.messages), "{queue:?}");
    }
    assert!(queue(&session).full > 0);
    let rate = (accepted(&session) - before) as f64 / 3.0;
    let drained = (records(&session)[0] - written_before) as f64 / 3.0;
    assert_about(rate, drained, 0.02);
    assert_about(rate, 22_800.0, 0.02);
}

#[test]
fn c05_produced_minus_delivered_is_the_limit_at_every_look() {
    c05(10_000);
}

#[test]
fn c05_a_queue_of_twice_the_size_is_full_as_well_and_not_faster() {
    c05(20_000);
}

// === C06: the limit of messages comes first

/// A hundredth of the report: 100,000 messages and 819.2 MB, 155 bytes a message, nobody there.
#[test]
fn c06_the_count_is_reached_when_two_percent_of_the_bytes_are() {
    let config = "config.queue.buffering.max.messages = 100000\n\
        config.queue.buffering.max.kbytes = 800000";
    let load = "rate = 50000\nvalue = { bytes = 155 }";
    let dead = "[[timeline]]\nat = \"0s\"\ndo = \"broker kill 1\"\n";
    let text = world(1, "", 1, &(app(config, load) + dead));
    let mut session = run_to(written(&text), seconds(1.9));
    assert_eq!(queue(&session).full, 0);
    go_on(&mut session, 10.0);
    let queue = queue(&session);
    assert_eq!((queue.messages, queue.value_bytes), (100_000, 15_500_000));
    let share = queue.value_bytes as f64 / queue.value_bytes_max as f64;
    assert!((share - 0.019).abs() < 0.001, "{share}");
    let warnings = session.insight().warnings().all();
    let named = warnings.iter().find(|warning| warning.name == "queue-full");
    let text = named.map_or("", |warning| warning.text.as_str());
    assert!(text.contains("queue.buffering.max.messages"), "{text}");
}

// === C08: one slow broker takes the whole queue

/// Messages for each partition that are not written, of keys that go round over all five.
fn unwritten(session: &Session) -> Vec<u64> {
    let each = accepted(session) / 5;
    let records = records(session);
    records
        .iter()
        .map(|&written| each.saturating_sub(written))
        .collect()
}

/// Broker 1 to 4 take anything, broker 5 takes 200 messages/s. CRC32 puts `rack-1` to `rack-5` on
/// all five partitions. Time-outs are out of the way: the report is about the queue.
#[test]
fn c08_the_slow_partition_owns_the_queue_and_sets_the_rate() {
    let config = "config.socket.timeout.ms = 300000\nconfig.request.timeout.ms = 300000";
    let load = "rate = 10000\nvalue = { bytes = 1024 }\n\
        key = { cycle = 5, format = \"rack-{n}\" }\n\
        on-refused = \"block\"\npoll = \"10ms\"";
    let slow = "append-rate = \"208KB/s\"";
    let mut session = run_to(
        written(&world(5, slow, 5, &app(config, load))),
        seconds(50.0),
    );
    assert_eq!(queue(&session).full, 0);
    // Full after 100,000 / (2,000 - 200) seconds.
    let full = (500..=620)
        .map(|tenths| f64::from(tenths) / 10.0)
        .find(|&moment| {
            go_on(&mut session, moment);
            queue(&session).messages >= 99_990
        });
    assert_about(full.unwrap_or(0.0), 55.6, 0.05);
    go_on(&mut session, 70.0);
    let before = accepted(&session);
    go_on(&mut session, 100.0);
    assert_about((accepted(&session) - before) as f64 / 30.0, 1000.0, 0.05);
    let unwritten = unwritten(&session);
    let all: u64 = unwritten.iter().sum();
    assert!(unwritten[4] * 100 >= all * 95, "{unwritten:?}");
    assert!(queue(&session).messages > 99_000);
}

// === C16: an empty key

/// 12,000 messages to twelve partitions, each drawn for itself where one is drawn.
fn c16(partitioner: &str, key: &str) -> Vec<u64> {
    let config =
        format!("config.partitioner = \"{partitioner}\"\nconfig.sticky.partitioning.linger.ms = 0");
    let load = format!("rate = 12000\nrecords = 12000\nvalue = {{ bytes = 100 }}\nkey = {key}");
    let session = run_to(
        written(&world(3, "", 12, &app(&config, &load))),
        seconds(5.0),
    );
    let records = records(&session);
    assert_eq!(records.iter().sum::<u64>(), 12_000);
    records
}

#[test]
fn c16_an_empty_key_is_pinned_by_murmur2_random() {
    assert_eq!(c16("murmur2_random", "[\"\"]")[9], 12_000);
}

#[test]
fn c16_an_empty_key_is_none_to_consistent_random_and_null_is_none_to_both() {
    let spread = [
        c16("consistent_random", "[\"\"]"),
        c16("consistent_random", "\"none\""),
        c16("murmur2_random", "\"none\""),
    ];
    for records in spread.iter().flatten() {
        assert!((850..=1150).contains(records), "{spread:?}");
    }
}

// === C25: flush() and linger

/// One message at 30 s under a linger of 20 s, the partition's connection being there before.
fn c25(flush: &str, moment: f64) -> Session {
    let script = format!(
        r#"
        [[producer]]
        name = "app"
        client = "librdkafka"
        config.linger.ms = 20000
        [[producer.script]]
        at = "1s"
        do = 'produce events value=warm-up'
        [[producer.script]]
        at = "29s"
        do = 'poll'
        [[producer.script]]
        at = "30s"
        do = 'produce events value=hello partition=0'
        {flush}
        "#
    );
    run_to(written(&world(1, "", 1, &script)), seconds(moment))
}

#[test]
fn c25_flush_does_not_wait_for_linger() {
    let flush = "[[producer.script]]\nat = \"30.001s\"\ndo = 'flush'\n";
    let session = c25(flush, 30.011);
    assert_eq!(queue(&session).messages, 0);
    assert_eq!(session.simulation().producer(APP).totals.records_acked, 2);
}

#[test]
fn c25_without_flush_the_message_waits_for_linger() {
    assert_eq!(queue(&c25("", 49.9)).waiting, 1);
    let queue = queue(&c25("", 50.1));
    assert_eq!((queue.waiting, queue.reported), (0, 1));
}
