//! What an application asks of its client, whichever library that is.
//!
//! The application's threads are the same for both; its code is compiled for each, so that neither
//! pays for the other. [`Library`] is where a producer meets its client: once an action, never once
//! a record.

use std::sync::Arc;

use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::event::Channel;
use crate::sim::fact::{BlockedOn, Disconnect, Exception};
use crate::sim::ids::PartitionIndex;
use crate::sim::producer::append::{Route, SendCall, Sent};
use crate::sim::producer::application::{Application, Load};
use crate::sim::producer::client::{Client, Counts};
use crate::sim::producer::connections::Connections;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::transaction::Transacted;
use crate::sim::records::{NotedValue, Room};
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::workload::HashedKey;

/// What a thread remembers of a record that it waits for: a place and a number there, which mean
/// something to its client only.
pub type Receipt = (u32, u64);

/// A client library, as its application sees it.
pub trait Dialect: Sized {
    /// Whether an application waits before it tries a refused record again. The calls of the Java
    /// client have waited already.
    const WAITS_BEFORE_A_RETRY: bool;

    /// Whether a record that was refused for this may be taken another time.
    fn may_come_right(exception: &Exception) -> bool;

    /// Whether the tight loop can do this load.
    fn takes_in_a_loop(load: &Load) -> bool;

    /// Records of one thread in a tight loop, up to `limit` or the first one that needs more.
    fn run_loop(
        application: &mut Application,
        ctx: &mut Context<'_>,
        client: &mut Self,
        place: usize,
        limit: SimTime,
    );

    /// How the partition of a record with this key, or none, is found.
    fn route(&self, key: Option<(&[u8], HashedKey)>) -> Route;

    /// A key as this client hashes it.
    fn hash(&self, key: &[u8]) -> HashedKey;

    /// `send()` or `produce()`, or goes on with a call that waited.
    fn send(&mut self, ctx: &mut Context<'_>, call: &mut SendCall) -> Sent;

    /// The time that a call may wait is over.
    fn time_out(&mut self, ctx: &mut Context<'_>, on: BlockedOn, call: &SendCall)
    -> Arc<Exception>;

    /// A transactional call begins.
    fn transact(&mut self, ctx: &mut Context<'_>, call: &Call) -> Transacted;

    /// What became of the transactional call that waits, once that is known.
    fn transacted(&mut self) -> Option<Result<(), Arc<Exception>>>;

    /// The time that a transactional call may wait is over.
    fn transaction_timed_out(&mut self, operation: AwaitedOperation) -> Arc<Exception>;

    /// The partition that a call would go to, for facts; none while it is undecided.
    fn partition_of(&self, call: &SendCall) -> Option<PartitionIndex>;

    /// Notes the key and value of the record that was just taken, at the place that the call gave.
    fn note(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        key: Option<&[u8]>,
        value: NotedValue,
    ) -> Room;

    /// Partition and ordinal of the record that was just taken, at the place that the call gave;
    /// nothing while it has no partition.
    fn identity(&self, place: u32) -> Option<(PartitionIndex, u64)>;

    /// What to remember of the record that was just taken, at the place that the call gave.
    fn receipt(&mut self, place: u32) -> Receipt;

    /// Whether the application has not yet heard what became of it.
    fn is_open(&self, receipt: Receipt) -> bool;

    /// `flush()` begins: what has to be done, or nothing if all is.
    fn begin_flush(&mut self, now: SimTime) -> Option<u64>;

    /// Whether a flush is over.
    fn is_flushed(&self, upto: u64) -> bool;

    /// A flush was over after this long.
    fn end_flush(&mut self, took: SimSpan);

    /// `close()` begins: everything queued is sent at once; then the client ends.
    fn close(&mut self, ctx: &mut Context<'_>);

    /// The time of `close(timeout)` is over: what is left fails.
    fn close_forcefully(&mut self, ctx: &mut Context<'_>);

    /// Whether nothing is left after `close()`.
    fn is_closed(&self) -> bool;

    /// Serves what waits for `poll()`.
    fn poll(&mut self, ctx: &mut Context<'_>);

    /// Whether anything waits for `poll()`.
    fn has_reports(&self) -> bool;

    /// A metric of the Java client as this one would report it.
    fn metric(&self, metric: ProducerMetric, now: SimTime) -> Option<f64>;

    /// When its own threads next do something.
    fn wakes_at(&self) -> SimTime;

    /// Its own threads do all there is to do now.
    fn run_threads(&mut self, ctx: &mut Context<'_>);

    /// Hands its news to the application's threads.
    fn hand_over(&mut self, ctx: &mut Context<'_>, application: &mut Application);

    /// Whether something belongs to the present connection of its slot.
    fn is_current(&self, channel: Channel) -> bool {
        self.connections().is_current(channel)
    }

    /// A response arrived on a present connection, which wakes its own threads.
    fn on_response(&mut self, ctx: &mut Context<'_>, id: RequestId);

    /// TCP stands.
    fn on_accepted(&mut self, ctx: &mut Context<'_>, slot: u16);

    /// A connection is gone, or could not be made.
    fn disconnect(&mut self, ctx: &mut Context<'_>, slot: u16, why: Disconnect);

    /// Its connections.
    fn connections(&self) -> &Connections;

    /// The same, to change them.
    fn connections_mut(&mut self) -> &mut Connections;

    /// Whether it expects no answer to what it produces (`acks=0`).
    fn is_unanswered(&self) -> bool;

    /// What it did.
    fn counts(&self) -> Counts;

    /// Its process is gone: what it held is lost, and its sockets close. How many records.
    fn abandon(&mut self, ctx: &mut Context<'_>) -> u64;
}

/// A client of either library.
#[derive(Clone, Debug)]
pub enum Library {
    /// Apache Kafka's Java client.
    Java(Box<Client>),
    /// librdkafka.
    Rdkafka(Box<Rdkafka>),
}

/// Runs code with the client inside a [`Library`]; it is compiled for each.
macro_rules! with_client {
    ($library:expr, $client:ident => $code:expr) => {
        match $library {
            $crate::sim::producer::dialect::Library::Java($client) => $code,
            $crate::sim::producer::dialect::Library::Rdkafka($client) => $code,
        }
    };
}

pub(super) use with_client;

impl Library {
    /// The Java client, if it is one.
    pub fn java(&self) -> Option<&Client> {
        match self {
            Self::Java(client) => Some(client),
            Self::Rdkafka(_) => None,
        }
    }

    /// The librdkafka client, if it is one.
    pub fn rdkafka(&self) -> Option<&Rdkafka> {
        match self {
            Self::Java(_) => None,
            Self::Rdkafka(client) => Some(client),
        }
    }
}
