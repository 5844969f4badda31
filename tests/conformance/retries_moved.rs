//! The leader moves while an idempotent producer has five requests in flight: what comes back, what
//! goes to the new leader before it, and what the log holds in the end.

use std::fmt::Write;

use kdrill::kafka::metric_name::ProducerMetric as M;
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;
use crate::retries::{START_MS, forgive_a_millisecond, log_of, number, outcome, outcomes_of, text};
use crate::trace::Trace;

/// The case, and what brokers say of the new leader.
const CASES: [(&str, &str); 2] = [
    ("exact-moved-leader-named", "named"),
    ("exact-moved-leader-unnamed", "unnamed"),
];
/// The recording's broker judges a request when it takes it in hand and then holds the answer back for
/// so long; here it judges when it is done. A leader that moves so much later refuses the same ones.
const REQUEST_TIME_MS: u64 = 30;
/// Records that open a connection to each broker first.
const WARM: f64 = 2.0;

/// The old leader names the new one, or does not.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries");
    let compared = CASES.iter().map(|(case, moved_leader)| {
        compare_case(&golden.path(case), moved_leader, &golden.cases[*case])
    });
    compared.collect()
}

fn compare_case(path: &str, moved_leader: &str, real: &Value) -> Comparison {
    let trace = simulate(moved_leader);
    let list = |name: &str| real[name].as_array().cloned().unwrap_or_default();
    let log: Vec<_> = list("log").iter().map(text).collect();
    let outcomes: Vec<_> = list("outcomes").iter().map(outcome).collect();
    let simulated = forgive_a_millisecond(&outcomes, outcomes_of(&trace, false));
    let metric = |name: &str| real["metrics"][name].as_f64().unwrap_or(f64::NAN);
    Comparison::new(path, "a leader that moves under load")
        .list("log", &log, &log_of(&trace))
        .list("outcomes", &outcomes, &simulated)
        .text(
            "record-send-total",
            number(metric("record-send-total")),
            number(trace.metric(M::RecordSendTotal) - WARM),
        )
        .text(
            "record-retry-total",
            number(metric("record-retry-total")),
            number(trace.metric(M::RecordRetryTotal)),
        )
}

/// Replication and metadata take next to no time, as on the recording's broker.
fn simulate(moved_leader: &str) -> Trace {
    let mut script = String::new();
    for call in ["produce warm partition=0", "produce events partition=1"] {
        let _written = writeln!(script, "[[producer.script]]\ndo = '{call}'");
    }
    for record in 0..20 {
        let at = START_MS + record * 10;
        let call = format!("produce events value=r{record} partition=0");
        let _written = writeln!(
            script,
            "[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'"
        );
    }
    let plan = r#"{"version":1,"partitions":[{"topic":"events","partition":0,"replicas":[2,1]}]}"#;
    let moves_at = START_MS + 105 + REQUEST_TIME_MS;
    Trace::to_end(
        "12s",
        &format!(
            r#"
        [cluster]
        brokers = 2
        moved-leader = "{moved_leader}"
        link = {{ rtt = "2ms", bandwidth = "1000Gbit/s" }}
        request-time = "{REQUEST_TIME_MS}ms"
        config.controller.quorum.append.linger.ms = 0
        config.replica.fetch.wait.max.ms = 1
        [[link]]
        between = [1, 2]
        rtt = "2us"
        [[link]]
        between = ["controller", "*"]
        rtt = "2us"
        [[topic]]
        name = "events"
        partitions = 2
        replication-factor = 2
        leaders = [1, 2]
        [[topic]]
        name = "warm"
        partitions = 1
        replication-factor = 1
        leaders = [1]
        [[producer]]
        name = "trips"
        config.linger.ms = 0
        config.request.timeout.ms = 1000
        config."retry.backoff.ms" = 100
        config."retry.backoff.max.ms" = 100
        config."reconnect.backoff.ms" = 50
        config."reconnect.backoff.max.ms" = 50
        {script}
        [[timeline]]
        at = "100ms"
        do = '''kafka-reassign-partitions.sh --execute --reassignment-json-file '{plan}' '''
        [[timeline]]
        at = "{moves_at}ms"
        do = "kafka-leader-election.sh --election-type preferred --topic events --partition 0"
        "#
        ),
    )
}
