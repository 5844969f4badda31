//! What is wrong with a line.

use std::fmt;
use std::ops::Range;

use super::text::escaped;

/// A line that is no command, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandProblem {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// What to do, when there is something to say.
    pub hint: Option<String>,
    /// The bytes of the line that it is about; empty at the end when something is missing.
    pub range: Range<usize>,
}

impl CommandProblem {
    pub(crate) fn new(message: impl AsRef<str>, range: Range<usize>) -> Self {
        Self {
            message: escaped(message.as_ref()),
            hint: None,
            range,
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl AsRef<str>) -> Self {
        self.hint = Some(escaped(hint.as_ref()));
        self
    }

    /// "did you mean …", or else what there is.
    #[must_use]
    pub(crate) fn maybe(self, nearest: Option<&str>, otherwise: impl FnOnce() -> String) -> Self {
        match nearest {
            Some(word) => self.hint(format!("did you mean `{word}`?")),
            None => self.hint(otherwise()),
        }
    }
}

impl fmt::Display for CommandProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CommandProblem {}
