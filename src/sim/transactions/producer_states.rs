//! What the leader of a partition knows of transactional producers: epochs, sequences, the open
//! transaction of each, and what was aborted.
//!
//! Source: `ProducerStateManager`, `ProducerAppendInfo`, `TransactionIndex`,
//! `VerificationStateEntry`. Everything follows from what stands in the log, so it is kept as the
//! transactional batches and markers of the log in their order, and what they amount to; a
//! truncation takes the last ones away and counts anew.
//!
//! Simplification: what is known belongs to the log of the broker that took office last. A leader
//! that does not know that it was deposed takes nothing of transactions.

use std::collections::{BTreeMap, VecDeque};

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult, TransactionVersion};
use crate::sim::partition::{ProducerState, Verdict};
use crate::sim::request::Part;
use crate::sim::time::SimTime;
use crate::sim::view::{EntryKind, TransactionalEntry};

/// Transactional batches and markers that a partition remembers one by one at most. Who reads what
/// is older is given markers as records, and aborted records as committed ones.
pub const ENTRIES_KEPT_MAX: usize = 50_000;

/// All transactional producers of one partition.
#[derive(Clone, Debug, Default)]
pub struct ProducerStates {
    /// What was forgotten amounts to this.
    base: States,
    entries: VecDeque<Entry>,
    /// `base` and `entries` together.
    now: States,
    verifying: BTreeMap<i64, Verification>,
    verifications: u64,
}

/// What stands in the log.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Data(DataBatch),
    Marker(Marker),
}

/// A transactional batch.
#[derive(Clone, Copy, Debug)]
struct DataBatch {
    base_offset: u64,
    part: Part,
    at: SimTime,
}

/// A control record that ends a transaction in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its offset.
    pub offset: u64,
    /// Whose, with the epoch that it carries.
    pub producer: ProducerIdAndEpoch,
    /// How the transaction ended.
    pub result: TransactionResult,
    /// The epoch of the coordinator that wanted it.
    pub coordinator_epoch: u32,
    /// When it was written.
    pub at: SimTime,
}

#[derive(Clone, Debug, Default)]
struct States {
    producers: BTreeMap<i64, State>,
    /// Transactions whose marker may not be replicated yet.
    ended: Vec<Ended>,
    /// In order of their markers.
    aborted: VecDeque<AbortedTransaction>,
}

/// `ProducerStateEntry`.
#[derive(Clone, Debug)]
struct State {
    batches: ProducerState,
    coordinator_epoch: Option<u32>,
    /// First offset of the open transaction.
    open_since: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    first_offset: u64,
    marker_offset: u64,
}

/// `AbortedTxn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AbortedTransaction {
    producer_id: i64,
    first_offset: u64,
    marker_offset: u64,
}

/// A leader asks the coordinator whether a transaction is what a batch says (KIP-890).
#[derive(Clone, Copy, Debug)]
struct Verification {
    guard: u64,
    epoch: i16,
    lowest_sequence: i32,
    version: TransactionVersion,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asked,
    Verified,
}

/// What a batch needs before it is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: its transaction is open here.
    Nothing,
    /// It comes from an old epoch, whatever the coordinator says.
    Refusal,
    /// The coordinator's word; the answer is taken under this guard.
    Verification(u64),
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its transaction is open.
    Open,
    /// Committed.
    Committed,
    /// Aborted.
    Aborted,
}

/// Whether batches outside of verified transactions are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verifying {
    /// `transaction.partition.verification.enable`, and always in version 2.
    On,
    /// Off.
    Off,
}

impl ProducerStates {
    /// Whether a batch needs the coordinator's word, which is then being asked for.
    pub fn begin_verification(&mut self, part: &Part, version: TransactionVersion) -> Need {
        let (producer_id, epoch) = (part.producer_id, part.epoch);
        if self.is_open(producer_id, epoch) {
            return Need::Nothing;
        }
        if self.epoch(producer_id).is_some_and(|known| epoch < known) {
            return Need::Refusal;
        }
        let known = self.verifying.get(&producer_id);
        let known = known.filter(|known| known.epoch == epoch && known.version == version);
        let lowest = known.map_or(part.base_sequence, |known| known.lowest_sequence);
        let guard = if let Some(known) = known {
            known.guard
        } else {
            self.verifications += 1;
            self.verifications
        };
        let verification = Verification {
            guard,
            epoch,
            lowest_sequence: lowest.min(part.base_sequence),
            version,
            stage: Stage::Asked,
        };
        self.verifying.insert(producer_id, verification);
        Need::Verification(guard)
    }

    /// The coordinator agreed, unless a marker came in between.
    pub fn end_verification(&mut self, producer_id: i64, guard: u64) {
        if let Some(verification) = self.verifying.get_mut(&producer_id)
            && verification.guard == guard
        {
            verification.stage = Stage::Verified;
        }
    }

    /// What the leader says to a batch, by the rules of `ProducerAppendInfo` in their order.
    pub fn judge(&self, part: &Part, verifying: Verifying) -> Verdict {
        let state = self.now.producers.get(&part.producer_id);
        if let Some(state) = state
            && let Some(offset) = state.batches.duplicate(part)
        {
            return Verdict::Duplicate(offset);
        }
        let verification = self
            .verifying
            .get(&part.producer_id)
            .filter(|known| known.epoch == part.epoch && known.stage == Stage::Verified);
        if !self.is_open(part.producer_id, part.epoch) {
            if state.is_some_and(|state| part.epoch < state.batches.epoch()) {
                return Verdict::Refuse(ErrorCode::InvalidProducerEpoch);
            }
            if verifying == Verifying::On && verification.is_none() {
                return Verdict::Refuse(ErrorCode::InvalidTxnState);
            }
        }
        let is_empty = state.is_none_or(|state| state.batches.is_empty());
        let starts_late = verification.is_some_and(|known| {
            let must_begin = known.version == TransactionVersion::Two && is_empty;
            (must_begin && part.base_sequence != 0) || part.base_sequence > known.lowest_sequence
        });
        if starts_late {
            return Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber);
        }
        match state {
            None => Verdict::Append,
            Some(state) if is_empty && part.epoch == state.batches.epoch() => {
                if part.base_sequence == 0 {
                    Verdict::Append
                } else {
                    Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber)
                }
            }
            Some(state) => state.batches.judge(part),
        }
    }

    /// A batch was appended at its offset, then.
    pub fn append(&mut self, part: &Part, (base_offset, at): (u64, SimTime)) {
        self.verifying.remove(&part.producer_id);
        let part = *part;
        self.enter(Entry::Data(DataBatch {
            base_offset,
            part,
            at,
        }));
    }

    /// Whether a marker may be written (`ProducerAppendInfo.checkProducerEpoch`,
    /// `checkCoordinatorEpoch`).
    pub fn check_marker(
        &self,
        (producer_id, epoch): ProducerIdAndEpoch,
        coordinator_epoch: u32,
        version: TransactionVersion,
    ) -> Result<(), ErrorCode> {
        let Some(state) = self.now.producers.get(&producer_id) else {
            return Ok(());
        };
        if state
            .coordinator_epoch
            .is_some_and(|known| coordinator_epoch < known)
        {
            return Err(ErrorCode::TransactionCoordinatorFenced);
        }
        let known = state.batches.epoch();
        let is_allowed = match version {
            TransactionVersion::One => epoch >= known,
            // The same epoch again is a marker that was written before.
            TransactionVersion::Two => {
                epoch > known || (epoch == known && state.open_since.is_none())
            }
        };
        if is_allowed {
            Ok(())
        } else {
            Err(ErrorCode::InvalidProducerEpoch)
        }
    }

    /// A marker was appended.
    pub fn append_marker(&mut self, marker: Marker, version: TransactionVersion) {
        let (producer_id, epoch) = marker.producer;
        // The next transaction's first batch may be asked about already: it has the marker's epoch.
        let is_next = |known: &Verification| {
            version == TransactionVersion::Two
                && known.version == TransactionVersion::Two
                && known.epoch == epoch
        };
        if !self.verifying.get(&producer_id).is_some_and(is_next) {
            self.verifying.remove(&producer_id);
        }
        self.recall_marker(marker);
    }

    /// A marker is in the log again.
    pub fn recall_marker(&mut self, marker: Marker) {
        self.enter(Entry::Marker(marker));
    }

    fn enter(&mut self, entry: Entry) {
        self.now.enter(&entry);
        self.entries.push_back(entry);
        if self.entries.len() > ENTRIES_KEPT_MAX
            && let Some(oldest) = self.entries.pop_front()
        {
            self.base.enter(&oldest);
            // What is as old as that is replicated, and nobody asks for it any more.
            self.base.ended.clear();
            self.base.forget_aborted_before(oldest.end_offset());
            self.now.forget_aborted_before(oldest.end_offset());
        }
    }

    /// Everything from an offset on is gone.
    pub fn truncate(&mut self, offset: u64) {
        let kept = self
            .entries
            .partition_point(|entry| entry.offset() < offset);
        self.entries.truncate(kept);
        self.verifying.clear();
        self.now = self.base.clone();
        for entry in &self.entries {
            self.now.enter(entry);
        }
    }

    /// Markers below the high watermark cannot be taken back.
    pub fn settle(&mut self, high_watermark: u64) {
        let is_unstable = |ended: &Ended| ended.marker_offset >= high_watermark;
        self.now.ended.retain(is_unstable);
    }

    /// First offset of a transaction that is open, or whose marker is not below the high watermark.
    pub fn first_unstable_offset(&self, high_watermark: u64) -> Option<u64> {
        let open = self.now.producers.values();
        let open = open.filter_map(|state| state.open_since);
        let ended = self.now.ended.iter();
        let ended = ended.filter(|ended| ended.marker_offset >= high_watermark);
        open.chain(ended.map(|ended| ended.first_offset)).min()
    }

    fn is_open(&self, producer_id: i64, epoch: i16) -> bool {
        let state = self.now.producers.get(&producer_id);
        state.is_some_and(|state| state.open_since.is_some() && state.batches.epoch() == epoch)
    }

    fn epoch(&self, producer_id: i64) -> Option<i16> {
        let state = self.now.producers.get(&producer_id)?;
        Some(state.batches.epoch())
    }

    /// Producers with an open transaction: producer id, epoch and first offset.
    pub fn open(&self) -> impl Iterator<Item = (ProducerIdAndEpoch, u64)> + '_ {
        self.now.producers.iter().filter_map(|(id, state)| {
            let first = state.open_since?;
            Some(((*id, state.batches.epoch()), first))
        })
    }

    /// The marker at an offset.
    pub fn marker_at(&self, offset: u64) -> Option<Marker> {
        match self.entry_over(offset)? {
            Entry::Marker(marker) => Some(*marker),
            Entry::Data(_) => None,
        }
    }

    /// What became of the record at an offset, and whose it is; nothing where it is in no
    /// transaction, or is too old.
    pub fn fate(&self, offset: u64) -> Option<(ProducerIdAndEpoch, Fate)> {
        let Entry::Data(batch) = self.entry_over(offset)? else {
            return None;
        };
        let producer = (batch.part.producer_id, batch.part.epoch);
        let state = self.now.producers.get(&producer.0);
        let is_open = state
            .and_then(|state| state.open_since)
            .is_some_and(|first| first <= offset);
        let fate = if is_open {
            Fate::Open
        } else if self.now.is_aborted(producer.0, offset) {
            Fate::Aborted
        } else {
            Fate::Committed
        };
        Some((producer, fate))
    }

    /// The transactional batches and markers that are remembered, in order.
    pub fn entries(&self) -> impl Iterator<Item = TransactionalEntry> + '_ {
        self.entries.iter().map(Entry::view)
    }

    /// The same, the newest first.
    pub fn entries_from_last(&self) -> impl Iterator<Item = TransactionalEntry> + '_ {
        self.entries.iter().rev().map(Entry::view)
    }

    fn entry_over(&self, offset: u64) -> Option<&Entry> {
        let after = self
            .entries
            .partition_point(|entry| entry.offset() <= offset);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        (offset < entry.end_offset()).then_some(entry)
    }

    /// Stretches of offsets that a reader is not given: markers, and with `aborted` the records of
    /// aborted transactions, too. In order.
    pub fn hidden(&self, from: u64, to: u64, aborted: Hide) -> Vec<(u64, u64)> {
        let first = self
            .entries
            .partition_point(|entry| entry.end_offset() <= from);
        let mut hidden: Vec<(u64, u64)> = Vec::new();
        for entry in self.entries.range(first..) {
            if entry.offset() >= to {
                break;
            }
            let is_hidden = match entry {
                Entry::Marker(_) => true,
                Entry::Data(batch) => {
                    aborted == Hide::MarkersAndAborted
                        && self
                            .now
                            .is_aborted(batch.part.producer_id, batch.base_offset)
                }
            };
            if !is_hidden {
                continue;
            }
            let stretch = (entry.offset().max(from), entry.end_offset().min(to));
            match hidden.last_mut() {
                Some(last) if last.1 == stretch.0 => last.1 = stretch.1,
                _ => hidden.push(stretch),
            }
        }
        hidden
    }
}

/// What readers are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hide {
    /// Markers (`read_uncommitted`).
    Markers,
    /// Markers and aborted records (`read_committed`).
    MarkersAndAborted,
}

impl Entry {
    fn view(&self) -> TransactionalEntry {
        match self {
            Self::Data(batch) => TransactionalEntry {
                offset: batch.base_offset,
                producer: (batch.part.producer_id, batch.part.epoch),
                what: EntryKind::Records {
                    records: batch.part.records,
                    base_sequence: batch.part.base_sequence,
                    bytes: batch.part.stored_bytes,
                },
            },
            Self::Marker(marker) => TransactionalEntry {
                offset: marker.offset,
                producer: marker.producer,
                what: EntryKind::Marker(marker.result),
            },
        }
    }

    fn offset(&self) -> u64 {
        match self {
            Self::Data(batch) => batch.base_offset,
            Self::Marker(marker) => marker.offset,
        }
    }

    fn end_offset(&self) -> u64 {
        match self {
            Self::Data(batch) => batch.base_offset + u64::from(batch.part.records),
            Self::Marker(marker) => marker.offset + 1,
        }
    }
}

impl States {
    fn enter(&mut self, entry: &Entry) {
        match entry {
            Entry::Data(batch) => self.enter_data(batch),
            Entry::Marker(marker) => self.enter_marker(marker),
        }
    }

    fn enter_data(&mut self, batch: &DataBatch) {
        let part = &batch.part;
        let state = self
            .producers
            .entry(part.producer_id)
            .or_insert_with(|| State {
                batches: ProducerState::new((part.producer_id, part.epoch)),
                coordinator_epoch: None,
                open_since: None,
            });
        state.batches.append(part, batch.base_offset);
        state.batches.note_write(batch.at);
        state.open_since.get_or_insert(batch.base_offset);
    }

    fn enter_marker(&mut self, marker: &Marker) {
        let (producer_id, epoch) = marker.producer;
        let state = self.producers.entry(producer_id).or_insert_with(|| State {
            batches: ProducerState::new(marker.producer),
            coordinator_epoch: None,
            open_since: None,
        });
        state.batches.move_to(epoch);
        state.batches.note_write(marker.at);
        state.coordinator_epoch = Some(marker.coordinator_epoch);
        let Some(first_offset) = state.open_since.take() else {
            return;
        };
        let marker_offset = marker.offset;
        self.ended.push(Ended {
            first_offset,
            marker_offset,
        });
        if marker.result == TransactionResult::Abort {
            self.aborted.push_back(AbortedTransaction {
                producer_id,
                first_offset,
                marker_offset,
            });
        }
    }

    fn forget_aborted_before(&mut self, offset: u64) {
        while let Some(oldest) = self.aborted.front()
            && oldest.marker_offset < offset
        {
            self.aborted.pop_front();
        }
    }

    fn is_aborted(&self, producer_id: i64, offset: u64) -> bool {
        let first = self
            .aborted
            .partition_point(|aborted| aborted.marker_offset < offset);
        // The first marker of this producer behind the record is the one that ended it.
        let mut later = self.aborted.range(first..);
        let ended = later.find(|aborted| aborted.producer_id == producer_id);
        ended.is_some_and(|aborted| aborted.first_offset <= offset)
    }
}

mod active;
#[cfg(test)]
mod tests;
