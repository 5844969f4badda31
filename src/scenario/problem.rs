//! What is wrong with a scenario, or worth knowing about it, with carets under the text.
//!
//! Invariants: a title says what and where, in lower case and without a full stop; hints say what
//! to do, each on its own line; nothing that a terminal would obey is ever shown unescaped.

use std::fmt;
use std::sync::Arc;

use crate::command::text::{append, escaped};

use super::render;
use super::sources::Sources;
use super::tree::Place;

/// Problems of one scenario that are kept at most; the others are only counted.
pub const PROBLEMS_MAX: usize = 100;

/// How text for a terminal is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Letters only.
    Plain,
    /// With ANSI colours.
    Coloured,
}

/// One thing that is wrong, or (in [`super::Scenario::notes`]) worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    title: String,
    pub(crate) marks: Vec<Mark>,
    hints: Vec<String>,
}

/// A stretch of text to underline. The first of a problem is where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) place: Place,
    pub(crate) label: String,
}

impl Problem {
    pub(crate) fn new(title: impl AsRef<str>) -> Self {
        Self {
            title: escaped(title.as_ref()),
            marks: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Underlines a place; the label may be empty.
    #[must_use]
    pub(crate) fn at(mut self, place: Place, label: impl AsRef<str>) -> Self {
        self.marks.push(Mark {
            place,
            label: escaped(label.as_ref()),
        });
        self
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl AsRef<str>) -> Self {
        self.hints.push(escaped(hint.as_ref()));
        self
    }

    /// Adds "did you mean …" when there is something near.
    #[must_use]
    pub(crate) fn maybe(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(word) => self.hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }

    /// What is wrong, in one line.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What to do about it, a line each.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

/// Where a problem stands, as people count: lines and columns from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file, or what stands for it.
    pub path: String,
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

/// Everything that is wrong with a scenario, in the order of its text.
#[derive(Clone)]
pub struct Problems {
    list: Vec<Problem>,
    uncounted: usize,
    sources: Arc<Sources>,
}

impl Problems {
    /// The problems that are kept (see [`PROBLEMS_MAX`]).
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// How many there are, the ones that are not kept included. Never zero.
    pub fn count(&self) -> usize {
        self.list.len() + self.uncounted
    }

    /// For a scenario that did not come about although nothing was said against it.
    pub(crate) fn unexplained(sources: &Arc<Sources>) -> Self {
        let problem = Problem::new("the scenario has no [scenario] table");
        Self {
            list: vec![problem],
            uncounted: 0,
            sources: Arc::clone(sources),
        }
    }

    /// Where a problem stands; `None` when it has no place in a text (a file that is missing).
    pub fn position(&self, problem: &Problem) -> Option<Position> {
        let mark = problem.marks.first()?;
        Some(self.sources.position(mark.place))
    }

    /// All of them with carets, as shown on a terminal; ends with a line feed.
    pub fn render(&self, paint: Paint) -> String {
        let mut text = String::new();
        for problem in &self.list {
            text.push_str(&render::problem(problem, &self.sources, paint));
            text.push_str("\n\n");
        }
        if self.uncounted > 0 {
            append(
                &mut text,
                format_args!("and {} more problems\n\n", self.uncounted),
            );
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(Paint::Plain).trim_end())
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Problems {}

/// Where readers put what they find.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Problem>,
    uncounted: usize,
    notes: Vec<Problem>,
}

impl Findings {
    pub(crate) fn problem(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else {
            self.uncounted += 1;
        }
    }

    pub(crate) fn note(&mut self, note: Problem) {
        // The same file can be read twice (extends); the same note says nothing new.
        if self.notes.len() < PROBLEMS_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// The notes when nothing is wrong, else the problems in the order of their text.
    pub(crate) fn finish(self, sources: &Arc<Sources>) -> Result<Vec<Problem>, Problems> {
        if self.problems.is_empty() {
            return Ok(self.notes);
        }
        let mut list = self.problems;
        list.sort_by_key(|problem| problem.marks.first().map(|mark| mark.place));
        list.dedup();
        Err(Problems {
            list,
            uncounted: self.uncounted,
            sources: Arc::clone(sources),
        })
    }
}
