//! What every client does with its connections, whichever library it is: segments and requests on
//! the link, and sockets that the kernel closes.

use crate::sim::context::Context;
use crate::sim::event::{Channel, Event, Message};
use crate::sim::fact::Node;
use crate::sim::network::{Lane, Way};
use crate::sim::producer::connections::{Connections, Slot};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::SimTime;
use crate::sim::view::ConnectionState;

/// Bytes of a TCP segment without payload.
pub const SEGMENT_BYTES: u32 = 40;

impl Connections {
    /// The present connection of a slot, as messages name it.
    pub fn channel(&self, slot: Slot) -> Channel {
        Channel {
            producer: self.me,
            slot,
            generation: self.get(slot).generation,
        }
    }

    /// Whether something belongs to the present connection of its slot.
    pub fn is_current(&self, channel: Channel) -> bool {
        let connection = self.get(channel.slot);
        connection.generation == channel.generation
            && connection.state != ConnectionState::Disconnected
    }

    /// Puts a message on the link; says when its last byte is written.
    pub fn emit(&self, ctx: &mut Context<'_>, slot: Slot, message: Message, bytes: u32) -> SimTime {
        let link = ctx.network.client(self.me, self.broker_of(slot));
        let lane = match self.node_of(slot) {
            Node::Bootstrap(_) => Lane::Bootstrap,
            Node::Broker(_) => Lane::Regular,
        };
        if matches!(message, Message::Connect(_)) {
            ctx.network.connect((link, lane), Way::Forth);
        }
        let transit = ctx
            .network
            .transmit((link, lane), Way::Forth, ctx.now, bytes);
        ctx.queue
            .push(transit.arrives, self.rank, Event::Deliver(message));
        transit.written
    }

    /// Opens a request on a connection; its parts are still to come.
    pub fn open_request(&self, ctx: &mut Context<'_>, slot: Slot, api: ApiKey) -> RequestId {
        ctx.requests
            .open(self.channel(slot), self.broker_of(slot), api, ctx.now)
    }

    /// The process is gone: its kernel closes the sockets, and nobody waits for answers.
    pub fn hang_up(&mut self, ctx: &mut Context<'_>) {
        for slot in 0..self.count() {
            let connection = self.get_mut(slot);
            for sent in std::mem::take(&mut connection.in_flight) {
                ctx.requests.release(sent.request);
            }
            if connection.state == ConnectionState::Disconnected {
                continue;
            }
            connection.state = ConnectionState::Disconnected;
            let closed = Message::Closed(self.channel(slot));
            self.emit(ctx, slot, closed, SEGMENT_BYTES);
        }
    }
}
