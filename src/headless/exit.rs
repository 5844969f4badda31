//! Exit codes.

use std::process::ExitCode;

use crate::report::Report;

/// What the process answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything held.
    Held,
    /// An expectation failed.
    Failed,
    /// The command line or a scenario is wrong.
    Usage,
    /// A run ended before an expectation could be decided.
    Inconclusive,
    /// The report could not be written.
    Unwritten,
    /// Ctrl+C.
    Interrupted,
}

impl Exit {
    /// The exit code of one run.
    pub fn of(report: &Report) -> Self {
        let codes = report
            .expectations
            .iter()
            .map(|expected| match expected.held {
                Some(true) => Self::Held,
                Some(false) => Self::Failed,
                None => Self::Inconclusive,
            });
        codes.fold(Self::Held, Self::merge)
    }

    /// The worse of two.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if other.badness() <= self.badness() {
            self
        } else {
            other
        }
    }

    /// The number that the process ends with.
    pub const fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Unwritten => 4,
            Self::Interrupted => 130,
        }
    }

    const fn badness(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Inconclusive => 1,
            Self::Failed => 2,
            Self::Usage => 3,
            Self::Unwritten => 4,
            Self::Interrupted => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_wins_whatever_the_order() {
        let worst_first = [
            Exit::Interrupted,
            Exit::Unwritten,
            Exit::Usage,
            Exit::Failed,
            Exit::Inconclusive,
            Exit::Held,
        ];
        for (place, worse) in worst_first.into_iter().enumerate() {
            for better in &worst_first[place..] {
                assert_eq!(worse.merge(*better), worse);
                assert_eq!(better.merge(worse), worse);
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_manual() {
        let codes = [
            Exit::Held,
            Exit::Failed,
            Exit::Usage,
            Exit::Inconclusive,
            Exit::Unwritten,
        ];
        assert_eq!(codes.map(Exit::code), [0, 1, 2, 3, 4]);
    }
}
