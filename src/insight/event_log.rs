//! The latest facts, and the moments worth a mark on the time axis.
//!
//! Invariants:
//! - At most [`ENTRIES_MAX`] entries and [`MARKERS_MAX`] markers are kept, whatever the run does;
//!   what fell out is counted.
//! - A fact that only repeats the entry before it (same kind, same producer, same exception)
//!   is counted there, so a storm of refusals does not wash the log away. A mark that only
//!   repeats one of the last marks is counted there, until it has paused for [`MARK_PAUSE`].

use std::collections::VecDeque;

use crate::sim::fact::{BrokerState, Fact, MemberLoss, Stamped};
use crate::sim::ids::ProducerIndex;
use crate::sim::time::{SimSpan, SimTime};

use super::kind::{FactKind, Severity, severity};

/// Entries of the log at most.
pub const ENTRIES_MAX: usize = 4_096;
/// Markers on the time axis at most.
pub const MARKERS_MAX: usize = 1_024;

/// What repeats within this time is one mark.
pub const MARK_PAUSE: SimSpan = SimSpan::from_seconds(30);
/// Marks among which a repetition is looked for.
const MARKS_SEARCHED: usize = 8;

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The first fact of this line.
    pub first: Stamped,
    /// Facts in this line, at least 1.
    pub count: u64,
    /// When the last of them happened.
    pub last_at: SimTime,
}

/// A moment worth a mark on the time axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// When, the first time.
    pub at: SimTime,
    /// What.
    pub fact: Fact,
    /// How often, at least 1.
    pub count: u64,
    /// When, the last time.
    pub last_at: SimTime,
}

/// The latest facts of a run.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    entries: VecDeque<Entry>,
    markers: Vec<Marker>,
    /// Facts so far.
    seen: u64,
    /// Facts that are no longer in `entries`.
    forgotten: u64,
    /// Marks that found no room.
    unmarked: u64,
}

impl EventLog {
    /// Takes one more fact; facts come in their order.
    pub fn push(&mut self, stamped: &Stamped) {
        self.seen += 1;
        self.mark(stamped);
        if let Some(last) = self.entries.back_mut()
            && repeats(&last.first.fact, &stamped.fact)
        {
            last.count += 1;
            last.last_at = stamped.at;
            return;
        }
        if self.entries.len() == ENTRIES_MAX
            && let Some(oldest) = self.entries.pop_front()
        {
            self.forgotten += oldest.count;
        }
        self.entries.push_back(Entry {
            first: stamped.clone(),
            count: 1,
            last_at: stamped.at,
        });
    }

    /// The lines kept, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The moments worth a mark, oldest first.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// Facts so far, kept or not.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Facts that fell out of the log.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Marks that found no room.
    pub fn unmarked(&self) -> u64 {
        self.unmarked
    }

    fn mark(&mut self, stamped: &Stamped) {
        if !deserves_mark(&stamped.fact) {
            return;
        }
        let latest = self.markers.iter_mut().rev().take(MARKS_SEARCHED);
        let mut same = latest.filter(|marker| repeats(&marker.fact, &stamped.fact));
        if let Some(marker) = same.find(|marker| stamped.at.since(marker.last_at) <= MARK_PAUSE) {
            marker.count += 1;
            marker.last_at = stamped.at;
            return;
        }
        if MARKERS_MAX <= self.markers.len() {
            self.unmarked += 1;
            return;
        }
        self.markers.push(Marker {
            at: stamped.at,
            fact: stamped.fact.clone(),
            count: 1,
            last_at: stamped.at,
        });
    }
}

/// What is worth a mark: what the outside did, what the controller made of it, and what hurts.
/// The direct effect of a command is not marked beside the command.
fn deserves_mark(fact: &Fact) -> bool {
    match fact {
        Fact::CommandApplied(_)
        | Fact::TransactionsShown { .. }
        | Fact::LeaderChanged { .. }
        | Fact::ControllerChanged { .. }
        | Fact::GroupStable { .. }
        | Fact::PoolExhausted { .. }
        | Fact::BrokerChanged {
            state: BrokerState::Fenced,
            ..
        }
        | Fact::Ended => true,
        Fact::MemberLeft { why, .. } => *why != MemberLoss::Left,
        Fact::LinkChanged { .. } | Fact::BrokerChanged { .. } => false,
        _ => severity(fact) == Severity::Error,
    }
}

/// Whether `next` only repeats `fact`: the same happened to the same producer.
fn repeats(fact: &Fact, next: &Fact) -> bool {
    if FactKind::of(fact) != FactKind::of(next) || producer_of(fact) != producer_of(next) {
        return false;
    }
    match (fact, next) {
        (
            Fact::RecordRefused { exception: one, .. },
            Fact::RecordRefused { exception: two, .. },
        )
        | (Fact::BatchFailed { exception: one, .. }, Fact::BatchFailed { exception: two, .. })
        | (
            Fact::UnassignedFailed { exception: one, .. },
            Fact::UnassignedFailed { exception: two, .. },
        ) => one.class == two.class,
        (Fact::BatchRetried { error: one, .. }, Fact::BatchRetried { error: two, .. }) => {
            one == two
        }
        (
            Fact::Disconnected {
                node: one,
                why: why_one,
                ..
            },
            Fact::Disconnected {
                node: two,
                why: why_two,
                ..
            },
        ) => (one, why_one) == (two, why_two),
        (Fact::KeySplit { topic: one, .. }, Fact::KeySplit { topic: two, .. }) => one == two,
        (
            Fact::OffsetReset { consumer: one, .. }
            | Fact::CommitFailed { consumer: one, .. }
            | Fact::OutOfOrderRead { consumer: one, .. },
            Fact::OffsetReset { consumer: two, .. }
            | Fact::CommitFailed { consumer: two, .. }
            | Fact::OutOfOrderRead { consumer: two, .. },
        ) => one == two,
        (Fact::MetadataUpdated { .. }, Fact::MetadataUpdated { .. })
        | (Fact::BatchSplit { .. }, Fact::BatchSplit { .. })
        | (Fact::PoolExhausted { .. }, Fact::PoolExhausted { .. }) => true,
        _ => false,
    }
}

/// The producer that a fact is about, if it is about one.
pub fn producer_of(fact: &Fact) -> Option<ProducerIndex> {
    match *fact {
        Fact::PoolExhausted { producer }
        | Fact::ThreadBlocked { producer, .. }
        | Fact::ThreadUnblocked { producer, .. }
        | Fact::RecordRefused { producer, .. }
        | Fact::BatchFailed { producer, .. }
        | Fact::BatchRetried { producer, .. }
        | Fact::BatchSplit { producer, .. }
        | Fact::LoadThrottled { producer, .. }
        | Fact::CallReturned { producer, .. }
        | Fact::ApplicationExited { producer, .. }
        | Fact::ClientStarted { producer, .. }
        | Fact::ClientClosed { producer }
        | Fact::Connected { producer, .. }
        | Fact::Disconnected { producer, .. }
        | Fact::MetadataUpdated { producer, .. }
        | Fact::PartitionsLearned { producer, .. }
        | Fact::Rebootstrapped { producer }
        | Fact::ProducerIdAssigned { producer, .. }
        | Fact::ClientFailed { producer, .. }
        | Fact::ProducerForgotten { producer, .. }
        | Fact::TransactionCallFailed { producer, .. }
        | Fact::TransactionFailed { producer, .. }
        | Fact::UnassignedFailed { producer, .. } => Some(producer),
        Fact::CommandApplied(_)
        | Fact::CommandRefused { .. }
        | Fact::ConsumerStarted { .. }
        | Fact::ConsumerExited { .. }
        | Fact::ConsumerFailed { .. }
        | Fact::MemberLeft { .. }
        | Fact::GroupRebalancing { .. }
        | Fact::GroupStable { .. }
        | Fact::GroupEmpty { .. }
        | Fact::PartitionsDiscovered { .. }
        | Fact::OffsetReset { .. }
        | Fact::CommitFailed { .. }
        | Fact::OutOfOrderRead { .. }
        | Fact::BrokerChanged { .. }
        | Fact::PartitionsAdded { .. }
        | Fact::LogCleaned { .. }
        | Fact::SegmentsDeleted { .. }
        | Fact::KeySplit { .. }
        | Fact::LeaderChanged { .. }
        | Fact::ControllerChanged { .. }
        | Fact::IsrChanged { .. }
        | Fact::RecordsTruncated { .. }
        | Fact::TailCut { .. }
        | Fact::LinkChanged { .. }
        | Fact::LimitReached { .. }
        | Fact::TransactionChanged { .. }
        | Fact::MarkerWritten { .. }
        | Fact::TransactionsShown { .. }
        | Fact::Ended => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kafka::exception::ExceptionClass;
    use crate::sim::fact::Exception;
    use crate::sim::ids::{PartitionIndex, TopicIndex};

    fn stamped(number: u64, fact: Fact) -> Stamped {
        Stamped {
            at: SimTime::from_millis(number),
            rank: 1,
            number,
            fact,
        }
    }

    fn refusal() -> Fact {
        Fact::RecordRefused {
            producer: ProducerIndex(0),
            thread: 0,
            topic: TopicIndex(0),
            partition: None,
            exception: Arc::new(Exception {
                remedy: crate::sim::fact::Remedy::None,
                class: ExceptionClass::BufferExhausted.into(),
                text: "Failed to allocate".to_owned(),
            }),
        }
    }

    #[test]
    fn a_storm_of_refusals_is_one_line_and_one_mark() {
        let mut log = EventLog::default();
        (0..100_000).for_each(|n| log.push(&stamped(n, refusal())));
        assert_eq!(log.entries().len(), 1);
        assert_eq!(log.entries().next().unwrap().count, 100_000);
        assert_eq!(log.markers().len(), 1);
        assert_eq!(log.markers()[0].count, 100_000);
    }

    #[test]
    fn what_comes_back_after_a_pause_is_marked_again() {
        let mut log = EventLog::default();
        let full = Fact::PoolExhausted {
            producer: ProducerIndex(0),
        };
        for millis in [0, 20_000, 40_000, 90_000] {
            log.push(&stamped(millis, full.clone()));
            log.push(&stamped(millis, refusal()));
        }
        let counts: Vec<u64> = log.markers().iter().map(|marker| marker.count).collect();
        assert_eq!(counts, [3, 3, 1, 1]);
    }

    #[test]
    fn the_log_keeps_the_latest_lines_and_counts_the_rest() {
        let mut log = EventLog::default();
        for n in 0..10_000 {
            let partition = PartitionIndex::of_first_topic(n as u32);
            log.push(&stamped(
                n,
                Fact::IsrChanged {
                    partition,
                    isr: Vec::new(),
                },
            ));
        }
        assert_eq!(log.entries().len(), ENTRIES_MAX);
        assert_eq!(log.forgotten() + ENTRIES_MAX as u64, log.seen());
    }
}
