//! Logs that left the partition's own: what a replica holds beyond the point where the broker that
//! took office last goes on differently.
//!
//! A replica's log is the partition's up to its line's fork, and the line from there on. Replicas
//! that hold the same share a line. A follower finds the fork by leader epochs, cuts its tail and
//! comes back; a replica that is elected with its line makes it the partition's own.
//!
//! Source: `Partition.makeLeader`, `AbstractFetcherThread.getOffsetTruncationState`.

use std::collections::VecDeque;

use crate::sim::history::{Least, LogBatch};
use crate::sim::ids::BrokerIndex;
use crate::sim::leader_epochs::{EpochStart, LeaderEpochs};

use super::{Partition, Replica};

/// A line, by how many the partition made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineId(u32);

/// What some replicas hold from an offset on.
#[derive(Clone, Debug)]
pub(super) struct Line {
    id: LineId,
    fork: u64,
    batches: VecDeque<LogBatch>,
    epochs: Vec<EpochStart>,
}

/// What a change of leader did to the partition's log.
#[derive(Clone, Debug, Default)]
pub struct Switch {
    /// Batches that are no longer in it, in order of offsets.
    pub gone: Vec<LogBatch>,
    /// Batches that are in it again.
    pub back: Vec<LogBatch>,
}

impl Line {
    fn end_offset(&self) -> u64 {
        self.batches.back().map_or(self.fork, LogBatch::end_offset)
    }

    /// Cuts what nobody holds any more.
    fn cut(&mut self, offset: u64) {
        while let Some(last) = self.batches.back_mut() {
            if last.end_offset() <= offset {
                break;
            }
            if last.base_offset >= offset {
                self.batches.pop_back();
            } else {
                *last = last.split(offset).0;
            }
        }
        self.epochs.retain(|start| start.start_offset < offset);
    }
}

impl Partition {
    /// How far a replica's log is the partition's own.
    pub fn shared_end(&self, replica: &Replica) -> u64 {
        match self.line(replica) {
            Some(line) => replica.end_offset.min(line.fork),
            None => replica.end_offset,
        }
    }

    /// The log of this broker becomes the partition's: it takes office.
    pub fn switch_to(&mut self, broker: BrokerIndex) -> Switch {
        let Some(replica) = self.replica(broker).copied() else {
            return Switch::default();
        };
        let fork = self.shared_end(&replica);
        let gone = self.log.truncate(fork);
        let epochs = self.epochs.truncate(fork);
        self.keep_apart(fork, &gone, &epochs);
        let back = match replica.line {
            Some(id) if replica.end_offset > fork => self.take_over(id, replica.end_offset),
            _ => Vec::new(),
        };
        self.drop_what_nobody_holds();
        self.forget_beyond_end();
        self.recall_transactions(fork, &back);
        Switch { gone, back }
    }

    /// Whoever holds what the log has just lost keeps it on a line.
    fn keep_apart(&mut self, fork: u64, gone: &[LogBatch], epochs: &[EpochStart]) {
        for line in self.lines.iter_mut().filter(|line| line.fork > fork) {
            let mut batches = up_to(gone, line.fork);
            batches.append(&mut line.batches);
            let mut starts: Vec<_> = epochs
                .iter()
                .copied()
                .filter(|start| start.start_offset < line.fork)
                .collect();
            starts.append(&mut line.epochs);
            (line.batches, line.epochs, line.fork) = (batches, starts, fork);
        }
        let is_beyond = |replica: &Replica| replica.line.is_none() && replica.end_offset > fork;
        let beyond = self.replicas.iter().filter(|replica| is_beyond(replica));
        let Some(end) = beyond.map(|replica| replica.end_offset).max() else {
            return;
        };
        let id = self.new_line(fork);
        if let Some(line) = self.lines.last_mut() {
            line.batches = up_to(gone, end);
            line.epochs = epochs.to_vec();
        }
        for replica in &mut self.replicas {
            if is_beyond(replica) {
                replica.line = Some(id);
            }
        }
    }

    /// The log goes on with a line, up to `end`.
    fn take_over(&mut self, id: LineId, end: u64) -> Vec<LogBatch> {
        let Some(line) = self.lines.iter_mut().find(|line| line.id == id) else {
            return Vec::new();
        };
        let back: Vec<_> = up_to(line.batches.make_contiguous(), end).into();
        line.batches = from(line.batches.make_contiguous(), end);
        let starts = std::mem::take(&mut line.epochs);
        let (taken, kept): (Vec<_>, Vec<_>) = starts
            .into_iter()
            .partition(|start| start.start_offset < end);
        (line.epochs, line.fork) = (kept, end);
        self.log.restore(&back);
        self.epochs.extend(taken);
        for replica in &mut self.replicas {
            if replica.line == Some(id) && replica.end_offset <= end {
                replica.line = None;
            }
        }
        back
    }

    /// A leader that lost its office appends to its own line.
    pub(super) fn append_apart(&mut self, broker: BrokerIndex, mut batch: LogBatch) -> u64 {
        let Some(replica) = self.replica(broker).copied() else {
            return 0;
        };
        let id = self.line_to_append(&replica);
        batch.base_offset = replica.end_offset;
        if let Some(line) = self.lines.iter_mut().find(|line| line.id == id) {
            line.batches.push_back(batch);
        }
        if let Some(replica) = self.replica_mut(broker) {
            (replica.line, replica.end_offset) = (Some(id), batch.end_offset());
        }
        batch.base_offset
    }

    /// The line on which a replica can go on alone: its own if it holds all of it, or a new one.
    fn line_to_append(&mut self, replica: &Replica) -> LineId {
        let end = replica.end_offset;
        let (fork, batches, epochs) = match self.line(replica) {
            Some(line) if end == line.end_offset() => return line.id,
            Some(line) => {
                let batches = line.batches.iter().copied().collect::<Vec<_>>();
                let epochs = line.epochs.iter().copied();
                let epochs = epochs.filter(|start| start.start_offset < end).collect();
                (line.fork, up_to(&batches, end), epochs)
            }
            None => (end, VecDeque::new(), Vec::new()),
        };
        let id = self.new_line(fork);
        if let Some(line) = self.lines.last_mut() {
            (line.batches, line.epochs) = (batches, epochs);
        }
        id
    }

    /// The offset up to which a fetch from this leader gets, and the bytes.
    pub fn reach_at(&self, leader: BrokerIndex, offset: u64, limit_bytes: u64) -> (u64, u64) {
        let Some(replica) = self.replica(leader) else {
            return (offset, 0);
        };
        let shared = self.shared_end(replica);
        if offset < shared {
            return self
                .log
                .read((offset, shared), limit_bytes, Least::OneBatch);
        }
        let (mut end, mut bytes) = (offset, 0);
        for batch in self
            .line(replica)
            .into_iter()
            .flat_map(|line| &line.batches)
        {
            if batch.end_offset() <= offset {
                continue;
            }
            if bytes > 0 && bytes + u64::from(batch.bytes) > limit_bytes {
                break;
            }
            (end, bytes) = (batch.end_offset(), bytes + u64::from(batch.bytes));
        }
        (end.min(replica.end_offset.max(offset)), bytes)
    }

    /// A follower wrote what it fetched from this leader.
    pub fn extend(&mut self, follower: BrokerIndex, leader: BrokerIndex, end_offset: u64) {
        let Some(of_leader) = self.replica(leader).copied() else {
            return;
        };
        let (limit, fork) = (of_leader.end_offset, self.shared_end(&of_leader));
        if let Some(replica) = self.replica_mut(follower) {
            replica.end_offset = replica.end_offset.max(end_offset.min(limit));
            if replica.end_offset > fork {
                replica.line = of_leader.line;
            }
        }
    }

    /// Where a follower has to cut its log before it can go on from this leader; nothing if it is
    /// a beginning of the leader's.
    pub fn divergence(&self, leader: BrokerIndex, follower: BrokerIndex) -> Option<u64> {
        let (of_leader, own) = (self.replica(leader)?, self.replica(follower)?);
        let common = self.common_end(of_leader, own);
        let (leaders, owns) = (self.epochs_of(of_leader), self.epochs_of(own));
        let Some(latest) = owns.latest() else {
            return (common < own.end_offset).then_some(common);
        };
        let said = leaders.end_of(latest.epoch, of_leader.end_offset);
        let agrees =
            said.is_some_and(|end| end.epoch == latest.epoch && end.end_offset >= own.end_offset);
        if agrees || said.is_none() {
            return (common < own.end_offset).then_some(common);
        }
        let said = said?;
        let target = match owns.end_of(said.epoch, own.end_offset) {
            Some(known) if known.epoch == said.epoch => known.end_offset.min(said.end_offset),
            Some(known) => known.end_offset,
            None => said.end_offset,
        };
        let target = target.min(own.end_offset);
        // Every round cuts something.
        let target = if target < own.end_offset {
            target
        } else {
            common
        };
        (target < own.end_offset).then_some(target)
    }

    /// How far two replicas hold the same.
    fn common_end(&self, one: &Replica, other: &Replica) -> u64 {
        let ends = one.end_offset.min(other.end_offset);
        match (self.line(one), self.line(other)) {
            (Some(a), Some(b)) if a.id == b.id => ends,
            (a, b) => a.into_iter().chain(b).map(|l| l.fork).fold(ends, u64::min),
        }
    }

    /// A replica cuts its log, or lost its end; how many records that are.
    pub fn cut_replica(&mut self, broker: BrokerIndex, offset: u64) -> u64 {
        let Some(replica) = self.replica_mut(broker) else {
            return 0;
        };
        let records = replica.end_offset.saturating_sub(offset);
        replica.end_offset = replica.end_offset.min(offset);
        replica.high_watermark = replica.high_watermark.min(offset);
        replica.known_end_offset = replica.known_end_offset.map(|end| end.min(offset));
        self.drop_what_nobody_holds();
        records
    }

    /// The furthest that any replica holds of the partition's own log.
    pub fn longest_shared_end(&self) -> u64 {
        let ends = self.replicas.iter().map(|replica| self.shared_end(replica));
        ends.max().unwrap_or(0)
    }

    fn line(&self, replica: &Replica) -> Option<&Line> {
        let id = replica.line?;
        self.lines.iter().find(|line| line.id == id)
    }

    fn new_line(&mut self, fork: u64) -> LineId {
        let id = LineId(self.lines_made);
        self.lines_made += 1;
        self.lines.push(Line {
            id,
            fork,
            batches: VecDeque::new(),
            epochs: Vec::new(),
        });
        id
    }

    /// The epochs that a replica knows: those of its records. Whoever leads the partition's own
    /// log knows that its office began, too.
    fn epochs_of(&self, replica: &Replica) -> LeaderEpochs {
        if self.is_led_by(replica.broker) {
            return self.epochs.clone();
        }
        let mut epochs = LeaderEpochs::default();
        epochs.extend(self.epochs.before(self.shared_end(replica)));
        let own = self.line(replica).into_iter().flat_map(|line| &line.epochs);
        let end_offset = replica.end_offset;
        epochs.extend(own.copied().filter(|start| start.start_offset < end_offset));
        epochs
    }

    fn drop_what_nobody_holds(&mut self) {
        let Self {
            replicas, lines, ..
        } = self;
        for replica in replicas.iter_mut() {
            let line = lines.iter().find(|line| Some(line.id) == replica.line);
            if line.is_none_or(|line| replica.end_offset <= line.fork) {
                replica.line = None;
            }
        }
        let end_of = |id: LineId| {
            let holders = replicas.iter().filter(|replica| replica.line == Some(id));
            holders.map(|replica| replica.end_offset).max()
        };
        lines.retain_mut(|line| match end_of(line.id) {
            Some(end) => {
                line.cut(end);
                true
            }
            None => false,
        });
    }
}

/// The batches before an offset, one across it in part.
fn up_to(batches: &[LogBatch], offset: u64) -> VecDeque<LogBatch> {
    let before = batches.iter().filter(|batch| batch.base_offset < offset);
    let part = |batch: &LogBatch| {
        if batch.end_offset() <= offset {
            *batch
        } else {
            batch.split(offset).0
        }
    };
    before.map(part).collect()
}

/// The batches from an offset on, one across it in part.
fn from(batches: &[LogBatch], offset: u64) -> VecDeque<LogBatch> {
    let after = batches.iter().filter(|batch| batch.end_offset() > offset);
    let part = |batch: &LogBatch| {
        if batch.base_offset >= offset {
            *batch
        } else {
            batch.split(offset).1
        }
    };
    after.map(part).collect()
}
