//! Releases of librdkafka, and what they are compared for.
//!
//! Invariant: as with Kafka's own versions, releases order as numbers and a missing patch is the
//! first of its line.

use std::fmt;
use std::str::FromStr;

use super::version::{KafkaVersion, VersionError};

/// A release of librdkafka: `major.minor.patch`.
///
/// It says nothing about the Kafka that it speaks to: both have versions of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RdkafkaVersion {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number, 0 where none was written.
    pub patch: u16,
}

impl RdkafkaVersion {
    /// The oldest release whose behaviour was measured.
    pub const OLDEST: Self = Self::new(2, 12, 0);
    /// The release that a scenario gets when it names none.
    pub const DEFAULT: Self = Self::new(2, 16, 0);
    /// The youngest line; any patch of it is accepted.
    pub const NEWEST: Self = Self::new(2, 16, 0);

    /// The release `major.minor.patch`.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Whether this release is `major.minor` or younger.
    pub fn at_least(self, major: u16, minor: u16) -> bool {
        self >= Self::new(major, minor, 0)
    }

    /// Whether a client of this release can be simulated.
    pub fn is_supported(self) -> bool {
        self >= Self::OLDEST && !self.at_least(Self::NEWEST.major, Self::NEWEST.minor + 1)
    }

    /// Whether a broker thread wakes at a message's deadline (since 2.16); before, one that waits
    /// to reconnect notices `message.timeout.ms` only when the wait is over.
    pub fn expires_while_disconnected(self) -> bool {
        self.at_least(2, 16)
    }
}

impl FromStr for RdkafkaVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let KafkaVersion {
            major,
            minor,
            patch,
        } = text.parse()?;
        Ok(Self::new(major, minor, patch))
    }
}

impl fmt::Display for RdkafkaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> RdkafkaVersion {
        text.parse().unwrap()
    }

    #[test]
    fn measured_releases_are_supported_and_no_others() {
        for text in ["2.12.1", "2.15", "2.16.9"] {
            assert!(version(text).is_supported(), "{text}");
        }
        for text in ["1.9.2", "2.11.1", "2.17", "4.3"] {
            assert!(!version(text).is_supported(), "{text}");
        }
    }

    #[test]
    fn deadlines_are_kept_while_disconnected_since_2_16() {
        assert!(!version("2.15.3").expires_while_disconnected());
        assert!(version("2.16").expires_while_disconnected());
    }
}
