//! A leader is lost: how long its partition has none.

use kdrill::sim::fact::Fact;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{Trace, millis};

const MECHANISM: &str = "time without a leader";
const FAILS_AT_MS: u64 = 5_000;
/// The moment within a heartbeat's interval at which the broker fails is not recorded: of so many of
/// them the one that agrees best is compared.
const PHASES: u64 = 10;

/// The cases of crashed leaders.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("failover");
    ["crash/leader", "crash-at-defaults"]
        .into_iter()
        .map(|case| compare_case(&golden.path(case), case, &golden.cases[case]))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let real = &real["new_leader_ms"];
    let median = real["median"]
        .as_f64()
        .or(real.as_f64())
        .unwrap_or(f64::NAN);
    let (session_ms, heartbeat_ms) = if case == "crash-at-defaults" {
        (9_000, 2_000)
    } else {
        (3_000, 500)
    };
    let config = format!(
        "config.broker.session.timeout.ms = {session_ms}\n\
         config.broker.heartbeat.interval.ms = {heartbeat_ms}"
    );
    let phases = (0..PHASES).map(|number| heartbeat_ms * number / PHASES);
    let simulated = phases.map(|phase| without_leader_ms(&config, FAILS_AT_MS + phase));
    let apart = |ms: &f64| (ms - median).abs();
    let nearest = simulated.min_by(|one, other| apart(one).total_cmp(&apart(other)));
    Comparison::new(path, MECHANISM).number(
        "new leader after, ms",
        median,
        nearest.unwrap_or(f64::NAN),
        Tolerance::Share(0.05, "the nearest of ten phases of a heartbeat"),
    )
}

fn without_leader_ms(config: &str, fails_at_ms: u64) -> f64 {
    let trace = Trace::to_end(
        "30s",
        &format!(
            r#"
        [cluster]
        brokers = 3
        {config}
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 3
        leaders = [2]
        config.min.insync.replicas = 2
        [[producer]]
        name = "trips"
        [[producer.load]]
        topic = "events"
        rate = 200
        [[timeline]]
        at = "{fails_at_ms}ms"
        do = "broker kill 2"
        "#
        ),
    );
    let failed = millis(fails_at_ms);
    let elected = trace.facts.iter().find(|stamped| {
        let is_new = matches!(
            stamped.fact,
            Fact::LeaderChanged {
                leader: Some(_),
                ..
            }
        );
        is_new && failed < stamped.at
    });
    elected.map_or(f64::NAN, |stamped| {
        stamped.at.since(failed).as_nanos() as f64 / 1e6
    })
}
