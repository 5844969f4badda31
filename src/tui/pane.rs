//! The panes of the dashboard and their order: the digit that focuses a pane is its place here.

/// One pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pane {
    /// What `buffer.memory` holds.
    Fill,
    /// `bufferpool-wait-ratio` and the truth behind it.
    Wait,
    /// Load of each partition.
    Partitions,
    /// Transaction markers.
    Markers,
    /// Brokers and the links of producers.
    Cluster,
    /// Warnings in sentences.
    Warnings,
    /// What happened.
    Events,
    /// What must hold.
    Expectations,
    /// What became of every record.
    Ledger,
}

/// How many panes there are.
pub const PANES: usize = 9;

impl Pane {
    /// All panes, in the order of their digits.
    pub const ALL: [Self; PANES] = [
        Self::Fill,
        Self::Wait,
        Self::Partitions,
        Self::Markers,
        Self::Cluster,
        Self::Warnings,
        Self::Events,
        Self::Expectations,
        Self::Ledger,
    ];

    /// Its place in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The digit that focuses it.
    pub const fn digit(self) -> char {
        (b'1' + self as u8) as char
    }

    /// The pane after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self.index() + 1) % PANES]
    }

    /// The pane before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self::ALL[(self.index() + PANES - 1) % PANES]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "Accumulator fill",
            Self::Wait => "bufferpool-wait-ratio",
            Self::Partitions => "Per-partition load",
            Self::Markers => "Transaction markers",
            Self::Cluster => "Cluster",
            Self::Warnings => "Warnings",
            Self::Events => "Events",
            Self::Expectations => "Expectations",
            Self::Ledger => "Ledger",
        }
    }

    /// Its name where there is little room.
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::Fill => "Fill",
            Self::Wait => "Wait",
            Self::Partitions => "Load",
            Self::Markers => "Markers",
            Self::Cluster => "Cluster",
            Self::Warnings => "Warn",
            Self::Events => "Events",
            Self::Expectations => "Expect",
            Self::Ledger => "Ledger",
        }
    }

    /// Whether it shows one producer, so that another one can be chosen.
    pub const fn is_of_one_producer(self) -> bool {
        matches!(self, Self::Fill | Self::Wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_order_agree() {
        let digits: String = Pane::ALL.iter().map(|pane| pane.digit()).collect();
        assert_eq!(digits, "123456789");
        assert_eq!(Pane::Ledger.next(), Pane::Fill);
        assert_eq!(Pane::Fill.previous(), Pane::Ledger);
    }
}
