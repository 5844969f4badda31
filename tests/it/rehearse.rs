//! Rehearsals: alerts, steps, victory and debrief, by script, through the same code as
//! `kdrill rehearse NAME --script FILE`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use kdrill::headless::rehearse::{load_rehearsal, play};
use kdrill::rehearsal::script::ScriptLine;
use kdrill::rehearsal::{AlertState, Loss, Verdict, script};
use kdrill::scenario::{Overrides, Paint, Source, library, load};
use kdrill::session::{Memory, Session};
use kdrill::sim::time::{SimSpan, SimTime};
use kdrill::tui::model::{Layer, Origin};
use kdrill::tui::msg::Msg;
use kdrill::tui::pace::Speed;
use kdrill::tui::theme::{Charset, Colors, Theme};
use kdrill::tui::{Load, Run};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A broker dies at 5 s, and is missed within seconds; starting it is the cure.
const SMALL: &str = r#"
[scenario]
format = 1
title = "Small"
duration = "60s"
blind = true

[cluster]
brokers = 3

[[topic]]
name = "events"
partitions = 3
replication-factor = 1

[[producer]]
name = "trips"

[[producer.load]]
topic = "events"
rate = 300
value = { bytes = 100 }
key = { cycle = 50, format = "rider-{n}" }

[[timeline]]
at = "5s"
do = "broker kill 2"

[rehearsal]
briefing = "Trips are sent."
cause = "Broker 2 died."
objective = { share = "99%", within = "2s" }
deadline = "50s"

[[alert]]
name = "Old"
metric = "producer.trips.kdrill-oldest-batch-age-ms"
above = 1000
for = "3s"
say = "old batches"

[[step]]
when = "1s"
say = "Nothing to do yet."

[[step]]
when = { alert = "Old" }
say = "Find the broker."
require = "kafka-topics.sh --describe"
before = "5s"
hints = ["It is a broker.", "It is broker 2."]

[[victory]]
name = "nothing is old"
metric = "producer.trips.kdrill-oldest-batch-age-ms"
below = 1000
for = "5s"
"#;

fn session(text: &str) -> Session {
    let source = Source::Text {
        name: "small.toml".into(),
        text: text.into(),
    };
    let loaded = load(source, &Overrides::default());
    let scenario = loaded.unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain)));
    Session::new(Arc::new(scenario))
}

fn played(text: &str, lines: &str) -> Session {
    let mut session = session(text);
    play(&mut session, &script::parse(lines).unwrap()).unwrap();
    session
}

fn incidents() -> Vec<String> {
    let entries = library::list().into_iter();
    let incidents = entries.filter(|entry| entry.category == "incidents");
    incidents.map(|entry| entry.name).collect()
}

/// An incident played by `lines` of its own plan.
fn rehearsed(
    name: &str,
    seed: Option<u64>,
    lines: impl Fn(&kdrill::rehearsal::plan::Plan) -> Vec<ScriptLine>,
) -> Session {
    let scenario = load_rehearsal(&Source::Embedded(name.to_owned()), seed).unwrap();
    let lines = lines(scenario.plan.as_ref().unwrap());
    let mut session = Session::with_memory(Arc::new(scenario), Memory::ForwardsOnly);
    play(&mut session, &lines).unwrap();
    session
}

fn is_won(session: &Session) -> bool {
    matches!(session.verdict(), Verdict::Won { .. })
}

#[test]
fn every_incident_is_won_by_its_reference_solution_whatever_is_drawn() {
    for name in incidents() {
        for seed in [None, Some(1), Some(2), Some(3)] {
            let session = rehearsed(&name, seed, |plan| plan.solution.clone());
            let debrief = session.debrief().unwrap();
            assert!(is_won(&session), "{name} {seed:?}:\n{}", debrief.markdown());
            assert!(50 <= debrief.score, "{name} {seed:?}: {}", debrief.score);
            assert!(debrief.times.page.is_some(), "{name} pages nobody");
        }
    }
}

#[test]
fn every_incident_is_lost_by_doing_nothing() {
    for name in incidents() {
        for seed in [None, Some(1)] {
            let session = rehearsed(&name, seed, |_| Vec::new());
            assert!(!is_won(&session), "{name} {seed:?}");
            assert_eq!(session.debrief().unwrap().score, 0);
        }
    }
}

#[test]
fn every_incident_is_lost_by_the_usual_wrong_thing() {
    for name in incidents() {
        let session = rehearsed(&name, None, |plan| {
            assert!(!plan.trap.is_empty(), "{name} has no trap");
            plan.trap.clone()
        });
        let debrief = session.debrief().unwrap();
        assert!(!is_won(&session), "{name}:\n{}", debrief.markdown());
    }
}

#[test]
fn every_incident_is_blind_and_has_briefing_alerts_hints_and_a_cause() {
    for name in incidents() {
        let scenario = load_rehearsal(&Source::Embedded(name.clone()), None).unwrap();
        let plan = scenario.plan.as_ref().unwrap();
        let is_blind = plan.secrecy == kdrill::rehearsal::plan::Secrecy::Blind;
        let hints: usize = plan.steps.iter().map(|step| step.hints.len()).sum();
        let is_told = !plan.briefing.is_empty() && !plan.cause.is_empty();
        assert!(is_blind && is_told && 2 <= hints, "{name}");
        assert!(
            !plan.alerts.is_empty() && !plan.solution.is_empty(),
            "{name}"
        );
        assert!(scenario.level.is_some(), "{name} has no level");
    }
}

#[test]
fn a_cure_in_time_wins_and_the_debrief_has_the_times() {
    let session = played(
        SMALL,
        "at page+1s kafka-topics.sh --describe\nat page+2s broker start 2\n",
    );
    let debrief = session.debrief().unwrap();
    assert_eq!(debrief.verdict, "won", "{}", debrief.markdown());
    let page = debrief.times.page.unwrap();
    assert!((8.9..10.5).contains(&page), "{page}");
    let detect = debrief.times.detect.unwrap();
    assert!(
        (detect - page - 1.0).abs() < 1e-9,
        "the look is what detected it"
    );
    assert!(page + 2.0 < debrief.times.mitigate.unwrap());
    let kinds: Vec<&str> = debrief.deeds.iter().map(|deed| deed.kind).collect();
    assert_eq!(kinds, ["looked", "acted"]);
    assert!(debrief.requirements[0].done.is_some());
}

#[test]
fn nothing_done_is_lost_at_the_deadline() {
    let session = played(SMALL, "");
    let at = SimTime::from_seconds(50);
    let how = Loss::TooLate;
    assert_eq!(session.verdict(), Verdict::Lost { at, how });
    let debrief = session.debrief().unwrap();
    assert!(debrief.requirements[0].is_missed);
    assert!(
        4_000 < debrief.records.under_way,
        "a third of 45 s at 300/s waits"
    );
}

#[test]
fn hints_come_one_after_the_other_and_cost_points() {
    let solved = "at page+1s kafka-topics.sh --describe\nat page+2s broker start 2\n";
    let without = played(SMALL, solved).debrief().unwrap();
    let with = played(SMALL, &format!("at page+1s hint\n{solved}"))
        .debrief()
        .unwrap();
    assert_eq!(with.score + 5, without.score);
    assert_eq!(with.deeds[0].line, "It is a broker.");
}

#[test]
fn who_gives_up_has_lost_at_once() {
    let session = played(SMALL, "at page+1s give-up\n");
    let Verdict::Lost { at, how } = session.verdict() else {
        panic!("{:?}", session.verdict());
    };
    assert_eq!((how, at), (Loss::GaveUp, session.now()));
}

#[test]
fn an_alert_is_pending_before_it_fires_and_resolved_after_the_cure() {
    let mut session = session(SMALL);
    let mut seen = Vec::new();
    while session.now() < SimTime::from_seconds(40) {
        let _ = session.advance_to(session.now() + SimSpan::from_millis(100), u64::MAX);
        if session.now() == SimTime::from_seconds(15) {
            session.command("broker start 2").unwrap();
        }
        let word = session.rehearsal().unwrap().alert(0).word();
        if seen.last() != Some(&word) {
            seen.push(word);
        }
    }
    assert_eq!(seen, ["inactive", "pending", "FIRING", "resolved"]);
    let page = session.rehearsal().unwrap().pages()[0];
    let AlertState::Resolved { since } = session.rehearsal().unwrap().alert(0) else {
        panic!("not resolved");
    };
    assert_eq!(page.resolved, Some(since));
}

#[test]
fn a_rehearsal_does_not_change_the_run() {
    let with = played(SMALL, "").digest();
    let end = SMALL.find("[rehearsal]").unwrap();
    let mut plain = session(&SMALL[..end].replace("blind = true\n", ""));
    let _ = plain.advance_to(SimTime::from_seconds(50), u64::MAX);
    assert_eq!(plain.digest(), with);
}

#[test]
fn slices_and_going_back_change_nothing_that_is_decided() {
    let acts = |session: &mut Session| {
        let _ = session.advance_to(SimTime::from_millis(12_340), u64::MAX);
        session.command("kafka-topics.sh --describe").unwrap();
        session.command("broker start 2").unwrap();
    };
    let mut straight = session(SMALL);
    acts(&mut straight);
    let _ = straight.advance_to(SimTime::from_seconds(60), u64::MAX);
    let mut winding = session(SMALL);
    for millis in [1, 4_999, 5_001, 9_077] {
        let _ = winding.advance_to(SimTime::from_millis(millis), u64::MAX);
    }
    acts(&mut winding);
    let _ = winding.advance_to(SimTime::from_millis(30_011), 7);
    let _ = winding.advance_to(SimTime::from_millis(30_011), u64::MAX);
    winding.rewind_to(SimTime::from_seconds(8));
    let _ = winding.advance_to(SimTime::from_seconds(60), u64::MAX);
    assert_eq!(winding.debrief(), straight.debrief());
}

#[test]
fn what_is_drawn_depends_on_the_seed_and_only_on_it() {
    let numbers = |seed| {
        let source = Source::Embedded("slow-acks".to_owned());
        let scenario = load_rehearsal(&source, Some(seed)).unwrap();
        scenario.config.timeline.clone()
    };
    assert_eq!(numbers(5), numbers(5));
    let all = [numbers(1), numbers(2), numbers(3), numbers(4)];
    assert!(all.iter().any(|one| *one != all[0]));
}

#[test]
fn unknown_names_in_conditions_are_found_with_carets() {
    let problems = |from: &str, to: &str| {
        let source = Source::Text {
            name: "small.toml".into(),
            text: SMALL.replacen(from, to, 1),
        };
        let problems = load(source, &Overrides::default()).unwrap_err();
        problems.render(Paint::Plain)
    };
    let text = problems("alert = \"Old\"", "alert = \"Odl\"");
    assert!(text.contains("there is no alert `Odl`") && text.contains("did you mean `Old`?"));
    let text = problems("kafka-topics.sh --describe", "kafka-topic.sh --describe");
    assert!(text.contains("kafka-topics.sh"), "{text}");
    let text = problems("for = \"3s\"", "for = \"3s\"\nevent = \"leader-changed\"");
    assert!(
        text.contains("a condition looks at exactly one thing"),
        "{text}"
    );
    let text = problems(
        "deadline = \"50s\"",
        "vary = [{ path = \"nowhere.at\", one-of = [1] }]",
    );
    assert!(text.contains("unknown key `nowhere`"), "{text}");
}

/// What stands on a screen.
fn screen(run: &Run) -> String {
    let area = Rect::new(0, 0, 120, 36);
    let mut buffer = Buffer::empty(area);
    let _cursor = run.draw(&mut buffer);
    let cells = buffer.content().chunks(usize::from(area.width));
    let lines = cells.map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect());
    lines.collect::<Vec<String>>().join("\n")
}

fn frames(run: &mut Run, load: &Load, count: usize) {
    for _ in 0..count {
        run.apply(Msg::Frame(Duration::from_millis(50)), load);
    }
}

#[test]
fn on_the_screen_the_briefing_waits_the_cause_is_hidden_and_the_debrief_comes_by_itself() {
    let theme = Theme::new(Colors::None, Charset::Unicode);
    let load: Load = Box::new(|_| Err(String::new()));
    let run = Run::new(session(SMALL), theme, Speed::REAL, Origin::CommandLine);
    let mut run = run.briefed();
    assert!(!run.is_moving());
    assert!(screen(&run).contains("Trips are sent."));
    run.apply(Msg::Close, &load);
    assert!(run.is_moving());
    frames(&mut run, &load, 12 * 20);
    let seen = screen(&run);
    assert!(
        seen.contains("PAGE Old") && seen.contains("Find the broker."),
        "{seen}"
    );
    assert!(
        !seen.contains("Small") && !seen.contains("is killed"),
        "{seen}"
    );
    run.apply(Msg::Hint, &load);
    assert!(screen(&run).contains("It is a broker."));
    run.apply(Msg::Close, &load);
    frames(&mut run, &load, 40 * 20);
    assert_eq!(run.model.layer, Layer::Debrief(0));
    assert!(screen(&run).contains("Lost: the time was up"));
    assert!(!run.is_moving());
    run.apply(Msg::Close, &load);
    assert!(!screen(&run).contains("hidden until the debrief"));
}

#[test]
fn a_cut_is_not_written_on_the_screen_of_a_blind_rehearsal() {
    let source = Source::Embedded("stalled-fleet".to_owned());
    let scenario = load_rehearsal(&source, None).unwrap();
    let theme = Theme::new(Colors::None, Charset::Unicode);
    let session = Session::new(Arc::new(scenario));
    let mut run = Run::new(session, theme, Speed::REAL, Origin::CommandLine);
    run.go_to(SimTime::from_seconds(25));
    assert!(screen(&run).contains("2 ready"), "{}", screen(&run));
    assert!(!screen(&run).contains("cut"));
    run.session.give_up();
    let load: Load = Box::new(|_| Err(String::new()));
    run.apply(Msg::Frame(Duration::from_millis(50)), &load);
    run.apply(Msg::Close, &load);
    assert!(screen(&run).contains("2 cut"), "{}", screen(&run));
}
