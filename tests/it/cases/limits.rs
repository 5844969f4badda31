//! Public reports about retries, sequences, sizes, compression and quotas, reproduced: the ids are
//! those of the collection of cases.

use crate::support::{assert_kept, run_to_end, written};
use kdrill::kafka::quota::QuotaSensor;
use kdrill::session::Session;

/// A run of a cluster and a topic `events`; `rest` says what happens there and what must hold.
fn run((duration, cluster): (&str, &str), topic: &str, rest: &str) -> Session {
    let text = format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "{duration}"
        seed = 1
        [cluster]
        link = {{ rtt = "10ms", bandwidth = "10Gbit/s" }}
        {cluster}
        [[topic]]
        name = "events"
        {topic}
        {rest}"#
    );
    run_to_end(written(&text))
}

fn kept((duration, cluster): (&str, &str), topic: &str, rest: &str) {
    assert_kept(&run((duration, cluster), topic, rest));
}

/// Calls of one thread: each at its moment in seconds.
fn script(calls: &[(f64, String)]) -> String {
    let call = |(at, call): &(f64, String)| {
        format!("[[producer.script]]\nat = \"{at}s\"\ndo = \"{call}\"\n")
    };
    calls.iter().map(call).collect()
}

/// A log expectation: these keys from offset 0 on.
fn log(keys: &[&str]) -> String {
    let lines = keys.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(offset, key)| format!("\"{offset} {key}\""))
        .collect();
    format!(
        "[[expect]]\nlog = \"events-0\"\noffsets = [{}]\n",
        lines.join(", ")
    )
}

fn figure(metric: &str, bounds: &str) -> String {
    format!("[[expect]]\nmetric = \"{metric}\"\n{bounds}\n")
}

// === C39: A is sent again, B overtakes

/// 33 records, of which the first request is refused once, and 7 right behind them.
///
/// A greeting opens the connection: on partition 0 with idempotence, because a leader takes the
/// first batch of a producer that it does not know whatever its sequence.
fn c39(client: &str, config: &str, (greeted, order): (u32, &[String])) {
    let send = |at: f64, records: std::ops::Range<u32>| {
        records.map(move |n| (at, format!("produce events key=r{n} partition=0")))
    };
    let calls: Vec<_> = [(0.5, format!("produce events key=hello partition={greeted}"))]
        .into_iter()
        .chain(send(2.0, 0..33))
        .chain(send(2.008, 33..40))
        .chain([(2.1, "flush".to_string())])
        .collect();
    let greeting = (greeted == 0).then_some("hello");
    let order: Vec<&str> = greeting
        .into_iter()
        .chain(order.iter().map(String::as_str))
        .collect();
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        client = "{client}"
        config.linger.ms = 2
        {config}
        {}
        [[timeline]]
        at = "1.9s"
        do = "inject NOT_LEADER_OR_FOLLOWER --partition events-0"
        {}
        {}"#,
        script(&calls),
        log(&order),
        figure("ledger.records-acked", "equals = 41"),
    );
    kept(("6s", "brokers = 1"), "partitions = 2", &rest);
}

fn records(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("r{n}")).collect()
}

#[test]
fn c39_with_several_requests_in_flight_and_no_idempotence_33_to_39_get_offsets_0_to_6() {
    let order = [records(33..40), records(0..33)].concat();
    c39("java", "config.enable.idempotence = false", (1, &order));
    c39("librdkafka", "", (1, &order));
}

#[test]
fn c39_with_one_request_in_flight_order_is_kept() {
    let one = "config.\"max.in.flight.requests.per.connection\" = 1";
    let java = format!("config.enable.idempotence = false\n{one}");
    c39("java", &java, (1, &records(0..40)));
    c39("librdkafka", one, (1, &records(0..40)));
}

#[test]
fn c39_with_idempotence_order_is_kept() {
    c39("java", "", (0, &records(0..40)));
    c39(
        "librdkafka",
        "config.enable.idempotence = true",
        (0, &records(0..40)),
    );
}

// === C42: the middle message expires

/// Message 1 is acknowledged, 2 is sent at 2 s, 3 and 4 at 5 s; the broker cannot be reached from
/// 2 s to 8 s.
fn c42(message_timeout_ms: u32, expectations: &str) {
    let calls = [
        (0.0, "produce events key=m1".to_string()),
        (2.1, "produce events key=m2".to_string()),
        (5.0, "produce events key=m3".to_string()),
        (5.0, "produce events key=m4".to_string()),
        (20.0, "produce events key=m5".to_string()),
        (30.0, "poll 5s".to_string()),
    ];
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        client = "librdkafka"
        config.enable.idempotence = true
        config.message.timeout.ms = {message_timeout_ms}
        {}
        [[timeline]]
        at = "2s"
        do = "link cut app 1"
        [[timeline]]
        at = "8s"
        do = "link heal app 1"
        [[expect]]
        event = "client-failed"
        count = {{ exactly = 0 }}
        {expectations}"#,
        script(&calls),
    );
    kept(("40s", "brokers = 1"), "partitions = 1", &rest);
}

#[test]
fn c42_a_message_that_expires_bumps_the_epoch_of_todays_librdkafka_and_others_go_on() {
    let expectations = format!(
        "[[expect]]\nevent = \"_MSG_TIMED_OUT\"\nproducer = \"app\"\n{}{}",
        figure("producer.app.kdrill-records-acked", "above = 1"),
        figure("producer.app.eos.producer_epoch", "above = 0"),
    );
    c42(5_000, &expectations);
}

#[test]
fn c42_with_a_longer_timeout_all_are_stored_once_and_in_order() {
    c42(30_000, &log(&["m1", "m2", "m3", "m4", "m5"]));
}

// === C43: idle beyond the broker's memory

/// Two records, a pause, two more; brokers forget producers after 600 s.
fn c43(pause_s: f64, expectations: &str) {
    let second = 1.0 + pause_s;
    let calls = [
        (1.0, "produce events key=a".to_string()),
        (1.0, "produce events key=b".to_string()),
        (second, "produce events key=c".to_string()),
        (second, "produce events key=d".to_string()),
    ];
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        {}
        {expectations}
        {}
        [[expect]]
        event = "batch-retried"
        count = {{ exactly = 0 }}"#,
        script(&calls),
        log(&["a", "b", "c", "d"]),
    );
    let cluster = "brokers = 1\n\
        config.producer.id.expiration.ms = 600000\n\
        config.producer.id.expiration.check.interval.ms = 1000";
    kept(("700s", cluster), "partitions = 1", &rest);
}

#[test]
fn c43_a_pause_below_the_expiry_changes_nothing() {
    c43(590.0, "");
}

#[test]
fn c43_a_forgotten_producer_goes_on_as_if_nothing_had_been() {
    let forgotten = "[[expect]]\nevent = \"producer-forgotten\"\nfirst-at = \"601s\"\n\
                     within = \"2s\"";
    c43(610.0, forgotten);
}

#[test]
fn c43_repetitions_of_a_forgotten_producer_are_stored_twice() {
    // The answer is lost, and the retry comes after the broker has forgotten.
    let calls = [
        (0.0, "produce events key=a".to_string()),
        (1.0, "produce events key=b".to_string()),
    ];
    let run = |expiration_ms: u32, keys: &[&str]| {
        let rest = format!(
            r#"
            [[producer]]
            name = "app"
            config.linger.ms = 0
            config.request.timeout.ms = 5000
            {}
            [[timeline]]
            at = "0.9s"
            do = "responses swallow 1"
            {}"#,
            script(&calls),
            log(keys),
        );
        let cluster = format!(
            "brokers = 1\n\
             config.producer.id.expiration.ms = {expiration_ms}\n\
             config.producer.id.expiration.check.interval.ms = 500"
        );
        kept(("12s", &cluster), "partitions = 1", &rest);
    };
    run(600_000, &["a", "b"]);
    run(3_000, &["a", "b", "b"]);
}

// === C44: what acks=1 acknowledged and nobody replicated

/// `k` records, acknowledged or not, while the follower cannot be reached; then the leader dies.
fn c44(acks: &str, k: u32, expectations: &str) {
    let calls: Vec<_> = [(0.0, "produce events key=before".to_string())]
        .into_iter()
        .chain((0..k).map(|n| (2.0, format!("produce events key=r{n}"))))
        .chain([(20.0, "produce events key=after".to_string())])
        .collect();
    let rest = format!(
        r#"
        [[producer]]
        name = "app"
        config.enable.idempotence = false
        config.acks = "{acks}"
        {}
        [[timeline]]
        at = "1.5s"
        do = "link cut 1 2"
        [[timeline]]
        at = "3s"
        do = "broker kill 1"
        [[timeline]]
        at = "3s"
        do = "link heal 1 2"
        {expectations}"#,
        script(&calls),
    );
    let topic = "replication-factor = 2\nleaders = [1]";
    kept(("40s", "brokers = 2"), topic, &rest);
}

#[test]
fn c44_without_idempotence_as_many_acknowledged_records_are_missing_as_were_not_replicated() {
    for k in [1, 5] {
        let lost = figure("ledger.records-lost-acknowledged", &format!("equals = {k}"));
        c44("1", k, &(lost + &log(&["before", "after"])));
    }
}

#[test]
fn c44_with_acks_all_none_is_missing() {
    let all = ["before", "r0", "r1", "r2", "r3", "r4", "after"];
    let nothing = "[[expect]]\nno = [\"acknowledged-loss\"]\n";
    c44("all", 5, &(log(&all) + nothing));
}

// === C55: sizes

/// One record of each size, one a second; `shrinks` is what a value says of its compression.
fn c55((config, shrinks): (&str, &str), expectations: &str) {
    let load = |bytes: u32| {
        format!(
            "[[producer.load]]\ntopic = \"events\"\nrate = 1\nrecords = 1\n\
             value = {{ bytes = {bytes}{shrinks} }}\n"
        )
    };
    let loads: String = [1_000_000, 1_051_237, 1_628_919, 4_021_051]
        .map(load)
        .concat();
    let rest = format!("[[producer]]\nname = \"app\"\n{config}\n{loads}{expectations}");
    kept(("10s", "brokers = 1"), "partitions = 1", &rest);
}

#[test]
fn c55_a_higher_limit_of_the_client_alone_leaves_the_refusal_to_the_broker() {
    let refused = "[[expect]]\nevent = \"RecordTooLargeException\"\nproducer = \"app\"\n\
                   count = { exactly = 3 }\n";
    let none = "[[expect]]\nevent = \"record-refused\"\ncount = { exactly = 0 }\n";
    let stored = figure("topic.events.kdrill-records-in", "equals = 1");
    c55(
        ("config.max.request.size = 5000000", ""),
        &format!("{refused}{none}{stored}"),
    );
}

/// A client that compresses, and takes 5 MB.
const SHRINKING: &str = "config.max.request.size = 5000000\nconfig.compression.type = \"zstd\"";

#[test]
fn c55_with_a_higher_limit_of_the_client_what_shrinks_to_a_tenth_passes_the_broker() {
    let stored = figure("topic.events.kdrill-records-in", "equals = 4");
    let bytes = figure("topic.events.kdrill-bytes-in", "between = [770000, 775000]");
    c55(
        (SHRINKING, ", compresses-to = 0.1"),
        &format!("{stored}{bytes}"),
    );
}

#[test]
fn c55_what_shrinks_to_half_is_still_too_large_for_the_broker() {
    let stored = figure("topic.events.kdrill-records-in", "equals = 3");
    let failed = "[[expect]]\nevent = \"RecordTooLargeException\"\ncount = { exactly = 1 }\n";
    c55(
        (SHRINKING, ", compresses-to = 0.5"),
        &format!("{stored}{failed}"),
    );
}

#[test]
fn c55_librdkafka_refuses_by_the_same_sum_in_its_own_words() {
    let refused = "[[expect]]\nevent = \"MSG_SIZE_TOO_LARGE\"\nproducer = \"app\"\n\
                   count = { exactly = 4 }\n";
    // Key, value and 36 bytes are compared with message.max.bytes, a million: even the smallest.
    let stored = figure("topic.events.kdrill-records-in", "equals = 0");
    let client = "client = \"librdkafka\"";
    c55((client, ""), &format!("{refused}{stored}"));
}

#[test]
fn c55_what_was_compressed_by_the_application_passes_within_the_original_limit() {
    let rest = format!(
        "[[producer]]\nname = \"app\"\n[[producer.load]]\ntopic = \"events\"\nrate = 1\n\
         records = 1\nvalue = {{ bytes = 402105 }}\n{}",
        figure("producer.app.kdrill-records-acked", "equals = 1"),
    );
    kept(("5s", "brokers = 1"), "partitions = 1", &rest);
}

// === C57: compression pays with batch depth

/// Click events, a thousand a second, whose keys spread them over all partitions.
fn clicks(name: &str, partitions: u32, linger_ms: u32) -> String {
    format!(
        r#"
        [[topic]]
        name = "{name}"
        partitions = {partitions}
        [[producer]]
        name = "{name}"
        config.linger.ms = {linger_ms}
        config.compression.type = "zstd"
        [[producer.load]]
        topic = "{name}"
        rate = 1000
        records = 10000
        key = {{ cycle = 1000, format = "u-{{n}}" }}
        value = {{ sample = "samples/clicks.ndjson" }}
        "#
    )
}

/// The collection's model of a payload gains hardly anything from the second record; click events
/// gain a third.
#[test]
fn c57_what_compression_saves_hangs_on_how_many_records_a_batch_holds() {
    let ratio = |name: &str, bounds: &str| {
        let metric = format!("producer.{name}.compression-rate-avg");
        figure(&metric, &format!("at = \"10s\"\n{bounds}"))
    };
    let bytes = |name: &str, bounds| figure(&format!("topic.{name}.kdrill-bytes-in"), bounds);
    let worlds = clicks("alone", 50, 0) + &clicks("pairs", 50, 100) + &clicks("fifty", 2, 100);
    let expectations = [
        ratio("alone", "above = 0.9"),
        ratio("pairs", "between = [0.6, 0.75]"),
        ratio("fifty", "below = 0.5"),
        bytes("alone", "above = 2000000"),
        bytes("pairs", "between = [1000000, 1400000]"),
        bytes("fifty", "below = 500000"),
    ];
    kept(
        ("15s", "brokers = 1"),
        "partitions = 1",
        &(worlds + &expectations.concat()),
    );
}

// === C58: a byte-rate quota

#[test]
fn c58_15_against_10_mb_a_second_are_throttled_for_half_a_window() {
    // A broker's window is ten seconds and the one that runs: half of them.
    let mut sensor = QuotaSensor::new(11, 1);
    for second in 0..10 {
        sensor.record(15_000_000, second * 1_000);
    }
    let throttle_ms = sensor.throttle_ms(10_000_000, 10_000);
    assert!((4_500..=5_500).contains(&throttle_ms), "{throttle_ms}");
}

#[test]
fn c58_the_long_run_is_the_quota_and_whoever_stays_below_is_never_throttled() {
    let load = |rate: u32| {
        format!(
            "[[producer.load]]\ntopic = \"events\"\nrate = {rate}\nvalue = {{ bytes = 10000 }}\n"
        )
    };
    let rest = format!(
        r#"
        [[quota]]
        client-id = "<default>"
        producer-byte-rate = "10MB/s"
        [[producer]]
        name = "bulk"
        config.client.id = "bulk"
        config.batch.size = 65536
        {}
        [[producer]]
        name = "quiet"
        config.client.id = "quiet"
        {}
        {}{}{}"#,
        load(1_500),
        load(10),
        figure(
            "producer.bulk.outgoing-byte-rate",
            "at = \"119s\"\nbetween = [9700000, 10300000]"
        ),
        figure(
            "producer.quiet.produce-throttle-time-max",
            "from = \"1s\"\nto = \"119s\"\nreduce = \"max\"\nequals = 0"
        ),
        figure(
            "producer.quiet.request-latency-max",
            "from = \"1s\"\nto = \"119s\"\nreduce = \"max\"\nbelow = 15"
        ),
    );
    kept(("120s", "brokers = 1"), "partitions = 6", &rest);
}

#[test]
fn c58_the_clients_queue_grows_by_the_difference() {
    // 500 MB of messages are there after 100 s, in which the quota took 1,000 of 1,500 MB.
    let rest = r#"
        [[quota]]
        client-id = "<default>"
        producer-byte-rate = "10MB/s"
        [[producer]]
        name = "app"
        client = "librdkafka"
        config.queue.buffering.max.kbytes = 488281
        [[producer.load]]
        topic = "events"
        rate = 150
        value = { bytes = 100000 }
        [[expect]]
        event = "_QUEUE_FULL"
        producer = "app"
        first-at = "100s"
        within = "5s"
        "#;
    kept(("120s", "brokers = 1"), "partitions = 6", rest);
}
