//! The sums of the ledger, and whether they add up.

use super::cause::DuplicateCause;

/// Records by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Acknowledged, and a log holds them.
    pub acknowledged_present: u64,
    /// Acknowledged, and no log holds them.
    pub acknowledged_lost: u64,
    /// Acknowledged with `acks=0`, and not seen in a log yet.
    pub unconfirmed: u64,
    /// Failed, and a log holds them all the same.
    pub failed_present: u64,
    /// Failed, and no log holds them.
    pub failed_absent: u64,
    /// Their process ended first, and a log holds them.
    pub abandoned_present: u64,
    /// Their process ended first, and no log holds them.
    pub abandoned_absent: u64,
    /// Refused by `send()` and given up: they never got an ordinal.
    pub refused: u64,
    /// Times that a record stands in a log beyond the first, be it as another record that its
    /// application sent in its place.
    pub duplicated: u64,
    /// The same by cause, in the order of [`DuplicateCause::ALL`].
    pub duplicated_by: [u64; DuplicateCause::COUNT],
    /// Records that were appended behind a later record of the same producer.
    pub reordered: u64,
    /// Records about which something came after they were settled.
    pub late: u64,
}

impl Tally {
    /// Acknowledged records, whatever became of them.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged_present + self.acknowledged_lost + self.unconfirmed
    }

    /// Failed records, whatever became of them.
    pub fn failed(&self) -> u64 {
        self.failed_present + self.failed_absent
    }

    /// Records that went away with their process.
    pub fn abandoned(&self) -> u64 {
        self.abandoned_present + self.abandoned_absent
    }

    /// Adds `other` to every sum.
    pub fn add(&mut self, other: &Self) {
        self.replace(&Self::default(), other);
    }

    /// Takes `old` out of every sum and `new` into it.
    pub fn replace(&mut self, old: &Self, new: &Self) {
        let sums = self.sums();
        for ((sum, old), new) in sums.into_iter().zip(old.values()).zip(new.values()) {
            *sum = (*sum + new).saturating_sub(old);
        }
    }

    /// Times that a record stands in a log beyond the first, for this cause.
    pub const fn duplicated_by(&self, cause: DuplicateCause) -> u64 {
        self.duplicated_by[cause.index()]
    }

    fn sums(&mut self) -> [&mut u64; 11 + DuplicateCause::COUNT] {
        let [
            timeout,
            disconnect,
            error,
            bump,
            expiry,
            application,
            unknown,
        ] = &mut self.duplicated_by;
        [
            &mut self.acknowledged_present,
            &mut self.acknowledged_lost,
            &mut self.unconfirmed,
            &mut self.failed_present,
            &mut self.failed_absent,
            &mut self.abandoned_present,
            &mut self.abandoned_absent,
            &mut self.refused,
            &mut self.duplicated,
            &mut self.reordered,
            &mut self.late,
            timeout,
            disconnect,
            error,
            bump,
            expiry,
            application,
            unknown,
        ]
    }

    fn values(&self) -> [u64; 11 + DuplicateCause::COUNT] {
        let mut copy = *self;
        copy.sums().map(|sum| *sum)
    }
}

/// A tally against the number of records that accumulators took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// What became of the records.
    pub tally: Tally,
    /// Records that the accumulators took.
    pub sent: u64,
    /// Records that are neither acknowledged nor failed nor abandoned yet.
    pub under_way: u64,
}

impl Account {
    /// The account of `tally` against `sent` records.
    pub fn new(tally: Tally, sent: u64) -> Self {
        let done = tally.acknowledged() + tally.failed() + tally.abandoned();
        Self {
            tally,
            sent,
            under_way: sent.saturating_sub(done),
        }
    }

    /// Why the account does not add up, in words; nothing when it does.
    pub fn imbalance(&self) -> Option<String> {
        let done = self.tally.acknowledged() + self.tally.failed() + self.tally.abandoned();
        (done + self.under_way != self.sent).then(|| {
            format!(
                "{} records were sent, but {} acknowledged + {} failed + {} abandoned make {done}",
                self.sent,
                self.tally.acknowledged(),
                self.tally.failed(),
                self.tally.abandoned(),
            )
        })
    }

    /// One figure of the account.
    pub fn field(&self, field: LedgerField) -> u64 {
        let tally = &self.tally;
        match field {
            LedgerField::Sent => self.sent,
            LedgerField::Acked => tally.acknowledged(),
            LedgerField::AckedPresent => tally.acknowledged_present,
            LedgerField::Failed => tally.failed(),
            LedgerField::FailedPresent => tally.failed_present,
            LedgerField::FailedAbsent => tally.failed_absent,
            LedgerField::Refused => tally.refused,
            LedgerField::Abandoned => tally.abandoned(),
            LedgerField::AbandonedPresent => tally.abandoned_present,
            LedgerField::AbandonedAbsent => tally.abandoned_absent,
            LedgerField::UnderWay => self.under_way,
            LedgerField::Unconfirmed => tally.unconfirmed,
            LedgerField::LostAcknowledged => tally.acknowledged_lost,
            LedgerField::Duplicated => tally.duplicated,
            LedgerField::DuplicatedBy(cause) => tally.duplicated_by(cause),
            LedgerField::Reordered => tally.reordered,
        }
    }
}

/// What `ledger.FIELD` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerField {
    /// Taken by an accumulator.
    Sent,
    /// Acknowledged.
    Acked,
    /// Acknowledged, and a log holds them.
    AckedPresent,
    /// Failed in their callback.
    Failed,
    /// Failed, and in a log all the same.
    FailedPresent,
    /// Failed, and in no log.
    FailedAbsent,
    /// Refused by `send()` and given up.
    Refused,
    /// Gone with their process.
    Abandoned,
    /// Gone with their process, and in a log all the same.
    AbandonedPresent,
    /// Gone with their process, and in no log.
    AbandonedAbsent,
    /// Not done yet.
    UnderWay,
    /// Acknowledged with `acks=0`, not seen in a log.
    Unconfirmed,
    /// Acknowledged, and no log holds them.
    LostAcknowledged,
    /// In a log more than once, the first time not counted.
    Duplicated,
    /// The same, for one cause.
    DuplicatedBy(DuplicateCause),
    /// Behind a later record of the same producer.
    Reordered,
}

impl LedgerField {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Sent,
        Self::Acked,
        Self::AckedPresent,
        Self::Failed,
        Self::FailedPresent,
        Self::FailedAbsent,
        Self::Refused,
        Self::Abandoned,
        Self::AbandonedPresent,
        Self::AbandonedAbsent,
        Self::UnderWay,
        Self::Unconfirmed,
        Self::LostAcknowledged,
        Self::Duplicated,
        Self::DuplicatedBy(DuplicateCause::Timeout),
        Self::DuplicatedBy(DuplicateCause::Disconnect),
        Self::DuplicatedBy(DuplicateCause::BrokerError),
        Self::DuplicatedBy(DuplicateCause::EpochBump),
        Self::DuplicatedBy(DuplicateCause::StateExpired),
        Self::DuplicatedBy(DuplicateCause::Application),
        Self::DuplicatedBy(DuplicateCause::Unknown),
        Self::Reordered,
    ];

    /// The name behind `ledger.`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "records-sent",
            Self::Acked => "records-acked",
            Self::AckedPresent => "records-acked-present",
            Self::Failed => "records-failed",
            Self::FailedPresent => "records-failed-present",
            Self::FailedAbsent => "records-failed-absent",
            Self::Refused => "records-refused",
            Self::Abandoned => "records-abandoned",
            Self::AbandonedPresent => "records-abandoned-present",
            Self::AbandonedAbsent => "records-abandoned-absent",
            Self::UnderWay => "records-under-way",
            Self::Unconfirmed => "records-unconfirmed",
            Self::LostAcknowledged => "records-lost-acknowledged",
            Self::Duplicated => "records-duplicated",
            Self::DuplicatedBy(DuplicateCause::Timeout) => "records-duplicated-by-timeout",
            Self::DuplicatedBy(DuplicateCause::Disconnect) => "records-duplicated-by-disconnect",
            Self::DuplicatedBy(DuplicateCause::BrokerError) => "records-duplicated-by-error",
            Self::DuplicatedBy(DuplicateCause::EpochBump) => "records-duplicated-by-epoch-bump",
            Self::DuplicatedBy(DuplicateCause::StateExpired) => {
                "records-duplicated-by-state-expiry"
            }
            Self::DuplicatedBy(DuplicateCause::Application) => "records-duplicated-by-application",
            Self::DuplicatedBy(DuplicateCause::Unknown) => "records-duplicated-by-unknown",
            Self::Reordered => "records-reordered",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_adds_up_has_nothing_to_say() {
        let tally = Tally {
            acknowledged_present: 7,
            failed_absent: 2,
            ..Tally::default()
        };
        let account = Account::new(tally, 10);
        assert_eq!(account.under_way, 1);
        assert_eq!(account.imbalance(), None);
    }

    #[test]
    fn more_outcomes_than_records_is_an_imbalance_in_words() {
        let tally = Tally {
            acknowledged_present: 7,
            failed_absent: 4,
            ..Tally::default()
        };
        let words = Account::new(tally, 10).imbalance().unwrap();
        assert_eq!(
            words,
            "10 records were sent, but 7 acknowledged + 4 failed + 0 abandoned make 11"
        );
    }
}
