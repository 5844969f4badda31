//! Where to read on: committed offsets, `auto.offset.reset`, and commits.
//!
//! Source: `ConsumerCoordinator` (`refreshCommittedOffsets`, `maybeAutoCommitOffsetsAsync`),
//! `OffsetFetcher`. A commit says up to where the application has *been given* records: everything
//! that an earlier `poll()` returned, because the next call says that they are done with.

use crate::kafka::error::ErrorCode;
use crate::kafka::exception::ExceptionClass;
use crate::kafka::settings::OffsetReset;
use crate::sim::consumer::Consumer;
use crate::sim::consumer::call::{Answer, Ask};
use crate::sim::consumer::connections::{About, Sent};
use crate::sim::consumer::fetcher::Position;
use crate::sim::context::Context;
use crate::sim::fact::{Exception, Fact};
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::network::Lane;
use crate::sim::time::{SimSpan, SimTime};

/// Bytes of requests about offsets without their partitions, and of each partition: estimates.
const OFFSETS_BYTES: u32 = 90;
const OFFSETS_PARTITION_BYTES: u32 = 20;

/// An offset of a partition, or why there is none.
type Offsets = [(PartitionIndex, Result<Option<u64>, ErrorCode>)];

impl Consumer {
    /// Asks for the positions that are still unknown.
    pub(super) fn find_positions(&mut self, ctx: &mut Context<'_>) {
        if self.membership.offsets_not_before > ctx.now {
            let at = self.membership.offsets_not_before;
            return self.wake_by(at);
        }
        self.ask_committed(ctx);
        let resets: Vec<PartitionIndex> = self
            .assigned
            .iter()
            .filter(|assigned| assigned.position == Position::Reset)
            .map(|assigned| assigned.partition)
            .collect();
        if resets.is_empty() {
            return;
        }
        if self.settings.offset_reset == OffsetReset::None {
            return self.refuse_to_reset(ctx, &resets);
        }
        for broker in 0..ctx.config.brokers.len() as u16 {
            self.ask_offsets(ctx, BrokerIndex(broker), &resets);
        }
        if resets
            .iter()
            .any(|&partition| self.metadata.leader(partition).is_none())
        {
            self.metadata.request_update();
        }
    }

    fn ask_committed(&mut self, ctx: &mut Context<'_>) {
        let unknown: Vec<PartitionIndex> = self
            .assigned
            .iter()
            .filter(|assigned| assigned.position == Position::Unknown)
            .map(|assigned| assigned.partition)
            .collect();
        if unknown.is_empty() || self.is_asking(About::Committed) {
            return;
        }
        let Some(coordinator) = self.membership.coordinator else {
            return;
        };
        if self.approach(ctx, coordinator, Lane::Bootstrap) {
            let bytes = OFFSETS_BYTES + OFFSETS_PARTITION_BYTES * unknown.len() as u32;
            let ask = Ask::Committed(self.group, unknown);
            let to = (coordinator, Lane::Bootstrap);
            self.call(ctx, to, (About::Committed, ask), bytes);
        }
    }

    fn ask_offsets(
        &mut self,
        ctx: &mut Context<'_>,
        broker: BrokerIndex,
        resets: &[PartitionIndex],
    ) {
        if self.is_asking_at(About::ListOffsets, broker) {
            return;
        }
        let here: Vec<PartitionIndex> = resets
            .iter()
            .copied()
            .filter(|&partition| self.metadata.leader(partition) == Some(broker))
            .collect();
        if !here.is_empty() && self.approach(ctx, broker, Lane::Regular) {
            let bytes = OFFSETS_BYTES + OFFSETS_PARTITION_BYTES * here.len() as u32;
            let ask = Ask::ListOffsets(self.settings.offset_reset, here);
            self.call(
                ctx,
                (broker, Lane::Regular),
                (About::ListOffsets, ask),
                bytes,
            );
        }
    }

    /// `auto.offset.reset=none`: `poll()` throws.
    fn refuse_to_reset(&mut self, ctx: &mut Context<'_>, partitions: &[PartitionIndex]) {
        let mut names: Vec<String> = Vec::new();
        for assigned in &self.assigned {
            if partitions.contains(&assigned.partition) {
                let topic = &ctx.config.topics[assigned.partition.name().topic.index()].name;
                names.push(format!("{topic}-{}", assigned.partition.name().number));
            }
        }
        let text = format!(
            "Undefined offset with no reset policy for partitions: [{}]",
            names.join(", ")
        );
        let class = ExceptionClass::NoOffsetForPartition.into();
        self.fail(
            ctx,
            std::sync::Arc::new(Exception {
                class,
                text,
                remedy: crate::sim::fact::Remedy::None,
            }),
        );
    }

    /// The group's committed offsets.
    pub(super) fn on_committed(&mut self, ctx: &mut Context<'_>, offsets: &Offsets) {
        for &(partition, offset) in offsets {
            let Some(assigned) = self.assigned_mut(partition) else {
                continue;
            };
            if assigned.position != Position::Unknown {
                continue;
            }
            match offset {
                Ok(Some(offset)) => {
                    assigned.position = Position::At(offset);
                    assigned.committed = Some(offset);
                }
                Ok(None) => assigned.position = Position::Reset,
                Err(_) => self.back_off_offsets(ctx),
            }
        }
    }

    /// Where a partition begins, or ends.
    pub(super) fn on_list_offsets(&mut self, ctx: &mut Context<'_>, offsets: &Offsets) {
        for &(partition, offset) in offsets {
            let Some(assigned) = self.assigned_mut(partition) else {
                continue;
            };
            if assigned.position != Position::Reset {
                continue;
            }
            let Ok(Some(offset)) = offset else {
                self.metadata.request_update();
                self.back_off_offsets(ctx);
                continue;
            };
            assigned.position = Position::At(offset);
            let fact = Fact::OffsetReset {
                consumer: self.me,
                partition,
                offset,
            };
            ctx.fact(self.rank, fact);
        }
    }

    pub(super) fn back_off_offsets(&mut self, ctx: &Context<'_>) {
        let backoff = SimSpan::from_millis(self.settings.retry_backoff.initial_ms);
        self.membership.offsets_not_before = ctx.now + backoff;
        self.wake_by(ctx.now + backoff);
    }

    /// `poll()` commits every `auto.commit.interval.ms`.
    pub(super) fn auto_commit(&mut self, ctx: &mut Context<'_>) {
        let Some(interval_ms) = self.settings.auto_commit_interval_ms else {
            return;
        };
        if self.assigned.is_empty() {
            return;
        }
        if self.application.commit_at <= ctx.now {
            let interval = SimSpan::from_millis(interval_ms.max(1));
            let is_first = self.application.commit_at == SimTime::ZERO;
            self.application.commit_at = ctx.now + interval;
            if !is_first {
                self.commit_positions(ctx);
            }
        }
        let at = self.application.commit_at;
        self.wake_by(at);
    }

    /// Commits what `poll()` returned so far, if that is wanted and possible; says whether it was
    /// sent.
    pub(super) fn commit_positions(&mut self, ctx: &mut Context<'_>) -> bool {
        let Some(coordinator) = self.membership.coordinator else {
            return false;
        };
        let identity = self.identity();
        if self.settings.auto_commit_interval_ms.is_none() || identity.generation < 0 {
            return false;
        }
        let offsets: Vec<(PartitionIndex, u64)> = self
            .assigned
            .iter()
            .filter_map(|assigned| Some((assigned.partition, assigned.next_offset()?)))
            .collect();
        if offsets.is_empty() || !self.approach(ctx, coordinator, Lane::Bootstrap) {
            return false;
        }
        for assigned in &mut self.assigned {
            assigned.committed = assigned.next_offset();
        }
        let bytes = OFFSETS_BYTES + OFFSETS_PARTITION_BYTES * offsets.len() as u32;
        let ask = Ask::Commit(identity, offsets);
        let to = (coordinator, Lane::Bootstrap);
        self.call(ctx, to, (About::Commit, ask), bytes);
        true
    }

    /// A commit was answered.
    pub(super) fn on_commit_answer(&mut self, ctx: &mut Context<'_>, sent: Sent, answer: &Answer) {
        let took = ctx.now.since(sent.at);
        let Answer::Error(error) = *answer else {
            self.metrics.committed(took, ctx.now);
            return self.go_on_joining(ctx);
        };
        let fact = Fact::CommitFailed {
            consumer: self.me,
            error,
        };
        ctx.fact(self.rank, fact);
        self.on_group_error(ctx, sent, error);
        self.go_on_joining(ctx);
    }
}
