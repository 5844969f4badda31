//! What every actor gets with an event: the moment, and the means to act on others.
//!
//! Actors never call each other: they send messages over links, schedule events and say what
//! happened.

use crate::sim::config::Config;
use crate::sim::consumer::Calls;
use crate::sim::event::Event;
use crate::sim::fact::{Fact, Flow};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, ProducerIndex};
use crate::sim::key_places::KeyPlaces;
use crate::sim::network::Network;
use crate::sim::output::Outbox;
use crate::sim::queue::{EventQueue, Rank};
use crate::sim::read_order::ReadOrder;
use crate::sim::records::RecordBook;
use crate::sim::request::Requests;
use crate::sim::time::SimTime;
use crate::sim::trace::Trace;
use crate::sim::workload::{KeyTables, KeyTallies};

/// The moment and the world around an actor.
pub struct Context<'a> {
    /// The moment that the actor lives in: the event's, or later when it runs ahead.
    pub now: SimTime,
    /// The run's configuration.
    pub config: &'a Config,
    /// All links.
    pub network: &'a mut Network,
    /// Requests under way.
    pub requests: &'a mut Requests,
    /// Requests of consumers under way.
    pub calls: &'a mut Calls,
    /// What will happen.
    pub queue: &'a mut EventQueue<Event>,
    /// What did happen.
    pub outbox: &'a mut Outbox,
    /// How often each key was sent.
    pub key_tallies: &'a mut KeyTallies,
    /// The keys of loads with their partitions.
    pub key_tables: &'a mut KeyTables,
    /// Records that are remembered one by one.
    pub records: &'a mut RecordBook,
    /// Where each remembered key's records are.
    pub key_places: &'a mut KeyPlaces,
    /// In which order groups read each key's records.
    pub read_order: &'a mut ReadOrder,
}

impl Context<'_> {
    /// Something notable happened now.
    pub fn fact(&mut self, rank: Rank, fact: Fact) {
        self.outbox.fact(self.now, rank, fact);
    }

    /// Somebody who looks closely sees something now: no part of the run, so not in its digest.
    pub fn note(&mut self, rank: Rank, fact: Fact) {
        self.outbox.note(self.now, rank, fact);
    }

    /// A step of records that somebody may follow.
    pub fn trace(&mut self, trace: Trace) {
        self.outbox.trace(trace);
    }

    /// A batch passed now.
    #[inline]
    pub fn flow(&mut self, rank: Rank, flow: Flow) {
        self.outbox.flow(rank, flow);
    }
}

/// Ranks of entities: the controller, then brokers, producers and consumers.
impl Rank {
    /// The controller, and the world at large.
    pub const CONTROLLER: Self = Self(0);

    /// A broker.
    pub const fn broker(broker: BrokerIndex) -> Self {
        Self(1 + broker.0 as u32)
    }

    /// A producer.
    pub fn producer(config: &Config, producer: ProducerIndex) -> Self {
        Self((1 + config.brokers.len() + producer.index()) as u32)
    }

    /// A consumer.
    pub fn consumer(config: &Config, consumer: ConsumerIndex) -> Self {
        let before = 1 + config.brokers.len() + config.producers.len();
        Self((before + consumer.index()) as u32)
    }

    /// How many there are.
    pub fn count(config: &Config) -> usize {
        1 + config.brokers.len() + config.producers.len() + config.consumers.len()
    }
}
