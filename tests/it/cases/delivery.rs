//! Public reports about acks, failing leaders and in-sync replicas, reproduced: the ids are those of
//! the collection of cases.

use crate::support::{run_to, run_to_end, seconds, written};
use kdrill::insight::ledger::Tally;
use kdrill::session::Session;
use kdrill::sim::fact::{Acknowledged, Fact, Flow, Stamped};
use kdrill::sim::ids::BrokerIndex;
use kdrill::sim::time::SimSpan;
use kdrill::sim::view::PartitionView;
use kdrill::sim::{Output, Simulation};

/// A cluster of so many brokers, and what else there is.
fn world(kafka: &str, brokers: u32, rest: &str) -> String {
    format!(
        r#"# What does the report say?
        [scenario]
        format = 1
        title = "case"
        duration = "90s"
        seed = 1
        kafka = "{kafka}"
        [cluster]
        brokers = {brokers}
        {rest}"#
    )
}

fn at(seconds: f64, command: &str) -> String {
    format!("[[timeline]]\nat = \"{seconds}s\"\ndo = '''{command}'''\n")
}

fn tally(session: &Session) -> Tally {
    session.insight().account(session.simulation()).tally
}

fn view(session: &Session) -> PartitionView {
    session.simulation().partition_views().swap_remove(0)
}

/// A whole run: its facts and acknowledgements.
fn told(text: &str) -> (Vec<Stamped>, Vec<Acknowledged>) {
    let mut simulation = Simulation::new(written(text).config.clone());
    let end = simulation.end();
    let _ = simulation.advance_to(end, u64::MAX);
    let mut output = Output::default();
    simulation.drain(&mut output);
    let acknowledged = output.flows.iter().filter_map(|flow| match flow {
        Flow::Acknowledged(batch) => Some(*batch),
        _ => None,
    });
    (output.facts, acknowledged.collect())
}

// === C31: messages that wait for a retry find the new leader

/// A leader dies at 20 s; the next one is elected about 5 s later.
fn c31(client: &str) -> (Vec<Stamped>, Vec<Acknowledged>) {
    let text = format!(
        r#"
        config.broker.session.timeout.ms = 5000
        config.broker.heartbeat.interval.ms = 1000
        [[topic]]
        name = "events"
        partitions = 3
        replication-factor = 3
        [[producer]]
        name = "app"
        {client}
        [[producer.load]]
        topic = "events"
        rate = 2000
        records = 100000
        value = {{ bytes = 200 }}
        {}"#,
        at(20.0, "broker kill 1"),
    );
    told(&world("4.3", 3, &text))
}

#[test]
fn c31_nothing_fails_and_the_wait_is_election_refresh_and_backoff() {
    let clients = [
        "client = \"librdkafka\"\nconfig.acks = -1\nconfig.message.timeout.ms = 300000",
        "client = \"librdkafka\"\nconfig.acks = -1\nconfig.message.timeout.ms = 360000",
        "config.delivery.timeout.ms = 300000",
    ];
    for client in clients {
        let (facts, acknowledged) = c31(client);
        let failed = |stamped: &&Stamped| matches!(stamped.fact, Fact::BatchFailed { .. });
        assert_eq!(facts.iter().find(failed), None, "{client}");
        let records: u64 = acknowledged.iter().map(|b| u64::from(b.records)).sum();
        assert_eq!(records, 100_000, "{client}");
        let elected = facts.iter().find_map(|stamped| match stamped.fact {
            Fact::LeaderChanged { .. } => Some(stamped.at),
            _ => None,
        });
        let election = elected.map(|at| at.since(seconds(20.0)).as_millis());
        assert!(election.is_some_and(|ms| (4_000..6_000).contains(&ms)));
        let waits = acknowledged
            .iter()
            .map(|b| b.at.since(b.created).as_millis());
        let longest = waits.max().unwrap_or(0);
        // A refresh that is under way, a backoff and its jitter, a new connection.
        let allowed = election.unwrap_or(0) + 1_000 + 1_200;
        assert!(longest <= allowed, "{client}: {longest} of {allowed}");
    }
}

// === C32: timed-out requests are sent again

/// librdkafka with batches of 1,075 messages; three answers are lost.
fn c32(config: &str) -> Session {
    let swallow = "responses swallow 1 --count 1";
    let text = format!(
        r#"
        [[topic]]
        name = "events"
        history = "batches"
        [[producer]]
        name = "app"
        client = "librdkafka"
        config.max.in.flight = 1
        config.batch.num.messages = 1075
        config.linger.ms = 2000
        config.socket.timeout.ms = 3000
        {config}
        [[producer.load]]
        topic = "events"
        rate = 5000
        records = 200000
        value = {{ bytes = 100 }}
        {}{}{}"#,
        at(10.0, swallow),
        at(20.0, swallow),
        at(30.0, swallow),
    );
    run_to_end(written(&world("4.3", 1, &text)))
}

#[test]
fn c32_duplicates_are_the_records_whose_answer_was_lost() {
    let session = c32("config.retries = 2");
    let tally = tally(&session);
    assert_eq!((tally.duplicated, tally.reordered), (3 * 1_075, 0));
    assert_eq!(tally.acknowledged_present, 200_000);
}

#[test]
fn c32_idempotence_removes_them() {
    let tally = tally(&c32("config.enable.idempotence = true"));
    assert_eq!((tally.duplicated, tally.acknowledged_present), (0, 200_000));
}

#[test]
fn c32_without_retries_the_records_fail_and_are_in_the_log() {
    let tally = tally(&c32("config.retries = 0"));
    assert_eq!((tally.duplicated, tally.failed_present), (0, 3 * 1_075));
}

// === C33: an orderly shutdown loses what acks=1 promised

/// Four records a second, each awaited; the leader is shut down in order. The follower is up to
/// `lag_ms` behind: a fetch, its answer, and the half of the next one.
fn c33(acks: &str, lag_ms: u32) -> Session {
    let rtt_us = lag_ms * 2_000 / 3;
    let text = format!(
        r#"
        [[link]]
        between = [1, 2]
        rtt = "{rtt_us}us"
        [[topic]]
        name = "events"
        replication-factor = 2
        leaders = [1]
        history = "batches"
        [[producer]]
        name = "app"
        config.acks = "{acks}"
        config.enable.idempotence = false
        [[producer.load]]
        topic = "events"
        rate = 4
        await = "each"
        records = 60
        value = {{ bytes = 20 }}
        {}"#,
        at(10.1, "broker stop 1"),
    );
    run_to(written(&world("4.3", 2, &text)), seconds(40.0))
}

#[test]
fn c33_acks_1_loses_what_the_follower_was_behind() {
    let mut most = 0;
    for run in 0..50_u32 {
        let lag_ms = 2 + run * 10;
        let session = c33("1", lag_ms);
        let lost = tally(&session).acknowledged_lost;
        let within_lag = u64::from(4 * lag_ms / 1_000) + 1;
        assert!(lost <= within_lag.min(2), "{lag_ms} ms: {lost}");
        most = most.max(lost);
        // The offsets of lost records are given to later ones.
        assert_eq!(view(&session).log_end_offset + lost, 60, "{lag_ms} ms");
    }
    assert!(0 < most);
}

#[test]
fn c33_acks_all_loses_nothing() {
    for run in 0..50_u32 {
        let session = c33("all", 2 + run * 10);
        assert_eq!(tally(&session).acknowledged_lost, 0, "{run}");
    }
}

// === C34: who truncates how much

/// Logs that end at 10, 5 and 2: broker 1 leads, broker 3 has 5, broker 2 has 2 and is elected.
fn c34(client: &str, min_isr: u32, unclean: bool) -> Session {
    let produce = |number: u32, at_ms: u32| {
        format!("[[producer.script]]\nat = \"{at_ms}ms\"\ndo = 'produce events value=r{number}'\n")
    };
    let calls: String = (0..10)
        .map(|number| {
            let begins = match number {
                0..2 => 1_000,
                2..5 => 10_000,
                _ => 20_000,
            };
            produce(number, begins + number * 10)
        })
        .collect();
    let faults = [
        at(9.0, "link cut 1 2"),
        at(19.0, "link cut 1 3"),
        at(30.0, "broker kill 1"),
        at(30.0, "broker kill 3"),
        at(31.0, "link heal 1 *"),
        at(60.0, "broker start 1"),
        at(60.0, "broker start 3"),
    ];
    let text = format!(
        r#"
        config.replica.lag.time.max.ms = 4000
        [[topic]]
        name = "events"
        replication-factor = 3
        leaders = [1]
        history = "records"
        config.min.insync.replicas = {min_isr}
        config.unclean.leader.election.enable = {unclean}
        [[producer]]
        name = "app"
        config.linger.ms = 0
        {client}
        {calls}{}"#,
        faults.concat(),
    );
    run_to_end(written(&world("4.3", 3, &text)))
}

/// Records that each broker cut off.
fn cut(session: &Session) -> Vec<(BrokerIndex, u64)> {
    let cuts = session.insight().log().entries();
    let cuts = cuts.filter_map(|entry| match entry.first.fact {
        Fact::TailCut {
            broker, records, ..
        } => Some((broker, records)),
        _ => None,
    });
    let mut cuts: Vec<_> = cuts.collect();
    cuts.sort_unstable();
    cuts
}

const ACKS_1: &str = "config.acks = \"1\"\nconfig.enable.idempotence = false";

#[test]
fn c34_who_was_ahead_cuts_back_to_the_new_leader() {
    let session = c34(ACKS_1, 1, true);
    assert_eq!(cut(&session), [(BrokerIndex(0), 8), (BrokerIndex(2), 3)]);
    assert_eq!(view(&session).log_end_offset, 2);
    assert_eq!(view(&session).isr.len(), 3);
}

#[test]
fn c34_acknowledged_records_are_lost_whatever_acks_says_and_fewer_with_min_isr_2() {
    assert_eq!(tally(&c34(ACKS_1, 1, true)).acknowledged_lost, 8);
    assert_eq!(tally(&c34("", 1, true)).acknowledged_lost, 8);
    assert_eq!(tally(&c34("", 2, true)).acknowledged_lost, 3);
}

#[test]
fn c34_without_unclean_elections_the_partition_waits_and_nothing_is_lost() {
    let session = c34(ACKS_1, 1, false);
    assert_eq!(tally(&session).acknowledged_lost, 0);
    assert_eq!(view(&session).leader, Some(BrokerIndex(0)));
}

// === C35: the last replica standing

/// Broker 1 leaves, broker 2 leaves, broker 3 crashes with the end of its log; it is back first.
fn c35(kafka: &str) -> (Session, Vec<Stamped>) {
    let faults = [
        at(12.0, "broker stop 1"),
        at(16.0, "broker stop 2"),
        at(25.0, "broker kill 3 --lose-tail 200"),
        at(36.0, "broker start 3"),
        at(60.0, "broker start 2"),
    ];
    let text = format!(
        r#"
        [[topic]]
        name = "events"
        replication-factor = 3
        leaders = [3]
        history = "batches"
        config.min.insync.replicas = 2
        [[producer]]
        name = "app"
        [[producer.load]]
        topic = "events"
        rate = 100
        records = 1000
        [[producer]]
        name = "between"
        start = "17s"
        [[producer.load]]
        topic = "events"
        rate = 10
        records = 20
        {}"#,
        faults.concat(),
    );
    let text = world(kafka, 3, &text);
    (run_to_end(written(&text)), told(&text).0)
}

#[test]
fn c35_before_eligible_replicas_the_last_one_leads_without_its_tail() {
    let (session, facts) = c35("4.0");
    assert_eq!(tally(&session).acknowledged_lost, 200);
    assert!(is_refused_meanwhile(&facts));
}

#[test]
fn c35_an_eligible_replica_leads_and_nothing_is_lost() {
    let (session, facts) = c35("4.3");
    assert_eq!(tally(&session).acknowledged_lost, 0);
    assert_eq!(view(&session).leader, Some(BrokerIndex(1)));
    assert!(is_refused_meanwhile(&facts));
}

/// Whether acks=all was answered `NOT_ENOUGH_REPLICAS` while one replica was left.
fn is_refused_meanwhile(facts: &[Stamped]) -> bool {
    let error = kdrill::kafka::error::ErrorCode::NotEnoughReplicas;
    facts.iter().any(|stamped| {
        let is_it = matches!(stamped.fact, Fact::BatchRetried { error: said, .. } if said == error);
        is_it && seconds(17.0) < stamped.at && stamped.at < seconds(25.0)
    })
}

// === C36: four attempts, 102 ms apart

/// One record for a topic that needs three replicas and has two.
fn c36(client: &str) -> (Vec<u64>, PartitionView) {
    let text = format!(
        r#"
        link = {{ rtt = "2ms", bandwidth = "10Gbit/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        replication-factor = 3
        leaders = [1]
        config.min.insync.replicas = 3
        [[producer]]
        name = "app"
        config.acks = "all"
        config.retries = 3
        config."retry.backoff.ms" = 100
        {client}
        [[producer.script]]
        at = "30s"
        do = 'produce events value=v'
        {}"#,
        at(1.0, "broker kill 3"),
    );
    let text = world("4.3", 3, &text);
    let (facts, _) = told(&text);
    let answers = facts.iter().filter(|stamped| {
        matches!(
            stamped.fact,
            Fact::BatchRetried { .. } | Fact::BatchFailed { .. }
        )
    });
    let answers: Vec<_> = answers.map(|stamped| stamped.at).collect();
    let steps = answers.windows(2).map(|pair| pair[1].since(pair[0]));
    let steps = steps.map(SimSpan::as_millis).collect();
    (steps, view(&run_to_end(written(&text))))
}

#[test]
fn c36_three_retries_a_backoff_and_a_round_trip_apart_before_3_7() {
    let (steps, partition) = c36("version = \"3.0\"\nconfig.enable.idempotence = false");
    assert_eq!(steps.len(), 3, "{steps:?}");
    assert!(
        steps.iter().all(|step| step.abs_diff(102) <= 2),
        "{steps:?}"
    );
    assert!(steps.iter().sum::<u64>().abs_diff(306) <= 6, "{steps:?}");
    assert_eq!((partition.log_end_offset, partition.high_watermark), (0, 0));
}

#[test]
fn c36_the_backoff_doubles_since_3_7() {
    let (steps, _) = c36("");
    assert_eq!(steps.len(), 3, "{steps:?}");
    for (step, backoff) in steps.iter().zip([100.0, 200.0, 400.0]) {
        let wait = *step as f64 - 2.0;
        assert!((0.8..=1.25).contains(&(wait / backoff)), "{steps:?}");
    }
}
