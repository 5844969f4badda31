//! librdkafka's queue: when it is full, what frees it, when batches leave, when messages expire.
//!
//! The recording drives a real client on the mock cluster inside it. That one answers after a set
//! round trip and at the end of a sleep of whole milliseconds, so up to a millisecond late: a
//! link with as much jitter stands for it. Its application takes some microseconds a message, which
//! the simulated one does not, and its threads take time to wake up.

use std::fmt::Write;

use kdrill::kafka::rdkafka_error::RdkafkaError;
use kdrill::kafka::rdkafka_metric::{
    RdkafkaBrokerMetric, RdkafkaMetric, RdkafkaPartitionMetric, RdkafkaTopicMetric,
};
use kdrill::sim::fact::{ErrorClass, Fact};
use kdrill::sim::ids::BrokerIndex;
use kdrill::sim::time::{SimSpan, SimTime};
use kdrill::sim::view::{QueueView, RdkafkaFigure};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace;
use crate::trace::{PRODUCER, Trace, millis};

const MECHANISM: &str = "librdkafka's queue, batches and timeouts";
/// The recorded part begins when the topic is known and the connection stands.
const START_MS: u64 = 2_000;
/// Recorded medians of timed figures may be apart by this much, beside their own spread.
const SHARE: f64 = 0.05;

/// Every case that a scenario can say.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("rdkafka-queue");
    let cases = golden.cases.iter().filter_map(|(case, real)| {
        let comparison = Comparison::new(golden.path(case), MECHANISM);
        Some(match case.as_str() {
            "full-without-poll" => full(comparison, real, ""),
            "full-without-callback" => full(comparison, real, "delivery-report = \"none\""),
            "full-only-errors" => {
                full(comparison, real, "config.delivery.report.only.error = true")
            }
            "full-kbytes" => full_kbytes(comparison, real),
            "closed-loop" => closed_loop(comparison, real),
            "batch-by-count" | "batch-by-bytes" | "batch-by-message-max" => {
                batch_by_limit(comparison, real)
            }
            "statistics" => statistics(comparison, real),
            "retry-not-enough-replicas" => retry(comparison, real, "NOT_ENOUGH_REPLICAS"),
            "retry-not-leader" => retry(comparison, real, "NOT_LEADER_OR_FOLLOWER"),
            "expiry-never-up" => expiry(comparison, real, Expiry::NeverUp),
            "expiry-went-down" => expiry(comparison, real, Expiry::WentDown),
            "expiry-in-flight" => expiry(comparison, real, Expiry::InFlight),
            case if case.starts_with("linger-") => linger(comparison, real),
            case if case.contains("batches-of-") => in_flight(comparison, real),
            _ => return None,
        })
    });
    cases.collect()
}

/// One client, one broker, and a message that opens the connection.
fn client(partitions: u32, round_trip_ms: f64, rest: &str) -> String {
    let mut warm_up = String::new();
    for partition in 0..partitions {
        let _written = writeln!(
            warm_up,
            "[[producer.script]]\ndo = 'produce events value=warm-up partition={partition}'"
        );
    }
    format!(
        r#"
        [cluster]
        brokers = 1
        link = {{ rtt = "{round_trip_ms}ms", jitter = "500us", bandwidth = "1000Gbit/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = {partitions}
        replication-factor = 1
        [[producer]]
        name = "clicks"
        client = "librdkafka"
        {rest}
        {warm_up}
        "#
    )
}

/// Calls at one moment, in microseconds of the run.
fn calls(at_us: u64, count: usize, call: &str) -> String {
    let step = format!("[[producer.script]]\nat = \"{at_us}us\"\ndo = '{call}'\n");
    step.repeat(count)
}

fn value(bytes: usize) -> String {
    "v".repeat(bytes)
}

fn queue(trace: &Trace) -> QueueView {
    let view = trace.simulation().producer(PRODUCER);
    view.queue.expect("a librdkafka client")
}

fn figure(trace: &Trace, metric: RdkafkaFigure) -> f64 {
    let read = trace.simulation().rdkafka_figure(PRODUCER, metric);
    read.unwrap_or(f64::NAN)
}

fn runs(real: &Value) -> Vec<f64> {
    let runs = real["runs"].as_array().into_iter().flatten();
    runs.filter_map(Value::as_f64).collect()
}

fn of(real: &Value, name: &str) -> f64 {
    real[name].as_f64().unwrap_or(f64::NAN)
}

/// A timed figure beside the median of its recorded runs.
fn timed(comparison: Comparison, name: &str, real: &Value, simulated: f64) -> Comparison {
    let (median, spread) = median_and_spread(runs(real));
    let tolerance = Tolerance::Share(SHARE + spread, "the spread of the recorded runs, and 5 %");
    comparison.number(name, median, simulated, tolerance)
}

fn refused(trace: &Trace, from: SimTime) -> usize {
    let is_full = |fact: &Fact| {
        matches!(fact, Fact::RecordRefused { exception, .. }
            if exception.class == ErrorClass::Rdkafka(RdkafkaError::QueueFull))
    };
    let facts = trace.facts.iter();
    facts.filter(|s| s.at >= from && is_full(&s.fact)).count()
}

/// How many messages are taken while nobody polls.
fn full(comparison: Comparison, real: &Value, config: &str) -> Comparison {
    const ATTEMPTS: usize = 150;
    let config = format!(
        "{config}\nconfig.queue.buffering.max.messages = 100\nconfig.batch.num.messages = 10\n\
         config.linger.ms = 0"
    );
    let call = format!("produce events partition=0 value={}", value(10));
    let mut text = client(1, 100.0, &config);
    // The warm-up's report is polled before.
    text += &calls(1_000_000, 1, "poll");
    text += &calls(2_000_000, ATTEMPTS, &call);
    text += &calls(4_000_000, ATTEMPTS, &call);
    text += &calls(6_000_000, 1, "poll");
    text += &calls(6_100_000, ATTEMPTS, &call);
    let mut trace = Trace::new("10s", &text);
    let accepted = |trace: &mut Trace, from: u64, to: u64| {
        trace.advance_to(millis(from));
        trace.forget();
        trace.advance_to(millis(to));
        (ATTEMPTS - refused(trace, millis(from))) as f64
    };
    let at_once = accepted(&mut trace, 1_999, 2_001);
    let when_acknowledged = accepted(&mut trace, 3_999, 4_001);
    trace.advance_to(millis(5_999));
    let queued = |view: QueueView| (view.messages + view.reports) as f64;
    // A batch is what is there when the broker's thread wakes, so their number is chance. Each has
    // one report, which is counted beside its messages as long as nobody polls.
    let unpolled = queue(&trace).messages as f64;
    let recorded_unpolled = match of(real, "queued_with_events") {
        0.0 => 0.0,
        queued => queued - of(real, "requests"),
    };
    trace.advance_to(millis(6_050));
    let after_poll = queued(queue(&trace));
    let accepted_after_poll = accepted(&mut trace, 6_099, 6_101);
    let figures = [
        ("accepted_at_once", at_once),
        ("accepted_when_acknowledged", when_acknowledged),
        ("queued_after_poll", after_poll),
        ("accepted_after_poll", accepted_after_poll),
    ];
    let comparison = figures
        .into_iter()
        .fold(comparison, |comparison, (name, found)| {
            comparison.number(name, of(real, name), found, Tolerance::Exact)
        });
    let text = RdkafkaError::QueueFull.text();
    let comparison = comparison.number(
        "queued, without a report for each request",
        recorded_unpolled,
        unpolled,
        Tolerance::Exact,
    );
    comparison.text("error", real["error"].as_str().unwrap_or_default(), text)
}

/// Which bytes count.
fn full_kbytes(comparison: Comparison, real: &Value) -> Comparison {
    let config = "config.queue.buffering.max.kbytes = 1\nconfig.linger.ms = 1000\n\
                  delivery-report = \"none\"";
    let (key, value) = ("k".repeat(500), value(300));
    let call = format!("produce events partition=0 key={key} value={value}");
    let text = client(1, 1.0, config) + &calls(START_MS * 1_000, 10, &call);
    let mut trace = Trace::new("10s", &text);
    trace.advance_to(millis(START_MS + 1));
    let full = refused(&trace, millis(START_MS));
    comparison
        .number(
            "accepted",
            of(real, "accepted"),
            (10 - full) as f64,
            Tolerance::Exact,
        )
        .number("full", of(real, "full"), full as f64, Tolerance::Exact)
}

/// An application that polls and tries again. The recorded seconds are left out: in each of twenty
/// rounds that application spends about 3 ms in a thousand callbacks, which cost no time here.
fn closed_loop(comparison: Comparison, real: &Value) -> Comparison {
    const RECORDS: u32 = 20_000;
    let load = format!(
        "config.queue.buffering.max.messages = 1000\n[[producer.load]]\ntopic = \"events\"\n\
         rate = [{{ rate = 0 }}, {{ from = \"{START_MS}ms\", rate = 1000000 }}]\n\
         records = {RECORDS}\nvalue = {{ bytes = 100 }}\non-refused = \"retry\""
    );
    let mut trace = Trace::new("20s", &client(1, 20.0, &load));
    trace.advance_to(millis(START_MS - 1));
    trace.forget();
    trace.advance_to(millis(20_000));
    let requests = trace.acknowledged.len() as f64;
    let comparison = timed(comparison, "requests", &real["requests"], requests);
    let full = refused(&trace, millis(START_MS)) as f64;
    timed(comparison, "full", &real["full"], full)
}

/// Requests for messages that are all there before the first batch leaves.
fn batch_by_limit(comparison: Comparison, real: &Value) -> Comparison {
    let mut config = "config.linger.ms = 200\ndelivery-report = \"none\"\n".to_owned();
    for (key, value) in real["config"].as_object().into_iter().flatten() {
        let _written = writeln!(config, "config.{key} = {value}");
    }
    let bytes = real["value_bytes"].as_u64().unwrap_or_default() as usize;
    let call = format!("produce events partition=0 value={}", value(bytes));
    let text = client(1, 1.0, &config) + &calls(START_MS * 1_000, 1_000, &call);
    let mut trace = Trace::new("10s", &text);
    trace.advance_to(millis(START_MS - 1));
    trace.forget();
    trace.advance_to(millis(10_000));
    let requests = trace.appended.len() as f64;
    timed(comparison, "requests", &real["requests"], requests)
}

/// Batches of messages at a steady rate. The recorded largest latencies are left out: now and then an
/// answer of the mock comes a whole round trip late, whatever lingers.
fn linger(comparison: Comparison, real: &Value) -> Comparison {
    const RECORDS: u64 = 1_000;
    let partitions = real["partitions"].as_u64().unwrap_or(1) as u32;
    let config = format!(
        "config.linger.ms = {}\ndelivery-report = \"none\"",
        real["linger.ms"]
    );
    let mut text = client(partitions, 5.0, &config);
    let gap_us = 1_000_000 / real["records_per_second"].as_u64().unwrap_or(1_000);
    for number in 0..RECORDS {
        let partition = number % u64::from(partitions);
        let call = format!("produce events partition={partition} value={}", value(100));
        text += &calls(START_MS * 1_000 + number * gap_us, 1, &call);
    }
    let mut trace = Trace::new("10s", &text);
    trace.advance_to(millis(START_MS - 1));
    trace.forget();
    trace.advance_to(millis(10_000));
    // Messages of one partition are that far apart for each of the partitions.
    let apart = SimSpan::from_micros(gap_us * u64::from(partitions));
    let latencies: Vec<f64> = trace
        .acknowledged
        .iter()
        .flat_map(|batch| {
            (0..u64::from(batch.records)).map(|place| {
                let produced = batch.created + apart.times(place);
                batch.at.since(produced).as_nanos() as f64 / 1e6
            })
        })
        .collect();
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    let requests = trace.acknowledged.len() as f64;
    let comparison = timed(comparison, "requests", &real["requests"], requests);
    timed(
        comparison,
        "latency_ms_mean",
        &real["latency_ms_mean"],
        mean,
    )
}

/// The gate on what is under way.
fn in_flight(comparison: Comparison, real: &Value) -> Comparison {
    let (messages, idempotence) = (
        &real["batch.num.messages"],
        real["enable.idempotence"].as_str().unwrap_or("false"),
    );
    let config = format!(
        "config.batch.num.messages = {messages}\nconfig.enable.idempotence = {idempotence}\n\
         config.linger.ms = 5\ndelivery-report = \"none\""
    );
    let call = "produce events partition=0 value=v";
    let text = client(1, 400.0, &config) + &calls(START_MS * 1_000, 2_000, call);
    let mut trace = Trace::new("10s", &text);
    trace.advance_to(millis(START_MS - 1));
    trace.forget();
    let sent = |trace: &Trace| {
        let metric = RdkafkaBrokerMetric::ReqProduce;
        figure(trace, RdkafkaFigure::Broker(BrokerIndex(0), metric))
    };
    let before = sent(&trace);
    let mut most = 0.0_f64;
    for at in (START_MS..START_MS + 2_500).step_by(50) {
        trace.advance_to(millis(at));
        let metric = RdkafkaPartitionMetric::MsgsInflight;
        most = most.max(figure(
            &trace,
            RdkafkaFigure::Partition(trace::partition(0), metric),
        ));
    }
    trace.advance_to(millis(START_MS + 2_500));
    let acknowledged: u32 = trace.acknowledged.iter().map(|batch| batch.records).sum();
    let comparison = timed(
        comparison,
        "acknowledged",
        &real["acknowledged"],
        f64::from(acknowledged),
    );
    let comparison = timed(comparison, "max_in_flight", &real["max_in_flight"], most);
    let requests = sent(&trace) - before;
    timed(comparison, "requests", &real["requests"], requests)
}

/// Gaps between the attempts at one message: as many runs as were recorded, by seed.
fn retry(comparison: Comparison, real: &Value, error: &str) -> Comparison {
    let gaps: Vec<Vec<f64>> = (1..=5).map(|seed| retry_once(seed, error)).collect();
    let attempts = gaps[0].len() as f64 + 1.0;
    let mut comparison = timed(comparison, "attempts", &real["attempts"], attempts);
    for (place, real) in real["gaps_ms"].as_array().into_iter().flatten().enumerate() {
        let of_place = gaps
            .iter()
            .filter_map(|run| run.get(place).copied())
            .collect();
        let (median, _) = median_and_spread(of_place);
        comparison = timed(
            comparison,
            &format!("gap {} in ms", place + 1),
            real,
            median,
        );
    }
    let name = if error == "NOT_ENOUGH_REPLICAS" {
        RdkafkaError::NotEnoughReplicas
    } else {
        RdkafkaError::NotLeaderForPartition
    };
    comparison.text(
        "error",
        real["error"].as_str().unwrap_or_default(),
        name.text(),
    )
}

fn retry_once(seed: u64, error: &str) -> Vec<f64> {
    let config = "config.linger.ms = 0\ndelivery-report = \"none\"";
    let call = "produce events partition=0 value=v";
    let text = format!("seed = {seed}\n")
        + &client(1, 1.0, config)
        + &calls(START_MS * 1_000, 1, call)
        + &format!(
            "[[timeline]]\nat = \"{}ms\"\ndo = \"inject {error} --partition events-0 --count 3\"",
            START_MS - 100
        );
    let mut trace = Trace::new("20s", &text);
    trace.advance_to(millis(START_MS - 1));
    trace.forget();
    trace.advance_to(millis(20_000));
    // The answers of all attempts are as far apart as their requests.
    let retried = trace.facts.iter().filter_map(|stamped| {
        matches!(stamped.fact, Fact::BatchRetried { .. }).then_some(stamped.at)
    });
    let done = trace.acknowledged.last().map(|batch| batch.at);
    let answers: Vec<SimTime> = retried.chain(done).collect();
    let gap = |two: &[SimTime]| two[1].since(two[0]).as_nanos() as f64 / 1e6;
    answers.windows(2).map(gap).collect()
}

#[derive(Clone, Copy)]
enum Expiry {
    NeverUp,
    WentDown,
    InFlight,
}

/// When messages time out, counted from `produce()`.
fn expiry(comparison: Comparison, real: &Value, when: Expiry) -> Comparison {
    let (at_ms, fault) = match when {
        Expiry::NeverUp => (
            300,
            "[[timeline]]\nat = \"0s\"\ndo = \"link refuse clicks *\"\n",
        ),
        Expiry::WentDown => (2_300, "[[timeline]]\nat = \"2s\"\ndo = \"broker kill 1\"\n"),
        Expiry::InFlight => (
            2_300,
            "[[timeline]]\nat = \"2s\"\ndo = \"broker pause 1\"\n",
        ),
    };
    let config = "config.message.timeout.ms = 2500\ndelivery-report = \"none\"";
    let mut text = client(1, 1.0, config);
    if matches!(when, Expiry::NeverUp) {
        // Nothing can be warmed up.
        text = text.replace(
            "[[producer.script]]\ndo = 'produce events value=warm-up partition=0'",
            "",
        );
    }
    text += &calls(at_ms * 1_000, 10, "produce events partition=0 value=v");
    text += fault;
    let mut trace = Trace::new("20s", &text);
    trace.advance_to(millis(at_ms));
    trace.forget();
    trace.advance_to(millis(20_000));
    let ages: Vec<f64> = trace
        .facts
        .iter()
        .filter_map(|stamped| match &stamped.fact {
            Fact::BatchFailed { exception, .. } | Fact::UnassignedFailed { exception, .. }
                if exception.class == ErrorClass::Rdkafka(RdkafkaError::MsgTimedOut) =>
            {
                Some(stamped.at.since(millis(at_ms)).as_nanos() as f64 / 1e6)
            }
            _ => None,
        })
        .collect();
    let first = ages.iter().copied().fold(f64::INFINITY, f64::min);
    let last = ages.iter().copied().fold(0.0, f64::max);
    let comparison = timed(comparison, "first_ms", &real["first_ms"], first);
    let comparison = timed(comparison, "last_ms", &real["last_ms"], last);
    let text = RdkafkaError::MsgTimedOut.text();
    comparison.text("error", real["error"].as_str().unwrap_or_default(), text)
}

/// The counters of a queue that is acknowledged but not polled, and the fields' names.
fn statistics(comparison: Comparison, real: &Value) -> Comparison {
    let config = "config.queue.buffering.max.messages = 100\nconfig.batch.num.messages = 10\n\
                  config.linger.ms = 0\nconfig.statistics.interval.ms = 500";
    let call = format!("produce events partition=0 key=kkkkk value={}", value(10));
    let text = client(1, 1.0, config)
        + &calls(1_000_000, 1, "poll")
        + &calls(START_MS * 1_000, 100, &call);
    let mut trace = Trace::new("10s", &text);
    trace.advance_to(millis(START_MS + 2_000));
    let counters = &real["counters_unpolled"];
    let read = [
        ("msg_cnt", RdkafkaMetric::MsgCnt),
        ("msg_size", RdkafkaMetric::MsgSize),
        ("msg_max", RdkafkaMetric::MsgMax),
        ("msg_size_max", RdkafkaMetric::MsgSizeMax),
        ("txmsgs", RdkafkaMetric::Txmsgs),
        ("txmsg_bytes", RdkafkaMetric::TxmsgBytes),
    ];
    let comparison = read
        .into_iter()
        .fold(comparison, |comparison, (name, metric)| {
            let found = figure(&trace, RdkafkaFigure::Client(metric));
            comparison.number(name, of(counters, name), found, Tolerance::Exact)
        });
    let fields = real["fields"].as_array().into_iter().flatten();
    let fields: Vec<&str> = fields.filter_map(Value::as_str).collect();
    let unknown: Vec<String> = names_here()
        .into_iter()
        .filter(|name| !fields.contains(&name.as_str()))
        .collect();
    comparison.text(
        "names that the real client does not have",
        "[]",
        format!("{unknown:?}"),
    )
}

/// Every name here as the recording writes it: a window is one field, objects are stars. What only
/// an idempotent client reports, or one with a fatal error, was not recorded.
fn names_here() -> Vec<String> {
    let window = |name: &'static str| name.split_once('.').map_or(name, |(window, _)| window);
    let is_recorded = |name: &&str| !name.starts_with("eos.") && !name.starts_with("fatal.");
    let client = RdkafkaMetric::all()
        .map(RdkafkaMetric::name)
        .filter(is_recorded);
    let broker = RdkafkaBrokerMetric::all().map(|metric| {
        let name = metric.name();
        let name = if name.starts_with("req.") {
            name
        } else {
            window(name)
        };
        format!("brokers.*.{name}")
    });
    let topic = RdkafkaTopicMetric::all().map(|m| format!("topics.*.{}", window(m.name())));
    let partition = RdkafkaPartitionMetric::all()
        .map(|metric| format!("topics.*.partitions.*.{}", metric.name()));
    let mut names: Vec<String> = client.map(str::to_owned).collect();
    names.extend(broker.chain(topic).chain(partition));
    names.dedup();
    names
}
