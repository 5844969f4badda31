//! Moving through the run: wherever somebody goes, it is the run that it was.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use kdrill::scenario::{self, Overrides, Paint, Scenario, Source};
use kdrill::session::{SNAPSHOT_BYTES_MAX, Session};
use kdrill::sim::time::{SimSpan, SimTime};
use kdrill::tui::model::{Notice, Origin};
use kdrill::tui::msg::{Life, Msg};
use kdrill::tui::pace::{Motion, Speed};
use kdrill::tui::theme::{Charset, Colors, Theme};
use kdrill::tui::{Load, Patience, Run};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::support::{embedded, report_of, run_to, run_to_end, seconds, written};

/// A buffer that fills, a cut, and loads that draw from several streams.
pub(crate) const EVENTFUL: &str = r#"
[scenario]
format = 1
title = "Eventful"
duration = "12s"
[cluster]
brokers = 3
append-rate = "512KiB/s"
[[topic]]
name = "events"
partitions = 4
replication-factor = 3
[[producer]]
name = "trips"
config.buffer.memory = 1048576
config.delivery.timeout.ms = 3000
config.request.timeout.ms = 2000
config.max.block.ms = 500
[[producer.load]]
topic = "events"
rate = 900
key = { uniform = 50, format = "rider-{n}" }
value = { bytes = 1024 }
[[producer]]
name = "fares"
[[producer.load]]
topic = "events"
rate = 20
arrival = "poisson"
value = { bytes = 100 }
[[timeline]]
at = "4s"
do = "link cut trips *"
[[timeline]]
at = "7s"
do = "link heal trips *"
"#;

fn eventful() -> Session {
    Session::new(written(EVENTFUL))
}

fn to(session: &mut Session, at: SimTime) {
    assert!(session.approach(at));
    let _reached = session.advance_to(at, u64::MAX);
    assert_eq!(session.now(), at);
}

fn moment() -> impl Strategy<Value = SimTime> {
    (0_u64..12_000_000_000).prop_map(SimTime::from_nanos)
}

proptest! {
    #[test]
    fn wherever_one_goes_it_is_the_run_that_it_was(moments in prop::collection::vec(moment(), 1..6)) {
        let mut session = eventful();
        for at in moments {
            to(&mut session, at);
            let straight = run_to(written(EVENTFUL), at);
            prop_assert_eq!(session.digest(), straight.digest());
            prop_assert_eq!(report_of(&session), report_of(&straight));
        }
    }

    #[test]
    fn a_step_back_leads_to_the_last_moment_at_which_anything_was_said(at in moment()) {
        let mut session = eventful();
        to(&mut session, at);
        let before = session.now();
        session.step_back();
        let back = session.now();
        prop_assert!(back < before || before == SimTime::ZERO);
        let digest_at = |session: &mut Session, nanos: u64| {
            to(session, SimTime::from_nanos(nanos));
            session.digest()
        };
        let after = digest_at(&mut session, back.as_nanos());
        if before > SimTime::ZERO {
            // Nothing was said in between, and something was said then.
            prop_assert_eq!(after, digest_at(&mut session, before.as_nanos() - 1));
        }
        if back > SimTime::ZERO {
            prop_assert_ne!(after, digest_at(&mut session, back.as_nanos() - 1));
        }
    }
}

#[test]
fn step_by_step_back_and_on_again_ends_in_the_same_run() {
    let whole = run_to_end(written(EVENTFUL)).digest();
    let mut session = eventful();
    to(&mut session, seconds(5.0));
    for _ in 0..40 {
        session.step_back();
    }
    assert!(session.now() < seconds(5.0));
    to(&mut session, seconds(12.0));
    assert_eq!(session.digest(), whole);
}

#[test]
fn what_was_seen_stays_known_until_a_command_makes_another_run_of_it() {
    let mut session = eventful();
    to(&mut session, seconds(9.0));
    let marks = session.marks().to_vec();
    assert!(marks.iter().any(|mark| mark.at > seconds(2.0)));
    to(&mut session, seconds(2.0));
    assert!(session.is_past());
    assert_eq!(
        (session.furthest(), session.marks()),
        (seconds(9.0), &marks[..])
    );
    session.command("rate fares 30").expect("a command");
    assert!(!session.is_past());
    assert!(session.marks().iter().all(|mark| mark.at <= seconds(2.0)));
}

#[test]
fn a_quiet_hour_needs_few_snapshots_and_a_busy_one_has_many() {
    let hour = |rate: u32| {
        let text = EVENTFUL
            .replace("\"12s\"", "\"10m\"")
            .replace("rate = 900", &format!("rate = {rate}"))
            .replace("append-rate = \"512KiB/s\"", "append-rate = \"512MiB/s\"");
        let mut session = Session::new(written(&text));
        to(&mut session, seconds(600.0));
        assert!(session.snapshots_bytes() <= SNAPSHOT_BYTES_MAX);
        session.snapshots_kept()
    };
    let (quiet, busy) = (hour(1), hour(2_000));
    assert!(2 * quiet < busy, "{quiet} and {busy}");
}

// === On the screen ===

pub(crate) struct Stage {
    pub(crate) run: Run,
    load: Load,
    pub(crate) area: Rect,
}

impl Stage {
    pub(crate) fn of(scenario: Arc<Scenario>) -> Self {
        let theme = Theme::new(Colors::None, Charset::Unicode);
        let session = Session::new(scenario);
        let mut run = Run::new(session, theme, Speed::REAL, Origin::CommandLine);
        run.patience = Patience::Whole;
        let load: Load = Box::new(|name| Ok(Scenario::clone(&embedded(name))));
        let area = Rect::new(0, 0, 120, 36);
        Self { run, load, area }
    }

    pub(crate) fn press(&mut self, keys: impl IntoIterator<Item = KeyCode>) {
        for code in keys {
            self.run.measure(self.area);
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            if let Some(msg) = self.run.meaning(&key) {
                let _left = self.run.apply(msg, &self.load);
            }
        }
    }

    pub(crate) fn type_in(&mut self, line: &str) {
        let keys = format!(":{line}");
        self.press(keys.chars().map(KeyCode::Char).collect::<Vec<_>>());
        self.press([KeyCode::Enter]);
    }

    pub(crate) fn text(&mut self) -> String {
        self.run.measure(self.area);
        let mut buffer = Buffer::empty(self.area);
        let _cursor = self.run.draw(&mut buffer);
        let (width, height) = (self.area.width, self.area.height);
        let line = |y| (0..width).map(move |x| (x, y));
        let line = |y| line(y).map(|at| buffer[at].symbol()).collect::<String>();
        (0..height)
            .map(|y| line(y).trim_end().to_owned() + "\n")
            .collect()
    }

    pub(crate) fn now(&self) -> SimTime {
        self.run.session.now()
    }
}

#[test]
fn goto_leads_anywhere_and_is_no_command_of_the_run() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.type_in("goto 5.5s");
    assert_eq!(stage.now(), seconds(5.5));
    assert_eq!(stage.run.model.pace.motion, Motion::Paused);
    stage.type_in("goto -2.25s");
    assert_eq!(stage.now(), seconds(3.25));
    let text = stage.text();
    assert!(text.contains("paused, in the past"), "{text}");
    stage.type_in("goto +1s");
    assert_eq!(stage.now(), seconds(4.25));
    stage.type_in("goto end");
    assert_eq!(
        (stage.now(), stage.run.model.life),
        (seconds(12.0), Life::Over)
    );
    assert!(stage.run.session.journal().is_empty());
}

#[test]
fn what_comes_again_is_said_on_arrival() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.type_in("goto 3s");
    stage.type_in("rate fares 30");
    stage.type_in("goto 2s");
    let words = "at 2.000s; the command after it comes again unless another one is given";
    assert_eq!(stage.run.model.notice, Some(Notice::Done(words.to_owned())));
}

#[test]
fn a_mistyped_goto_is_recognised() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.type_in("gto 5s");
    let trouble = stage.run.model.prompt.trouble.clone().expect("trouble");
    assert_eq!(trouble.hint.as_deref(), Some("did you mean `goto`?"));
    assert_eq!(stage.now(), SimTime::ZERO);
}

#[test]
fn tab_completes_the_screens_own_words_beside_all_others() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.press(":got".chars().map(KeyCode::Char));
    stage.press([KeyCode::Tab]);
    stage.press("st".chars().map(KeyCode::Char));
    stage.press([KeyCode::Tab]);
    assert_eq!(stage.run.model.prompt.line.text(), "goto start ");
}

#[test]
fn brackets_jump_from_mark_to_mark() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.press([KeyCode::Char(']')]);
    assert_eq!(stage.now(), seconds(4.0));
    stage.press([KeyCode::Char(']')]);
    assert_eq!(stage.now(), seconds(7.0));
    // By now it is known what was lost in between.
    let mut marks = Vec::new();
    while marks.last() != Some(&stage.now()) {
        marks.push(stage.now());
        stage.press([KeyCode::Char('[')]);
    }
    assert!(marks.is_sorted_by(|one, next| next < one), "{marks:?}");
    assert!(
        2 < marks.len() && marks.last() == Some(&seconds(4.0)),
        "{marks:?}"
    );
    let text = stage.text();
    assert!(
        text.contains("there is no mark before this moment"),
        "{text}"
    );
}

#[test]
fn home_and_end_are_the_ends_of_the_run() {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.press([KeyCode::End]);
    assert_eq!(stage.now(), seconds(12.0));
    stage.press([KeyCode::Home]);
    assert_eq!(
        (stage.now(), stage.run.session.furthest()),
        (SimTime::ZERO, seconds(12.0))
    );
    assert_eq!(stage.run.model.life, Life::Going);
}

#[test]
fn a_long_way_is_gone_frame_by_frame_and_can_be_stopped() {
    let long = EVENTFUL.replace("\"12s\"", "\"24h\"");
    let mut stage = Stage::of(written(&long));
    stage.run.patience = Patience::Frame;
    stage.press([KeyCode::End]);
    let to = SimTime::ZERO + SimSpan::from_seconds(86_400);
    assert_eq!(stage.run.model.pace.motion, Motion::Seeking(to));
    let frame = Msg::Frame(std::time::Duration::from_millis(50));
    let first = stage.now();
    let _left = stage.run.apply(frame, &stage.load);
    assert!(first < stage.now());
    let text = stage.text();
    assert!(text.contains("going to 86400.000s"), "{text}");
    assert!(text.contains("Esc stop here"), "{text}");
    stage.press([KeyCode::Esc]);
    assert_eq!(stage.run.model.pace.motion, Motion::Paused);
    assert!(stage.now() < to);
}

#[test]
fn a_file_has_no_screen_to_move() {
    let text = EVENTFUL.replace("link heal trips *", "goto 3s");
    let source = Source::Text {
        name: "test".to_owned(),
        text,
    };
    let problems = scenario::load(source, &Overrides::default()).expect_err("refused");
    let said = problems.render(Paint::Plain);
    assert!(said.contains("`goto` is for the screen"), "{said}");
}
