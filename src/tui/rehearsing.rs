//! A rehearsal on the screen: what its own keys and words do to the session.

use crate::rehearsal::{AlertState, Verdict};
use crate::session::Session;
use crate::tui::model::{Layer, Model, Rehearsing};
use crate::tui::msg::{Completion, Msg, Trouble};
use crate::tui::pace::Motion;
use crate::tui::pane::Pane;
use crate::tui::run::Run;

/// Words of the prompt that are the screen's own in a rehearsal, with what they do.
const WORDS: [&str; 4] = ["ack", "briefing", "give-up", "hint"];

/// A model for a run that is a rehearsal, if it is one.
pub(super) fn prepare(model: &mut Model, session: &Session) {
    let plan = session.scenario().plan.as_ref();
    if plan.is_some_and(|plan| !plan.victory.is_empty()) {
        model.rehearsing = Rehearsing::UnderWay;
        model.shared = Pane::Expectations;
    }
}

/// The briefing comes first, and time waits for it.
pub(super) fn brief(model: &mut Model) {
    if model.rehearsing == Rehearsing::UnderWay {
        model.rehearsing = Rehearsing::Briefing;
        model.pace.motion = Motion::Paused;
        model.layer = Layer::Briefing(0);
    }
}

/// Tells the session when somebody looks after a page.
pub(super) fn notice_looking(session: &mut Session, model: &Model, msg: &Msg) {
    let what = match msg {
        Msg::Focus(pane) => *pane,
        Msg::FocusNext => model.focus.next(),
        Msg::FocusPrevious => model.focus.previous(),
        Msg::Expand | Msg::OpenCard => model.focus,
        Msg::OpenFilter => Pane::Events,
        _ => return,
    };
    session.viewed(&format!("pane: {}", what.name()));
}

/// A word of the prompt that is the screen's own.
pub(super) fn command(run: &mut Run, line: &str) -> Option<Msg> {
    if run.model.rehearsing == Rehearsing::Not {
        return None;
    }
    match line.trim() {
        "hint" => Some(hint(&mut run.session)),
        "ack" => Some(acknowledge(&mut run.session)),
        "give-up" => {
            run.session.give_up();
            Some(Msg::Answered(Ok("given up".to_owned())))
        }
        "briefing" => {
            run.model.prompt.clear();
            Some(Msg::OpenBriefing)
        }
        _ => None,
    }
}

/// Completes the screen's own words, where one of them is begun.
pub(super) fn complete(session: &Session, line: &str) -> Option<Completion> {
    session.rehearsal()?;
    let begun = line.trim_start();
    let words: Vec<String> = WORDS
        .iter()
        .filter(|word| !begun.is_empty() && word.starts_with(begun))
        .map(|word| (*word).to_owned())
        .collect();
    let start = line.len() - begun.len();
    (!words.is_empty()).then_some(Completion { start, words })
}

/// Says that the firing alerts are seen.
pub(super) fn acknowledge(session: &mut Session) -> Msg {
    let Some(rehearsal) = session.rehearsal() else {
        return failed("there is nothing to acknowledge");
    };
    let alerts = rehearsal.plan().alerts.iter().enumerate();
    let firing: Vec<String> = alerts
        .filter(|(place, _)| matches!(rehearsal.alert(*place), AlertState::Firing { .. }))
        .map(|(_, rule)| rule.name.clone())
        .collect();
    if firing.is_empty() {
        return failed("no alert fires");
    }
    for name in &firing {
        session.acknowledge(name);
    }
    Msg::Answered(Ok(format!("acknowledged: {}", firing.join(", "))))
}

/// The next hint.
pub(super) fn hint(session: &mut Session) -> Msg {
    match session.take_hint() {
        Some(text) => Msg::Hinted(text),
        None => failed("there is no hint now"),
    }
}

/// Whether the rehearsal has just been won or lost.
pub(super) fn decided(run: &Run) -> Option<Msg> {
    let is_news =
        run.model.rehearsing == Rehearsing::UnderWay && run.session.verdict() != Verdict::UnderWay;
    is_news.then_some(Msg::Decided)
}

/// What cannot be done, in words.
pub(super) fn failed(text: &str) -> Msg {
    Msg::Refused(Trouble {
        text: text.to_owned(),
        hint: None,
    })
}
