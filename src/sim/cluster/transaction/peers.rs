//! What brokers say to each other about transactions: `AddPartitionsToTxn` of leaders, and
//! `WriteTxnMarkers` of coordinators.
//!
//! Source: `InterBrokerSendThread`. A call goes over the link between its two brokers, one way and
//! back; what a broker says to itself goes over its loopback interface. A call whose connection is
//! gone, or that is not answered within `request.timeout.ms`, is lost, and who made it is told so.
//!
//! Simplification: connections between brokers stand; calls take no time to be handled.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionVersion};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Process;
use crate::sim::cluster::transaction::markers::MarkerOrder;
use crate::sim::cluster::transaction::metadata::Participant;
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::ids::BrokerIndex;
use crate::sim::network::{Lane, Way};
use crate::sim::queue::Rank;
use crate::sim::request::RequestId;
use crate::sim::time::SimSpan;

/// One way over a broker's loopback interface: an estimate.
const LOOPBACK: SimSpan = SimSpan::from_micros(50);
/// Bytes of a call without its parts, and of each part: estimates.
const CALL_BYTES: u32 = 120;
const PART_BYTES: u32 = 30;

/// A call's place in the slab, and how often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCallId {
    slot: u32,
    uses: u32,
}

/// All calls between brokers that are under way.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    slots: Vec<(u32, Option<PeerCall>)>,
    free: Vec<u32>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct PeerCall {
    /// Who asks.
    pub from: BrokerIndex,
    /// Who is asked.
    pub to: BrokerIndex,
    stage: Stage,
    /// What is asked.
    pub ask: PeerAsk,
    /// By part: what went wrong.
    pub answers: Vec<Option<ErrorCode>>,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On its way, or in hand.
    Asked,
    /// Its answer, or the news that there will be none, is on its way back.
    Answered,
}

/// What a broker asks another.
#[derive(Clone, Debug)]
pub enum PeerAsk {
    /// `AddPartitionsToTxn`.
    Add(AddAsk),
    /// `WriteTxnMarkers`.
    Markers(Vec<MarkerOrder>),
}

/// A leader's question to a coordinator.
#[derive(Clone, Debug)]
pub struct AddAsk {
    /// The request that waits for the answer.
    pub request: RequestId,
    /// Whose transaction.
    pub transactional_id: Arc<str>,
    /// The producer id and epoch that the request names.
    pub producer: ProducerIdAndEpoch,
    /// Who takes part.
    pub participants: Vec<Participant>,
    /// Whether they are added (version 2) or only looked for.
    pub version: TransactionVersion,
}

impl Peers {
    fn open(&mut self, call: PeerCall) -> PeerCallId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() as u32 - 1
        });
        let (uses, place) = &mut self.slots[slot as usize];
        *uses += 1;
        *place = Some(call);
        PeerCallId { slot, uses: *uses }
    }

    /// A call that is still under way.
    pub fn get(&self, id: PeerCallId) -> Option<&PeerCall> {
        let (uses, call) = self.slots.get(id.slot as usize)?;
        call.as_ref().filter(|_| *uses == id.uses)
    }

    /// The same, to write its answers.
    pub fn get_mut(&mut self, id: PeerCallId) -> Option<&mut PeerCall> {
        let (uses, call) = self.slots.get_mut(id.slot as usize)?;
        call.as_mut().filter(|_| *uses == id.uses)
    }

    fn take(&mut self, id: PeerCallId) -> Option<PeerCall> {
        self.get(id)?;
        self.free.push(id.slot);
        self.slots[id.slot as usize].1.take()
    }

    fn iter(&self) -> impl Iterator<Item = (PeerCallId, &PeerCall)> {
        (0..).zip(&self.slots).filter_map(|(slot, (uses, call))| {
            let id = PeerCallId { slot, uses: *uses };
            Some((id, call.as_ref()?))
        })
    }
}

impl Cluster {
    /// A broker asks another.
    pub(super) fn ask_peer(
        &mut self,
        ctx: &mut Context<'_>,
        (from, to): (BrokerIndex, BrokerIndex),
        ask: PeerAsk,
    ) -> PeerCallId {
        let parts = match &ask {
            PeerAsk::Add(add) => add.participants.len(),
            PeerAsk::Markers(orders) => orders.len(),
        };
        let id = self.transactions.peers.open(PeerCall {
            from,
            to,
            stage: Stage::Asked,
            ask,
            answers: vec![None; parts],
        });
        let bytes = CALL_BYTES + PART_BYTES * parts as u32;
        carry(ctx, (from, to), Message::PeerRequest(id), bytes);
        let requests = &self.brokers[from.index()].settings.requests;
        let expires = ctx.now + SimSpan::from_millis(requests.request_timeout_ms);
        let event = Event::PeerCallExpired(id);
        ctx.queue.push(expires, Rank::broker(from), event);
        id
    }

    /// What a broker says to itself, or what tells it that nobody answers.
    pub(in crate::sim::cluster) fn on_loopback(&mut self, ctx: &mut Context<'_>, message: Message) {
        let broker = match message {
            Message::PeerRequest(id) => self.peer_ends(id).map(|(_, to)| to),
            Message::PeerResponse(id) => self.peer_ends(id).map(|(from, _)| from),
            _ => None,
        };
        if let Some(broker) = broker {
            self.on_message(ctx, broker, message);
        }
    }

    /// A call reaches the broker that is asked.
    pub(in crate::sim::cluster) fn on_peer_request(
        &mut self,
        ctx: &mut Context<'_>,
        id: PeerCallId,
    ) {
        let Some(call) = self.transactions.peers.get(id) else {
            return;
        };
        if call.stage == Stage::Answered {
            return;
        }
        let at = call.to;
        if matches!(
            self.brokers[at.index()].process,
            Process::Down | Process::Starting
        ) {
            return self.lose_peer_call(ctx, id);
        }
        match call.ask.clone() {
            PeerAsk::Add(add) => self.on_add(ctx, (at, id), add),
            PeerAsk::Markers(orders) => self.write_markers(ctx, (at, id), &orders),
        }
    }

    /// Answers a call.
    pub(super) fn answer_peer(
        &mut self,
        ctx: &mut Context<'_>,
        id: PeerCallId,
        answers: Vec<Option<ErrorCode>>,
    ) {
        let Some(call) = self.transactions.peers.get_mut(id) else {
            return;
        };
        if call.stage == Stage::Answered {
            return;
        }
        call.stage = Stage::Answered;
        call.answers = answers;
        let (ends, bytes) = ((call.to, call.from), CALL_BYTES);
        carry(ctx, ends, Message::PeerResponse(id), bytes);
    }

    /// There will be no answer: who asked is told, a trip later.
    pub(in crate::sim) fn lose_peer_call(&mut self, ctx: &mut Context<'_>, id: PeerCallId) {
        let Some(call) = self.transactions.peers.get_mut(id) else {
            return;
        };
        call.stage = Stage::Answered;
        call.answers.fill(Some(ErrorCode::NetworkException));
        let (from, to) = (call.from, call.to);
        let latency = ctx.network.latency(ctx.network.replica(from, to));
        let trip = if from == to { LOOPBACK } else { latency };
        let event = Event::Loopback(Message::PeerResponse(id));
        ctx.queue.push(ctx.now + trip, Rank::broker(to), event);
    }

    /// `request.timeout.ms` is over.
    pub(in crate::sim::cluster) fn on_peer_call_expired(
        &mut self,
        ctx: &mut Context<'_>,
        id: PeerCallId,
    ) {
        self.lose_peer_call(ctx, id);
    }

    /// An answer is back.
    pub(in crate::sim::cluster) fn on_peer_response(
        &mut self,
        ctx: &mut Context<'_>,
        id: PeerCallId,
    ) {
        let Some(call) = self.transactions.peers.take(id) else {
            return;
        };
        match call.ask {
            PeerAsk::Add(add) => self.on_add_answered(ctx, call.from, &add, &call.answers),
            PeerAsk::Markers(orders) => {
                self.on_markers_answered(ctx, (call.from, call.to), &orders, &call.answers);
            }
        }
    }

    /// A broker's process is gone: nobody waits for answers to what it asked, and who asked it
    /// anything notices.
    pub(super) fn drop_peer_calls(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let calls = self.transactions.peers.iter();
        let ends: Vec<_> = calls.map(|(id, call)| (id, call.from, call.to)).collect();
        for (id, from, to) in ends {
            if from == at {
                self.transactions.peers.take(id);
            } else if to == at {
                self.on_peer_call_expired(ctx, id);
            }
        }
        self.transactions
            .marker_waits
            .retain(|wait| self.transactions.peers.get(wait.call).is_some());
        self.transactions.queues.retain(|(from, _), _| *from != at);
    }
}

/// Sends a message from one broker to another, or to itself.
fn carry(
    ctx: &mut Context<'_>,
    (from, to): (BrokerIndex, BrokerIndex),
    message: Message,
    bytes: u32,
) {
    if from == to {
        let event = Event::Loopback(message);
        return ctx
            .queue
            .push(ctx.now + LOOPBACK, Rank::broker(from), event);
    }
    let link = ctx.network.replica(from, to);
    let way = if from < to { Way::Forth } else { Way::Back };
    let transit = ctx
        .network
        .transmit((link, Lane::Bootstrap), way, ctx.now, bytes);
    ctx.queue
        .push(transit.arrives, Rank::broker(from), Event::Deliver(message));
}
