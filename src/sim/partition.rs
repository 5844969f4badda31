//! One partition: its log, how far each replica is, and what its leader remembers of producers.
//!
//! The log is one history, that of the broker which took office last. What other replicas hold
//! beyond the point where they left it is a line of its own (`lines`); a leader that has lost its
//! office without knowing it goes on there (`stale`).

mod lines;
mod memory;
mod producer_state;
mod replica;
mod stale;

use std::collections::VecDeque;

use crate::kafka::compression::decompression_time_ns;
use crate::kafka::error::ErrorCode;
use crate::kafka::settings::{StoredCompression, TopicSettings};
use crate::sim::compaction::{CleanRecord, Compaction};
use crate::sim::config::HistoryDetail;
use crate::sim::consumer::CallId;
use crate::sim::history::{Content, Log, LogBatch};
use crate::sim::ids::{BrokerIndex, ProducerIndex, TopicIndex};
use crate::sim::leader_epochs::LeaderEpochs;
use crate::sim::request::{Part, RequestId};
use crate::sim::segments::{Retention, Segments};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::transactions::producer_states::ProducerStates;

use lines::Line;
pub(super) use memory::batch_of;
use memory::remember;
pub use producer_state::{ProducerState, Verdict, next_sequence};
pub use replica::{Reassignment, Replica, Source};
pub use stale::StaleLeader;

/// One partition.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// Topic configuration.
    pub settings: TopicSettings,
    /// All replicas, in assignment order.
    pub replicas: Vec<Replica>,
    /// The log.
    pub log: Log,
    /// Where each leader epoch began in it.
    pub epochs: LeaderEpochs,
    /// What replicas hold that this log lacks.
    lines: Vec<Line>,
    lines_made: u32,
    /// Its segments, where the topic is not compacted.
    pub segments: Segments,
    /// Its segments, and what the cleaner left, where the topic is compacted.
    pub compaction: Option<Compaction>,
    /// First offset that is not yet committed.
    pub high_watermark: u64,
    /// The broker that serves as leader, with its epoch, once it applied its election.
    pub serving: Option<(BrokerIndex, u32)>,
    /// Brokers that were deposed and have not heard of it.
    pub stale: Vec<StaleLeader>,
    /// In-sync replicas as the leader knows them committed.
    pub isr: Vec<BrokerIndex>,
    /// In-sync replicas that the leader asked the controller for, while it waits for the answer.
    pub pending_isr: Option<Vec<BrokerIndex>>,
    /// Where it moves to.
    pub reassignment: Option<Reassignment>,
    /// Whether replicas that are not in sync get records at a limited rate only.
    pub is_throttled: bool,
    /// Brokers that hold a replica no more and have not heard of it.
    leaving: Vec<BrokerIndex>,
    /// acks=all requests that wait for the high watermark.
    pub purgatory: Vec<Waiting>,
    /// Fetches of consumers that wait for the high watermark to move.
    pub readers: Vec<CallId>,
    /// Errors that commands want answered next.
    pub injected: VecDeque<ErrorCode>,
    /// How long decompressing takes of what was appended so far.
    decompression: Decompression,
    producers: Vec<Option<ProducerState>>,
    /// Transactional producers, once there is one.
    pub(super) transactions: Option<Box<ProducerStates>>,
}

/// How long decompressing takes a reader, on average over all that was appended.
///
/// Simplification: batches of several codecs or depths in one partition all take this average.
#[derive(Clone, Copy, Debug, Default)]
struct Decompression {
    stored_bytes: u64,
    nanos: u64,
}

/// A request waiting for replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which request.
    pub request: RequestId,
    /// Which of its batches.
    pub part: u16,
    /// The high watermark that it needs.
    pub required_offset: u64,
}

impl Partition {
    /// An empty partition on these replicas, the first of them leading.
    pub fn new(
        (topic, number): (TopicIndex, u32),
        settings: &TopicSettings,
        replicas: &[BrokerIndex],
        start_offset: u64,
        detail: HistoryDetail,
    ) -> Self {
        let leader = replicas.first().copied();
        let replica = |&broker| {
            let mut replica = Replica::new(broker, start_offset);
            replica.known_end_offset = Some(start_offset);
            if let Some(leader) = leader.filter(|&leader| leader != broker) {
                replica.source = Source::Fetching(leader, 0);
            }
            replica
        };
        Self {
            topic,
            number,
            settings: settings.clone(),
            replicas: replicas.iter().map(replica).collect(),
            log: Log::new(start_offset, detail),
            epochs: LeaderEpochs::new(start_offset),
            lines: Vec::new(),
            lines_made: 0,
            segments: Segments::default(),
            compaction: (settings.cleanup_policy.compacts() && detail == HistoryDetail::Records)
                .then(Compaction::default),
            high_watermark: start_offset,
            serving: replicas.first().map(|&leader| (leader, 0)),
            stale: Vec::new(),
            isr: replicas.to_vec(),
            pending_isr: None,
            reassignment: None,
            is_throttled: false,
            leaving: Vec::new(),
            purgatory: Vec::new(),
            readers: Vec::new(),
            injected: VecDeque::new(),
            decompression: Decompression::default(),
            producers: Vec::new(),
            transactions: None,
        }
    }

    /// Whether this broker serves as leader.
    pub fn is_led_by(&self, broker: BrokerIndex) -> bool {
        self.serving.is_some_and(|(leader, _)| leader == broker)
    }

    /// The replica on a broker.
    pub fn replica_mut(&mut self, broker: BrokerIndex) -> Option<&mut Replica> {
        self.replicas
            .iter_mut()
            .find(|replica| replica.broker == broker)
    }

    /// The replica on a broker.
    pub fn replica(&self, broker: BrokerIndex) -> Option<&Replica> {
        self.replicas
            .iter()
            .find(|replica| replica.broker == broker)
    }

    /// How far the replica on a broker is.
    pub fn replica_end(&self, broker: BrokerIndex) -> u64 {
        self.replica(broker).map_or(0, |replica| replica.end_offset)
    }

    /// Members of the ISR that have not caught up for longer than `lag_time`.
    pub fn laggards(&self, now: SimTime, lag_time: SimSpan) -> impl Iterator<Item = BrokerIndex> {
        let leader = self.serving.map(|(leader, _)| leader);
        let end_offset = self.log.end_offset();
        self.replicas
            .iter()
            .filter(move |replica| {
                Some(replica.broker) != leader
                    && self.isr.contains(&replica.broker)
                    && replica.known_end_offset != Some(end_offset)
                    && now.since(replica.caught_up) > lag_time
            })
            .map(|replica| replica.broker)
    }

    /// `min(min.insync.replicas, replicas)`.
    pub fn effective_min_isr(&self) -> usize {
        let replicas = self.replicas.len() - self.leaving.len();
        (self.settings.min_insync_replicas as usize).min(replicas)
    }

    /// What the leader says to a batch by its size.
    pub(super) fn judge_size(&self, part: &Part) -> Option<ErrorCode> {
        if part.bytes.max(part.stored_bytes) > self.settings.max_message_bytes {
            Some(ErrorCode::MessageTooLarge)
        } else if part.stored_bytes > self.settings.segment_bytes {
            Some(ErrorCode::RecordListTooLarge)
        } else {
            None
        }
    }

    /// What the leader says to this batch, before it appends anything.
    pub fn judge(&self, producer: ProducerIndex, part: &Part) -> Verdict {
        self.judge_with(&self.producers, producer, part)
    }

    fn judge_with(
        &self,
        producers: &[Option<ProducerState>],
        producer: ProducerIndex,
        part: &Part,
    ) -> Verdict {
        if let Some(error) = self.judge_size(part) {
            return Verdict::Refuse(error);
        }
        if part.base_sequence < 0 {
            return Verdict::Append;
        }
        match producers.get(producer.index()).and_then(Option::as_ref) {
            Some(state) if state.producer_id() == part.producer_id => state.judge(part),
            // No state at all: any sequence is accepted.
            _ => Verdict::Append,
        }
    }

    /// Appends a batch at the leader; gives the offset of its first record.
    pub fn append(&mut self, producer: ProducerIndex, part: &Part, now: SimTime) -> u64 {
        let batch = batch_of(producer, part, Content::Plain);
        let base_offset = self.extend_log(batch, now);
        self.note_compression(part);
        if part.base_sequence >= 0 {
            remember(&mut self.producers, producer, part, (base_offset, now));
        }
        base_offset
    }

    /// A batch was appended, which readers will decompress.
    pub(super) fn note_compression(&mut self, part: &Part) {
        self.decompression.add(self.settings.compression, part);
    }

    /// A batch more at the leader, whatever is in it; the log gives it its offset and epoch.
    pub(super) fn extend_log(&mut self, batch: LogBatch, now: SimTime) -> u64 {
        let (leader, leader_epoch) = self.serving.unwrap_or((BrokerIndex(u16::MAX), 0));
        let replicated = match self.replicas.as_slice() {
            [_] => self.log.end_offset(),
            replicas => replicas
                .iter()
                .map(|r| self.shared_end(r))
                .min()
                .unwrap_or(0),
        };
        let bytes = batch.bytes;
        let batch = LogBatch {
            leader_epoch,
            ..batch
        };
        let base_offset = self.log.append(batch, replicated);
        let end_offset = self.log.end_offset();
        if let Some(replica) = self.replica_mut(leader) {
            replica.end_offset = end_offset;
            replica.known_end_offset = Some(end_offset);
        }
        let place = (base_offset, bytes);
        match &mut self.compaction {
            Some(compaction) => compaction.note_append(&self.settings, place, now),
            None => self.segments.note_append(&self.settings, place, now),
        }
        base_offset
    }

    /// How long a reader takes to decompress so many bytes of this log.
    pub fn decompression_time(&self, bytes: u64) -> SimSpan {
        let Decompression {
            stored_bytes,
            nanos,
        } = self.decompression;
        let nanos = u128::from(bytes) * u128::from(nanos) / u128::from(stored_bytes.max(1));
        SimSpan::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Deletes the segments that are over a limit: the log begins later. Gives how many records
    /// are gone, if any.
    ///
    /// Source: `UnifiedLog.deleteOldSegments`.
    pub fn delete_old_segments(&mut self, limit: Retention, now: SimTime) -> Option<u64> {
        if self.compaction.is_some() || !self.settings.cleanup_policy.deletes() {
            return None;
        }
        let ends = (self.high_watermark, self.log.end_offset());
        let start = self.segments.too_much(limit, &self.settings, ends, now)?;
        self.segments.drop_before(start);
        Some(self.log.delete_before(start))
    }

    /// Producers without transactions that its leader knows.
    pub fn plain_producers(&self) -> impl Iterator<Item = &ProducerState> + '_ {
        self.producers.iter().flatten()
    }

    /// Forgets producers that have not written for so long (`producer.id.expiration.ms`).
    pub fn expire_producers(&mut self, age: SimSpan, now: SimTime) -> Vec<ProducerIndex> {
        let mut expired = Vec::new();
        for (place, state) in self.producers.iter_mut().enumerate() {
            let is_old = |state: &ProducerState| now.since(state.last_write()) >= age;
            if state.as_ref().is_some_and(is_old) {
                *state = None;
                expired.push(ProducerIndex(place as u16));
            }
        }
        expired
    }

    /// What the cleaner left of the beginning of the log.
    pub fn clean_records(&self) -> &[CleanRecord] {
        self.compaction
            .as_ref()
            .map_or(&[], |compaction| compaction.clean_records())
    }

    /// The records from an offset on that the log remembers: offset, producer and ordinal.
    pub fn records_from(
        &self,
        offset: u64,
    ) -> impl Iterator<Item = (u64, ProducerIndex, u64)> + '_ {
        let clean = self.clean_records();
        let first = clean.partition_point(|record| record.offset < offset);
        let clean = clean[first..].iter();
        let clean = clean.map(|record| (record.offset, record.producer, record.ordinal));
        let dirty = self.log.batches_from(offset).flat_map(move |batch| {
            let skipped = offset.saturating_sub(batch.base_offset);
            (skipped..u64::from(batch.records)).map(move |place| {
                let ordinal = batch.first_ordinal + place;
                (batch.base_offset + place, batch.producer, ordinal)
            })
        });
        clean.chain(dirty)
    }

    /// Records in the log now.
    pub fn records_kept(&self) -> u64 {
        match &self.compaction {
            None => self.log.end_offset() - self.log.start_offset(),
            Some(compaction) => {
                let dirty = self.log.end_offset() - self.log.oldest_remembered();
                compaction.clean_records().len() as u64 + dirty
            }
        }
    }

    /// Raises the high watermark as far as the in-sync replicas allow, those among them that the
    /// controller has still to confirm; says whether it moved. Below `min.insync.replicas` it does
    /// not move (strict min ISR, 4.x).
    pub fn advance_high_watermark(&mut self) -> bool {
        if self.isr.len() < self.effective_min_isr() {
            return false;
        }
        match self.committed_end() {
            Some(offset) if offset > self.high_watermark => {
                self.high_watermark = offset;
                if let Some(transactions) = &mut self.transactions {
                    transactions.settle(offset);
                }
                true
            }
            _ => false,
        }
    }

    /// Up to where all replicas have the log that the leader waits for, as it knows them.
    fn committed_end(&self) -> Option<u64> {
        if let [only] = self.replicas.as_slice()
            && self.isr.first() == Some(&only.broker)
        {
            // It waits for nobody.
            return only.known_end_offset;
        }
        let pending = self.pending_isr.as_deref().unwrap_or_default();
        let counts = |replica: &&Replica| {
            self.isr.contains(&replica.broker) || pending.contains(&replica.broker)
        };
        let members = self.replicas.iter().filter(counts);
        let candidate = members.map(|replica| replica.known_end_offset).min();
        candidate.flatten()
    }

    /// In-sync replicas, those among them that the controller has still to confirm (the maximal
    /// ISR).
    pub fn maximal_isr(&self) -> usize {
        let pending = self.pending_isr.as_deref().unwrap_or_default();
        let joining = pending.iter().filter(|member| !self.isr.contains(member));
        self.isr.len() + joining.count()
    }

    /// Cuts the log and everything that remembers more than it holds; gives the batches gone.
    pub fn truncate(&mut self, offset: u64) -> Vec<LogBatch> {
        let gone = self.log.truncate(offset);
        self.epochs.truncate(self.log.end_offset());
        self.forget_beyond_end();
        self.recall_transactions(self.log.end_offset(), &[]);
        gone
    }

    /// The log ends earlier than before, or goes on differently.
    fn forget_beyond_end(&mut self) {
        let end_offset = self.log.end_offset();
        match &mut self.compaction {
            Some(compaction) => compaction.truncate(end_offset),
            None => self.segments.truncate(end_offset),
        }
        for replica in self.replicas.iter_mut().filter(|r| r.line.is_none()) {
            replica.end_offset = replica.end_offset.min(end_offset);
        }
        for replica in &mut self.replicas {
            replica.known_end_offset = replica.known_end_offset.map(|end| end.min(end_offset));
        }
        self.high_watermark = self.high_watermark.min(end_offset);
        self.recall_producers();
    }
}

impl Decompression {
    fn add(&mut self, stored: StoredCompression, part: &Part) {
        let codec = stored.of_batch(part.codec);
        let nanos = decompression_time_ns(codec, part.plain_bytes.into());
        self.stored_bytes += u64::from(part.stored_bytes);
        self.nanos = self.nanos.saturating_add(nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::settings::CompressionType;
    use crate::sim::ids::PartitionIndex;

    const P: ProducerIndex = ProducerIndex(0);

    fn partition() -> Partition {
        let (topic, settings) = ((TopicIndex(0), 0), TopicSettings::defaults());
        Partition::new(topic, &settings, &[BrokerIndex(0)], 0, HistoryDetail::Sums)
    }

    fn batch(epoch: i16, base_sequence: i32, records: u32) -> Part {
        Part {
            partition: PartitionIndex::of_first_topic(0),
            batch: 0,
            producer_id: 9,
            epoch,
            base_sequence,
            records,
            bytes: 100,
            plain_bytes: 100,
            stored_bytes: 100,
            codec: CompressionType::None,
            first_ordinal: 0,
            error: None,
            current_leader: None,
            base_offset: None,
            required_offset: 0,
        }
    }

    #[test]
    fn a_batch_sent_twice_is_a_duplicate_at_its_first_offset() {
        let mut partition = partition();
        partition.append(P, &batch(0, 0, 10), SimTime::ZERO);
        partition.append(P, &batch(0, 10, 5), SimTime::ZERO);
        assert_eq!(partition.judge(P, &batch(0, 10, 5)), Verdict::Duplicate(10));
    }

    #[test]
    fn the_sixth_last_batch_is_no_longer_recognised() {
        let mut partition = partition();
        for i in 0..6 {
            partition.append(P, &batch(0, i, 1), SimTime::ZERO);
        }
        assert_eq!(partition.judge(P, &batch(0, 1, 1)), Verdict::Duplicate(1));
        let refused = Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber);
        assert_eq!(partition.judge(P, &batch(0, 0, 1)), refused);
    }

    #[test]
    fn a_gap_in_the_sequence_is_refused() {
        let mut partition = partition();
        partition.append(P, &batch(0, 0, 1), SimTime::ZERO);
        let refused = Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber);
        assert_eq!(partition.judge(P, &batch(0, 2, 1)), refused);
    }

    #[test]
    fn a_new_epoch_starts_at_zero() {
        let mut partition = partition();
        partition.append(P, &batch(0, 0, 1), SimTime::ZERO);
        let refused = Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber);
        assert_eq!(partition.judge(P, &batch(1, 1, 1)), refused);
        assert_eq!(partition.judge(P, &batch(1, 0, 1)), Verdict::Append);
    }

    #[test]
    fn sequences_wrap_to_zero() {
        assert_eq!(next_sequence(i32::MAX, 1), 0);
        assert_eq!(next_sequence(i32::MAX - 1, 3), 1);
    }

    #[test]
    fn a_forgotten_producer_may_go_on_anywhere_and_is_not_recognised() {
        let mut partition = partition();
        partition.append(P, &batch(0, 0, 2), SimTime::ZERO);
        let day = SimSpan::from_seconds(86_400);
        let almost = SimTime::from_seconds(86_399);
        assert_eq!(partition.expire_producers(day, almost), []);
        assert_eq!(partition.judge(P, &batch(0, 0, 2)), Verdict::Duplicate(0));
        assert_eq!(
            partition.expire_producers(day, SimTime::from_seconds(86_400)),
            [P]
        );
        assert_eq!(partition.judge(P, &batch(0, 7, 2)), Verdict::Append);
        assert_eq!(partition.judge(P, &batch(0, 0, 2)), Verdict::Append);
    }

    #[test]
    fn a_batch_above_segment_bytes_is_no_case_for_splitting() {
        let mut partition = partition();
        partition.settings.segment_bytes = 99;
        let refused = Verdict::Refuse(ErrorCode::RecordListTooLarge);
        assert_eq!(partition.judge(P, &batch(0, 0, 2)), refused);
    }

    #[test]
    fn the_high_watermark_waits_for_every_replica_in_sync() {
        let topic = (TopicIndex(0), 0);
        let replicas = [BrokerIndex(0), BrokerIndex(1)];
        let settings = TopicSettings::defaults();
        let mut partition = Partition::new(topic, &settings, &replicas, 0, HistoryDetail::Sums);
        partition.append(P, &batch(0, 0, 10), SimTime::ZERO);
        assert!(!partition.advance_high_watermark());
        partition.replicas[1].known_end_offset = Some(4);
        assert!(partition.advance_high_watermark());
        assert_eq!(partition.high_watermark, 4);
    }
}
