//! The controller: broker sessions, elections, metadata versions.
//!
//! Source: `BrokerHeartbeatManager`, `ReplicationControlManager`, `PartitionChangeBuilder`.
//!
//! Elections are in `election`, in-sync replicas in `isr`, who controls in `quorum`.

use std::ops::Range;
use std::sync::Arc;

use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::{Fencing, Heartbeats, Process};
use crate::sim::cluster::election::{Election, Eligible, Retirement};
use crate::sim::cluster::quorum::TASKS_BEGIN;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::{BrokerState, Fact};
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::metadata::Image;
use crate::sim::queue::Rank;
use crate::sim::time::{SimSpan, SimTime};

/// Producer ids that a broker reserves at once (`ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE`).
const PRODUCER_ID_BLOCK: i64 = 1000;
/// A second stale broker is fenced this long after the first.
const NEXT_FENCING: SimSpan = SimSpan::from_millis(10);

/// What the controller knows.
#[derive(Clone, Debug)]
pub struct Controller {
    pub(super) image: Arc<Image>,
    pub(super) last_heartbeat: Vec<SimTime>,
    pub(super) leaving: Vec<bool>,
    /// When sessions are looked at next.
    pub(super) next_check: SimTime,
    pub(super) producer_ids: Vec<Range<i64>>,
    pub(super) blocks_given: i64,
    /// The first producer id that is given away.
    pub(super) first_producer_id: i64,
    pub(super) eligible: Eligible,
}

impl Controller {
    /// The latest metadata.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// How the controller sees a broker.
    pub fn fencing(&self, broker: BrokerIndex) -> Fencing {
        if self.image.unfenced[broker.index()] {
            Fencing::Unfenced
        } else {
            Fencing::Fenced
        }
    }

    /// The next producer id from the block of this broker.
    pub(super) fn next_producer_id(&mut self, broker: BrokerIndex) -> i64 {
        let block = &mut self.producer_ids[broker.index()];
        if block.is_empty() {
            let first = self.first_producer_id + self.blocks_given * PRODUCER_ID_BLOCK;
            *block = first..first + PRODUCER_ID_BLOCK;
            self.blocks_given += 1;
        }
        block.next().unwrap_or_default()
    }

    /// A broker's process ends: what is left of its block is lost with its memory
    /// (`RPCProducerIdManager`).
    pub(super) fn lose_producer_ids(&mut self, broker: BrokerIndex) {
        self.producer_ids[broker.index()] = 0..0;
    }
}

/// Sessions are looked at every eighth of one (`maybeFenceStaleBroker`).
fn check_period(session: SimSpan) -> SimSpan {
    SimSpan::from_nanos((session.as_nanos() / 8).max(1_000_000))
}

impl Cluster {
    /// A broker's heartbeat is due.
    pub(super) fn on_heartbeat(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        let interval = broker
            .settings
            .controller
            .broker_heartbeat_interval_ms
            .max(1);
        if broker.process == Process::Paused {
            // The next one is sent when the process goes on.
            self.brokers[at.index()].heartbeats = Heartbeats::Stopped;
            return;
        }
        let next = ctx.now + SimSpan::from_millis(interval);
        ctx.queue.push(
            next,
            Rank::broker(at),
            Event::Heartbeat {
                broker: at,
                incarnation,
            },
        );
        if !broker.is_serving() || !self.reaches_controller(ctx, at) {
            return;
        }
        self.controller.last_heartbeat[at.index()] = ctx.now;
        if self.controller.fencing(at) == Fencing::Fenced && broker.process == Process::Up {
            self.unfence(ctx, at);
        } else if broker.process == Process::ShuttingDown && !self.controller.leaving[at.index()] {
            self.give_up_offices(ctx, at);
        } else if broker.image.version < self.controller.image.version {
            self.send_metadata(ctx, at);
        }
    }

    /// The controller fences one broker whose session is over, and looks again soon.
    pub(super) fn on_session_check(&mut self, ctx: &mut Context<'_>) {
        let session = self.session();
        if ctx.now != self.controller.next_check {
            return; // It belongs to an earlier controller.
        }
        let can_fence = self.is_controlled(ctx);
        let stale: Vec<_> = (0..self.brokers.len() as u16)
            .map(BrokerIndex)
            .filter(|&b| can_fence && self.controller.fencing(b) == Fencing::Unfenced)
            .filter(|&b| ctx.now.since(self.controller.last_heartbeat[b.index()]) > session)
            .collect();
        let next = if stale.len() > 1 {
            NEXT_FENCING
        } else {
            check_period(session)
        };
        self.plan_session_check(ctx, ctx.now + next);
        if let Some(&broker) = stale.first() {
            self.fence(ctx, broker);
        }
    }

    fn plan_session_check(&mut self, ctx: &mut Context<'_>, at: SimTime) {
        self.controller.next_check = at;
        ctx.queue.push(at, Rank::CONTROLLER, Event::SessionCheck);
    }

    /// A controller takes office: it has heard of no heartbeat yet, and gives each broker a whole
    /// session.
    pub(super) fn begin_sessions(&mut self, ctx: &mut Context<'_>) {
        for broker in 0..self.brokers.len() as u16 {
            if self.controller.fencing(BrokerIndex(broker)) == Fencing::Unfenced {
                self.controller.last_heartbeat[usize::from(broker)] = ctx.now;
            }
        }
        let first = ctx.now + TASKS_BEGIN + check_period(self.session());
        self.plan_session_check(ctx, first);
        for broker in 0..self.brokers.len() as u16 {
            self.send_metadata(ctx, BrokerIndex(broker));
        }
    }

    /// `broker.session.timeout.ms`.
    fn session(&self) -> SimSpan {
        let settings = self.brokers.first().map(|first| &first.settings.controller);
        SimSpan::from_millis(settings.map_or(0, |settings| settings.broker_session_timeout_ms))
    }

    /// Takes a broker out of every ISR and every leadership.
    pub(super) fn fence(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let mut image = (*self.controller.image).clone();
        image.unfenced[broker.index()] = false;
        self.retire(&mut image, broker, Retirement::Clean);
        let state = self.brokers[broker.index()].state(Fencing::Fenced);
        ctx.fact(Rank::CONTROLLER, Fact::BrokerChanged { broker, state });
        self.publish(ctx, image);
    }

    /// A broker is registered and alive: it may lead again, and leaderless partitions are looked
    /// at anew.
    pub(super) fn unfence(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let mut image = (*self.controller.image).clone();
        image.unfenced[broker.index()] = true;
        self.controller.leaving[broker.index()] = false;
        for index in self.brokers[broker.index()].replica_of.clone() {
            if image.partition(index).leader.is_none() {
                self.elect(&mut image, index, Election::Online);
            }
        }
        ctx.fact(
            Rank::CONTROLLER,
            Fact::BrokerChanged {
                broker,
                state: BrokerState::Running,
            },
        );
        self.publish(ctx, image);
    }

    /// Creates a topic that a client asked for, if brokers do so (`auto.create.topics.enable`).
    pub(super) fn auto_create(&mut self, ctx: &mut Context<'_>, topics: &[TopicIndex]) {
        if !self.is_controlled(ctx) {
            return;
        }
        let mut image: Option<Image> = None;
        for &topic in topics {
            let current = image.as_ref().unwrap_or(&self.controller.image);
            let laid_out = &self.topics[topic.index()];
            if current.topic(topic).partitions.is_empty() && !laid_out.is_empty() {
                image
                    .get_or_insert_with(|| (*self.controller.image).clone())
                    .topics[topic.index()]
                .partitions = Arc::clone(laid_out);
            }
        }
        if let Some(image) = image {
            self.publish(ctx, image);
        }
    }

    /// A new metadata version: facts, and word to every broker that can be reached.
    pub(super) fn publish(&mut self, ctx: &mut Context<'_>, mut image: Image) {
        image.version += 1;
        let before = std::mem::replace(&mut self.controller.image, Arc::new(image));
        let after = self.controller.image.clone();
        self.settle_reassignments();
        for (place, (old, new)) in before.partitions.iter().zip(&after.partitions).enumerate() {
            let name = TopicPartition {
                topic: self.partitions[place].topic,
                number: self.partitions[place].number,
            };
            let partition = PartitionIndex::new(place as u32, name);
            if self.transactions.is_unused(partition) {
                continue;
            }
            if old.leader != new.leader {
                let unclean = new
                    .leader
                    .is_some_and(|leader| !old.isr.contains(&leader) && !old.elr.contains(&leader));
                let (leader, epoch) = (new.leader, new.epoch);
                let fact = Fact::LeaderChanged {
                    partition,
                    leader,
                    epoch,
                    unclean,
                };
                ctx.fact(Rank::CONTROLLER, fact);
            }
            if old.isr != new.isr {
                let fact = Fact::IsrChanged {
                    partition,
                    isr: new.isr.clone(),
                };
                ctx.fact(Rank::CONTROLLER, fact);
            }
        }
        for broker in 0..self.brokers.len() as u16 {
            self.send_metadata(ctx, BrokerIndex(broker));
        }
    }

    /// The metadata log reaches a broker: the controller's append linger and two trips on the way.
    pub(super) fn send_metadata(&mut self, ctx: &mut Context<'_>, to: BrokerIndex) {
        let broker = &self.brokers[to.index()];
        let link = ctx.network.controller(to);
        if broker.process == Process::Down || !ctx.network.is_open(link) {
            return;
        }
        let linger = SimSpan::from_millis(broker.settings.controller.append_linger_ms);
        let arrives = ctx.now + linger + ctx.network.latency(link).times(2);
        let incarnation = broker.incarnation;
        let event = Event::MetadataApplied {
            broker: to,
            incarnation,
        };
        ctx.queue.push(arrives, Rank::CONTROLLER, event);
    }
}
