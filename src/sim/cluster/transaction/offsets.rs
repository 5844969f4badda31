//! Offsets that a group commits within a transaction: they count when its COMMIT is written.
//!
//! Source: `GroupCoordinatorService.commitTransactionalOffsets`, `OffsetMetadataManager`
//! (`pendingTransactionalOffsets`).
//!
//! Simplification: `__consumer_offsets` has no log here, so its markers take effect at once and
//! take no offset. Commits without generation are taken whatever the group does.

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::metadata::Participant;
use crate::sim::cluster::transaction::peers::AddAsk;
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, GroupIndex};
use crate::sim::request::RequestId;
use crate::sim::transactions::ask::{TxnAnswer, TxnAsk};

impl Cluster {
    /// `TxnOffsetCommit` at a group's coordinator: the first of a transaction needs the word of
    /// the transaction's coordinator.
    pub(super) fn commit_offsets(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let transaction = ctx.requests.get(id).transaction.as_ref();
        let Some(TxnAsk::CommitOffsets {
            owner,
            group,
            version,
            ..
        }) = transaction.map(|transact| &transact.ask)
        else {
            return;
        };
        let (owner, group, version) = (owner.clone(), *group, *version);
        if self.coordinator_of(ctx.config, group) != Some(at) {
            let answer = TxnAnswer::Error(ErrorCode::NotCoordinator);
            return self.reply(ctx, (at, id), answer);
        }
        let pending = &self.groups[group.index()].pending_offsets;
        let (producer_id, epoch) = owner.producer;
        let known = pending.get(&producer_id).map(|pending| pending.epoch);
        if known.is_some_and(|known| epoch < known) {
            let answer = TxnAnswer::Error(ErrorCode::InvalidProducerEpoch);
            return self.reply(ctx, (at, id), answer);
        }
        if known == Some(epoch) {
            return self.offsets_verified(ctx, (at, id), None);
        }
        let ask = AddAsk {
            request: id,
            transactional_id: owner.transactional_id,
            producer: owner.producer,
            participants: vec![Participant::Offsets(group)],
            version,
        };
        self.ask_coordinator(ctx, at, ask, Vec::new());
    }

    /// The transaction's coordinator has answered.
    pub(super) fn offsets_verified(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        error: Option<ErrorCode>,
    ) {
        if !ctx.requests.is_live(id) {
            return;
        }
        if let Some(error) = error {
            return self.reply(ctx, (at, id), TxnAnswer::Error(error));
        }
        let transaction = ctx.requests.get(id).transaction.as_ref();
        if let Some(TxnAsk::CommitOffsets {
            owner,
            group,
            offsets,
            ..
        }) = transaction.map(|transact| &transact.ask)
        {
            let (producer_id, epoch) = owner.producer;
            let offsets = offsets.iter();
            let known = offsets.filter_map(|&(name, offset)| Some((self.find(name)?, offset)));
            let known: Vec<_> = known.collect();
            let pending = &mut self.groups[group.index()].pending_offsets;
            let pending = pending.entry(producer_id).or_default();
            if pending.epoch != epoch {
                (pending.epoch, pending.offsets) = (epoch, Vec::new());
            }
            pending.offsets.extend(known);
        }
        self.reply(ctx, (at, id), TxnAnswer::Done);
    }

    /// The transaction has ended: its offsets count, or never did.
    pub(super) fn end_offsets(
        &mut self,
        ctx: &Context<'_>,
        at: BrokerIndex,
        (group, (producer_id, _)): (GroupIndex, ProducerIdAndEpoch),
        result: TransactionResult,
    ) -> Result<(), ErrorCode> {
        if self.coordinator_of(ctx.config, group) != Some(at) {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        let group = &mut self.groups[group.index()];
        if let Some(pending) = group.pending_offsets.remove(&producer_id)
            && result == TransactionResult::Commit
        {
            group.committed.extend(pending.offsets);
        }
        Ok(())
    }
}
