//! The cluster: brokers, their partitions, the controller and the group coordinators.
//!
//! [`Cluster`] answers messages and timers; nothing outside changes it. Request handling is in
//! `handler`, the produce path in `produce`, requests of consumers in `consumers`, followers'
//! fetches in `replication`, in-sync replicas in `isr`, taking office and following in
//! `leadership`, processes that die and return in `life`, sessions in `controller`, elections in
//! `election`, replicas that move in `reassign`, consumer groups in `coordinator`, transactions in
//! `transaction`, quotas in `quotas`, old segments in `retention`, topics that get more partitions
//! in `growth` and other settings in `configs`.

mod broker;
mod cleaner;
mod configs;
mod consumers;
mod controller;
mod coordinator;
mod election;
mod group;
mod group_tool;
mod growth;
mod handler;
mod isr;
mod key_watch;
mod leadership;
mod life;
mod placement;
mod produce;
mod quotas;
mod reassign;
mod recompression;
mod replication;
mod retention;
mod setup;
mod transaction;

use std::sync::Arc;

pub use broker::Broker;
pub use controller::Controller;
pub use transaction::PeerCallId;

use crate::sim::cluster::group::Group;
use crate::sim::cluster::transaction::Transactions;
use crate::sim::consumer::Ask;
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::partition::Partition;
use quotas::Quotas;
use recompression::Recompression;
use replication::FetcherState;

/// All brokers, partitions and the controller.
#[derive(Clone, Debug)]
pub struct Cluster {
    brokers: Vec<Broker>,
    /// By [`PartitionIndex`].
    partitions: Vec<Partition>,
    /// By topic: its partitions by number, of topics that may still be created, too.
    topics: Vec<Arc<[PartitionIndex]>>,
    fetchers: Vec<FetcherState>,
    controller: Controller,
    groups: Vec<Group>,
    quotas: Quotas,
    recompression: Recompression,
    transactions: Transactions,
}

impl Cluster {
    /// A broker.
    pub fn broker(&self, broker: BrokerIndex) -> &Broker {
        &self.brokers[broker.index()]
    }

    /// A partition.
    pub fn partition(&self, partition: PartitionIndex) -> &Partition {
        &self.partitions[partition.index()]
    }

    /// All partitions, by index; those of topics that do not exist (yet) included.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The partitions of each topic by number, by topic.
    pub fn topics(&self) -> &[Arc<[PartitionIndex]>] {
        &self.topics
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Whether a broker is in controlled shutdown.
    pub fn is_shutting_down(&self) -> bool {
        self.brokers
            .iter()
            .any(|broker| broker.process == broker::Process::ShuttingDown)
    }

    /// A message reached a broker.
    pub fn on_message(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, message: Message) {
        // Connections are taken by the kernel, whatever the process does.
        let is_wish_to_connect = matches!(message, Message::Call(id)
            if ctx.calls.get(id).is_some_and(|call| matches!(call.ask, Ask::Connect)));
        if !is_wish_to_connect && self.brokers[broker.index()].stalls(message) {
            return;
        }
        match message {
            Message::Connect(channel) => self.on_connect(ctx, broker, channel),
            Message::Closed(channel) => self.on_closed(ctx, broker, channel),
            Message::Request(request) => self.on_request(ctx, broker, request),
            Message::Fetch(fetcher) => self.on_fetch(ctx, fetcher),
            Message::Fetched(fetcher) => self.on_fetched(ctx, fetcher),
            Message::Call(id) => self.on_call(ctx, id),
            Message::WireClosed(wire) => self.on_wire_closed(ctx, wire),
            Message::PeerRequest(id) => self.on_peer_request(ctx, id),
            Message::PeerResponse(id) => self.on_peer_response(ctx, id),
            Message::Accepted(_)
            | Message::Answer(_)
            | Message::Refusal(_)
            | Message::WireReset(_)
            | Message::Refused(_)
            | Message::Reset(_)
            | Message::Response(_) => {}
        }
    }

    /// A timer of the cluster ran out.
    pub fn on_timer(&mut self, ctx: &mut Context<'_>, event: Event) {
        match event {
            Event::RequestHandled {
                broker,
                incarnation,
                request,
            } => {
                self.on_request_handled(ctx, (broker, incarnation), request);
            }
            Event::PurgatoryExpired(request) => self.on_purgatory_expired(ctx, request),
            Event::FollowerAppended(fetcher) => self.on_follower_appended(ctx, fetcher),
            Event::IsrExpiration {
                broker,
                incarnation,
            } => {
                self.on_isr_expiration(ctx, broker, incarnation);
            }
            Event::IsrLook {
                broker,
                incarnation,
            } => self.on_isr_look(ctx, broker, incarnation),
            Event::Heartbeat {
                broker,
                incarnation,
            } => {
                self.on_heartbeat(ctx, broker, incarnation);
            }
            Event::SessionCheck => self.on_session_check(ctx),
            Event::LeaderRebalance => self.on_leader_rebalance(ctx),
            Event::LogCleaner => self.on_log_cleaner(ctx),
            Event::LogRetention => self.on_log_retention(ctx),
            Event::ProducerIdExpiration => self.on_producer_id_expiration(ctx),
            Event::ThrottleOver { broker, channel } => self.read_next(ctx, broker, channel),
            Event::MetadataApplied {
                broker,
                incarnation,
            } => {
                self.on_metadata_applied(ctx, broker, incarnation);
            }
            Event::Registration {
                broker,
                incarnation,
            } => {
                self.on_registration(ctx, broker, incarnation);
            }
            Event::ShutdownDone {
                broker,
                incarnation,
            } => {
                self.on_shutdown_done(ctx, broker, incarnation);
            }
            Event::CallHandled { .. }
            | Event::FetchExpired(_)
            | Event::GroupSession { .. }
            | Event::GroupRebalance { .. } => self.on_consumer_timer(ctx, event),
            Event::Loopback(_)
            | Event::PeerCallExpired(_)
            | Event::StateAppendExpired(_)
            | Event::TransactionCompletion(_)
            | Event::TransactionScan { .. }
            | Event::VerifyAgain(_) => self.on_transaction_timer(ctx, event),
            event => self.on_replica_timer(ctx, event),
        }
    }

    /// The same, of what lies between brokers and the controller.
    fn on_replica_timer(&mut self, ctx: &mut Context<'_>, event: Event) {
        match event {
            Event::AlterPartition {
                broker,
                incarnation,
            } => {
                self.on_alter_partition(ctx, broker, incarnation);
            }
            Event::IsrAltered {
                broker,
                incarnation,
            } => {
                self.on_isr_altered(ctx, broker, incarnation);
            }
            Event::FetchWaited(fetcher) => self.on_fetch_waited(ctx, fetcher),
            Event::FetchRetried {
                follower,
                partition,
            } => {
                if let Some(index) = self.find(partition) {
                    self.on_fetch_retried(ctx, follower, index);
                }
            }
            Event::FetcherStarted(fetcher) => self.on_fetcher_started(ctx, fetcher),
            Event::UncleanElection => self.on_unclean_election(ctx),
            Event::ReplicationQuota {
                broker,
                incarnation,
            } => {
                self.on_replication_quota(ctx, broker, incarnation);
            }
            _ => {}
        }
    }
}
