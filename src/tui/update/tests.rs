//! Messages in, state and effects out.

use std::time::Duration;

use super::*;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::model::{Extent, RunFacts};
use crate::tui::msg::{Completion, Trouble};
use crate::tui::theme::{Charset, Colors, Theme};

fn model() -> Model {
    let facts = RunFacts {
        length: SimSpan::from_seconds(190),
        producers: 3,
    };
    let theme = Theme::new(Colors::None, Charset::Unicode);
    Model::new(theme, facts, Origin::CommandLine)
}

fn tell(model: &mut Model, messages: impl IntoIterator<Item = Msg>) -> Vec<Effect> {
    messages
        .into_iter()
        .flat_map(|msg| update(model, msg))
        .collect()
}

fn typed(text: &str) -> impl Iterator<Item = Msg> {
    text.chars().map(|c| Msg::Edit(Edit::Insert(c)))
}

fn frame_to(seconds: u64, life: Life) -> Msg {
    Msg::Advanced(Advanced {
        from: SimTime::ZERO,
        to: SimTime::from_seconds(seconds),
        elapsed: Duration::from_millis(50),
        life,
    })
}

#[test]
fn a_paused_run_asks_for_no_time_until_it_goes_on() {
    let mut model = model();
    let frame = Msg::Frame(Duration::from_millis(50));
    assert_eq!(tell(&mut model, [Msg::TogglePause, frame.clone()]), []);
    let moved = tell(&mut model, [Msg::TogglePause, frame]);
    assert_eq!(moved, [Effect::Advance(Duration::from_millis(50))]);
}

#[test]
fn a_step_pauses_first() {
    let mut model = model();
    assert_eq!(tell(&mut model, [Msg::Step]), [Effect::Step]);
    assert_eq!(model.pace.motion, Motion::Paused);
}

#[test]
fn a_run_that_is_over_stays_and_can_be_looked_at() {
    let mut model = model();
    tell(&mut model, [frame_to(190, Life::Over)]);
    assert_eq!(
        tell(&mut model, [Msg::Frame(Duration::from_millis(50))]),
        []
    );
    tell(&mut model, [Msg::Focus(Pane::Ledger), Msg::Expand]);
    assert_eq!(
        (model.focus, model.detail),
        (Pane::Ledger, Detail::Expanded)
    );
}

#[test]
fn a_step_back_from_the_end_makes_a_run_that_can_go_on() {
    let mut model = model();
    tell(
        &mut model,
        [frame_to(190, Life::Over), frame_to(189, Life::Going)],
    );
    assert_eq!(model.life, Life::Going);
    assert_eq!(model.pace.motion, Motion::Paused);
}

#[test]
fn escape_closes_one_layer_after_the_other_and_never_leaves() {
    let mut model = model();
    tell(&mut model, [Msg::Expand, Msg::OpenFilter]);
    tell(&mut model, typed("leader"));
    tell(&mut model, [Msg::Accept, Msg::Help]);
    assert_eq!(tell(&mut model, [Msg::Close]), []);
    assert_eq!(model.layer, Layer::None);
    tell(&mut model, [Msg::Close]);
    assert_eq!(model.detail, Detail::Dashboard);
    assert_eq!(model.filter.text(), "leader");
    tell(&mut model, [Msg::Close]);
    assert!(model.filter.is_empty());
    assert_eq!(tell(&mut model, [Msg::Close, Msg::Close]), []);
    assert_eq!(model.layer, Layer::None);
}

#[test]
fn a_run_from_the_list_is_left_only_when_that_is_meant() {
    let mut model = model();
    model.origin = Origin::Picker;
    tell(&mut model, [Msg::Close]);
    assert_eq!(model.layer, Layer::Leave);
    assert_eq!(tell(&mut model, [Msg::Close]), []);
    assert_eq!(
        tell(&mut model, [Msg::Close, Msg::Accept]),
        [Effect::ToPicker]
    );
}

#[test]
fn a_command_that_fails_stays_to_be_mended_and_one_that_works_is_confirmed() {
    let mut model = model();
    tell(&mut model, [Msg::OpenPrompt]);
    tell(&mut model, typed("brokr kill 2"));
    let asked = tell(&mut model, [Msg::Accept]);
    assert_eq!(asked, [Effect::Command("brokr kill 2".to_owned())]);
    let trouble = Trouble {
        text: "unknown command `brokr`".to_owned(),
        hint: Some("did you mean `broker`?".to_owned()),
    };
    tell(&mut model, [Msg::Answered(Err(trouble))]);
    assert_eq!(model.prompt.line.text(), "brokr kill 2");
    assert!(model.prompt.trouble.is_some());
    tell(&mut model, typed("!"));
    assert!(model.prompt.trouble.is_none());
    tell(
        &mut model,
        [Msg::Answered(Ok("broker 2 is killed".to_owned()))],
    );
    assert_eq!(model.layer, Layer::None);
    assert_eq!(
        model.notice,
        Some(Notice::Done("broker 2 is killed".to_owned()))
    );
    tell(&mut model, [Msg::FocusNext]);
    assert_eq!(model.notice, None);
    let printed = "Topic: events\n\tPartition: 0\n".to_owned();
    tell(&mut model, [Msg::Answered(Ok(printed.clone()))]);
    assert_eq!(model.layer, Layer::Output(printed, 0));
}

#[test]
fn tab_asks_once_and_then_goes_round() {
    let mut model = model();
    tell(&mut model, [Msg::OpenPrompt]);
    tell(&mut model, typed("broker st"));
    let asked = tell(&mut model, [Msg::Complete]);
    assert_eq!(asked, [Effect::Complete("broker st".to_owned())]);
    let completion = Completion {
        start: 7,
        words: vec!["start".to_owned(), "stop".to_owned()],
    };
    tell(&mut model, [Msg::Completed(completion)]);
    assert_eq!(tell(&mut model, [Msg::Complete, Msg::Complete]), []);
    assert_eq!(model.prompt.line.text(), "broker stop");
}

#[test]
fn scrolling_stops_at_both_ends() {
    let mut model = model();
    model.focus = Pane::Partitions;
    model.extents[Pane::Partitions.index()] = Extent {
        lines: 12,
        visible: 8,
    };
    tell(&mut model, (0..20).map(|_| Msg::Scroll(Scroll::Down)));
    assert_eq!(model.scroll[Pane::Partitions.index()], 4);
    tell(&mut model, [Msg::Scroll(Scroll::PageUp)]);
    assert_eq!(model.scroll[Pane::Partitions.index()], 0);
}

#[test]
fn events_scroll_away_from_the_newest() {
    let mut model = model();
    model.focus = Pane::Events;
    model.extents[Pane::Events.index()] = Extent {
        lines: 100,
        visible: 10,
    };
    tell(
        &mut model,
        [Msg::Scroll(Scroll::Up), Msg::Scroll(Scroll::Up)],
    );
    assert_eq!(model.scroll[Pane::Events.index()], 2);
}

#[test]
fn producers_take_turns() {
    let mut model = model();
    tell(&mut model, [Msg::ProducerPrevious]);
    assert_eq!(model.producer, 2);
    tell(&mut model, [Msg::ProducerNext, Msg::ProducerNext]);
    assert_eq!(model.producer, 1);
}

#[test]
fn starting_over_keeps_the_way_of_looking() {
    let mut model = model();
    tell(
        &mut model,
        [Msg::Focus(Pane::Wait), Msg::ZoomIn, Msg::Faster],
    );
    let zoom = model.zoom;
    tell(&mut model, [frame_to(190, Life::Over)]);
    tell(&mut model, [Msg::Restarted("started over".to_owned())]);
    assert_eq!((model.focus, model.zoom), (Pane::Wait, zoom));
    assert_eq!(model.life, Life::Going);
    assert_eq!(model.pace.speed.name(), "2");
}
