//! Brokers that die, stop, hang and return.
//!
//! Source: `BrokerLifecycleManager`.

use crate::kafka::error::ErrorCode;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::{Fencing, Heartbeats, LastEnd, Process, Socket, Space};
use crate::sim::cluster::election::Retirement;
use crate::sim::cluster::handler::send;
use crate::sim::cluster::isr::IsrRequests;
use crate::sim::cluster::quorum::NO_CONTROLLER;
use crate::sim::cluster::transaction::schedule_scan;
use crate::sim::command::BrokerFault;
use crate::sim::context::Context;
use crate::sim::event::{Channel, Event, Message};
use crate::sim::fact::{BrokerState, Fact};
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};
use crate::sim::queue::Rank;
use crate::sim::time::{SimSpan, SimTime};

/// The broker asks again this long after it wanted to shut down (`BrokerLifecycleManager`).
const SHUTDOWN_POLL: SimSpan = SimSpan::from_millis(50);
/// From the start of a process to its registration: JVM, log loading after a clean shutdown. An
/// estimate; real brokers take seconds.
const STARTING: SimSpan = SimSpan::from_seconds(3);
/// Injected errors that wait for one partition at most.
const INJECTED_MAX: u32 = 100_000;
/// Bytes of a TCP reset.
const RESET_BYTES: u32 = 40;

impl Cluster {
    /// A command befalls a broker. What it finds nothing to act on is said in words.
    pub fn on_fault(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        fault: BrokerFault,
    ) -> Result<(), &'static str> {
        let broker = &mut self.brokers[at.index()];
        match (fault, broker.process) {
            (BrokerFault::DiskRate(rate), _) => broker.disk.rate = rate.map(|rate| rate.max(1)),
            (BrokerFault::DiskFull, _) => broker.disk.space = Space::Full,
            (BrokerFault::DiskHeal, _) => {
                broker.disk.rate = ctx.config.brokers[at.index()].append_rate;
                broker.disk.space = Space::Free;
            }
            (BrokerFault::Slow(by), _) => broker.slowed_by = by,
            (BrokerFault::Start, Process::Down) => self.start(ctx, at),
            (BrokerFault::Start, _) => return Err("the broker's process already runs"),
            (_, Process::Down) => return Err("the broker's process does not run"),
            (BrokerFault::Kill { lose_tail_records }, _) => self.kill(ctx, at, lose_tail_records),
            (BrokerFault::Stop, Process::Up) => self.stop(ctx, at),
            (BrokerFault::Stop, _) => return Err("the broker cannot shut down now"),
            (BrokerFault::Pause, Process::Up) => {
                broker.process = Process::Paused;
                self.say(ctx, at);
            }
            (BrokerFault::Pause, _) => return Err("the broker is not running"),
            (BrokerFault::Resume, Process::Paused) => self.resume(ctx, at),
            (BrokerFault::Resume, _) => return Err("the broker is not paused"),
            (BrokerFault::Fence, _) if self.controller.fencing(at) == Fencing::Fenced => {
                return Err("the broker is fenced already");
            }
            (BrokerFault::Fence, _) if !self.is_controlled(ctx) => return Err(NO_CONTROLLER),
            (BrokerFault::Fence, _) => self.fence(ctx, at),
        }
        Ok(())
    }

    fn say(&self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let state = self.brokers[broker.index()].state(self.controller.fencing(broker));
        ctx.fact(Rank::broker(broker), Fact::BrokerChanged { broker, state });
    }

    /// The process dies: connections are reset, what it had in hand is forgotten. The controller
    /// will notice when its session ends.
    fn kill(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, lose_tail_records: u64) {
        self.end_process(ctx, at);
        self.lose_controller(ctx, at);
        self.brokers[at.index()].last_end = LastEnd::Crash;
        for index in self.brokers[at.index()].replica_of.clone() {
            self.lose_tail(ctx, (at, index), lose_tail_records);
        }
        self.say(ctx, at);
    }

    fn end_process(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        self.leave_all_purgatories(ctx, at);
        self.drop_calls(ctx, at);
        self.drop_transaction_work(ctx, at);
        self.controller.lose_producer_ids(at);
        let broker = &mut self.brokers[at.index()];
        broker.process = Process::Down;
        broker.incarnation += 1;
        broker.requests = 0;
        broker.disk.free_at = ctx.now;
        broker.isr_requests = IsrRequests::default();
        broker.heartbeats = Heartbeats::Regular;
        for message in std::mem::take(&mut broker.stalled) {
            match message {
                Message::Request(id) => ctx.requests.release(id),
                Message::Call(id) => {
                    ctx.calls.take(id);
                }
                _ => {}
            }
        }
        for id in std::mem::take(&mut broker.stalled_calls) {
            ctx.calls.take(id);
        }
        for id in std::mem::take(&mut broker.stalled_handled) {
            ctx.requests.release(id);
        }
        self.reset_connections(ctx, at, |_| true);
        self.drop_fetchers(at);
        self.leave_offices(at);
    }

    /// Resets the connections of some producers at a broker.
    pub fn reset_connections(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        whose: impl Fn(ProducerIndex) -> bool,
    ) {
        for channel in self.close_connections(ctx, at, whose) {
            send(ctx, at, Message::Reset(channel), RESET_BYTES);
        }
    }

    /// Closes a broker's ends of the connections of some producers: what it had read of them and
    /// nobody took in hand is gone. Returns which they were; nobody is told.
    pub fn close_connections(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        whose: impl Fn(ProducerIndex) -> bool,
    ) -> Vec<Channel> {
        let brokers = self.brokers.len();
        let broker = &mut self.brokers[at.index()];
        let mut lost = Vec::new();
        let mut reset = Vec::new();
        for (place, connection) in broker.connections.iter_mut().enumerate() {
            let producer = ProducerIndex((place / 2) as u16);
            if connection.state == Socket::Closed || !whose(producer) {
                continue;
            }
            let slot = (place % 2) * brokers + at.index();
            let generation = connection.generation;
            reset.push(Channel {
                producer,
                slot: slot as u16,
                generation,
            });
            connection.state = Socket::Closed;
            lost.extend(connection.pending.drain(..));
        }
        broker.requests = broker.requests.saturating_sub(lost.len() as u32);
        for id in lost {
            ctx.requests.release(id);
        }
        reset
    }

    /// Requests in purgatory die with their broker.
    fn leave_all_purgatories(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        for index in self.brokers[at.index()].replica_of.clone() {
            let partition = &self.partitions[index.index()];
            let stale = partition.stale.iter().flat_map(|leader| &leader.purgatory);
            let waiting: Vec<_> = partition
                .purgatory
                .iter()
                .chain(stale)
                .map(|w| w.request)
                .collect();
            for id in waiting {
                let is_here = ctx.requests.get(id).broker == at;
                if is_here && ctx.requests.get(id).waiting > 0 {
                    self.leave_purgatory(ctx, id, ErrorCode::NetworkException);
                    ctx.requests.release(id);
                }
            }
        }
    }

    /// Unflushed records at the end of a dead broker's log are gone with the machine.
    fn lose_tail(
        &mut self,
        ctx: &mut Context<'_>,
        (at, index): (BrokerIndex, PartitionIndex),
        records: u64,
    ) {
        if records == 0 {
            return;
        }
        let partition = &mut self.partitions[index.index()];
        let oldest = partition.log.oldest_remembered();
        let end = partition.replica_end(at);
        partition.cut_replica(at, end.saturating_sub(records).max(oldest.min(end)));
        let kept = partition.longest_shared_end();
        self.cut_log(ctx, index, kept);
    }

    /// Controlled shutdown: leaders move away first, then the process ends.
    fn stop(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        self.brokers[at.index()].process = Process::ShuttingDown;
        self.say(ctx, at);
        if self.is_controlled(ctx) {
            self.give_up_offices(ctx, at);
        } // Else its heartbeats ask for it once somebody answers.
    }

    /// The controller lets a broker shut down: others lead what it led.
    pub(super) fn give_up_offices(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        self.controller.leaving[at.index()] = true;
        let mut image = (*self.controller.image).clone();
        self.retire(&mut image, at, Retirement::Clean);
        self.publish(ctx, image);
        let broker = &self.brokers[at.index()];
        let linger = SimSpan::from_millis(broker.settings.controller.append_linger_ms);
        let trip = ctx.network.latency(ctx.network.controller(at)).times(4);
        let event = Event::ShutdownDone {
            broker: at,
            incarnation: broker.incarnation,
        };
        ctx.queue.push(
            ctx.now + linger + trip + SHUTDOWN_POLL,
            Rank::broker(at),
            event,
        );
    }

    /// Everybody else has applied the new leaders: the process may exit.
    pub(super) fn on_shutdown_done(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        if self.brokers[at.index()].incarnation != incarnation {
            return;
        }
        let is_controlled = self.is_controlled(ctx);
        self.end_process(ctx, at);
        self.brokers[at.index()].last_end = LastEnd::Clean;
        // A clean shutdown leaves no session behind that a restart would have to wait for.
        self.controller.last_heartbeat[at.index()] = SimTime::ZERO;
        if is_controlled {
            self.fence(ctx, at);
        }
        self.hand_over_controller(ctx, at);
    }

    /// The process goes on where it was: with everything that its kernel took meanwhile.
    fn resume(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let broker = &mut self.brokers[at.index()];
        broker.process = Process::Up;
        let messages = std::mem::take(&mut broker.stalled);
        let handled = std::mem::take(&mut broker.stalled_handled);
        let calls = std::mem::take(&mut broker.stalled_calls);
        let incarnation = broker.incarnation;
        if broker.heartbeats == Heartbeats::Stopped {
            // The one that was under way is answered; the next follows after the usual interval.
            broker.heartbeats = Heartbeats::Regular;
            let interval = broker.settings.controller.broker_heartbeat_interval_ms;
            let next = ctx.now + SimSpan::from_millis(interval.max(1));
            let event = Event::Heartbeat {
                broker: at,
                incarnation,
            };
            ctx.queue.push(next, Rank::broker(at), event);
        }
        self.say(ctx, at);
        self.send_metadata(ctx, at);
        for id in handled {
            self.on_request_handled(ctx, (at, incarnation), id);
        }
        for id in calls {
            self.handle_call(ctx, id);
        }
        for message in messages {
            self.on_message(ctx, at, message);
        }
        self.wake_fetchers(ctx, at);
    }

    /// A new process starts. It cannot register while the controller thinks that the previous one
    /// lives (`DUPLICATE_BROKER_REGISTRATION`).
    fn start(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let broker = &mut self.brokers[at.index()];
        broker.process = Process::Starting;
        broker.incarnation += 1;
        let incarnation = broker.incarnation;
        let settings = broker.settings.controller;
        let ready = ctx.now + STARTING;
        self.quorum.starts(at, ready);
        let session = SimSpan::from_millis(settings.broker_session_timeout_ms);
        let heartbeat = SimSpan::from_millis(settings.broker_heartbeat_interval_ms.max(1));
        let last = self.controller.last_heartbeat[at.index()];
        let is_known = self.controller.fencing(at) == Fencing::Unfenced || last > SimTime::ZERO;
        let mut registered = ready;
        // It asks again every heartbeat interval.
        while is_known && registered < last + session {
            registered += heartbeat;
        }
        let event = Event::Registration {
            broker: at,
            incarnation,
        };
        ctx.queue.push(registered, Rank::broker(at), event);
        self.say(ctx, at);
    }

    /// Registration is through: the broker catches up with metadata and is unfenced.
    pub(super) fn on_registration(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        let settings = broker.settings.controller;
        let session = SimSpan::from_millis(settings.broker_session_timeout_ms);
        let last = self.controller.last_heartbeat[at.index()];
        let is_known = self.controller.fencing(at) == Fencing::Unfenced;
        if !self.is_controlled(ctx) || is_known && ctx.now < last + session {
            // Nobody takes it, or another controller that believes in its earlier process.
            let interval = SimSpan::from_millis(settings.broker_heartbeat_interval_ms.max(1));
            let event = Event::Registration {
                broker: at,
                incarnation,
            };
            return ctx.queue.push(ctx.now + interval, Rank::broker(at), event);
        }
        self.enter(ctx, at, incarnation);
    }

    fn enter(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, incarnation: u32) {
        let broker = &mut self.brokers[at.index()];
        broker.process = Process::Up;
        let lag_time = broker.settings.replication.lag_time_max_ms;
        self.controller.last_heartbeat[at.index()] = ctx.now;
        let isr_check = ctx.now + SimSpan::from_millis((lag_time / 2).max(1));
        let (heartbeat, expiration) = (
            Event::Heartbeat {
                broker: at,
                incarnation,
            },
            Event::IsrExpiration {
                broker: at,
                incarnation,
            },
        );
        ctx.queue.push(ctx.now, Rank::broker(at), heartbeat);
        ctx.queue.push(isr_check, Rank::broker(at), expiration);
        if !self.transactions.state_log().is_empty() {
            let broker = (at, &self.brokers[at.index()]);
            schedule_scan(ctx.queue, broker, ctx.now);
        }
        self.register(ctx, at);
        self.brokers[at.index()].image = self.controller.image.clone();
        self.unfence(ctx, at);
        self.delete_replicas(at);
        let partitions = self.brokers[at.index()].replica_of.clone();
        self.follow(ctx, at, &partitions);
        self.welcome_fetchers(ctx, at);
    }

    /// The controller takes a new process for a broker: it is fenced at first. One that did not
    /// shut down in order may have lost what it had not flushed: it is in sync nowhere, and not
    /// eligible (`handleUncleanBrokerShutdown`).
    fn register(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let crashed = self.brokers[at.index()].last_end == LastEnd::Crash;
        if !crashed && self.controller.fencing(at) == Fencing::Fenced {
            return;
        }
        let mut image = (*self.controller.image).clone();
        image.unfenced[at.index()] = false;
        let why = if crashed {
            Retirement::AfterCrash
        } else {
            Retirement::Clean
        };
        self.retire(&mut image, at, why);
        self.brokers[at.index()].last_end = LastEnd::Clean;
        self.publish(ctx, image);
    }

    /// Whether a broker would be alive to the eye of an operator, for screens.
    pub fn state_of(&self, broker: BrokerIndex) -> BrokerState {
        self.brokers[broker.index()].state(self.controller.fencing(broker))
    }
}

impl Cluster {
    /// The next answers of a broker to produce requests vanish, one on each connection.
    pub fn swallow(&mut self, broker: BrokerIndex, count: u32) {
        self.brokers[broker.index()].swallow += count;
    }

    /// The next batches for a partition are answered with this error.
    pub fn inject(&mut self, partition: PartitionIndex, error: ErrorCode, count: u32) {
        let injected = &mut self.partitions[partition.index()].injected;
        injected.extend(std::iter::repeat_n(error, count.min(INJECTED_MAX) as usize));
    }
}
