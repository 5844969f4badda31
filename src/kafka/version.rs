//! Versions of clients and brokers, and what they are compared for.
//!
//! Invariant: versions order as numbers (`3.10` is younger than `3.9`), and a version written
//! without a patch is the first of its line (`4.2` is `4.2.0`).

use std::fmt;
use std::str::FromStr;

/// A release of Apache Kafka: `major.minor.patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KafkaVersion {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number, 0 where none was written.
    pub patch: u16,
}

impl KafkaVersion {
    /// The oldest Java client whose behaviour is known here: the first with
    /// `delivery.timeout.ms` (KIP-91).
    pub const OLDEST_CLIENT: Self = Self::new(2, 1, 0);
    /// The oldest broker line: the first without `ZooKeeper`.
    pub const OLDEST_BROKER: Self = Self::new(4, 0, 0);
    /// The line that a scenario gets when it names none.
    pub const DEFAULT: Self = Self::new(4, 3, 0);
    /// The youngest line, for clients and brokers alike; any patch of it is accepted.
    pub const NEWEST: Self = Self::new(4, 4, 0);

    /// The version `major.minor.patch`.
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

    /// Whether a Java client of this version can be simulated.
    pub fn is_supported_client(self) -> bool {
        self >= Self::OLDEST_CLIENT && !self.at_least(Self::NEWEST.major, Self::NEWEST.minor + 1)
    }

    /// Whether a broker of this version can be simulated.
    pub fn is_supported_broker(self) -> bool {
        self >= Self::OLDEST_BROKER && self.is_supported_client()
    }
}

/// A text that is not `major.minor` or `major.minor.patch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionError {
    /// What was written.
    pub text: String,
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a version; write it as 4.3 or 4.3.1",
            self.text
        )
    }
}

impl std::error::Error for VersionError {}

impl FromStr for KafkaVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = || VersionError {
            text: text.to_owned(),
        };
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u16>()
                .ok()
                .filter(|_| digits)
                .ok_or_else(error)
        };
        let parts: Vec<&str> = text.trim().split('.').collect();
        match parts[..] {
            [major, minor] => Ok(Self::new(number(major)?, number(minor)?, 0)),
            [major, minor, patch] => Ok(Self::new(number(major)?, number(minor)?, number(patch)?)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for KafkaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> KafkaVersion {
        text.parse().unwrap()
    }

    #[test]
    fn a_missing_patch_is_the_first_of_its_line() {
        assert_eq!(version("4.3"), version("4.3.0"));
        assert_eq!(version("4.3").to_string(), "4.3.0");
    }

    #[test]
    fn versions_order_as_numbers() {
        assert!(version("3.9.2") < version("3.10"));
        assert!(version("3.9.1").at_least(3, 9));
    }

    #[test]
    fn clients_reach_further_back_than_brokers() {
        assert!(version("2.1").is_supported_client());
        assert!(!version("2.0.1").is_supported_client());
        assert!(!version("3.9").is_supported_broker());
        assert!(version("4.4.7").is_supported_broker());
        assert!(!version("4.5").is_supported_client());
    }

    #[test]
    fn anything_else_is_refused_in_words() {
        for text in ["", "4", "4.x", "4.3.1.2", "4.+3", "4.99999", "v4.3"] {
            assert_eq!(text.parse::<KafkaVersion>().unwrap_err().text, text);
        }
    }
}
