//! The leader fails: how long its partition has none, and what became of the records.

use std::collections::BTreeSet;

use kdrill::sim::ids::BrokerIndex;
use serde_json::Value;

use super::{MECHANISM, PHASES, SHORT_SESSION, beside, median};
use crate::comparison::{Comparison, Tolerance};
use crate::trace::{Trace, millis, partition};

const FAILS_AT_MS: u64 = 2_500;
const LOAD_STARTS_AT: &str = "0.5s";
const HEARTBEAT_MS: u64 = 500;
/// Broker 1.
const FAILING: BrokerIndex = BrokerIndex(0);
/// A killed process does nothing more, but the kernel closes its sockets only when its memory is
/// freed: 20 ms for 500 MB on an idle machine. Not recorded is how long it took; this agrees with
/// how many requests were under way.
const FREEING_MS: u64 = 20;
/// The same of the active controller, which has more in its memory: with acks=1 up to 16 records
/// less were lost than with acks=0, at 200/s.
const CONTROLLER_FREEING_MS: u64 = 50;
const WAITED_MS_MAX: u64 = 20_000;
/// A recorded load of 9 s at 200 records/s, less what the machine was busy.
const RECORDS: u64 = 1_800;

pub fn compare_time(path: &str, failure: &str, real: &Value) -> Comparison {
    let real = real["new_leader_ms"]["median"].as_f64();
    let real = real.unwrap_or(f64::NAN);
    let times = (0..10).map(|n| without_leader_ms(SHORT_SESSION, failure, HEARTBEAT_MS * n / 10));
    let tolerance = if failure == "shutdown" {
        // The recording asks for metadata, and the command reaches its broker, in some of these.
        Tolerance::Absolute(
            50.0,
            "signal, hooks and the metadata log's disk of the recording",
        )
    } else {
        NEAREST
    };
    Comparison::new(path, "time without a leader").number(
        "new leader after, ms",
        real,
        nearest(real, times),
        tolerance,
    )
}

pub fn compare_at_defaults(path: &str, real: &Value) -> Comparison {
    let config = "config.broker.session.timeout.ms = 9000\n\
                  config.broker.heartbeat.interval.ms = 2000";
    let real = real["new_leader_ms"].as_f64().unwrap_or(f64::NAN);
    let times = (0..10).map(|n| without_leader_ms(config, "crash", 200 * n));
    Comparison::new(path, "time without a leader").number(
        "new leader after, ms",
        real,
        nearest(real, times),
        NEAREST,
    )
}

const NEAREST: Tolerance = Tolerance::Share(0.05, "the nearest of ten phases of a heartbeat");

/// The moment within a heartbeat's interval is not recorded: of several the one that agrees best.
fn nearest(real: f64, simulated: impl Iterator<Item = f64>) -> f64 {
    let apart = |ms: &f64| (ms - real).abs();
    let nearest = simulated.min_by(|one, other| apart(one).total_cmp(&apart(other)));
    nearest.unwrap_or(f64::NAN)
}

fn phases() -> impl Iterator<Item = u64> {
    (0..PHASES).map(|number| HEARTBEAT_MS * number / PHASES)
}

/// From the failure to another broker's taking office, to a millisecond.
fn without_leader_ms(config: &str, failure: &str, phase: u64) -> f64 {
    let mut trace = start(config, failure, phase, "");
    let failed = FAILS_AT_MS + phase;
    let found = (0..WAITED_MS_MAX).find(|waited| {
        trace.advance_to(millis(failed + waited));
        let simulation = trace.simulation();
        let office = simulation
            .find_partition(partition(0))
            .and_then(|index| simulation.partition(index).office);
        office.is_some_and(|(leader, _)| leader != FAILING)
    });
    found.map_or(f64::NAN, |waited| waited as f64)
}

pub fn compare_records(
    path: &str,
    (failure, setting): (&str, &str),
    real: &Value,
) -> Option<Comparison> {
    let config = match setting {
        "acks-0" => "config.acks = \"0\"\nconfig.enable.idempotence = false",
        "acks-1" => "config.acks = \"1\"\nconfig.enable.idempotence = false",
        "acks-all" => "config.acks = \"all\"\nconfig.enable.idempotence = false",
        "acks-all-idempotent" => "config.acks = \"all\"",
        _ => return None,
    };
    let audits: Vec<Audit> = phases()
        .map(|phase| Audit::of(&run(SHORT_SESSION, failure, phase, config)))
        .collect();
    let figure = |of: fn(&Audit) -> f64| median(audits.iter().map(of).collect());
    let mut comparison = Comparison::new(path, MECHANISM);
    // Replication takes 100 ms: so many records are on their way to the followers.
    let on_the_way = 20.0;
    let may_lose = setting == "acks-0" || setting == "acks-1";
    let lost_slack = if may_lose { on_the_way } else { 0.0 };
    let doubled_slack = if setting == "acks-all" {
        on_the_way
    } else {
        0.0
    };
    // Up to two requests more or less are under way when the answers come.
    let order_slack = if setting == "acks-1" { 2.0 } else { 0.0 };
    comparison = beside(
        comparison,
        "acknowledged and lost",
        &real["lost"],
        (figure(|a| a.lost), lost_slack),
    );
    comparison = beside(
        comparison,
        "duplicated",
        &real["duplicated"],
        (figure(|a| a.duplicated), doubled_slack),
    );
    comparison = beside(
        comparison,
        "out of order",
        &real["out_of_order"],
        (figure(|a| a.out_of_order), order_slack),
    );
    comparison = beside(
        comparison,
        "failed",
        &real["failed"],
        (figure(|a| a.failed), 0.0),
    );
    // A heartbeat's interval, a check's, and a refresh of metadata.
    let silence_slack = if failure == "shutdown" { 350.0 } else { 700.0 };
    Some(beside(
        comparison,
        "silence, ms",
        &real["silence_ms"],
        (figure(|a| a.silence_ms), silence_slack),
    ))
}

/// What one load was told, beside what its partition holds.
struct Audit {
    lost: f64,
    duplicated: f64,
    out_of_order: f64,
    failed: f64,
    silence_ms: f64,
}

impl Audit {
    fn of(trace: &Trace) -> Self {
        let index = trace.simulation().find_partition(partition(0));
        let lines = index.map(|index| trace.simulation().log_lines(index));
        let numbers: Vec<u64> = lines
            .into_iter()
            .flatten()
            .filter_map(|line| line.rsplit_once('#')?.1.parse().ok())
            .collect();
        let stored: BTreeSet<u64> = numbers.iter().copied().collect();
        let acknowledged = trace
            .acknowledged
            .iter()
            .flat_map(|batch| batch.first_ordinal..batch.first_ordinal + u64::from(batch.records));
        let lost = acknowledged
            .filter(|number| !stored.contains(number))
            .count();
        let backwards = numbers.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let mut times: Vec<f64> = trace
            .acknowledged
            .iter()
            .map(|batch| batch.at.as_nanos() as f64 / 1e6)
            .collect();
        times.sort_by(f64::total_cmp);
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        Self {
            lost: lost as f64,
            duplicated: (numbers.len() - stored.len()) as f64,
            out_of_order: backwards as f64,
            failed: trace.failed.iter().map(|f| f64::from(f.records)).sum(),
            silence_ms: gaps.fold(0.0, f64::max),
        }
    }
}

fn run(brokers: &str, failure: &str, phase: u64, client: &str) -> Trace {
    let mut trace = start(brokers, failure, phase, client);
    let end = trace.simulation().end();
    trace.advance_to(end);
    trace
}

/// One load whose leader, broker 1, fails; replication from it takes 100 ms.
fn start(brokers: &str, failure: &str, phase: u64, client: &str) -> Trace {
    let fails_at = FAILS_AT_MS + phase;
    let (deed, ends_at) = match failure {
        "shutdown" => ("broker stop 1", None),
        "crash" => ("broker pause 1", Some(fails_at + FREEING_MS)),
        _ => ("broker pause 1", Some(fails_at + CONTROLLER_FREEING_MS)),
    };
    let end = ends_at.map_or(String::new(), |at| {
        format!("[[timeline]]\nat = \"{at}ms\"\ndo = \"broker kill 1\"")
    });
    // The recorded brokers are controllers, too; the active one is the one that fails, or another.
    // Which broker the client has asked for metadata is drawn. With a connection to the new leader
    // it sends each batch there as it is refused, in order; without, all of them are back, and the
    // last one first, when the connection stands.
    let seed = 1 + phase;
    let controllers = if failure == "crash-of-controller" {
        "[1, 2, 3]"
    } else {
        "[3, 2, 1]"
    };
    Trace::new(
        "32s",
        &format!(
            r#"
        seed = {seed}
        [cluster]
        brokers = 3
        controllers = {controllers}
        {brokers}
        [[link]]
        between = [1, 2]
        rtt = "100ms"
        [[link]]
        between = [1, 3]
        rtt = "100ms"
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 3
        leaders = [1]
        history = "batches"
        config.min.insync.replicas = 2
        [[producer]]
        name = "trips"
        start = "{LOAD_STARTS_AT}"
        {client}
        [[producer.load]]
        topic = "events"
        rate = 200
        records = {RECORDS}
        value = {{ bytes = 4 }}
        [[timeline]]
        at = "{fails_at}ms"
        do = "{deed}"
        {end}
        "#
        ),
    )
}
