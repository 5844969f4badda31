//! `kafka-transactions.sh forceTerminateTransaction`: an id is taken from its owner.
//!
//! Source: `TransactionsCommand`, `KafkaAdminClient.forceTerminateTransaction`,
//! `FenceProducersHandler`: the tool asks for an epoch as a new owner would, which aborts what is
//! open, and asks again until it has one.
//!
//! Simplifications: the tool reaches the coordinator at once and through no link, and asks again at
//! even distances, where the client's backoff grows.

use std::borrow::Cow;
use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::TransactionState;
use crate::kafka::transactions_command::undescribed;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::IdPlace;
use crate::sim::cluster::transaction::metadata::Decision;
use crate::sim::cluster::transaction::state_log::Then;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;

/// `transaction.timeout.ms` that the id has afterwards: the admin client's `request.timeout.ms`.
const TIMEOUT_MS: u64 = 30_000;
/// `retry.backoff.ms` of the admin client.
const BACKOFF: SimSpan = SimSpan::from_millis(100);
/// After so many tries, the client's `default.api.timeout.ms`, the tool gives up.
const TRIES_MAX: u16 = 600;
const NO_COORDINATOR: &str = "its coordinator does not answer";

impl Cluster {
    /// Why the tool would fail now, in words that are not its own.
    pub fn check_termination(&self, transactional_id: &str) -> Result<(), Cow<'static, str>> {
        let home = self.transactions.partition_of(transactional_id);
        match home.and_then(|home| self.answering_leader(home)) {
            Some(_) => Ok(()),
            None => Err(undescribed(transactional_id, NO_COORDINATOR).into()),
        }
    }

    /// Aborts the transaction of an id, if one is open, and fences the id's owner.
    pub(in crate::sim) fn force_terminate(
        &mut self,
        ctx: &mut Context<'_>,
        transactional_id: &str,
    ) -> Result<(), Cow<'static, str>> {
        self.check_termination(transactional_id)?;
        let name: Arc<str> = Arc::from(transactional_id);
        let home = self.transactions.partition_of(&name);
        let at = home.and_then(|home| Some((home, self.answering_leader(home)?)));
        let Some((home, at)) = at else {
            return Err(NO_COORDINATOR.into());
        };
        let place = self.transactions.place_of(&name);
        let loaded = place.filter(|&place| self.transactions.id(place).loaded.is_some());
        let place = match loaded {
            Some(place) => place,
            // An id that nobody knows comes to be, as it does for a new owner.
            None => self.enter_id(ctx, (at, home), &name, TIMEOUT_MS).0,
        };
        self.on_termination(ctx, place, 0);
        Ok(())
    }

    /// The tool asks for an epoch, the first time or again.
    pub(super) fn on_termination(&mut self, ctx: &mut Context<'_>, place: IdPlace, tries: u16) {
        let home = self.transactions.id(place).partition;
        let Some(at) = self.answering_leader(home) else {
            return ask_again(ctx, place, tries);
        };
        let loaded = self.transactions.id(place).loaded.as_ref();
        let ready = loaded.filter(|loaded| loaded.pending.is_none());
        let Some(metadata) = ready.map(|loaded| loaded.metadata.clone()) else {
            return ask_again(ctx, place, tries);
        };
        let new_producer_id = || self.controller.next_producer_id(at);
        match metadata.init_producer_id(None, TIMEOUT_MS, ctx.now, new_producer_id) {
            Decision::Refuse(ErrorCode::ConcurrentTransactions) => {
                if metadata.state == TransactionState::Ongoing {
                    self.fence_transaction(ctx, (at, place), Then::Taken);
                }
                ask_again(ctx, place, tries);
            }
            Decision::Refuse(_) | Decision::Answer => {}
            Decision::Write(target) => {
                self.write_state(ctx, (at, place), target, Then::Terminated(tries));
            }
        }
    }
}

/// The tool waits a little.
pub(super) fn ask_again(ctx: &mut Context<'_>, place: IdPlace, tries: u16) {
    if tries < TRIES_MAX {
        let tries = tries + 1;
        let event = Event::TransactionTermination { place, tries };
        ctx.queue.push(ctx.now + BACKOFF, Rank::CONTROLLER, event);
    }
}
