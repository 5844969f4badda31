//! What is pressed and typed in a recording, one action a line.
//!
//! ```text
//! # comments and empty lines are passed over
//! at 12s press space              # when the simulated clock shows 12 s
//! type ":broker kill 2"           # a character a frame
//! press Enter
//! wait 2s                         # seconds of the recording
//! press Tab Tab e
//! ```

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::command::units;
use crate::sim::time::SimSpan;

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Wait until the simulated clock shows this.
    At(SimSpan),
    /// Wait for so long, in time of the recording.
    Wait(SimSpan),
    /// Press a key.
    Press(KeyEvent),
    /// Press a key, and let it be seen before anything else is done.
    Type(char),
}

/// Actions in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    actions: Vec<Action>,
}

/// A line that says nothing that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProblem {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub text: String,
}

impl fmt::Display for ScriptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl std::error::Error for ScriptProblem {}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, ScriptProblem> {
        let mut actions = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let problem = |text: String| ScriptProblem { line: number, text };
            let words = shell_words::split(line)
                .map_err(|_unclosed| problem("a quotation mark is not closed".to_owned()))?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let words = match words.iter().position(|word| word.starts_with('#')) {
                Some(comment) => &words[..comment],
                None => &words[..],
            };
            read(words, &mut actions).map_err(problem)?;
        }
        Ok(Self { actions })
    }

    pub(super) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter()
    }
}

fn read(words: &[&str], actions: &mut Vec<Action>) -> Result<(), String> {
    const EXPECTED: &str = "expected `at TIME …`, `wait TIME`, `press KEY …` or `type \"TEXT\"`";
    match words {
        [] => Ok(()),
        ["at", time, rest @ ..] => {
            actions.push(Action::At(duration(time)?));
            read(rest, actions)
        }
        ["wait", time] => {
            actions.push(Action::Wait(duration(time)?));
            Ok(())
        }
        ["press", keys @ ..] if !keys.is_empty() => {
            for name in keys {
                actions.push(Action::Press(key(name)?));
            }
            Ok(())
        }
        ["type", text] => {
            actions.extend(text.chars().map(Action::Type));
            Ok(())
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

fn duration(text: &str) -> Result<SimSpan, String> {
    units::duration(text).map_err(|problem| problem.to_string())
}

/// A key by its name: a character, `space`, `Enter`, `F5`, `Ctrl+R`.
fn key(name: &str) -> Result<KeyEvent, String> {
    let (modifiers, rest) = match name.split_once('+') {
        Some((ctrl, rest)) if ctrl.eq_ignore_ascii_case("ctrl") && !rest.is_empty() => {
            (KeyModifiers::CONTROL, rest)
        }
        _ => (KeyModifiers::NONE, name),
    };
    let mut characters = rest.chars();
    let code = match (characters.next(), characters.next()) {
        (Some(only), None) if modifiers == KeyModifiers::CONTROL => {
            KeyCode::Char(only.to_ascii_lowercase())
        }
        (Some(only), None) => KeyCode::Char(only),
        _ => {
            named(&rest.to_ascii_lowercase()).ok_or_else(|| format!("there is no key `{name}`"))?
        }
    };
    Ok(KeyEvent::new(code, modifiers))
}

fn named(name: &str) -> Option<KeyCode> {
    Some(match name {
        "space" => KeyCode::Char(' '),
        "enter" | "return" => KeyCode::Enter,
        "esc" | "escape" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        _ => {
            let number = name.strip_prefix('f')?.parse::<u8>().ok()?;
            KeyCode::F(Some(number).filter(|number| (1..=12).contains(number))?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_wait_for_a_moment_and_then_do_something() {
        let script = Script::parse("# a demo\n\nat 12s press space Ctrl+R\n").unwrap();
        let press = |code, modifiers| Action::Press(KeyEvent::new(code, modifiers));
        let expected = [
            Action::At(SimSpan::from_seconds(12)),
            press(KeyCode::Char(' '), KeyModifiers::NONE),
            press(KeyCode::Char('r'), KeyModifiers::CONTROL),
        ];
        assert_eq!(script.actions, expected);
    }

    #[test]
    fn what_is_typed_comes_character_by_character() {
        let script = Script::parse("type \":broker kill 2\"").unwrap();
        let typed: String = script
            .actions
            .iter()
            .map(|action| match action {
                Action::Type(c) => *c,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(typed, ":broker kill 2");
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        let problem = |text| Script::parse(text).unwrap_err().to_string();
        assert_eq!(problem("\npress hyper"), "line 2: there is no key `hyper`");
        assert!(problem("jump").starts_with("line 1: expected `at TIME …`"));
        assert!(problem("type \"open").contains("not closed"));
        assert!(problem("wait soon").starts_with("line 1: "));
    }
}
