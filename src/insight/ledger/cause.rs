//! Why a record stands in a log twice.
//!
//! Whoever sends a record again was told something, or heard nothing: the last such answer before
//! the copy was appended is its cause. A leader that knows an idempotent producer's batch does not
//! append it again; where it did, either the client had bumped its epoch in between, or the leader
//! had forgotten the producer.

use crate::kafka::error::ErrorCode;
use crate::sim::time::SimTime;

/// Retries that one entry remembers; of older ones the cause is not known any more.
const RETRIES_MAX: usize = 1_024;
/// Epoch bumps that are remembered of one producer.
const BUMPS_MAX: usize = 1_024;

/// Why a record stands in a log twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DuplicateCause {
    /// It was sent again after a request timed out, at the client or in purgatory.
    Timeout,
    /// It was sent again after its connection was lost.
    Disconnect,
    /// It was sent again after another error of the broker's.
    BrokerError,
    /// It was sent again under a bumped epoch, where nothing is known of the one before.
    EpochBump,
    /// Its leader had forgotten the idempotent producer.
    StateExpired,
    /// Its application sent it again, as another record, after its callback brought an error.
    Application,
    /// Nothing is known of a retry.
    Unknown,
}

impl DuplicateCause {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Timeout,
        Self::Disconnect,
        Self::BrokerError,
        Self::EpochBump,
        Self::StateExpired,
        Self::Application,
        Self::Unknown,
    ];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its place among all.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in reports, and behind `records-duplicated-` in paths.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "by-timeout",
            Self::Disconnect => "by-disconnect",
            Self::BrokerError => "by-error",
            Self::EpochBump => "by-epoch-bump",
            Self::StateExpired => "by-state-expiry",
            Self::Application => "by-application",
            Self::Unknown => "by-unknown",
        }
    }

    /// In a few words, behind "sent again".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Timeout => "after a timeout",
            Self::Disconnect => "after a lost connection",
            Self::BrokerError => "after an error of the broker",
            Self::EpochBump => "under a bumped epoch",
            Self::StateExpired => "to a leader that had forgotten the producer",
            Self::Application => "by the application",
            Self::Unknown => "for a reason not known",
        }
    }

    const fn of_retry(error: ErrorCode) -> Self {
        match error {
            ErrorCode::RequestTimedOut => Self::Timeout,
            ErrorCode::NetworkException => Self::Disconnect,
            _ => Self::BrokerError,
        }
    }
}

/// What is known of one producer as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    /// Whether leaders recognise its batches.
    pub(super) is_idempotent: bool,
    /// When its client bumped its epoch.
    bumps: Vec<SimTime>,
}

impl Identity {
    /// A producer whose client did not bump its epoch yet.
    pub(super) fn new(is_idempotent: bool) -> Self {
        Self {
            is_idempotent,
            bumps: Vec::new(),
        }
    }

    /// Its client bumped its epoch.
    pub(super) fn bump(&mut self, at: SimTime) {
        if self.bumps.len() >= BUMPS_MAX {
            self.bumps.remove(0);
        }
        self.bumps.push(at);
    }

    fn bumped_within(&self, from: SimTime, to: SimTime) -> bool {
        self.bumps.iter().any(|&at| from <= at && at <= to)
    }
}

/// The retries of one producer in one partition.
#[derive(Clone, Debug, Default)]
pub(super) struct Retries {
    /// In order of time.
    all: Vec<Retry>,
}

#[derive(Clone, Copy, Debug)]
struct Retry {
    at: SimTime,
    start: u64,
    end: u64,
    error: ErrorCode,
}

impl Retries {
    /// The client has records back, and will send them again.
    pub(super) fn note(&mut self, at: SimTime, (start, end): (u64, u64), error: ErrorCode) {
        if self.all.len() >= RETRIES_MAX {
            self.all.drain(..RETRIES_MAX / 2);
        }
        self.all.push(Retry {
            at,
            start,
            end,
            error,
        });
    }

    /// Why a record was appended once more at `at`.
    pub(super) fn cause(&self, ordinal: u64, at: SimTime, identity: &Identity) -> DuplicateCause {
        let of_record =
            |retry: &&Retry| retry.at <= at && retry.start <= ordinal && ordinal < retry.end;
        let mut retries = self.all.iter().filter(of_record);
        let Some(first) = retries.next() else {
            return DuplicateCause::Unknown;
        };
        let last = retries.next_back().unwrap_or(first);
        if !identity.is_idempotent {
            DuplicateCause::of_retry(last.error)
        } else if identity.bumped_within(first.at, at) {
            DuplicateCause::EpochBump
        } else {
            DuplicateCause::StateExpired
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> SimTime {
        SimTime::from_seconds(seconds)
    }

    fn retried() -> Retries {
        let mut retries = Retries::default();
        retries.note(seconds(2), (0, 10), ErrorCode::RequestTimedOut);
        retries.note(seconds(4), (0, 10), ErrorCode::NetworkException);
        retries
    }

    #[test]
    fn a_copy_has_the_cause_of_the_last_retry_before_it() {
        let (retries, plain) = (retried(), Identity::default());
        assert_eq!(
            retries.cause(3, seconds(1), &plain),
            DuplicateCause::Unknown
        );
        assert_eq!(
            retries.cause(3, seconds(3), &plain),
            DuplicateCause::Timeout
        );
        assert_eq!(
            retries.cause(3, seconds(5), &plain),
            DuplicateCause::Disconnect
        );
        assert_eq!(
            retries.cause(10, seconds(5), &plain),
            DuplicateCause::Unknown
        );
    }

    #[test]
    fn an_idempotent_producers_copy_is_owed_to_its_epoch_or_to_a_leader_that_forgot() {
        let mut identity = Identity::new(true);
        let forgot = DuplicateCause::StateExpired;
        assert_eq!(retried().cause(3, seconds(5), &identity), forgot);
        identity.bump(seconds(1));
        assert_eq!(retried().cause(3, seconds(5), &identity), forgot);
        identity.bump(seconds(3));
        assert_eq!(
            retried().cause(3, seconds(5), &identity),
            DuplicateCause::EpochBump
        );
    }

    #[test]
    fn every_cause_has_its_own_place_and_name() {
        for (place, cause) in DuplicateCause::ALL.into_iter().enumerate() {
            assert_eq!(cause.index(), place);
            assert!(cause.name().starts_with("by-"));
        }
    }
}
