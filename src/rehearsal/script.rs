//! Commands with their moments, a line each: what a rehearsal is played with without a screen, and
//! what a reference solution is written in.
//!
//! ```text
//! # comments and empty lines are passed over
//! at 75s kafka-topics.sh --describe       # when the simulated clock shows 75 s
//! at page+5s broker start 2               # 5 s after the first page
//! ```

use std::fmt;

use crate::command::units;
use crate::sim::time::{SimSpan, SimTime};

/// When a line is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When the simulated clock shows this.
    At(SimTime),
    /// So long after the first page.
    AfterPage(SimSpan),
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// Its number, from 1.
    pub number: usize,
    /// When it is typed.
    pub when: Moment,
    /// The command, or `hint`, or `give-up`.
    pub command: String,
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

/// Reads a script.
pub fn parse(text: &str) -> Result<Vec<ScriptLine>, ScriptProblem> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        lines.push(parse_line(line, number).map_err(|text| ScriptProblem { line: number, text })?);
    }
    Ok(lines)
}

/// Reads one line.
pub fn parse_line(line: &str, number: usize) -> Result<ScriptLine, String> {
    const EXPECTED: &str = "expected `at 75s COMMAND` or `at page+5s COMMAND`";
    let rest = line
        .trim()
        .strip_prefix("at ")
        .ok_or_else(|| EXPECTED.to_owned())?;
    let (moment, command) = rest
        .trim_start()
        .split_once(char::is_whitespace)
        .ok_or_else(|| EXPECTED.to_owned())?;
    let span = |text: &str| units::duration(text).map_err(|problem| problem.to_string());
    let when = match moment.strip_prefix("page") {
        Some("") => Moment::AfterPage(SimSpan::ZERO),
        Some(after) => {
            let after = after.strip_prefix('+').ok_or_else(|| EXPECTED.to_owned())?;
            Moment::AfterPage(span(after)?)
        }
        None => Moment::At(SimTime::ZERO + span(moment)?),
    };
    Ok(ScriptLine {
        number,
        when,
        command: command.trim().to_owned(),
    })
}

impl fmt::Display for ScriptLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            Moment::At(at) => {
                let shown = units::show_duration(at.since(SimTime::ZERO));
                write!(f, "at {shown} {}", self.command)
            }
            Moment::AfterPage(span) => {
                write!(f, "at page+{} {}", units::show_duration(span), self.command)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_at_a_moment_or_so_long_after_the_first_page() {
        let lines = parse("# try\n\nat 75s broker start 2\nat page+5s  hint\n").unwrap();
        assert_eq!(lines[0].when, Moment::At(SimTime::from_seconds(75)));
        assert_eq!(lines[0].command, "broker start 2");
        let after = SimSpan::from_seconds(5);
        assert_eq!(lines[1].when, Moment::AfterPage(after));
        assert_eq!((lines[1].number, lines[1].command.as_str()), (4, "hint"));
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        let problem = |text| parse(text).unwrap_err().to_string();
        assert!(problem("\nbroker start 2").starts_with("line 2: expected `at 75s COMMAND`"));
        assert!(problem("at soon hint").starts_with("line 1: "));
        assert!(problem("at page-3s hint").starts_with("line 1: expected"));
        assert!(problem("at 75s").starts_with("line 1: expected"));
    }

    #[test]
    fn a_line_reads_back_as_it_is_shown() {
        for text in ["at 75s broker start 2", "at page+1500ms hint"] {
            let line = parse_line(text, 1).unwrap();
            assert_eq!(parse_line(&line.to_string(), 1), Ok(line));
        }
    }
}
