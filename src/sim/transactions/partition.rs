//! One partition's log with transactions in it.

use crate::kafka::settings::IsolationLevel;
use crate::kafka::size::CONTROL_BATCH_BYTES;
use crate::kafka::transaction::TransactionVersion;
use crate::sim::history::{Content, LogBatch, Stamp};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::partition::{Partition, Verdict, batch_of};
use crate::sim::request::Part;
use crate::sim::time::SimTime;
use crate::sim::transactions::producer_states::{Hide, Marker, Need, ProducerStates, Verifying};

impl Partition {
    /// What it knows of transactional producers.
    pub fn transactions(&self) -> Option<&ProducerStates> {
        self.transactions.as_deref()
    }

    fn transactions_mut(&mut self) -> &mut ProducerStates {
        self.transactions.get_or_insert_default()
    }

    /// Whether a transactional batch needs the coordinator's word.
    pub fn begin_verification(&mut self, part: &Part, version: TransactionVersion) -> Need {
        self.transactions_mut().begin_verification(part, version)
    }

    /// The coordinator agreed.
    pub fn end_verification(&mut self, producer_id: i64, guard: u64) {
        self.transactions_mut().end_verification(producer_id, guard);
    }

    /// What the leader says to a transactional batch.
    pub fn judge_in_transaction(&mut self, part: &Part, verifying: Verifying) -> Verdict {
        if let Some(error) = self.judge_size(part) {
            return Verdict::Refuse(error);
        }
        self.transactions_mut().judge(part, verifying)
    }

    /// Appends a transactional batch at the leader; gives the offset of its first record.
    pub fn append_in_transaction(
        &mut self,
        producer: ProducerIndex,
        part: &Part,
        now: SimTime,
    ) -> u64 {
        let batch = batch_of(producer, part, Content::Transactional);
        let base_offset = self.extend_log(batch, now);
        self.note_compression(part);
        self.transactions_mut().append(part, (base_offset, now));
        base_offset
    }

    /// Appends a marker at the leader; gives its offset.
    pub fn append_marker(
        &mut self,
        marker: Marker,
        version: TransactionVersion,
        now: SimTime,
    ) -> u64 {
        let stamp = Stamp {
            producer_id: marker.producer.0,
            epoch: marker.producer.1,
            base_sequence: -1,
            content: Content::Marker(marker.result, marker.coordinator_epoch),
        };
        let batch = LogBatch::of_broker(CONTROL_BATCH_BYTES, stamp);
        let offset = self.extend_log(batch, now);
        let at = now;
        let marker = Marker {
            offset,
            at,
            ..marker
        };
        self.transactions_mut().append_marker(marker, version);
        offset
    }

    /// First offset that readers of committed records may not read yet: the first of an open
    /// transaction, or of one whose marker is not replicated, or the high watermark.
    pub fn last_stable_offset(&self) -> u64 {
        let unstable = self
            .transactions
            .as_ref()
            .and_then(|states| states.first_unstable_offset(self.high_watermark));
        unstable.map_or(self.high_watermark, |first| first.min(self.high_watermark))
    }

    /// How far consumers of this isolation may read at a broker; nothing if it does not lead.
    pub fn readable_by(&self, broker: BrokerIndex, isolation: IsolationLevel) -> Option<u64> {
        let end = self.readable_end(broker)?;
        Some(match isolation {
            IsolationLevel::ReadUncommitted => end,
            IsolationLevel::ReadCommitted => end.min(self.last_stable_offset()),
        })
    }

    /// Stretches of offsets that a reader is not given.
    pub fn hidden(&self, from: u64, to: u64, hide: Hide) -> Vec<(u64, u64)> {
        self.transactions
            .as_ref()
            .map_or_else(Vec::new, |states| states.hidden(from, to, hide))
    }
}
