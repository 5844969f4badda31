//! The screen as text: what people see at some moments, at three sizes, in both character sets; what
//! keys do to it; and that no size of terminal makes it fail.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use kdrill::scenario::Scenario;
use kdrill::session::{Memory, Session};
use kdrill::tui::model::{Detail, Layer, Origin};
use kdrill::tui::msg::{Effect, Life, Msg};
use kdrill::tui::pace::Speed;
use kdrill::tui::pane::Pane;
use kdrill::tui::theme::{Charset, Colors, Theme};
use kdrill::tui::{Load, Run};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::support::{embedded, run_to_end, seconds, written};

/// A run on a screen without a terminal.
struct Stage {
    run: Run,
    area: Rect,
    load: Load,
    left: Vec<Effect>,
}

impl Stage {
    fn of(scenario: Arc<Scenario>, size: (u16, u16), theme: Theme) -> Self {
        let run = Run::new(
            Session::new(scenario),
            theme,
            Speed::REAL,
            Origin::CommandLine,
        );
        let load: Load = Box::new(|name| Ok(Scenario::clone(&embedded(name))));
        let mut stage = Self {
            run,
            area: Rect::new(0, 0, size.0, size.1),
            load,
            left: Vec::new(),
        };
        stage.run.measure(stage.area);
        stage
    }

    fn new(name: &str, size: (u16, u16)) -> Self {
        Self::of(
            embedded(name),
            size,
            Theme::new(Colors::True, Charset::Unicode),
        )
    }

    /// Lets the run get to a moment, as frames would.
    fn at(mut self, moment: f64) -> Self {
        let _reached = self.run.session.advance_to(seconds(moment), u64::MAX);
        if self.run.session.is_over() {
            self.run.model.life = Life::Over;
        }
        self.run.measure(self.area);
        self
    }

    fn press(mut self, keys: &[KeyCode]) -> Self {
        for &code in keys {
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            if let Some(msg) = self.run.meaning(&key) {
                self.left.extend(self.run.apply(msg, &self.load));
            }
            self.run.measure(self.area);
        }
        self
    }

    fn type_in(self, text: &str) -> Self {
        let keys: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
        self.press(&keys)
    }

    fn buffer(&self) -> Buffer {
        let mut buffer = Buffer::empty(self.area);
        let _cursor = self.run.draw(&mut buffer);
        buffer
    }

    fn text(&self) -> String {
        letters(&self.buffer(), |buffer, x, y| {
            buffer[(x, y)].symbol().to_owned()
        })
    }

    /// A letter for the style of every cell: what a text cannot show.
    fn styles(&self) -> String {
        letters(&self.buffer(), |buffer, x, y| {
            let cell = &buffer[(x, y)];
            let letter = match cell.fg {
                Color::Reset if cell.modifier.contains(Modifier::DIM) => '.',
                Color::Reset if cell.modifier.contains(Modifier::BOLD) => 'B',
                Color::Reset => ' ',
                Color::Rgb(217, ..) => 'r',
                Color::Rgb(207, ..) => 'y',
                Color::Rgb(82, ..) => 'g',
                Color::Rgb(38, ..) => 'a',
                _ => 'c',
            };
            letter.to_string()
        })
    }
}

fn letters(buffer: &Buffer, letter: impl Fn(&Buffer, u16, u16) -> String) -> String {
    let area = buffer.area;
    let mut lines = Vec::new();
    for y in area.top()..area.bottom() {
        let line: String = (area.left()..area.right())
            .map(|x| letter(buffer, x, y))
            .collect();
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

const SMALL: (u16, u16) = (80, 24);
const MEDIUM: (u16, u16) = (120, 36);
const LARGE: (u16, u16) = (200, 60);
const ENTER: KeyCode = KeyCode::Enter;
const ESC: KeyCode = KeyCode::Esc;

fn ascii(colors: Colors) -> Theme {
    Theme::new(colors, Charset::Ascii)
}

// === Pictures ===

#[test]
fn a_buffer_fills() {
    insta::assert_snapshot!(Stage::new("full-buffer", MEDIUM).at(6.0).text());
}

#[test]
fn a_thread_is_blocked_for_good() {
    insta::assert_snapshot!(
        "blocked-80x24",
        Stage::new("full-buffer", SMALL).at(110.0).text()
    );
    insta::assert_snapshot!(
        "blocked-120x36",
        Stage::new("full-buffer", MEDIUM).at(110.0).text()
    );
    insta::assert_snapshot!(
        "blocked-200x60",
        Stage::new("full-buffer", LARGE).at(110.0).text()
    );
}

#[test]
fn a_thread_is_blocked_for_good_in_ascii() {
    for (name, size) in [("80x24", SMALL), ("120x36", MEDIUM), ("200x60", LARGE)] {
        let stage = Stage::of(embedded("full-buffer"), size, ascii(Colors::None)).at(110.0);
        let text = stage.text();
        assert!(text.is_ascii());
        insta::assert_snapshot!(format!("blocked-ascii-{name}"), text);
    }
}

#[test]
fn a_run_that_is_over_stays() {
    insta::assert_snapshot!(Stage::new("full-buffer", MEDIUM).at(190.0).text());
}

#[test]
fn lanes_show_what_became_of_each_owners_records() {
    insta::assert_snapshot!("lanes-120x36", Stage::new("zombie", MEDIUM).at(41.5).text());
    let small = Stage::new("fare-and-payout", SMALL).at(8.25).text();
    insta::assert_snapshot!("lanes-80x24", small);
    let load = Stage::new("shard-ids", LARGE).at(10.3).text();
    insta::assert_snapshot!("lanes-200x60", load);
}

#[test]
fn trouble_is_red_and_nothing_else_is() {
    insta::assert_snapshot!(Stage::new("full-buffer", SMALL).at(110.0).styles());
}

#[test]
fn every_key_of_the_table_is_in_the_help() {
    let stage = Stage::new("full-buffer", (100, 110)).type_in("?");
    let text = stage.text();
    for binding in kdrill::tui::keymap::KEYMAP
        .iter()
        .filter(|one| !one.help.is_empty())
    {
        assert!(text.contains(binding.help), "{}", binding.help);
    }
}

// === Stories ===

#[test]
fn a_typed_fault_is_confirmed_and_then_seen() {
    let stage = Stage::new("full-buffer", MEDIUM)
        .at(5.0)
        .type_in(":link cut trips 1")
        .press(&[ENTER]);
    assert!(stage.text().contains("✓ "), "{}", stage.text());
    let text = stage.at(5.2).text();
    assert!(text.contains("━╳ 1 cut"), "{text}");
}

#[test]
fn a_wrong_command_stays_with_its_hint_until_it_is_mended() {
    let stage = Stage::new("full-buffer", MEDIUM)
        .at(1.0)
        .type_in(":broker kill 9")
        .press(&[ENTER]);
    let text = stage.text();
    assert!(text.contains("there is no broker"), "{text}");
    assert!(text.contains(":broker kill 9"), "{text}");
    let stage = stage
        .press(&[KeyCode::Backspace])
        .type_in("2")
        .press(&[ENTER]);
    assert_eq!(stage.run.model.layer, Layer::None);
    assert_eq!(stage.run.session.journal().len(), 1);
}

#[test]
fn tab_completes_with_the_names_of_the_scenario() {
    let stage = Stage::new("full-buffer", MEDIUM)
        .type_in(":producer pau")
        .press(&[KeyCode::Tab])
        .type_in("tr")
        .press(&[KeyCode::Tab]);
    assert_eq!(
        stage.run.model.prompt.line.text().trim_end(),
        "producer pause trips"
    );
}

#[test]
fn a_filter_leaves_only_events_that_contain_it() {
    let stage = Stage::new("full-buffer", MEDIUM)
        .at(61.0)
        .type_in("/link")
        .press(&[ENTER, KeyCode::Char('e')]);
    let text = stage.text();
    assert!(text.contains("link-changed"), "{text}");
    assert!(!text.contains("connected to node"), "{text}");
}

#[test]
fn an_expanded_pane_takes_the_screen_and_gives_it_back() {
    let stage = Stage::new("full-buffer", MEDIUM).at(20.0).type_in("1e");
    assert!(stage.text().contains("record-queue-time-avg"));
    assert!(!stage.text().contains("Expectations"));
    let stage = stage.press(&[ESC]);
    assert_eq!(stage.run.model.detail, Detail::Dashboard);
    assert!(stage.text().contains("Expectations"));
}

#[test]
fn a_card_says_what_is_exact_approximated_and_absent() {
    for pane in Pane::ALL {
        let stage = Stage::new("full-buffer", SMALL);
        let text = stage.type_in(&pane.digit().to_string()).type_in("i").text();
        for word in ["exact", "approximated", "absent"] {
            assert!(text.contains(word), "{pane:?}: {text}");
        }
    }
}

#[test]
fn the_footer_offers_only_keys_that_do_something() {
    let going = Stage::new("full-buffer", MEDIUM).at(1.0);
    assert!(going.text().contains("Space pause"));
    let paused = going.type_in(" ");
    assert!(paused.text().contains("Space go on"));
    let over = paused.at(190.0);
    let text = over.text();
    let footer = text.lines().last().expect("a footer");
    assert!(
        !footer.contains("Space") && !footer.contains("speed"),
        "{footer}"
    );
    assert!(footer.contains("q quit"), "{footer}");
}

#[test]
fn ctrl_r_starts_over() {
    let mut stage = Stage::new("full-buffer", MEDIUM).at(30.0);
    let _left = stage.run.apply(Msg::Restart, &stage.load);
    assert_eq!(stage.run.session.now(), seconds(0.0));
    assert!(stage.text().contains("started over with the same scenario"));
}

#[test]
fn a_file_that_is_broken_by_now_is_shown_and_the_run_stays() {
    let mut stage = Stage::new("full-buffer", MEDIUM).at(30.0);
    stage.load = Box::new(|_| Err("error: expected `=`\n  --> mine.toml:3:7".to_owned()));
    let _left = stage.run.apply(Msg::Restart, &stage.load);
    assert!(stage.text().contains("mine.toml:3:7"));
    assert_eq!(stage.press(&[ESC]).run.session.now(), seconds(30.0));
}

#[test]
fn going_back_shows_the_run_as_it_was() {
    let stage = Stage::new("full-buffer", MEDIUM).at(6.0);
    // The header says that the run has been further.
    let panes = |stage: &Stage| stage.text().lines().skip(2).collect::<Vec<_>>().join("\n");
    let before = panes(&stage);
    let mut stage = stage.at(30.0);
    stage.run.session.rewind_to(seconds(6.0));
    assert_eq!(panes(&stage), before);
}

#[test]
fn names_full_of_terminal_escapes_are_shown_escaped() {
    let scenario = Scenario {
        title: "red \u{1b}[31m and \u{202e}reversed".to_owned(),
        ..Scenario::clone(&embedded("full-buffer"))
    };
    let theme = Theme::new(Colors::True, Charset::Unicode);
    let text = Stage::of(Arc::new(scenario), MEDIUM, theme).text();
    assert!(text.contains("\\x1b[31m and \\u{202e}"), "{text}");
}

// === Looking changes nothing ===

#[test]
fn a_run_with_all_its_panes_open_is_the_run_without_a_screen() {
    let headless = run_to_end(embedded("full-buffer")).digest();
    let mut stage = Stage::new("full-buffer", MEDIUM);
    let mut step = 1_u64;
    while !stage.run.session.is_over() {
        // Frames of changing length, each with another pane open.
        step = step * 7 % 1_009;
        let target = stage.run.session.now() + kdrill::sim::time::SimSpan::from_millis(step);
        let _reached = stage.run.session.advance_to(target, 50 + step);
        let pane = Pane::ALL[(step % 9) as usize];
        stage = stage.type_in(&pane.digit().to_string());
        let _drawn = stage.buffer();
    }
    assert_eq!(stage.run.session.digest(), headless);
}

#[test]
fn frames_follow_the_pace() {
    let mut stage = Stage::new("full-buffer", MEDIUM).type_in(">>");
    for _ in 0..20 {
        let frame = Msg::Frame(Duration::from_millis(50));
        let _left = stage.run.apply(frame, &stage.load);
    }
    assert_eq!(stage.run.session.now(), seconds(4.0));
    assert!(
        stage.text().contains("speed ×4, reached ×4.0"),
        "{}",
        stage.text()
    );
}

// === Any size ===

#[test]
fn no_size_of_terminal_makes_a_screen_fail() {
    let theme = Theme::new(Colors::True, Charset::Unicode);
    let mut stage = Stage::of(embedded("full-buffer"), SMALL, theme).at(20.0);
    let sizes = [
        0, 1, 2, 3, 5, 8, 13, 24, 34, 40, 79, 80, 99, 100, 120, 159, 160, 200, 400,
    ];
    for width in sizes {
        for height in [0, 1, 2, 3, 5, 8, 13, 23, 24, 33, 34, 36, 45, 60, 120] {
            stage.area = Rect::new(0, 0, width, height);
            stage.run.measure(stage.area);
            let _drawn = stage.buffer();
        }
    }
}

#[test]
fn every_pane_and_layer_can_be_drawn_at_every_small_size() {
    for keys in ["", "e", "?", "i", ":broker ", "/x"] {
        for pane in Pane::ALL {
            let mut stage = Stage::new("full-buffer", SMALL)
                .type_in(&pane.digit().to_string())
                .type_in(keys);
            for (width, height) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (80, 24), (81, 25)] {
                stage.area = Rect::new(0, 0, width, height);
                stage.run.measure(stage.area);
                let _drawn = stage.buffer();
            }
        }
    }
}

#[test]
fn a_terminal_that_is_too_small_gets_a_sentence() {
    let text = Stage::new("full-buffer", (40, 10)).text();
    assert!(
        text.replace('\n', " ")
            .contains("kdrill needs 80 columns and 24 lines"),
        "{text}"
    );
}

#[test]
fn a_scenario_with_next_to_nothing_in_it_can_be_shown() {
    let scenario = written(
        "# What is there to see?\n[scenario]\nformat = 1\ntitle = \"Nothing\"\nduration = \"10s\"\n\
         [cluster]\nbrokers = 1\n[[topic]]\nname = \"t\"\npartitions = 1\nreplication-factor = 1\n\
         [[producer]]\nname = \"quiet\"\n",
    );
    let theme = Theme::new(Colors::Sixteen, Charset::Unicode);
    let text = Stage::of(scenario, MEDIUM, theme).at(3.0).text();
    assert!(text.contains("nothing to warn about"), "{text}");
}

#[test]
fn the_load_pane_says_how_many_partitions_it_leaves_out() {
    let many = |partitions: u32| {
        written(&format!(
            "# Which of them is full?\n[scenario]\nformat = 1\ntitle = \"Many\"\n\
             duration = \"10s\"\n[cluster]\nbrokers = 3\n[[topic]]\nname = \"t\"\n\
             partitions = {partitions}\nreplication-factor = 1\n[[producer]]\nname = \"trips\"\n\
             [[producer.load]]\ntopic = \"t\"\nrate = 100\n"
        ))
    };
    for size in [SMALL, MEDIUM, LARGE] {
        let shown = |partitions| {
            let theme = Theme::new(Colors::Sixteen, Charset::Unicode);
            Stage::of(many(partitions), size, theme).at(3.0).text()
        };
        assert!(!shown(1_000).contains("left out"), "{}", shown(1_000));
        let text = shown(2_500);
        assert!(
            text.contains("1,500 more partitions are left out"),
            "{text}"
        );
    }
}

#[test]
fn producers_take_turns_in_panes_of_one() {
    let stage = Stage::new("ten-quiet-producers", MEDIUM).at(2.0);
    assert!(stage.text().contains("(1 of 10)"), "{}", stage.text());
    let stage = stage.press(&[KeyCode::Right, KeyCode::Right]);
    assert!(stage.text().contains("(3 of 10)"), "{}", stage.text());
}

#[test]
fn a_session_without_snapshots_can_be_shown_too() {
    let session = Session::with_memory(embedded("full-buffer"), Memory::ForwardsOnly);
    let theme = ascii(Colors::Indexed);
    let run = Run::new(session, theme, Speed::Max, Origin::CommandLine);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    let _cursor = run.draw(&mut buffer);
    assert!(buffer.content.iter().all(|cell| cell.symbol().is_ascii()));
}
