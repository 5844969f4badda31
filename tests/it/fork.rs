//! A run that is split: two branches in lock-step, one of them in focus.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyCode;
use kdrill::command::screen::Branch;
use kdrill::scenario::{Overrides, Scenario, Source, load};
use kdrill::sim::time::SimTime;
use kdrill::tui::Load;
use kdrill::tui::model::Notice;
use kdrill::tui::msg::Msg;
use kdrill::tui::pace::Speed;
use ratatui::layout::Rect;

use crate::seek::{EVENTFUL, Stage};
use crate::support::{embedded, run_to_end, seconds, written};

const FORK: KeyCode = KeyCode::Char('F');
const FLIP: KeyCode = KeyCode::Char('f');

/// Split at 3 s, with a command in B.
fn split() -> Stage {
    let mut stage = Stage::of(written(EVENTFUL));
    stage.type_in("goto 3s");
    stage.press([FORK]);
    stage.type_in("rate trips 100");
    stage
}

/// The digests of the branch in focus, and of the other.
fn digests(stage: &Stage) -> (u64, u64) {
    let other = stage.run.other.as_ref().expect("two branches");
    (stage.run.session.digest(), other.digest())
}

#[test]
fn commands_go_to_one_branch_and_the_other_stays_the_run_that_it_was() {
    let mut stage = split();
    assert_eq!(stage.run.model.fork, Some(Branch::B));
    stage.type_in("goto end");
    let changed = format!("{EVENTFUL}[[timeline]]\nat = \"3s\"\ndo = \"rate trips 100\"\n");
    let (b, a) = digests(&stage);
    assert_eq!(a, run_to_end(written(EVENTFUL)).digest());
    assert_eq!(b, run_to_end(written(&changed)).digest());
}

#[test]
fn both_are_always_at_the_same_moment() {
    let mut stage = split();
    let same = |stage: &Stage| {
        let other = stage.run.other.as_ref().expect("two branches").now();
        assert_eq!(other, stage.now());
    };
    for line in ["goto 8s", "goto 1s", "goto +2.5s"] {
        stage.type_in(line);
        same(&stage);
    }
    for key in [',', ',', '.', '.', ']', '['] {
        stage.press([KeyCode::Char(key)]);
        same(&stage);
    }
    stage.run.model.pace.speed = Speed::Max;
    stage.press([KeyCode::Char(' ')]);
    let load: Load = Box::new(|_| Err(String::new()));
    let frame = Msg::Frame(Duration::from_millis(50));
    let _left = stage.run.apply(frame, &load);
    same(&stage);
}

#[test]
fn one_event_on_is_the_next_one_of_either_branch() {
    let mut stage = split();
    for _ in 0..20 {
        let other = stage.run.other.as_ref().expect("two branches");
        let expected = stage.run.session.next_at().min(other.next_at());
        stage.press([KeyCode::Char('.')]);
        assert_eq!(stage.now(), expected);
    }
}

#[test]
fn the_other_branch_is_one_key_away_and_takes_commands_then() {
    let mut stage = split();
    stage.press([FLIP]);
    assert_eq!(stage.run.model.fork, Some(Branch::A));
    assert!(stage.run.session.journal().is_empty());
    stage.type_in("rate fares 50");
    assert_eq!(stage.run.session.journal().len(), 1);
    stage.press([FLIP]);
    assert_eq!(stage.run.session.journal()[0].line, "rate trips 100");
}

#[test]
fn either_branch_can_be_given_up() {
    for (line, left) in [("drop b", 0), ("drop a", 1)] {
        let mut stage = split();
        stage.type_in(line);
        assert!(stage.run.other.is_none());
        assert_eq!(stage.run.model.fork, None);
        assert_eq!(stage.run.session.journal().len(), left, "{line}");
    }
}

#[test]
fn there_are_two_branches_at_most_and_a_run_that_is_one_has_none_to_drop() {
    let mut stage = split();
    stage.type_in("fork");
    let trouble = stage.run.model.prompt.trouble.clone().expect("trouble");
    assert_eq!(trouble.text, "there are two branches already");
    stage.press([KeyCode::Esc]);
    stage.type_in("drop a");
    stage.type_in("drop b");
    let trouble = stage.run.model.prompt.trouble.clone().expect("trouble");
    assert_eq!(trouble.text, "there is one branch only");
}

#[test]
fn a_branch_is_saved_as_any_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("branch.toml");
    let mut stage = split();
    stage.type_in(&format!("save {}", path.display()));
    let said = stage.run.model.notice.clone();
    assert!(matches!(said, Some(Notice::Done(words)) if words.starts_with("saved")));
    stage.type_in("goto end");
    let read = load(Source::Path(path), &Overrides::default()).expect("a scenario");
    assert_eq!(run_to_end(Arc::new(read)).digest(), digests(&stage).0);
}

#[test]
fn starting_over_ends_the_split() {
    let mut stage = split();
    let load: Load = Box::new(|_| Ok(Scenario::clone(&written(EVENTFUL))));
    let _left = stage.run.apply(Msg::Restart, &load);
    assert!(stage.run.other.is_none() && stage.run.model.fork.is_none());
    assert_eq!(stage.now(), SimTime::ZERO);
}

// === What it looks like ===

fn filling(size: (u16, u16)) -> Stage {
    let mut stage = Stage::of(embedded("full-buffer"));
    stage.area = Rect::new(0, 0, size.0, size.1);
    stage.type_in("goto 3s");
    stage.press([FORK]);
    stage.type_in("rate trips 4000");
    stage.type_in("goto 9s");
    stage
}

#[test]
fn two_branches_at_three_sizes() {
    insta::assert_snapshot!("branches-80x24", filling((80, 24)).text());
    insta::assert_snapshot!("branches-120x36", filling((120, 36)).text());
    insta::assert_snapshot!("branches-200x60", filling((200, 60)).text());
}

#[test]
fn one_pane_of_both_branches_stands_side_by_side_with_one_axis() {
    let mut stage = filling((120, 36));
    stage.press([KeyCode::Char('2'), KeyCode::Char('e')]);
    let text = stage.text();
    // Only A waits; B's empty chart has the same top all the same.
    let axis = text.lines().find(|line| line.contains("0.50┤"));
    let axis = axis.unwrap_or_else(|| panic!("no axis:\n{text}"));
    assert_eq!(axis.matches("0.50┤").count(), 2, "{text}");
}

#[test]
fn no_size_of_terminal_makes_two_branches_fail() {
    let mut stage = filling((200, 60));
    let sizes = [
        (0, 0),
        (1, 1),
        (80, 24),
        (99, 33),
        (100, 24),
        (160, 34),
        (200, 39),
        (201, 41),
        (300, 100),
    ];
    for _ in ["dashboard", "one pane"] {
        for (width, height) in sizes {
            stage.area = Rect::new(0, 0, width, height);
            let _text = stage.text();
        }
        stage.press([KeyCode::Char('e')]);
    }
    assert_eq!(stage.now(), seconds(9.0));
}
