//! The one place where the screen's state changes: a message in, effects out.

use std::time::Duration;

use crate::command::screen::Moment;
use crate::insight::why::{self, Question};
use crate::sim::ids::ProducerIndex;
use crate::tui::line_edit::Edit;
use crate::tui::model::{Detail, Layer, Model, Notice, Origin, Rehearsing, Seek};
use crate::tui::msg::{Advanced, Branched, Effect, Life, Msg, Scroll, Sought};
use crate::tui::pace::{Motion, Pace, Speed};
use crate::tui::pane::Pane;
use crate::tui::seek::Target;
use crate::tui::zoom::Zoom;

/// Takes one message into the state; what it returns is for the shell to do, in order.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    if is_key(&msg) {
        model.notice = None;
    }
    match msg {
        Msg::Quit => vec![Effect::Quit],
        Msg::Close => close(model),
        Msg::TogglePause
        | Msg::Step
        | Msg::StepBack
        | Msg::Slower
        | Msg::Faster
        | Msg::RealTime => set_pace(model, &msg),
        Msg::Seek(target) => {
            stay(model);
            vec![Effect::Seek(target)]
        }
        Msg::StopSeek => {
            stay(model);
            Vec::new()
        }
        Msg::AskWhy => vec![Effect::Why(question(model))],
        Msg::Jump(number) => jump(model, number),
        Msg::Restart => vec![Effect::Restart],
        Msg::Save => vec![Effect::Save],
        Msg::Acknowledge => vec![Effect::Acknowledge],
        Msg::Hint => vec![Effect::Hint],
        Msg::Fork => vec![Effect::Fork],
        Msg::Flip => vec![Effect::Flip],
        Msg::Redraw | Msg::Resized => vec![Effect::Clear],
        Msg::Suspend => vec![Effect::Suspend],
        Msg::Edit(_)
        | Msg::Paste(_)
        | Msg::Accept
        | Msg::HistoryOlder
        | Msg::HistoryNewer
        | Msg::Complete => type_in(model, msg),
        Msg::Frame(elapsed) => frame(model, elapsed),
        Msg::Advanced(advanced) => {
            advance(model, advanced);
            Vec::new()
        }
        Msg::Branched(branched) => {
            branch(model, branched);
            Vec::new()
        }
        Msg::Sought(sought) => {
            seek(model, sought);
            Vec::new()
        }
        Msg::Answered(_)
        | Msg::Completed(_)
        | Msg::Explained(_)
        | Msg::Restarted(_)
        | Msg::NotRestarted(_)
        | Msg::Decided
        | Msg::Refused(_)
        | Msg::Hinted(_) => {
            answer(model, msg);
            Vec::new()
        }
        look => {
            look_at(model, &look);
            Vec::new()
        }
    }
}

/// Whether a person did something, so that what was said before is read.
fn is_key(msg: &Msg) -> bool {
    !matches!(
        msg,
        Msg::Frame(_)
            | Msg::Advanced(_)
            | Msg::Sought(_)
            | Msg::Branched(_)
            | Msg::Resized
            | Msg::Answered(_)
            | Msg::Completed(_)
            | Msg::Explained(_)
            | Msg::Restarted(_)
            | Msg::NotRestarted(_)
            | Msg::Decided
            | Msg::Hinted(_)
            | Msg::Refused(_)
    )
}

/// `Esc`: the top layer closes; with none left, a run from the list of scenarios may be left.
fn close(model: &mut Model) -> Vec<Effect> {
    match std::mem::replace(&mut model.layer, Layer::None) {
        Layer::Prompt => model.prompt.clear(),
        Layer::Filter => {
            model.filter.take();
        }
        Layer::None if model.detail == Detail::Expanded => model.detail = Detail::Dashboard,
        Layer::None if !model.filter.is_empty() => {
            model.filter.take();
        }
        Layer::None if model.origin == Origin::Picker => model.layer = Layer::Leave,
        Layer::Briefing(_) if model.rehearsing == Rehearsing::Briefing => {
            model.rehearsing = Rehearsing::UnderWay;
            model.pace.motion = Motion::Running;
            model.pace.forget();
        }
        Layer::None
        | Layer::Help(_)
        | Layer::Card(_)
        | Layer::Why(..)
        | Layer::Text(..)
        | Layer::Output(..)
        | Layer::Briefing(_)
        | Layer::Debrief(_)
        | Layer::Hint(..)
        | Layer::Leave => {}
    }
    Vec::new()
}

fn set_pace(model: &mut Model, msg: &Msg) -> Vec<Effect> {
    match msg {
        Msg::TogglePause => {
            model.pace.motion = match model.pace.motion {
                Motion::Running | Motion::Seeking(_) => Motion::Paused,
                Motion::Paused => Motion::Running,
            };
            model.seek = None;
            model.pace.forget();
        }
        Msg::Step => {
            stay(model);
            return vec![Effect::Step];
        }
        Msg::StepBack => {
            stay(model);
            return vec![Effect::StepBack];
        }
        Msg::Slower => set_speed(model, model.pace.speed.slower()),
        Msg::Faster => set_speed(model, model.pace.speed.faster()),
        _ => set_speed(model, Speed::REAL),
    }
    Vec::new()
}

fn set_speed(model: &mut Model, speed: Speed) {
    model.pace.speed = speed;
    model.pace.forget();
}

/// What changes only the way things are looked at.
fn look_at(model: &mut Model, msg: &Msg) {
    match *msg {
        Msg::Help => model.layer = Layer::Help(0),
        Msg::FocusNext => model.focus_on(model.focus.next()),
        Msg::FocusPrevious => model.focus_on(model.focus.previous()),
        Msg::Focus(pane) => model.focus_on(pane),
        Msg::Expand => {
            model.detail = match model.detail {
                Detail::Dashboard => Detail::Expanded,
                Detail::Expanded => Detail::Dashboard,
            };
        }
        Msg::ZoomIn => zoom_to(model, model.zoom.closer(model.run)),
        Msg::ZoomOut => zoom_to(model, model.zoom.wider(model.run)),
        Msg::Scroll(by) => scroll(model, by),
        Msg::ProducerNext => model.producer = (model.producer + 1) % model.producers.max(1),
        Msg::ProducerPrevious => {
            let producers = model.producers.max(1);
            model.producer = (model.producer + producers - 1) % producers;
        }
        Msg::OpenPrompt => model.layer = Layer::Prompt,
        Msg::OpenFilter => {
            model.focus_on(Pane::Events);
            model.layer = Layer::Filter;
        }
        Msg::OpenCard => model.layer = Layer::Card(0),
        Msg::OpenBriefing => model.layer = briefing(model),
        _ => {}
    }
}

/// The briefing, or the debrief once there is one.
fn briefing(model: &Model) -> Layer {
    match model.rehearsing {
        Rehearsing::Not => model.layer.clone(),
        Rehearsing::Briefing | Rehearsing::UnderWay => Layer::Briefing(0),
        Rehearsing::Decided => Layer::Debrief(0),
    }
}

/// To a moment that an answer names; nowhere from any other text.
fn jump(model: &mut Model, number: u8) -> Vec<Effect> {
    let Layer::Why(chains, _) = &model.layer else {
        return Vec::new();
    };
    let moments = why::moments(chains);
    let named = moments.get(usize::from(number).wrapping_sub(1)).copied();
    named.map_or_else(Vec::new, |at| {
        model.layer = Layer::None;
        stay(model);
        vec![Effect::Seek(Target::Moment(Moment::At(at)))]
    })
}

/// What somebody asks who looks at the focused pane and asks why.
fn question(model: &Model) -> Question {
    match model.focus {
        Pane::Fill | Pane::Wait => {
            let last = model.producers.saturating_sub(1);
            Question::Producer(ProducerIndex(model.producer.min(last) as u16))
        }
        Pane::Partitions | Pane::Ledger => Question::Partitions,
        Pane::Markers => Question::Transactions,
        Pane::Cluster => Question::Cluster,
        Pane::Warnings | Pane::Expectations => Question::Warnings,
        Pane::Events => Question::Events,
    }
}

fn zoom_to(model: &mut Model, zoom: Zoom) {
    model.zoom = zoom;
    model.notice = Some(Notice::Done(format!(
        "the time axis shows the {}",
        zoom.name()
    )));
}

fn scroll(model: &mut Model, by: Scroll) {
    let pane = model.focus;
    let extent = model.extents[pane.index()];
    let layer_extent = model.layer_extent;
    let (place, extent, by) = match &mut model.layer {
        Layer::Help(line)
        | Layer::Card(line)
        | Layer::Why(_, line)
        | Layer::Text(_, line)
        | Layer::Output(_, line)
        | Layer::Briefing(line)
        | Layer::Debrief(line)
        | Layer::Hint(_, line) => (line, layer_extent, by),
        // Events are counted up from the newest.
        _ if pane == Pane::Events => (&mut model.scroll[pane.index()], extent, reversed(by)),
        _ => (&mut model.scroll[pane.index()], extent, by),
    };
    let page = extent.visible.saturating_sub(1).max(1);
    let from = (*place).min(extent.scroll_max());
    let to = match by {
        Scroll::Up => from.saturating_sub(1),
        Scroll::Down => from.saturating_add(1),
        Scroll::PageUp => from.saturating_sub(page),
        Scroll::PageDown => from.saturating_add(page),
    };
    *place = to.min(extent.scroll_max());
}

const fn reversed(by: Scroll) -> Scroll {
    match by {
        Scroll::Up => Scroll::Down,
        Scroll::Down => Scroll::Up,
        Scroll::PageUp => Scroll::PageDown,
        Scroll::PageDown => Scroll::PageUp,
    }
}

fn type_in(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match model.layer {
        Layer::Prompt => type_command(model, msg),
        Layer::Filter => {
            type_filter(model, msg);
            Vec::new()
        }
        Layer::Leave if msg == Msg::Accept => vec![Effect::ToPicker],
        _ => Vec::new(),
    }
}

fn type_command(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let prompt = &mut model.prompt;
    match msg {
        // Backspace on an empty line leaves the prompt, as in editors.
        Msg::Edit(Edit::Backspace) if prompt.line.is_empty() => model.layer = Layer::None,
        Msg::Edit(edit) => prompt.edit(edit),
        Msg::Paste(text) => prompt.paste(&text),
        Msg::HistoryOlder => prompt.older(),
        Msg::HistoryNewer => prompt.newer(),
        Msg::Complete if !prompt.next_offer() => {
            return vec![Effect::Complete(prompt.line.before_cursor())];
        }
        Msg::Accept => match prompt.accept() {
            Some(line) => return vec![Effect::Command(line)],
            None => model.layer = Layer::None,
        },
        _ => {}
    }
    Vec::new()
}

fn type_filter(model: &mut Model, msg: Msg) {
    match msg {
        Msg::Edit(Edit::Backspace) if model.filter.is_empty() => model.layer = Layer::None,
        Msg::Edit(edit) => {
            model.filter.apply(edit);
        }
        Msg::Paste(text) => {
            text.lines().next().unwrap_or("").chars().for_each(|c| {
                model.filter.apply(Edit::Insert(c));
            });
        }
        Msg::Accept => model.layer = Layer::None,
        _ => {}
    }
    model.scroll[Pane::Events.index()] = 0;
}

fn frame(model: &mut Model, elapsed: Duration) -> Vec<Effect> {
    if model.life == Life::Over || model.pace.motion == Motion::Paused {
        return Vec::new();
    }
    vec![Effect::Advance(elapsed)]
}

fn advance(model: &mut Model, advanced: Advanced) {
    model.life = advanced.life;
    if !advanced.elapsed.is_zero() {
        model
            .pace
            .record(advanced.elapsed, advanced.to.since(advanced.from));
    }
    if let Some(seek) = &mut model.seek {
        seek.spent += advanced.elapsed;
    }
    let has_arrived = matches!(model.pace.motion, Motion::Seeking(to) if to <= advanced.to);
    if has_arrived && let Some(seek) = model.seek.take() {
        model.notice = Some(Notice::Done(seek.words));
    }
    if has_arrived || advanced.life == Life::Over {
        stay(model);
    }
}

/// Simulated time waits for a key.
fn stay(model: &mut Model) {
    model.pace.motion = Motion::Paused;
    model.pace.forget();
    model.seek = None;
}

/// There is another number of branches, or another one in focus.
fn branch(model: &mut Model, branched: Branched) {
    if model.layer == Layer::Prompt {
        model.prompt.clear();
        model.layer = Layer::None;
    }
    model.fork = branched.focus;
    model.life = branched.life;
    model.run = branched.length;
    model.producers = branched.producers;
    model.notice = Some(Notice::Done(branched.words));
    if branched.life == Life::Over {
        stay(model);
    }
}

/// A seek began; where it did not get there at once, frames go on.
fn seek(model: &mut Model, sought: Sought) {
    if model.layer == Layer::Prompt {
        model.prompt.clear();
        model.layer = Layer::None;
    }
    model.pace.motion = Motion::Seeking(sought.to);
    model.seek = Some(Seek {
        from: sought.way.to,
        spent: Duration::ZERO,
        words: sought.words,
    });
    advance(model, sought.way);
}

fn answer(model: &mut Model, msg: Msg) {
    match msg {
        Msg::Answered(Ok(sentence)) => {
            model.prompt.clear();
            // A tool that prints nothing has done what it was asked for.
            if sentence.is_empty() {
                model.layer = Layer::None;
                model.notice = Some(Notice::Done("done".to_owned()));
                return;
            }
            // What a tool shows has lines, and a layer to be read in.
            if sentence.contains('\n') {
                model.layer = Layer::Output(sentence, 0);
            } else {
                model.layer = Layer::None;
                model.notice = Some(Notice::Done(sentence));
            }
        }
        Msg::Answered(Err(trouble)) if model.layer == Layer::Prompt => {
            model.prompt.trouble = Some(trouble);
        }
        Msg::Answered(Err(trouble)) => model.notice = Some(Notice::Failed(trouble)),
        Msg::Completed(completion) => model.prompt.complete(&completion),
        Msg::Explained(chains) => model.layer = Layer::Why(chains, 0),
        Msg::Restarted(sentence) => restart(model, sentence),
        Msg::NotRestarted(text) => model.layer = Layer::Text(text, 0),
        Msg::Decided => {
            model.rehearsing = Rehearsing::Decided;
            model.pace.motion = Motion::Paused;
            model.pace.forget();
            model.prompt.clear();
            model.layer = Layer::Debrief(0);
        }
        Msg::Refused(trouble) => {
            model.prompt.clear();
            if model.layer == Layer::Prompt {
                model.layer = Layer::None;
            }
            model.notice = Some(Notice::Failed(trouble));
        }
        Msg::Hinted(text) => {
            model.prompt.clear();
            model.layer = Layer::Hint(text, 0);
        }
        _ => {}
    }
}

/// The run starts over; the way of looking at it stays.
fn restart(model: &mut Model, sentence: String) {
    // A run that was over starts moving again; one that was paused stays so.
    let motion = match model.life {
        Life::Over => Motion::Running,
        Life::Going if model.seek.is_some() => Motion::Paused,
        Life::Going => model.pace.motion,
    };
    model.seek = None;
    model.fork = None;
    model.pace = Pace::new(motion, model.pace.speed);
    model.life = Life::Going;
    model.layer = Layer::None;
    if model.rehearsing == Rehearsing::Decided {
        model.rehearsing = Rehearsing::UnderWay;
    }
    model.scroll = [0; crate::tui::pane::PANES];
    model.notice = Some(Notice::Done(sentence));
}

#[cfg(test)]
mod tests;
