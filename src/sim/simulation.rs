//! The engine's front: a pure function of configuration, seed and commands.
//!
//! Four kinds of methods: getters (`&self`), commands ([`Simulation::enqueue`]), time
//! ([`Simulation::advance_to`], [`Simulation::step`]) and what happened ([`Simulation::drain`]).
//! How a run is cut into calls of `advance_to` changes nothing.

use std::sync::Arc;

use crate::sim::cluster::Cluster;
use crate::sim::command::Command;
use crate::sim::config::Config;
use crate::sim::consumer::{Calls, Consumer};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::ids::{ConsumerIndex, ProducerIndex};
use crate::sim::key_places::KeyPlaces;
use crate::sim::network::Network;
use crate::sim::output::{Outbox, Output};
use crate::sim::producer::Producer;
use crate::sim::queue::{EventQueue, Rank};
use crate::sim::read_order::ReadOrder;
use crate::sim::records::RecordBook;
use crate::sim::request::Requests;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::workload::{KeyTables, KeyTallies, keys_of_loads};

/// The smallest step of time.
const TICK: SimSpan = SimSpan::from_nanos(1);

/// One run, at one moment. Clones are independent runs with the same past.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) config: Arc<Config>,
    pub(super) now: SimTime,
    pub(super) producers: Vec<Producer>,
    pub(super) consumers: Vec<Consumer>,
    pub(super) cluster: Cluster,
    pub(super) network: Network,
    pub(super) requests: Requests,
    pub(super) calls: Calls,
    pub(super) queue: EventQueue<Event>,
    pub(super) outbox: Outbox,
    pub(super) key_tallies: KeyTallies,
    pub(super) key_tables: KeyTables,
    pub(super) records: RecordBook,
    pub(super) key_places: KeyPlaces,
    pub(super) read_order: ReadOrder,
    pub(super) commands: Vec<Arc<Command>>,
    /// Moments of commands still to come, latest first: nobody runs past the next one.
    pub(super) barriers: Vec<SimTime>,
    pub(super) ending: Ending,
    /// Events so far: what a replay of the run would have to handle again.
    pub(super) handled: u64,
}

/// Whether the end of the run was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Not yet.
    Ahead,
    /// It was.
    Said,
}

/// How far a call got.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Everything up to and including this moment has happened.
    pub reached: SimTime,
    /// Why it is not further.
    pub progress: Progress,
}

/// Why a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The target is reached.
    Reached,
    /// The budget of events is used up.
    BudgetSpent,
    /// The run is over.
    Ended,
}

impl Simulation {
    /// The configured world at time zero.
    pub fn new(config: Arc<Config>) -> Self {
        let ranks = Rank::count(&config);
        let mut queue = EventQueue::new(ranks);
        let network = Network::new(&config);
        let cluster = Cluster::new(&config, &mut queue);
        let (keys, key_tallies, key_tables) = keys_of_loads(&config);
        let producers = (0_u16..)
            .zip(keys)
            .map(|(place, keys)| Producer::new(&config, &network, ProducerIndex(place), keys))
            .collect();
        let consumers = (0..config.consumers.len() as u16)
            .map(|place| Consumer::new(&config, ConsumerIndex(place)))
            .collect();
        let records = RecordBook::new(&config);
        let mut simulation = Self {
            now: SimTime::ZERO,
            producers,
            consumers,
            cluster,
            network,
            requests: Requests::default(),
            calls: Calls::default(),
            queue,
            outbox: Outbox::new(ranks),
            key_tallies,
            key_tables,
            key_places: KeyPlaces::new(&config),
            read_order: ReadOrder::new(&config, |topic| records.notes(topic)),
            records,
            commands: Vec::new(),
            barriers: Vec::new(),
            ending: Ending::Ahead,
            handled: 0,
            config,
        };
        let config = Arc::clone(&simulation.config);
        for (at, command) in &config.timeline {
            simulation.enqueue(*at, command.clone());
        }
        simulation.begin_replays();
        let (mut ctx, _, producers) = simulation.split(SimTime::ZERO);
        for producer in producers {
            producer.schedule(&mut ctx);
        }
        let (mut ctx, consumers) = simulation.split_consumers(SimTime::ZERO);
        for consumer in consumers {
            consumer.schedule(&mut ctx);
        }
        simulation
    }

    /// What the run was built from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Everything up to and including this moment has happened.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// When the run ends.
    pub fn end(&self) -> SimTime {
        SimTime::ZERO + self.config.duration
    }

    /// The moment of the next event, if there is any.
    pub fn next_at(&self) -> Option<SimTime> {
        self.queue.next_at()
    }

    /// Events handled so far. How a run is sliced may change it a little: it measures effort, and
    /// nothing else depends on it.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// Lets something happen at `at`, after everything else of that moment; what is past happens
    /// now.
    pub fn enqueue(&mut self, at: SimTime, command: Command) {
        let at = at.max(self.now);
        let number = self.commands.len() as u32;
        self.commands.push(Arc::new(command));
        let event = Event::Command(number);
        self.queue
            .push_numbered(at, Rank::COMMAND, u64::from(number), event);
        let place = self.barriers.partition_point(|&barrier| barrier > at);
        self.barriers.insert(place, at);
    }

    /// Goes on up to and including `target`, or until about `events_max` events are handled.
    pub fn advance_to(&mut self, target: SimTime, events_max: u64) -> Advance {
        let target = target.min(self.end());
        let mut left = events_max.max(1);
        while let Some((at, event)) = self.queue.pop_until(target) {
            left = left.saturating_sub(1);
            self.handled += 1;
            self.dispatch(at, event, target);
            // A moment is never left half done.
            if left == 0 && self.queue.next_at().is_some_and(|next| next > at) {
                self.now = at;
                self.catch_up();
                return Advance {
                    reached: at,
                    progress: Progress::BudgetSpent,
                };
            }
        }
        self.now = self.now.max(target);
        self.finish()
    }

    /// Producers that are late do what is due by now.
    fn catch_up(&mut self) {
        let limit = self.limit(self.now);
        let (mut ctx, _, producers) = self.split(self.now);
        for producer in producers {
            producer.run(&mut ctx, limit);
        }
    }

    /// Goes on to the next moment at which anything happens.
    pub fn step(&mut self) -> Advance {
        match self.queue.next_at() {
            Some(next) => self.advance_to(next.max(self.now), u64::MAX),
            None => self.advance_to(self.end(), u64::MAX),
        }
    }

    fn finish(&mut self) -> Advance {
        let is_over = self.now >= self.end();
        if is_over && self.ending == Ending::Ahead {
            self.ending = Ending::Said;
            self.outbox.fact(self.now, Rank::CONTROLLER, Fact::Ended);
        }
        let progress = if is_over {
            Progress::Ended
        } else {
            Progress::Reached
        };
        Advance {
            reached: self.now,
            progress,
        }
    }

    /// What happened since the last call, up to `now`.
    pub fn drain(&mut self, out: &mut Output) {
        self.outbox.drain(self.now, out);
    }

    /// Over everything that was said so far. Two runs with the same digest are the same run.
    pub fn digest(&self) -> u64 {
        self.outbox.digest()
    }

    /// How far producers may run alone: up to and including the target and the next command.
    pub(super) fn limit(&self, target: SimTime) -> SimTime {
        let barrier = self.barriers.last().copied().unwrap_or(SimTime::NEVER);
        target.min(barrier) + TICK
    }

    /// Borrows the world around the actors, and the actors.
    pub(super) fn split(&mut self, now: SimTime) -> (Context<'_>, &mut Cluster, &mut [Producer]) {
        let (context, cluster, producers, _) = self.split_all(now);
        (context, cluster, producers)
    }

    /// Borrows the world around the consumers, and the consumers.
    pub(super) fn split_consumers(&mut self, now: SimTime) -> (Context<'_>, &mut [Consumer]) {
        let (context, _, _, consumers) = self.split_all(now);
        (context, consumers)
    }

    fn split_all(
        &mut self,
        now: SimTime,
    ) -> (Context<'_>, &mut Cluster, &mut [Producer], &mut [Consumer]) {
        let context = Context {
            now,
            config: &self.config,
            network: &mut self.network,
            requests: &mut self.requests,
            calls: &mut self.calls,
            queue: &mut self.queue,
            outbox: &mut self.outbox,
            key_tallies: &mut self.key_tallies,
            key_tables: &mut self.key_tables,
            records: &mut self.records,
            key_places: &mut self.key_places,
            read_order: &mut self.read_order,
        };
        let (cluster, producers) = (&mut self.cluster, &mut self.producers);
        (context, cluster, producers, &mut self.consumers)
    }
}
