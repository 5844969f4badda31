//! The first batch of a transaction in a partition needs the coordinator's word (KIP-890).
//!
//! Source: `ReplicaManager.maybeSendPartitionsToTransactionCoordinator` and
//! `AddPartitionsToTxnManager`.
//! In version 2 the leader adds its partition to the transaction, in version 1 it only looks
//! whether the client did. A whole Produce request waits for the answer.
//!
//! Simplification: questions about several transactions are not put into one call.

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::TransactionVersion;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::metadata::Participant;
use crate::sim::cluster::transaction::peers::{AddAsk, PeerAsk, PeerCallId};
use crate::sim::cluster::transaction::state_log::Adder;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::BrokerIndex;
use crate::sim::queue::Rank;
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::transactions::ask::{Owner, TxnAsk};
use crate::sim::transactions::producer_states::Need;

/// A request that waits for the coordinator's word.
#[derive(Clone, Debug)]
pub struct Verification {
    request: RequestId,
    at: BrokerIndex,
    since: SimTime,
    ask: AddAsk,
    /// The batches that it is about, each with its guard; none for offsets of a group.
    parts: Vec<(u16, u64)>,
}

impl Cluster {
    /// Whether a Produce request has to wait for the coordinator's word on its transaction. Batches
    /// from an old epoch are refused at once.
    pub(in crate::sim::cluster) fn must_verify(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        id: RequestId,
    ) -> bool {
        let request = ctx.requests.get_mut(id);
        let Some(TxnAsk::Produce(transactional_id, version)) =
            request.transaction.as_ref().map(|transact| &transact.ask)
        else {
            return false;
        };
        let (transactional_id, version) = (transactional_id.clone(), *version);
        let is_asked = self.brokers[at.index()]
            .settings
            .transactions
            .partition_verification
            || version == TransactionVersion::Two;
        let image = &self.brokers[at.index()].image;
        let (mut parts, mut participants, mut producer) = (Vec::new(), Vec::new(), (-1, -1));
        for (place, part) in (0..).zip(&mut request.parts) {
            let partition = &mut self.partitions[part.partition.index()];
            let is_here = image.find(part.partition).is_some() && partition.is_led_by(at);
            if !is_here || !is_asked {
                continue;
            }
            match partition.begin_verification(part, version) {
                Need::Nothing => {}
                Need::Refusal => part.error = Some(ErrorCode::InvalidProducerEpoch),
                Need::Verification(guard) => {
                    producer = (part.producer_id, part.epoch);
                    parts.push((place, guard));
                    participants.push(Participant::Partition(part.partition));
                }
            }
        }
        if parts.is_empty() {
            return false;
        }
        let ask = AddAsk {
            request: id,
            transactional_id,
            producer,
            participants,
            version,
        };
        self.ask_coordinator(ctx, at, ask, parts);
        true
    }

    /// Asks the coordinator, if there is one.
    pub(super) fn ask_coordinator(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        ask: AddAsk,
        parts: Vec<(u16, u64)>,
    ) {
        self.transactions.verifications.push(Verification {
            request: ask.request,
            at,
            since: ctx.now,
            ask: ask.clone(),
            parts,
        });
        self.send_question(ctx, at, ask);
    }

    fn send_question(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, ask: AddAsk) {
        if let Some(coordinator) = self.transaction_coordinator(at, &ask.transactional_id) {
            self.ask_peer(ctx, (at, coordinator), PeerAsk::Add(ask));
        } else {
            let answers = vec![Some(ErrorCode::CoordinatorNotAvailable); ask.participants.len()];
            self.on_add_answered(ctx, at, &ask, &answers);
        }
    }

    /// A leader's question reaches the coordinator.
    pub(super) fn on_add(
        &mut self,
        ctx: &mut Context<'_>,
        (at, call): (BrokerIndex, PeerCallId),
        ask: AddAsk,
    ) {
        let owner = Owner {
            transactional_id: ask.transactional_id,
            producer: ask.producer,
        };
        if ask.version == TransactionVersion::One {
            let participants = ask.participants.iter();
            let answers = participants
                .map(|&participant| self.verify_participant(at, &owner, participant).err())
                .collect();
            return self.answer_peer(ctx, call, answers);
        }
        let adder = Adder::Peer(call);
        let version = ask.version;
        let outcome = self.add_participants(ctx, (at, adder), &owner, (&ask.participants, version));
        if let Some(outcome) = outcome {
            self.answer_add(ctx, call, outcome.err());
        }
    }

    /// The coordinator has written that partitions take part, or could not.
    pub(super) fn answer_add(
        &mut self,
        ctx: &mut Context<'_>,
        call: PeerCallId,
        error: Option<ErrorCode>,
    ) {
        let parts = self.transactions.peers.get(call);
        let parts = parts.map_or(0, |call| call.answers.len());
        self.answer_peer(ctx, call, vec![error; parts]);
    }

    /// The coordinator's word is back at the leader.
    pub(super) fn on_add_answered(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        ask: &AddAsk,
        answers: &[Option<ErrorCode>],
    ) {
        let verifications = &mut self.transactions.verifications;
        let known = verifications
            .iter()
            .position(|known| known.request == ask.request && known.at == at);
        let Some(place) = known else { return };
        let settings = &self.brokers[at.index()].settings.transactions;
        let backoff = SimSpan::from_millis(settings.add_partitions_retry_backoff_ms.max(1));
        let patience = SimSpan::from_millis(settings.add_partitions_retry_backoff_max_ms);
        let is_concurrent = answers.contains(&Some(ErrorCode::ConcurrentTransactions));
        let again_at = ctx.now + backoff;
        let is_patient = again_at.since(verifications[place].since) <= patience;
        if is_concurrent && is_patient && ask.version == TransactionVersion::Two {
            let event = Event::VerifyAgain(ask.request);
            return ctx.queue.push(again_at, Rank::broker(at), event);
        }
        let verification = verifications.remove(place);
        if verification.parts.is_empty() {
            let error = answers.first().copied().flatten();
            let error = error.map(|error| as_told(error, ask.version));
            return self.offsets_verified(ctx, (at, ask.request), error);
        }
        self.produce_verified(ctx, at, &verification, answers);
    }

    fn produce_verified(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        verification: &Verification,
        answers: &[Option<ErrorCode>],
    ) {
        let id = verification.request;
        let version = verification.ask.version;
        for (&(place, guard), answer) in verification.parts.iter().zip(answers) {
            let part = &mut ctx.requests.get_mut(id).parts[place as usize];
            if let Some(error) = answer {
                part.error = Some(as_told(*error, version));
            } else {
                let partition = &mut self.partitions[part.partition.index()];
                partition.end_verification(part.producer_id, guard);
            }
        }
        self.append_parts(ctx, at, id);
    }

    /// The coordinator was busy with the transaction before: the leader asks again.
    pub(in crate::sim::cluster) fn on_verify_again(
        &mut self,
        ctx: &mut Context<'_>,
        id: RequestId,
    ) {
        let mut verifications = self.transactions.verifications.iter();
        let found = verifications
            .find(|known| known.request == id)
            .map(|known| (known.at, known.ask.clone()));
        if let Some((at, ask)) = found {
            self.send_question(ctx, at, ask);
        }
    }

    /// A broker is gone, and with it the requests that waited there.
    pub(super) fn drop_verifications(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        self.transactions.verifications.retain(|known| {
            if known.at == at {
                ctx.requests.release(known.request);
            }
            known.at != at
        });
    }
}

/// A coordinator's error as the producer is told (`AddPartitionsToTxnManager`,
/// `ReplicaManager.handleProduceAppend`).
fn as_told(error: ErrorCode, version: TransactionVersion) -> ErrorCode {
    match error {
        ErrorCode::ProducerFenced => ErrorCode::InvalidProducerEpoch,
        ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::CoordinatorNotAvailable
        | ErrorCode::NotCoordinator
        | ErrorCode::NetworkException => ErrorCode::NotEnoughReplicas,
        ErrorCode::ConcurrentTransactions if version == TransactionVersion::One => {
            ErrorCode::NotEnoughReplicas
        }
        error => error,
    }
}
