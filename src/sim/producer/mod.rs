//! One producer: an application process and the client inside it, which is the Java client or
//! librdkafka's.
//!
//! Four kinds of methods: getters (`&self`: views and metrics), `on_*` for what the world did,
//! commands from outside (`pause`, `crash`, …), and [`Producer::run`], its own life up to a limit.
//!
//! A producer may live ahead of the others: what it does alone, appending and draining, concerns
//! nobody before a request reaches a broker. How far it may go is the engine's business.

mod accumulator;
mod append;
mod application;
mod batch;
mod buffer_pool;
mod choice;
mod client;
mod close;
mod compressor;
mod connections;
mod dialect;
mod drain;
mod expiry;
mod idempotence;
mod java;
mod metadata;
mod metrics;
mod monitor;
mod network;
mod partitioner;
mod rdkafka;
mod responses;
mod retry_backoff;
mod round_robin;
mod sender;
mod sleep;
mod split;
mod sticky_by_batch;
mod transaction;
mod view;
mod wire;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sim::command::ProducerFault;
use crate::sim::config::{ClientConfig, Config};
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::fact::{Disconnect, Fact};
use crate::sim::ids::ProducerIndex;
use crate::sim::network::Network;
use crate::sim::producer::application::{AppCounts, Application, Wish};
use crate::sim::producer::client::{Client, Counts};
use crate::sim::producer::dialect::{Dialect, Library, with_client};
use crate::sim::producer::monitor::Looks;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::sleep::Sleep;
use crate::sim::queue::Rank;
use crate::sim::replay::{INBOX_RECORDS_MAX, ReplayPosition, Replayed};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::ProcessState;
use crate::sim::workload::{KeyHash, LoadKeys};

/// Actions of one producer at one moment: more means that its application is caught in a loop that
/// takes no time.
const ACTIONS_AT_ONE_MOMENT_MAX: u32 = 100_000;

/// One producer.
#[derive(Clone, Debug)]
pub struct Producer {
    me: ProducerIndex,
    rank: Rank,
    state: ProcessState,
    settings: ClientConfig,
    given: Vec<(String, String)>,
    client: Option<Library>,
    application: Option<Application>,
    keys: Vec<LoadKeys>,
    start: SimTime,
    incarnation: u16,
    lookahead: SimSpan,
    /// When it next does something by itself. It may do so later, as [`Producer::run`] says.
    acts_at: SimTime,
    /// The one `Event::Run` that counts, and when it is due.
    turn: u32,
    run_at: SimTime,
    stalled: VecDeque<Message>,
    /// By load: how far it has read the topic that it copies.
    replays: Vec<ReplayPosition>,
    next_client: NextClient,
    earlier: Earlier,
    looks: Looks,
}

/// Whether another client follows when the present one is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextClient {
    None,
    AfterClose,
}

/// Whether a producer waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    Something,
}

/// What earlier clients and processes of this producer did.
#[derive(Clone, Copy, Debug, Default)]
struct Earlier {
    client: Counts,
    application: AppCounts,
    abandoned: u64,
}

impl Producer {
    /// A producer whose process has not started.
    pub fn new(config: &Config, network: &Network, me: ProducerIndex, keys: Vec<LoadKeys>) -> Self {
        let producer = &config.producers[me.index()];
        Self {
            me,
            rank: Rank::producer(config, me),
            state: ProcessState::NotStarted,
            settings: producer.client.clone(),
            given: producer.given.clone(),
            client: None,
            application: None,
            keys,
            start: producer.start,
            incarnation: 0,
            lookahead: network.lookahead(me),
            acts_at: SimTime::ZERO,
            turn: 0,
            run_at: SimTime::NEVER,
            stalled: VecDeque::new(),
            replays: vec![ReplayPosition::default(); producer.loads.len()],
            next_client: NextClient::None,
            earlier: Earlier::default(),
            looks: Looks::new(producer.monitor),
        }
    }

    /// When it next does something by itself.
    fn next_at(&self) -> SimTime {
        match (self.state, &self.client, &self.application) {
            (ProcessState::NotStarted, ..) => self.start,
            (ProcessState::Running, Some(client), Some(application)) => {
                let client = with_client!(client, client => client.wakes_at());
                client.min(application.next_at()).min(self.looks.next_at())
            }
            (ProcessState::Running, None, Some(application)) => application.next_at(),
            _ => SimTime::NEVER,
        }
    }

    /// Sees to it that the producer is run when it next has something to do.
    pub fn schedule(&mut self, ctx: &mut Context<'_>) {
        self.acts_at = self.next_at().max(ctx.now);
        self.wake_at(ctx, self.acts_at);
    }

    fn wake_at(&mut self, ctx: &mut Context<'_>, at: SimTime) {
        if at == SimTime::NEVER {
            // Nothing to do until the world acts: an earlier turn must not count either.
            if self.run_at != SimTime::NEVER {
                self.turn += 1;
                self.run_at = SimTime::NEVER;
            }
        } else if at != self.run_at {
            self.turn += 1;
            self.run_at = at;
            let event = Event::Run {
                producer: self.me,
                turn: self.turn,
            };
            ctx.queue
                .push_numbered(at, Rank::RUN, u64::from(self.me.0), event);
        }
    }

    /// Its turn has come, unless something sooner overtook it.
    pub fn on_turn(&mut self, ctx: &mut Context<'_>, turn: u32, limit: SimTime) {
        if turn == self.turn {
            self.run_at = SimTime::NEVER;
            self.run(ctx, limit);
        }
    }

    /// Lives alone from now on: does everything before `limit` (not included) that nobody else can
    /// notice or disturb, and schedules its next turn.
    ///
    /// That turn may come late: nobody hears of what it does before it has travelled. Mostly a
    /// message comes first, and takes the producer there ([`Producer::catch_up`]).
    pub fn run(&mut self, ctx: &mut Context<'_>, limit: SimTime) {
        self.live(ctx, limit);
        // Before anything that it sends could have arrived.
        let lateness = SimSpan::from_nanos(self.lookahead.as_nanos().saturating_sub(1));
        let latest = self.acts_at + lateness;
        let at = if latest < limit { latest } else { self.acts_at };
        self.wake_at(ctx, at);
    }

    /// Does everything that is due before the present moment.
    pub fn catch_up(&mut self, ctx: &mut Context<'_>) {
        if self.acts_at < ctx.now {
            self.live(ctx, ctx.now);
        }
    }

    fn live(&mut self, ctx: &mut Context<'_>, limit: SimTime) {
        let global = ctx.now;
        ctx.now = self.acts_at;
        let mut repeats = 0;
        let (mut alone, mut asked) = self.horizon(ctx.network, global);
        loop {
            let at = self.next_at().max(ctx.now);
            let horizon = limit.min(alone);
            if at >= horizon {
                self.acts_at = at;
                break;
            }
            repeats = if at == ctx.now { repeats + 1 } else { 0 };
            ctx.now = at;
            if repeats > ACTIONS_AT_ONE_MOMENT_MAX {
                let limit = crate::sim::fact::Limit::EventsAtOneMoment;
                ctx.fact(self.rank, Fact::LimitReached { limit });
                self.state = ProcessState::Paused;
            }
            self.act(ctx, horizon);
            // Nobody answers a later question before the oldest one could be answered.
            if asked == Asked::Nothing {
                (alone, asked) = self.horizon(ctx.network, global);
            }
        }
        ctx.now = global;
    }

    /// Nothing that is not known at `global` can reach this producer before this moment. What is on
    /// its way arrives when it arrives; an answer takes two trips from its request, and one from
    /// now at least; and nobody speaks to a client that waits for nothing.
    fn horizon(&mut self, network: &Network, global: SimTime) -> (SimTime, Asked) {
        let Some(client) = &mut self.client else {
            return (SimTime::NEVER, Asked::Nothing);
        };
        let (question, is_unanswered) = with_client!(client, client => {
            (client.connections_mut().oldest_question(), client.is_unanswered())
        });
        let answer = question.map_or(SimTime::NEVER, |asked| asked + self.lookahead.times(2));
        let next_trip = global + self.lookahead;
        let unasked = if is_unanswered {
            next_trip
        } else {
            SimTime::NEVER
        };
        let asked = match question {
            Some(_) => Asked::Something,
            None => Asked::Nothing,
        };
        // At that moment itself, what the world does comes first.
        let alone = answer
            .max(next_trip)
            .min(unasked)
            .min(network.first_inbound(self.me));
        (alone, asked)
    }

    fn act(&mut self, ctx: &mut Context<'_>, horizon: SimTime) {
        if self.state == ProcessState::NotStarted {
            self.start_process(ctx);
            return;
        }
        let Some(application) = &mut self.application else {
            return;
        };
        let Some(client) = &mut self.client else {
            return;
        };
        if self.looks.next_at() <= ctx.now {
            if let Library::Java(client) = client {
                client.metrics.look(ctx.now.as_millis());
            }
            self.looks.go_on(ctx.now, monitor::From::Later);
            return;
        }
        let horizon = horizon.min(self.looks.next_at());
        with_client!(client, client => step(application, ctx, &mut **client, horizon));
        self.after(ctx);
    }

    /// Hands the client's news to the application's threads, and grants its wishes.
    fn after(&mut self, ctx: &mut Context<'_>) {
        let (Some(client), Some(application)) = (&mut self.client, &mut self.application) else {
            return;
        };
        with_client!(client, client => client.hand_over(ctx, application));
        let wish = std::mem::replace(&mut application.wish, Wish::None);
        let is_closed = with_client!(client, client => client.is_closed());
        match wish {
            Wish::Exit => self.end_process(ctx, ProcessState::Exited),
            Wish::NewClient => self.replace_client(ctx),
            Wish::None if is_closed && self.next_client == NextClient::AfterClose => {
                self.replace_client(ctx);
            }
            Wish::None => {}
        }
    }

    fn start_process(&mut self, ctx: &mut Context<'_>) {
        self.state = ProcessState::Running;
        self.looks.go_on(ctx.now, monitor::From::Here);
        self.replays.fill(ReplayPosition::default());
        let application =
            Application::new(ctx.config, (self.me, &self.keys), ctx.now, self.incarnation);
        self.application = Some(application);
        self.start_client(ctx);
    }

    fn start_client(&mut self, ctx: &mut Context<'_>) {
        let earlier = self.client.take();
        if let Some(earlier) = &earlier {
            let counts = with_client!(earlier, client => client.counts());
            self.earlier.client.add(counts);
        }
        let (client, client_id) = match &self.settings {
            ClientConfig::Java(settings) => {
                let settings = Arc::clone(settings);
                let mut client = Client::new(ctx.config, self.me, settings, self.incarnation);
                if let Some(earlier) = earlier.as_ref().and_then(Library::java) {
                    client.follow(earlier);
                }
                client.sleep = Sleep::none(ctx.now);
                let client_id = client.client_id.clone();
                (Library::Java(Box::new(client)), client_id)
            }
            ClientConfig::Rdkafka(settings) => {
                let incarnation = (self.incarnation, ctx.now);
                let mut client = Rdkafka::new(ctx.config, self.me, settings, incarnation);
                if let Some(earlier) = earlier.as_ref().and_then(Library::rdkafka) {
                    client.follow(earlier);
                }
                let client_id = client.client_id.clone();
                (Library::Rdkafka(Box::new(client)), client_id)
            }
        };
        self.incarnation += 1;
        ctx.fact(
            self.rank,
            Fact::ClientStarted {
                producer: self.me,
                client_id,
            },
        );
        self.client = Some(client);
        self.next_client = NextClient::None;
    }

    /// What the client holds is gone; another one takes its place.
    fn replace_client(&mut self, ctx: &mut Context<'_>) {
        self.abandon(ctx);
        self.start_client(ctx);
        let hash = KeyHash::of(&self.settings);
        if let (Some(application), Some(client)) = (&mut self.application, &self.client) {
            application.forget_calls(ctx);
            with_client!(client, client => application.hash_keys_by(hash, &**client));
        }
    }

    /// A message reaches this producer, which then lives on alone up to `limit` (not included).
    pub fn on_message(&mut self, ctx: &mut Context<'_>, message: Message, limit: SimTime) {
        self.catch_up(ctx);
        self.receive(ctx, message);
        self.acts_at = self.next_at().max(ctx.now);
        self.run(ctx, limit);
    }

    fn receive(&mut self, ctx: &mut Context<'_>, message: Message) {
        if self.state == ProcessState::Paused {
            self.stalled.push_back(message);
            return;
        }
        let channel = match message {
            Message::Response(id) => ctx.requests.get(id).channel,
            Message::Accepted(channel) | Message::Refused(channel) | Message::Reset(channel) => {
                channel
            }
            _ => return,
        };
        let is_current =
            |client: &Library| with_client!(client, client => client.is_current(channel));
        let Some(client) = self.client.as_mut().filter(|client| is_current(client)) else {
            if let Message::Response(id) = message {
                ctx.requests.release(id);
            }
            return;
        };
        with_client!(client, client => receive(&mut **client, ctx, channel.slot, message));
        self.after(ctx);
    }

    /// Something happens to the process.
    pub fn on_fault(
        &mut self,
        ctx: &mut Context<'_>,
        fault: ProducerFault,
    ) -> Result<(), &'static str> {
        match (fault, self.state) {
            (ProducerFault::Pause, ProcessState::Running) => self.state = ProcessState::Paused,
            (ProducerFault::Pause, _) => return Err("the producer is not running"),
            (ProducerFault::Resume, ProcessState::Paused) => self.resume(ctx),
            (ProducerFault::Resume, _) => return Err("the producer is not paused"),
            (_, ProcessState::NotStarted) => return Err("the producer has not started yet"),
            (ProducerFault::Crash, ProcessState::Exited) => {
                return Err("the producer's process is gone already");
            }
            (ProducerFault::Crash, _) => self.end_process(ctx, ProcessState::Exited),
            (ProducerFault::Restart, state) => {
                if state != ProcessState::Exited {
                    self.end_process(ctx, ProcessState::Exited);
                }
                self.start_process(ctx);
            }
        }
        self.schedule(ctx);
        Ok(())
    }

    fn resume(&mut self, ctx: &mut Context<'_>) {
        self.state = ProcessState::Running;
        if let Some(application) = &mut self.application {
            application.oversleep(ctx.now);
        }
        for message in std::mem::take(&mut self.stalled) {
            self.receive(ctx, message);
        }
        if let Some(client) = &mut self.client {
            with_client!(client, client => client.run_threads(ctx));
        }
        self.after(ctx);
    }

    /// How many records a load that copies a topic takes now, and how far it has read; nothing
    /// while its process does not run.
    pub fn replay_position(&mut self, load: usize) -> Option<(usize, &mut ReplayPosition)> {
        let application = self.application.as_ref();
        let application = application.filter(|_| self.state == ProcessState::Running)?;
        let room = INBOX_RECORDS_MAX.saturating_sub(application.inbox_records(load));
        Some((room, self.replays.get_mut(load)?))
    }

    /// What a load read reaches its application.
    pub fn on_replayed(&mut self, ctx: &mut Context<'_>, load: usize, records: Vec<Replayed>) {
        if let Some(application) = &mut self.application
            && !records.is_empty()
        {
            application.on_replayed(ctx.now, load, records);
            self.schedule(ctx);
        }
    }

    /// Another rate for all loads.
    pub fn set_rate(
        &mut self,
        ctx: &mut Context<'_>,
        micro_records_per_second: u64,
    ) -> Result<(), &'static str> {
        let application = self
            .application
            .as_mut()
            .ok_or("the producer is not running")?;
        application.set_rate(micro_records_per_second, ctx.now);
        self.schedule(ctx);
        Ok(())
    }

    /// One client configuration changes: the application closes its client and makes another.
    pub fn set_client(
        &mut self,
        ctx: &mut Context<'_>,
        (key, value): (&str, &str),
    ) -> Result<(), &'static str> {
        let mut given = self.given.clone();
        given.retain(|(known, _)| known != key);
        given.push((key.to_string(), value.to_string()));
        self.settings = self
            .settings
            .with(&given)
            .ok_or("the client refuses this configuration")?;
        self.given = given;
        if self.state == ProcessState::Running
            && let Some(client) = &mut self.client
        {
            self.next_client = NextClient::AfterClose;
            with_client!(client, client => client.close(ctx));
            if let Some(application) = &mut self.application {
                application.wait_for_new_client(ctx);
            }
            with_client!(client, client => client.run_threads(ctx));
            self.after(ctx);
        }
        self.schedule(ctx);
        Ok(())
    }

    /// The process ends without `flush()` or `close()`.
    fn end_process(&mut self, ctx: &mut Context<'_>, state: ProcessState) {
        let records_lost = self.abandon(ctx);
        if let Some(application) = self.application.take() {
            self.earlier.application.add(application.counts_at(ctx.now));
        }
        self.state = state;
        for message in std::mem::take(&mut self.stalled) {
            if let Message::Response(id) = message {
                ctx.requests.release(id);
            }
        }
        ctx.fact(
            self.rank,
            Fact::ApplicationExited {
                producer: self.me,
                records_lost,
            },
        );
    }

    /// What the client holds is lost; its sockets close.
    fn abandon(&mut self, ctx: &mut Context<'_>) -> u64 {
        let Some(client) = &mut self.client else {
            return 0;
        };
        let lost = with_client!(client, client => client.abandon(ctx));
        self.earlier.abandoned += lost;
        lost
    }
}

/// What is due first: an action of the application, or of the client's own threads.
fn step<C: Dialect>(
    application: &mut Application,
    ctx: &mut Context<'_>,
    client: &mut C,
    horizon: SimTime,
) {
    // At one moment the application comes first: a thread that sleeps takes time to wake up.
    if application.next_at() <= ctx.now {
        let limit = horizon.min(client.wakes_at());
        application.run(ctx, client, limit);
    } else {
        client.run_threads(ctx);
    }
}

/// A message on a present connection.
fn receive<C: Dialect>(client: &mut C, ctx: &mut Context<'_>, slot: u16, message: Message) {
    match message {
        Message::Response(id) => return client.on_response(ctx, id),
        Message::Accepted(_) => client.on_accepted(ctx, slot),
        Message::Refused(_) => client.disconnect(ctx, slot, Disconnect::Refused),
        Message::Reset(_) => client.disconnect(ctx, slot, Disconnect::Reset),
        _ => {}
    }
    client.run_threads(ctx);
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.acked += other.acked;
        self.failed += other.failed;
        self.cross_rack_bytes += other.cross_rack_bytes;
    }
}

impl AppCounts {
    fn add(&mut self, other: Self) {
        self.refused += other.refused;
        self.memory_wait += other.memory_wait;
    }
}
