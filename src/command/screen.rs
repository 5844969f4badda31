//! Commands of the screen: they move through the run, and nothing in the world changes.
//!
//! They are typed at the prompt like all others, but never enter the journal, and a file that has
//! them is told so: nobody watches a file.

use std::path::PathBuf;

use crate::sim::time::{SimSpan, SimTime};

use super::problem::CommandProblem;
use super::text::nearest;
use super::units;
use super::{Names, words};

/// What can be typed, and what it does.
pub const REFERENCE: &[(&str, &str)] = &[
    (
        "goto TIME|+TIME|-TIME|start|end",
        "go to a moment of the run, or so far on or back",
    ),
    (
        "save [FILE]",
        "write the run, with all that was typed in it, as a scenario that gives it again",
    ),
    (
        "fork",
        "split the run here into two branches, A and B, which go on side by side",
    ),
    ("drop a|b", "give up a branch; the other one goes on alone"),
];

/// The words that commands of the screen begin with.
const VERBS: [&str; 4] = ["goto", "save", "fork", "drop"];

/// One of the two branches of a run that was split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// The one that goes on as it was.
    A,
    /// The one for trying something else.
    B,
}

impl Branch {
    /// Its letter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// The one beside it.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A command of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenCommand {
    /// Go to a moment of the run.
    Goto(Moment),
    /// Save the run as a scenario, in this file or in one that finds its own name.
    Save(Option<PathBuf>),
    /// Split the run here into two branches.
    Fork,
    /// Give up a branch.
    Drop(Branch),
}

/// A moment as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(SimTime),
    /// So much later than now.
    Later(SimSpan),
    /// So much earlier than now.
    Earlier(SimSpan),
    /// The end of the run.
    End,
}

impl Moment {
    /// The start of the run.
    pub const START: Self = Self::At(SimTime::ZERO);

    /// The moment that is meant at `now` of a run that lasts until `end`.
    pub fn from(self, now: SimTime, end: SimTime) -> SimTime {
        match self {
            Self::At(at) => at.min(end),
            Self::Later(span) => (now + span).min(end),
            Self::Earlier(span) => now - span,
            Self::End => end,
        }
    }
}

/// The word that a line begins with, if it is one of the screen's.
pub fn verb(line: &str) -> Option<&'static str> {
    let first = line.split_whitespace().next()?;
    VERBS.into_iter().find(|verb| *verb == first)
}

/// Reads a command of the screen; `None` for a line that is none.
pub fn parse(line: &str) -> Option<Result<ScreenCommand, CommandProblem>> {
    match verb(line)? {
        "goto" => Some(goto(line).map(ScreenCommand::Goto)),
        "save" => Some(save(line).map(ScreenCommand::Save)),
        "fork" => Some(fork(line)),
        "drop" => Some(dropped(line).map(ScreenCommand::Drop)),
        _ => None,
    }
}

fn goto(line: &str) -> Result<Moment, CommandProblem> {
    const EXAMPLES: &str = "goto 12.5s, goto +3s, goto -3s, goto start or goto end";
    let end = line.trim_end().len();
    let words = words::split(line)
        .map_err(|open| CommandProblem::new("a quote is not closed", open.range))?;
    let word = match &words[..] {
        [_, word] => word,
        [_, _, more, ..] => {
            let message = format!("`goto` takes one moment, not `{}` as well", more.text);
            return Err(CommandProblem::new(message, more.range.clone()).hint(EXAMPLES));
        }
        _ => return Err(CommandProblem::new("`goto` where?", end..end).hint(EXAMPLES)),
    };
    let span = |text: &str| {
        let wrong = |error: units::QuantityError| {
            let near = nearest(&word.text, ["start", "end"]);
            let message = format!("`{}` is no moment: {error}", word.text);
            CommandProblem::new(message, word.range.clone()).maybe(near, || EXAMPLES.to_owned())
        };
        units::duration(text).map_err(wrong)
    };
    match word.text.as_str() {
        "start" => Ok(Moment::START),
        "end" => Ok(Moment::End),
        text => match text.split_at_checked(1) {
            Some(("+", rest)) => span(rest).map(Moment::Later),
            Some(("-", rest)) => span(rest).map(Moment::Earlier),
            _ => span(text).map(|span| Moment::At(SimTime::ZERO + span)),
        },
    }
}

fn save(line: &str) -> Result<Option<PathBuf>, CommandProblem> {
    let words = words::split(line)
        .map_err(|open| CommandProblem::new("a quote is not closed", open.range))?;
    match &words[..] {
        [] | [_] => Ok(None),
        [_, file] if !file.text.is_empty() => Ok(Some(PathBuf::from(&file.text))),
        [_, .., last] => {
            let message = "`save` takes one file";
            let problem = CommandProblem::new(message, last.range.clone());
            Err(problem.hint("a name with blanks stands in quotes"))
        }
    }
}

fn fork(line: &str) -> Result<ScreenCommand, CommandProblem> {
    if line.split_whitespace().nth(1).is_none() {
        return Ok(ScreenCommand::Fork);
    }
    let message = "`fork` stands alone: it splits the run where it is";
    Err(CommandProblem::new(message, 0..line.trim_end().len()))
}

fn dropped(line: &str) -> Result<Branch, CommandProblem> {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "a" | "A"] => Ok(Branch::A),
        [_, "b" | "B"] => Ok(Branch::B),
        _ => {
            let problem = CommandProblem::new("`drop` which branch?", 0..line.trim_end().len());
            Err(problem.hint("drop a, or drop b"))
        }
    }
}

/// What could stand at the end of a line: where its last word begins, and whole words.
pub fn complete(line: &str) -> (usize, Vec<String>) {
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (before, begun) = line.split_at(start);
    let words: &[&str] = match before.split_whitespace().collect::<Vec<_>>()[..] {
        [] => &VERBS,
        ["goto"] => &["start", "end"],
        ["drop"] => &["a", "b"],
        _ => &[],
    };
    let fitting = words.iter().filter(|word| word.starts_with(begun));
    (start, fitting.map(|&word| word.to_owned()).collect())
}

/// The command of the screen that a line was most likely meant to be, among all commands.
pub fn meant(line: &str, names: &Names) -> Option<&'static str> {
    let first = line.split_whitespace().next()?;
    let others = super::complete("", 0, names);
    let others = others.iter().map(|offer| offer.text.as_str());
    let near = nearest(first, VERBS.into_iter().chain(others))?;
    verb(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(line: &str) -> Result<Moment, String> {
        match parse(line).expect("a command of the screen") {
            Ok(ScreenCommand::Goto(moment)) => Ok(moment),
            Ok(other) => panic!("{other:?}"),
            Err(problem) => Err(problem.to_string()),
        }
    }

    #[test]
    fn a_moment_is_named_or_counted_from_now() {
        let (now, end) = (SimTime::from_seconds(10), SimTime::from_seconds(60));
        let at = |line| to(line).unwrap().from(now, end).as_millis();
        assert_eq!(at("goto 12.5s"), 12_500);
        assert_eq!(at("goto +3s"), 13_000);
        assert_eq!(at(" goto  -3s "), 7_000);
        assert_eq!(at("goto -30s"), 0);
        assert_eq!(at("goto 1h"), 60_000);
        assert_eq!((at("goto start"), at("goto end")), (0, 60_000));
    }

    #[test]
    fn what_is_no_moment_is_told_what_one_looks_like() {
        assert!(to("goto").unwrap_err().starts_with("`goto` where?"));
        assert!(to("goto 12").unwrap_err().contains("the unit is missing"));
        assert!(
            to("goto strat")
                .unwrap_err()
                .ends_with("did you mean `start`?")
        );
        assert!(to("goto 1s 2s").unwrap_err().contains("one moment"));
        assert!(to("goto +é").is_err() && to("goto é").is_err());
        assert!(to("goto \"1s").is_err());
        assert_eq!(parse("gone 1s"), None);
    }

    #[test]
    fn a_file_is_named_or_not() {
        let file = |line| parse(line).unwrap().map_err(|problem| problem.to_string());
        let saved = |path: &str| Ok(ScreenCommand::Save(Some(path.into())));
        assert_eq!(file("save"), Ok(ScreenCommand::Save(None)));
        assert_eq!(file("save \"my run.toml\""), saved("my run.toml"));
        assert!(
            file("save a b")
                .unwrap_err()
                .starts_with("`save` takes one file")
        );
        assert!(file("save ''").is_err());
    }

    #[test]
    fn words_are_completed() {
        assert_eq!(complete("go"), (0, vec!["goto".to_owned()]));
        assert_eq!(complete("goto s"), (5, vec!["start".to_owned()]));
        assert_eq!(complete("broker s").1, Vec::<String>::new());
    }
}
