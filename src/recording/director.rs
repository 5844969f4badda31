//! Frame by frame: time passes, the script's keys are pressed, the screen is drawn.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::screen::Shown;
use super::script::Action;
use super::{Request, moment};
use crate::insight::judge::Outcome;
use crate::insight::sentence::sentence;
use crate::scenario::Scenario;
use crate::session::Session;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::model::Origin;
use crate::tui::msg::{Effect, Msg};
use crate::tui::{Load, Patience, Run};

/// One frame of the recording.
#[derive(Debug)]
pub(super) struct Take {
    /// Places to jump to.
    pub(super) markers: Vec<String>,
    /// What the terminal is sent.
    pub(super) bytes: String,
    /// Whether nothing comes after it.
    pub(super) is_last: bool,
}

/// A run in front of a camera.
pub(super) struct Director {
    run: Run,
    load: Load,
    area: Rect,
    shown: Shown,
    actions: VecDeque<Action>,
    /// Since when the script waits, in time of the recording.
    waits_since_micros: Option<u64>,
    before_micros: u64,
    to: SimTime,
    marks: usize,
    judged: Vec<Outcome>,
    has_left: bool,
}

impl Director {
    /// A run at the moment of the first frame.
    pub(super) fn new(session: Session, request: &Request) -> Self {
        let again = session.scenario().clone();
        let end = session.end();
        let mut run = Run::new(session, request.theme, request.speed, Origin::CommandLine);
        run.patience = Patience::Whole;
        run.go_to(moment(request.from));
        Self {
            marks: run.session.insight().log().markers().len(),
            judged: outcomes(&run.session),
            run,
            load: Box::new(move |_| Ok::<Scenario, String>(again.clone())),
            area: Rect::new(0, 0, request.size.0, request.size.1),
            shown: Shown::default(),
            actions: request.script.actions().cloned().collect(),
            waits_since_micros: None,
            before_micros: 0,
            to: request.to.map_or(end, moment).min(end),
            has_left: false,
        }
    }

    /// The frame of this moment of the recording.
    pub(super) fn shoot(&mut self, at_micros: u64) -> Take {
        let elapsed = Duration::from_micros(at_micros - self.before_micros);
        self.before_micros = at_micros;
        self.run.measure(self.area);
        if !elapsed.is_zero() {
            self.tell(Msg::Frame(elapsed));
        }
        self.act(at_micros);
        self.run.measure(self.area);
        let markers = self.markers();
        if !markers.is_empty() {
            self.shown.forget();
        }
        let mut frame = Buffer::empty(self.area);
        let cursor = self.run.draw(&mut frame);
        Take {
            markers,
            bytes: self.shown.show(frame, cursor),
            is_last: self.is_done(),
        }
    }

    /// What of the script was not done.
    pub(super) fn left_over(&self) -> Option<String> {
        let count = self.actions.len();
        (count > 0).then(|| match self.actions.front() {
            Some(Action::At(at)) => format!(
                "the recording ends at {}, and the script still waits for {at}",
                self.run.session.now()
            ),
            _ => format!("the recording ends before the last {count} actions of the script"),
        })
    }

    fn tell(&mut self, msg: Msg) {
        let left = self.run.apply(msg, &self.load);
        self.has_left |= left
            .iter()
            .any(|effect| matches!(effect, Effect::Quit | Effect::ToPicker));
    }

    fn press(&mut self, key: &KeyEvent) {
        if let Some(msg) = self.run.meaning(key) {
            self.tell(msg);
        }
        self.run.measure(self.area);
    }

    /// Does what the script says until it has to wait.
    fn act(&mut self, at_micros: u64) {
        while let Some(action) = self.actions.front().cloned() {
            match action {
                Action::At(at) if self.run.session.now() < moment(at) => return,
                Action::Wait(span) if !self.has_waited(span, at_micros) => return,
                Action::At(_) | Action::Wait(_) => {}
                Action::Press(key) => self.press(&key),
                Action::Type(c) => {
                    self.press(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
                    self.actions.pop_front();
                    return;
                }
            }
            self.waits_since_micros = None;
            self.actions.pop_front();
        }
    }

    fn has_waited(&mut self, span: SimSpan, at_micros: u64) -> bool {
        let since = *self.waits_since_micros.get_or_insert(at_micros);
        span.as_nanos() / 1_000 <= at_micros - since
    }

    /// What happened since the last frame and is worth a place to jump to.
    fn markers(&mut self) -> Vec<String> {
        let session = &self.run.session;
        let config = session.simulation().config();
        let marks = session.insight().log().markers();
        // Going back takes marks away.
        let fresh = marks.get(self.marks.min(marks.len())..).unwrap_or_default();
        let mut markers: Vec<String> = fresh
            .iter()
            .map(|marker| sentence(&marker.fact, config))
            .collect();
        self.marks = marks.len();
        let judged = outcomes(session);
        let judgements = session.insight().judgements().iter();
        for ((judgement, before), now) in judgements.zip(&self.judged).zip(&judged) {
            if before != now && *now != Outcome::Pending {
                markers.push(format!("{}: {}", judgement.name, now.word()));
            }
        }
        self.judged = judged;
        markers
    }

    /// Whether another frame could show anything new.
    fn is_done(&self) -> bool {
        let is_there = self.to <= self.run.session.now();
        let moves = self.run.is_moving() && !is_there;
        let acts = match self.actions.front() {
            None => false,
            Some(Action::At(at)) => moves && self.run.session.now() < moment(*at),
            Some(_) => true,
        };
        self.has_left || !(moves || acts)
    }
}

fn outcomes(session: &Session) -> Vec<Outcome> {
    let judgements = session.insight().judgements().iter();
    judgements.map(|judgement| judgement.outcome).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier};

    use super::*;
    use crate::recording::{Asciicast, Script};
    use crate::scenario::{Overrides, Source, load};
    use crate::tui::pace::Speed;
    use crate::tui::theme::{Charset, Colors, Theme};

    const SIZE: (u16, u16) = (100, 30);

    fn request(script: &str) -> Request {
        Request {
            scenario: "dead-leader".into(),
            overrides: Overrides::default(),
            size: SIZE,
            fps: 5,
            speed: Speed::Power(2),
            from: SimSpan::from_seconds(8),
            to: Some(SimSpan::from_seconds(16)),
            theme: Theme::new(Colors::True, Charset::Unicode),
            script: Script::parse(script).unwrap(),
            format: Asciicast::V2,
            output: None,
        }
    }

    fn director(request: &Request) -> Director {
        let source = Source::Embedded("dead-leader".to_owned());
        let scenario = load(source, &request.overrides).unwrap();
        Director::new(Session::new(scenario.into()), request)
    }

    /// All frames: the moment of each, and what was shot.
    fn takes(director: &mut Director) -> Vec<Take> {
        let mut takes = Vec::new();
        for frame in 0..500 {
            takes.push(director.shoot(frame * 200_000));
            if takes.last().is_some_and(|take| take.is_last) {
                return takes;
            }
        }
        panic!("the recording does not end");
    }

    fn color(color: Color) -> vt100::Color {
        match color {
            Color::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
            _ => vt100::Color::Default,
        }
    }

    #[test]
    fn a_terminal_shows_what_was_drawn_frame_by_frame() {
        let script = "at 9s press e\nwait 1s\npress e Tab ?\nwait 1s\npress Esc\n\
                      type \":broker kill 3\"\npress Enter";
        let request = request(script);
        let mut director = director(&request);
        let mut terminal = vt100::Parser::new(SIZE.1, SIZE.0, 0);
        for frame in 0..200 {
            let take = director.shoot(frame * 200_000);
            terminal.process(take.bytes.as_bytes());
            let mut drawn = Buffer::empty(director.area);
            let cursor = director.run.draw(&mut drawn);
            let screen = terminal.screen();
            assert_eq!(screen.hide_cursor(), cursor.is_none());
            for y in 0..SIZE.1 {
                for x in 0..SIZE.0 {
                    let (cell, shown) = (&drawn[(x, y)], screen.cell(y, x).unwrap());
                    let symbol = if shown.has_contents() {
                        shown.contents()
                    } else {
                        " "
                    };
                    assert_eq!(symbol, cell.symbol(), "frame {frame}, {x}/{y}");
                    assert_eq!(shown.fgcolor(), color(cell.fg), "frame {frame}, {x}/{y}");
                    assert_eq!(shown.bold(), cell.modifier.contains(Modifier::BOLD));
                }
            }
            if take.is_last {
                return;
            }
        }
        panic!("the recording does not end");
    }

    #[test]
    fn what_happens_becomes_a_place_to_jump_to() {
        let mut director = director(&request(""));
        let markers: Vec<_> = takes(&mut director)
            .into_iter()
            .flat_map(|take| take.markers)
            .collect();
        assert_eq!(markers, ["broker 1 is killed"]);
    }

    #[test]
    fn a_recording_that_is_made_twice_is_the_same() {
        let shoot = || {
            let takes = takes(&mut director(&request(
                "at 10s press space\nwait 1s\npress space",
            )));
            takes.into_iter().map(|take| take.bytes).collect::<Vec<_>>()
        };
        assert_eq!(shoot(), shoot());
    }

    #[test]
    fn a_script_that_waits_for_what_never_comes_is_told_so() {
        let mut director = director(&request("at 10s press space\nat 12s press space"));
        let last = takes(&mut director).pop().unwrap();
        assert!(last.is_last);
        let left = director.left_over().unwrap();
        assert!(
            left.ends_with("the script still waits for 12.000s"),
            "{left}"
        );
    }
}
