//! The front door: slices, commands, going back, and what is concluded from a run.

use std::sync::Arc;

use kdrill::insight::metric::{Metric, OwnFigure, PartitionFigure};
use kdrill::insight::path;
use kdrill::insight::warning::Standing;
use kdrill::report::{Format, Outcome, Report, render};
use kdrill::scenario::{Overrides, Paint, Source, load};
use kdrill::session::{Memory, Session};
use kdrill::sim::Progress;
use kdrill::sim::ids::ProducerIndex;
use kdrill::sim::time::{SimSpan, SimTime};

/// Two producers, one of which sends more than the cluster takes; a cut in between.
const BUSY: &str = r#"
[scenario]
format = 1
title = "Busy"
duration = "20s"

[cluster]
brokers = 3
append-rate = "1MiB/s"

[[topic]]
name = "events"
partitions = 6
replication-factor = 1

[[producer]]
name = "trips"
config.buffer.memory = 4194304
config.delivery.timeout.ms = 5000
config.request.timeout.ms = 3000
config.max.block.ms = 2000

[[producer.load]]
topic = "events"
rate = 6000
key = { uniform = 500, format = "rider-{n}" }
value = { bytes = 1024 }

[[producer]]
name = "fares"

[[producer.load]]
topic = "events"
rate = 50
arrival = "poisson"
key = { uniform = 50, format = "fare-{n}" }
value = { bytes = 200 }

[[timeline]]
at = "8s"
do = "link cut trips *"

[[timeline]]
at = "14s"
do = "link heal trips *"

[[expect]]
name = "a record is refused"
event = "BufferExhaustedException"
count = { at-least = 1 }

[[expect]]
metric = "producer.trips.bufferpool-wait-ratio"
from = "1s"
to = "15s"
reduce = "p99"
above = 0.01

[[expect]]
no = ["acknowledged-loss", "duplicate"]
"#;

const TRIPS: ProducerIndex = ProducerIndex(0);

fn session_of(text: &str, memory: Memory) -> Session {
    let source = Source::Text {
        name: "busy.toml".to_owned(),
        text: text.to_owned(),
    };
    let scenario = load(source, &Overrides::default())
        .unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain)));
    Session::with_memory(Arc::new(scenario), memory)
}

fn busy() -> Session {
    session_of(BUSY, Memory::Snapshots)
}

fn seconds(seconds: u64) -> SimTime {
    SimTime::from_seconds(seconds)
}

fn to(session: &mut Session, at: SimTime) {
    let advance = session.advance_to(at, u64::MAX);
    assert_eq!(advance.reached, at.min(session.end()));
}

/// Everything that a run amounts to, as one text.
fn conclusions(session: &mut Session) -> String {
    let end = session.end();
    to(session, end);
    assert!(session.is_over());
    let report = Report::with_series(session);
    let csv = render(&[Outcome::Ran(Box::new(report.clone()))], Format::Csv);
    render(&[Outcome::Ran(Box::new(report))], Format::Json) + &csv
}

#[test]
fn however_a_run_is_sliced_its_conclusions_are_the_same() {
    let whole = conclusions(&mut busy());
    for slice in [
        SimSpan::from_millis(7),
        SimSpan::from_nanos(99_999_999),
        SimSpan::from_millis(1_300),
    ] {
        let mut session = busy();
        while !session.is_over() {
            let target = session.now() + slice;
            to(&mut session, target);
        }
        assert_eq!(conclusions(&mut session), whole, "in slices of {slice}");
    }
}

#[test]
fn small_budgets_and_single_steps_change_nothing_either() {
    let whole = conclusions(&mut busy());
    let mut session = busy();
    while session.advance_to(seconds(9), 10).progress != Progress::Reached {}
    for _ in 0..500 {
        let before = session.now();
        let advance = session.step();
        assert!(before < advance.reached);
        assert_eq!(advance.reached, session.now());
    }
    assert_eq!(conclusions(&mut session), whole);
}

#[test]
fn a_run_without_memory_concludes_the_same() {
    let whole = conclusions(&mut busy());
    assert_eq!(
        conclusions(&mut session_of(BUSY, Memory::ForwardsOnly)),
        whole
    );
}

#[test]
fn going_back_and_forth_ends_where_it_would_have_ended() {
    let whole = conclusions(&mut busy());
    let mut session = busy();
    to(&mut session, seconds(16));
    session.rewind_to(SimTime::from_millis(9_250));
    assert_eq!(session.now(), SimTime::from_millis(9_250));
    to(&mut session, seconds(12));
    session.rewind_to(SimTime::ZERO);
    assert_eq!(session.now(), SimTime::ZERO);
    assert_eq!(conclusions(&mut session), whole);
}

#[test]
fn commands_come_again_after_going_back() {
    let mut session = busy();
    to(&mut session, SimTime::from_millis(2_345));
    session.command("rate fares 400").unwrap();
    session.command("link delay fares * 20ms").unwrap();
    to(&mut session, seconds(5));
    session.command("broker slow 2 5ms").unwrap();
    let whole = conclusions(&mut session);
    session.rewind_to(seconds(1));
    assert_eq!(session.journal().len(), 3);
    assert_eq!(conclusions(&mut session), whole);
}

#[test]
fn a_command_after_going_back_changes_the_future() {
    let mut session = busy();
    to(&mut session, seconds(3));
    session.command("rate fares 400").unwrap();
    let whole = conclusions(&mut session);
    session.rewind_to(seconds(2));
    session.command("rate fares 10").unwrap();
    assert_eq!(session.journal().len(), 1);
    assert_ne!(conclusions(&mut session), whole);
}

#[test]
fn a_line_that_is_no_command_is_refused_and_not_kept() {
    let mut session = busy();
    assert!(session.command("link cut nobody *").is_err());
    assert!(session.journal().is_empty());
}

#[test]
fn one_step_back_is_one_moment_back() {
    let mut session = busy();
    to(&mut session, SimTime::from_millis(8_500));
    let now = session.now();
    session.step_back();
    let earlier = session.now();
    assert!(earlier < now);
    session.step_back();
    assert!(session.now() < earlier);
    while session.now() < earlier {
        let _stepped = session.step();
    }
    assert_eq!(session.now(), earlier);
}

#[test]
fn at_time_zero_there_is_no_way_back() {
    let mut session = busy();
    session.step_back();
    session.rewind_to(SimTime::ZERO);
    assert_eq!(session.now(), SimTime::ZERO);
}

#[test]
fn looking_does_not_change_the_run() {
    let mut plain = busy();
    let mut watched = busy();
    let metric = path::parse("topic.events.kdrill-cv", watched.simulation().config()).unwrap();
    to(&mut watched, seconds(4));
    watched.ask(metric).unwrap();
    while !watched.is_over() {
        let _advance = watched.advance_to(watched.now() + SimSpan::from_millis(50), 1_000);
        let _views = (
            watched.simulation().producer(TRIPS),
            watched.insight().account(watched.simulation()),
        );
    }
    to(&mut plain, seconds(20));
    assert_eq!(plain.digest(), watched.digest());
    assert_eq!(watched.insight().series(metric).unwrap().total().count, 160);
}

#[test]
fn what_a_pane_asked_for_is_still_sampled_after_going_back() {
    let mut session = busy();
    let metric = Metric::own(TRIPS, OwnFigure::Batches);
    session.ask(metric).unwrap();
    to(&mut session, seconds(6));
    session.rewind_to(seconds(2));
    to(&mut session, seconds(4));
    let series = session.insight().series(metric).unwrap();
    assert_eq!(series.timed().last().unwrap().0, seconds(4));
}

#[test]
fn the_ledger_adds_up_at_every_moment() {
    let mut session = busy();
    while !session.is_over() {
        let target = session.now() + SimSpan::from_millis(333);
        to(&mut session, target);
        for producer in [TRIPS, ProducerIndex(1)] {
            let totals = session.simulation().producer_totals(producer);
            let account = session
                .insight()
                .ledger()
                .account_of(producer, totals.records_sent);
            assert_eq!(account.imbalance(), None);
            assert_eq!(
                account.tally.acknowledged(),
                totals.records_acked,
                "at {}",
                session.now()
            );
            assert_eq!(
                account.tally.failed(),
                totals.records_failed,
                "at {}",
                session.now()
            );
            assert_eq!(account.tally.abandoned(), totals.records_abandoned);
        }
    }
    let total = session.insight().ledger().total();
    let counts = [
        total.acknowledged_present,
        total.failed_absent,
        total.refused,
    ];
    assert!(counts.iter().all(|&count| 0 < count), "{total:?}");
    assert_eq!(total.acknowledged_lost, 0);
}

#[test]
fn a_buffer_that_is_too_small_is_called_by_its_name() {
    let mut session = busy();
    to(&mut session, seconds(20));
    let warnings = session.insight().warnings();
    let names: Vec<&str> = warnings.all().iter().map(|warning| warning.name).collect();
    assert!(names.contains(&"buffer-bound"), "{names:?}");
    assert!(names.contains(&"batches-expiring"), "{names:?}");
    let bound = warnings
        .all()
        .iter()
        .find(|warning| warning.name == "buffer-bound")
        .unwrap();
    assert!(
        bound.text.starts_with("producer trips is buffer-bound: "),
        "{}",
        bound.text
    );
}

#[test]
fn a_warning_that_no_longer_holds_is_remembered_as_past() {
    let calm = BUSY.replace("\"20s\"", "\"60s\"");
    let mut session = session_of(&calm, Memory::ForwardsOnly);
    to(&mut session, seconds(18));
    session.command("rate trips 500").unwrap();
    to(&mut session, seconds(60));
    let warnings = session.insight().warnings();
    let bound = warnings
        .all()
        .iter()
        .find(|warning| warning.name == "buffer-bound")
        .unwrap();
    assert_eq!(bound.standing, Standing::Past);
    assert!(bound.first < bound.last && bound.last < seconds(60));
}

#[test]
fn an_hour_keeps_a_bounded_number_of_buckets() {
    let long = BUSY
        .replace("\"20s\"", "\"1h\"")
        .replace("rate = 6000", "rate = 20");
    let mut session = session_of(&long, Memory::ForwardsOnly);
    to(&mut session, seconds(3_600));
    let sampler = session.insight().sampler();
    assert!(sampler.bytes() < 16 << 20, "{} bytes", sampler.bytes());
    assert!(
        sampler
            .all()
            .all(|(_, series)| series.total().count <= 36_001)
    );
}

/// Three partitions of `events` that one producer fills.
const GROWING: &str = r#"# What happens to keys when a topic grows?
[scenario]
format = 1
title = "growing"
duration = "20s"
[cluster]
brokers = 3
[[topic]]
name = "events"
partitions = 3
replication-factor = 3
config.min.insync.replicas = 2
[[producer]]
name = "app"
config.metadata.max.age.ms = 2000
[[producer.load]]
topic = "events"
rate = 300
key = { cycle = 60, format = "key-{n}" }
"#;

#[test]
fn kafkas_tool_describes_what_a_topic_grew_to_and_refuses_to_shrink_it() {
    let mut session = Session::new(crate::support::written(GROWING));
    let _ = session.advance_to(SimTime::from_seconds(3), u64::MAX);
    session
        .command("kafka-topics.sh --bootstrap-server b:9092 --alter --topic events --partitions 6")
        .expect("a topic can grow");
    let digest = {
        let _ = session.advance_to(SimTime::from_seconds(4), u64::MAX);
        session.digest()
    };
    let shown = session
        .command("kafka-topics.sh --describe --topic events")
        .expect("shown");
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].starts_with("Topic: events\tTopicId: "), "{shown}");
    let rest = "\tPartitionCount: 6\tReplicationFactor: 3\tConfigs: min.insync.replicas=2";
    assert!(lines[0].ends_with(rest), "{shown}");
    assert_eq!(
        lines[1],
        "\tTopic: events\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \
         \tLastKnownElr: "
    );
    assert_eq!(
        (lines.len(), session.journal().len(), session.digest()),
        (7, 1, digest)
    );
    let refused = session
        .command("kafka-topics.sh --alter --topic events --partitions 2")
        .expect_err("a topic cannot shrink");
    assert_eq!(
        refused.message,
        "Error while executing topic command : The topic events currently has 6 partition(s); 2 \
         would not be an increase."
    );
    assert_eq!(session.journal().len(), 1);
}

#[test]
fn going_back_before_a_growth_and_forth_again_ends_in_the_same_run() {
    let whole = |stop: &[u64]| {
        let mut session = Session::new(crate::support::written(GROWING));
        let _ = session.advance_to(SimTime::from_seconds(3), u64::MAX);
        session
            .command("kafka-topics.sh --alter --topic events --partitions 5")
            .expect("a topic can grow");
        for &second in stop {
            let at = SimTime::from_seconds(second);
            if at < session.now() {
                session.rewind_to(at);
                let grown = if second < 3 { 3 } else { 5 };
                assert_eq!(session.simulation().partition_count(), grown);
                let known = session.names().partition("events-4").is_some();
                assert_eq!(known, second >= 3);
            }
            let _ = session.advance_to(at, u64::MAX);
        }
        while !session.is_over() {
            let _ = session.advance_to(session.end(), u64::MAX);
        }
        session.digest()
    };
    assert_eq!(whole(&[]), whole(&[10, 1, 7, 4, 12, 2]));
}

#[test]
fn series_of_new_partitions_begin_when_they_appear() {
    let timeline = "[[timeline]]\nat = \"3s\"\ndo = \"kafka-topics.sh --alter --topic events \
                    --partitions 6\"\n[[expect]]\nmetric = \"topic.events.5.LogEndOffset\"\n\
                    at = \"20s\"\nabove = 500\n";
    let mut session = Session::new(crate::support::written(&format!("{GROWING}{timeline}")));
    while !session.is_over() {
        let _ = session.advance_to(session.end(), u64::MAX);
    }
    crate::support::assert_kept(&session);
    let name = session.names().partition("events-5").expect("it exists");
    let metric = Metric::Partition(name, PartitionFigure::RecordsInRate);
    let series = session.insight().series(metric).expect("shown");
    let first = series.columns(SimTime::ZERO, SimTime::from_seconds(3), 1);
    assert_eq!(first[0].mean(), None);
    let last = series.columns(SimTime::from_seconds(10), SimTime::from_seconds(20), 1);
    assert!(last[0].mean().is_some_and(|rate| rate > 30.0), "{last:?}");
}
