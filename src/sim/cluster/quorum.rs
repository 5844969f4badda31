//! The controller quorum, where brokers are controllers too (`process.roles=broker,controller`).
//!
//! The active controller decides nothing without a majority. The others fetch from it; who has had
//! no answer for `controller.quorum.fetch.timeout.ms` asks for votes. A new controller knows of no
//! heartbeats: every session begins anew when it takes office.
//! Source: `KafkaRaftClient`, `FollowerState`, `LeaderState`, `ClusterControlManager.activate`.
//!
//! Without such brokers the controllers are machines of their own that never fail.
//!
//! Simplifications: the others' fetches are answered at the same moments, [`IDLE`] apart, however
//! much there is to say; no vote is split, and of those that may be elected it is the lowest id;
//! what the last controller began and no majority has is decided nevertheless.

use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::{FIRST_INCARNATION, Process};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::ids::BrokerIndex;
use crate::sim::queue::{EventQueue, Rank};
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::{SimSpan, SimTime};

/// An idle controller writes a record that says nothing (`metadata.max.idle.interval.ms`): so
/// often the others hear from it.
const IDLE: SimSpan = SimSpan::from_millis(500);
/// From counting sessions anew to the first task of a new controller: that much later than every
/// eighth of a session its checks are.
pub(super) const TASKS_BEGIN: SimSpan = SimSpan::from_millis(1);
/// A vote and the one that tries it first (KIP-996): trips from one controller to another.
const VOTE_TRIPS: u64 = 4;
/// Why a command does nothing.
pub(super) const NO_CONTROLLER: &str = "no controller is active";

/// Who controls.
#[derive(Clone, Debug)]
pub struct Quorum {
    /// Brokers that are controllers too; none where controllers are machines of their own.
    voters: Vec<BrokerIndex>,
    office: Office,
    epoch: u32,
    /// When the others, a majority with the active one, last heard from it.
    heard: SimTime,
    /// The tick that counts; others were planned before things changed.
    tick: SimTime,
    /// When the controller role of each broker's process is up.
    ready: Vec<SimTime>,
    draws: Stream,
}

/// The office of the active controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Office {
    /// This process has it.
    Held {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// Nobody has it before an election at this moment.
    Vacant { until: SimTime },
}

impl Quorum {
    /// The first of the voters is active.
    pub(super) fn new(voters: &[BrokerIndex], brokers: usize, seed: u64) -> Self {
        let broker = voters.first().copied().unwrap_or(BrokerIndex(0));
        Self {
            voters: voters.to_vec(),
            office: Office::Held {
                broker,
                incarnation: FIRST_INCARNATION,
            },
            epoch: 1,
            heard: SimTime::ZERO,
            tick: SimTime::ZERO,
            ready: vec![SimTime::ZERO; brokers],
            draws: Stream::new(seed, Purpose::ControllerElection, 0, 0),
        }
    }

    /// Its first tick, where it is one that can fail.
    pub(super) fn schedule(&self, queue: &mut EventQueue<Event>) {
        if !self.voters.is_empty() {
            queue.push(self.tick, Rank::CONTROLLER, Event::QuorumTick);
        }
    }

    fn active(&self) -> Option<BrokerIndex> {
        match self.office {
            Office::Held { broker, .. } if !self.voters.is_empty() => Some(broker),
            _ => None,
        }
    }

    /// A process will have its controller role up at `ready`.
    pub(super) fn starts(&mut self, broker: BrokerIndex, ready: SimTime) {
        self.ready[broker.index()] = ready;
    }
}

impl Cluster {
    /// The broker that is the active controller, where brokers are controllers.
    pub fn active_controller(&self) -> Option<BrokerIndex> {
        self.quorum.active()
    }

    /// Whether there is a controller that can change anything.
    pub(super) fn is_controlled(&self, ctx: &Context<'_>) -> bool {
        let quorum = &self.quorum;
        quorum.voters.is_empty() || self.holder_takes_part(ctx) && self.has_majority(ctx)
    }

    /// Whether a broker's requests get to a controller that can change anything.
    pub(super) fn reaches_controller(&self, ctx: &Context<'_>, broker: BrokerIndex) -> bool {
        ctx.network.is_open(ctx.network.controller(broker)) && self.is_controlled(ctx)
    }

    /// The office falls vacant with the process that had it: the others wait until they should
    /// have heard.
    pub(super) fn lose_controller(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        if self.quorum.active() == Some(at) {
            let until = self.quorum.heard + self.fetch_timeout() + self.votes(ctx);
            self.vacate(ctx, until);
        }
    }

    /// A controller that shuts down in order asks the others to elect (`EndQuorumEpoch`).
    pub(super) fn hand_over_controller(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        if self.quorum.active() == Some(at) {
            let until = ctx.now + self.votes(ctx);
            self.vacate(ctx, until);
        }
    }

    fn vacate(&mut self, ctx: &mut Context<'_>, until: SimTime) {
        self.quorum.office = Office::Vacant { until };
        let epoch = self.quorum.epoch;
        let fact = Fact::ControllerChanged {
            broker: None,
            epoch,
        };
        ctx.fact(Rank::CONTROLLER, fact);
        self.plan_tick(ctx, until);
    }

    /// The others hear from the controller, or notice that they do not.
    pub(super) fn on_quorum_tick(&mut self, ctx: &mut Context<'_>) {
        if self.quorum.tick != ctx.now {
            return;
        }
        match self.quorum.office {
            Office::Held { .. } => self.watch_holder(ctx),
            Office::Vacant { until } if ctx.now < until => self.plan_tick(ctx, until),
            Office::Vacant { .. } if self.has_majority(ctx) => self.elect_controller(ctx),
            Office::Vacant { .. } => {
                let until = ctx.now + self.election_timeout();
                self.quorum.office = Office::Vacant { until };
                self.plan_tick(ctx, until);
            }
        }
    }

    fn watch_holder(&mut self, ctx: &mut Context<'_>) {
        let (takes_part, majority) = (self.holder_takes_part(ctx), self.has_majority(ctx));
        let timeout = self.fetch_timeout();
        let due = match (takes_part, majority) {
            (true, true) => {
                self.quorum.heard = ctx.now;
                return self.plan_tick(ctx, ctx.now + IDLE);
            }
            (false, _) => self.quorum.heard + timeout + self.votes(ctx),
            // A leader whom no majority asks resigns after one and a half times as long.
            (true, false) => self.quorum.heard + SimSpan::from_nanos(timeout.as_nanos() / 2 * 3),
        };
        if ctx.now < due {
            self.plan_tick(ctx, due.min(ctx.now + IDLE));
        } else if majority {
            self.elect_controller(ctx);
        } else {
            let until = ctx.now + self.election_timeout();
            self.vacate(ctx, until);
        }
    }

    /// Somebody takes office: sessions of brokers begin anew, and so do its tasks.
    fn elect_controller(&mut self, ctx: &mut Context<'_>) {
        let voters = self.quorum.voters.iter().copied();
        let Some(elected) = voters.filter(|&voter| self.takes_part(ctx, voter)).min() else {
            return;
        };
        self.quorum.office = Office::Held {
            broker: elected,
            incarnation: self.brokers[elected.index()].incarnation,
        };
        self.quorum.epoch += 1;
        self.quorum.heard = ctx.now;
        let fact = Fact::ControllerChanged {
            broker: Some(elected),
            epoch: self.quorum.epoch,
        };
        ctx.fact(Rank::CONTROLLER, fact);
        self.plan_tick(ctx, ctx.now + IDLE);
        self.begin_sessions(ctx);
    }

    fn plan_tick(&mut self, ctx: &mut Context<'_>, at: SimTime) {
        let at = at.max(ctx.now);
        self.quorum.tick = at;
        ctx.queue.push(at, Rank::CONTROLLER, Event::QuorumTick);
    }

    /// Whether a voter runs and reaches the others.
    fn takes_part(&self, ctx: &Context<'_>, voter: BrokerIndex) -> bool {
        let runs = match self.brokers[voter.index()].process {
            Process::Up | Process::ShuttingDown => true,
            Process::Starting => self.quorum.ready[voter.index()] <= ctx.now,
            Process::Paused | Process::Down => false,
        };
        runs && ctx.network.is_open(ctx.network.controller(voter))
    }

    fn holder_takes_part(&self, ctx: &Context<'_>) -> bool {
        matches!(self.quorum.office, Office::Held { broker, incarnation }
            if self.brokers[broker.index()].incarnation == incarnation
                && self.takes_part(ctx, broker))
    }

    fn has_majority(&self, ctx: &Context<'_>) -> bool {
        let voters = &self.quorum.voters;
        let present = voters.iter().filter(|&&voter| self.takes_part(ctx, voter));
        present.count() * 2 > voters.len()
    }

    /// `controller.quorum.fetch.timeout.ms` of the voters.
    fn fetch_timeout(&self) -> SimSpan {
        let first = self.quorum.voters.first().copied();
        let settings = first.map(|voter| &self.brokers[voter.index()].settings.controller);
        SimSpan::from_millis(settings.map_or(0, |settings| settings.fetch_timeout_ms))
    }

    /// Of those that wait for a leader the first asks for votes after
    /// `controller.quorum.election.timeout.ms`, and up to as much more by chance.
    fn election_timeout(&mut self) -> SimSpan {
        let Some(first) = self.quorum.voters.first() else {
            return IDLE;
        };
        let settings = &self.brokers[first.index()].settings.controller;
        let timeout_ms = settings.election_timeout_ms.max(1);
        let extra_ms = self.quorum.draws.below(timeout_ms);
        SimSpan::from_millis(timeout_ms.saturating_add(extra_ms))
    }

    fn votes(&self, ctx: &Context<'_>) -> SimSpan {
        let first = self.quorum.voters.first().copied();
        let link = ctx.network.controller(first.unwrap_or(BrokerIndex(0)));
        ctx.network.latency(link).times(VOTE_TRIPS)
    }
}
