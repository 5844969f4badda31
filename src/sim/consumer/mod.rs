//! One consumer: an application that calls `poll()` in a loop, and the Java client inside it, a
//! member of a group.
//!
//! Four kinds of methods: getters (`&self`: views and metrics), `on_*` for what the world did,
//! commands from outside ([`Consumer::on_fault`]), and [`Consumer::act`], which does everything
//! that is due at a moment. A consumer never runs ahead: it lives by events, a handful for each
//! fetch and one for each batch that its application processes, never one for a record.
//!
//! Source: `ClassicKafkaConsumer`, `AbstractCoordinator`, `ConsumerCoordinator`, `AbstractFetch`,
//! `OffsetFetcher`. The classic protocol only; static members and fetching from followers are
//! absent.

mod application;
mod assignor;
mod call;
mod connections;
mod fetcher;
mod membership;
mod metadata;
mod metrics;
mod offsets;
#[cfg(test)]
mod stories;
mod view;

use std::collections::VecDeque;
use std::sync::Arc;

pub use call::{
    Answer, Ask, CallId, Calls, Fetch, Identity, Join, Joined, Leaving, MemberId, MemberInfo, Wire,
};

use crate::kafka::settings::ConsumerSettings;
use crate::sim::command::ConsumerFault;
use crate::sim::config::Config;
use crate::sim::consumer::application::Application;
use crate::sim::consumer::connections::{About, Connection, Sent};
use crate::sim::consumer::fetcher::{Assigned, Buffered};
use crate::sim::consumer::membership::Membership;
use crate::sim::consumer::metadata::Metadata;
use crate::sim::consumer::metrics::Metrics;
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::fact::{Exception, Fact};
use crate::sim::ids::{ConsumerIndex, GroupIndex, TopicIndex};
use crate::sim::queue::Rank;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::SimTime;
use crate::sim::view::{ConsumerTotals, ProcessState};

/// One consumer.
#[derive(Clone, Debug)]
pub struct Consumer {
    me: ConsumerIndex,
    rank: Rank,
    group: GroupIndex,
    settings: ConsumerSettings,
    topics: Vec<TopicIndex>,
    micro_records_per_second: Option<u64>,
    start: SimTime,
    client_id: Arc<str>,
    state: ProcessState,
    paused_at: SimTime,
    /// The one `Event::ConsumerTurn` that counts, and when it is due.
    turn: u32,
    wake_at: SimTime,
    /// The earliest moment that something asked to be looked at.
    next_at: SimTime,
    connections: Vec<Connection>,
    sent: Vec<Sent>,
    stalled: VecDeque<Message>,
    metadata: Metadata,
    membership: Membership,
    application: Application,
    /// Partitions that it reads, in order.
    assigned: Vec<Assigned>,
    /// What was fetched and not yet returned by `poll()`, in order of arrival.
    buffered: VecDeque<Buffered>,
    /// Grows with every fetch, so that partitions take turns.
    fetches: u64,
    metrics: Metrics,
    draws: Stream,
    totals: ConsumerTotals,
}

impl Consumer {
    /// `client.id`.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// A consumer whose process has not started.
    pub fn new(config: &Config, me: ConsumerIndex) -> Self {
        let consumer = &config.consumers[me.index()];
        let group = &config.groups[consumer.group.index()].name;
        let settings = consumer.settings.clone();
        let named = |id: &String| Arc::from(id.as_str());
        let numbered = || Arc::from(format!("consumer-{group}-1"));
        Self {
            me,
            rank: Rank::consumer(config, me),
            group: consumer.group,
            client_id: settings.client_id.as_ref().map_or_else(numbered, named),
            topics: consumer.topics.clone(),
            micro_records_per_second: consumer.micro_records_per_second,
            start: consumer.start,
            state: ProcessState::NotStarted,
            paused_at: SimTime::ZERO,
            turn: 0,
            wake_at: SimTime::NEVER,
            next_at: SimTime::NEVER,
            connections: vec![Connection::none(); config.brokers.len() * 2],
            sent: Vec::new(),
            stalled: VecDeque::new(),
            metadata: Metadata::default(),
            membership: Membership::new(&settings),
            application: Application::new(),
            assigned: Vec::new(),
            buffered: VecDeque::new(),
            fetches: 0,
            metrics: Metrics::new(&settings),
            draws: Stream::new(config.seed, Purpose::Consumer, u32::from(me.0), 0),
            totals: ConsumerTotals::default(),
            settings,
        }
    }

    /// Its first moment.
    pub fn schedule(&mut self, ctx: &mut Context<'_>) {
        self.wake_by(self.start);
        self.sleep(ctx);
    }

    /// Its own next moment has come, unless something sooner overtook it.
    pub fn on_turn(&mut self, ctx: &mut Context<'_>, turn: u32) {
        if turn == self.turn {
            self.wake_at = SimTime::NEVER;
            self.act(ctx);
        }
    }

    /// Does everything that is due now, and goes to sleep.
    fn act(&mut self, ctx: &mut Context<'_>) {
        if self.state == ProcessState::NotStarted && self.start <= ctx.now {
            self.start_process(ctx);
        }
        if self.state != ProcessState::Running {
            return self.sleep(ctx);
        }
        self.next_at = SimTime::NEVER;
        self.time_out(ctx);
        self.refresh_metadata(ctx);
        self.keep_membership(ctx);
        self.run_application(ctx);
        self.sleep(ctx);
    }

    /// Something is to be looked at by this moment.
    fn wake_by(&mut self, at: SimTime) {
        self.next_at = self.next_at.min(at);
    }

    fn sleep(&mut self, ctx: &mut Context<'_>) {
        let at = match self.state {
            ProcessState::NotStarted => self.start,
            ProcessState::Running => self
                .next_at
                .min(self.next_timeout())
                .min(self.metadata_due().max(ctx.now)),
            _ => SimTime::NEVER,
        };
        // A connection that is awaited leaves nothing to do before its answer.
        let at = if at <= ctx.now && self.state == ProcessState::Running {
            self.next_at.min(self.next_timeout())
        } else {
            at
        };
        if at == self.wake_at {
            return;
        }
        self.turn += 1;
        self.wake_at = at;
        if at != SimTime::NEVER {
            let event = Event::ConsumerTurn {
                consumer: self.me,
                turn: self.turn,
            };
            ctx.queue.push(at.max(ctx.now), self.rank, event);
        }
    }

    fn start_process(&mut self, ctx: &mut Context<'_>) {
        self.state = ProcessState::Running;
        self.metadata = Metadata::default();
        self.membership = Membership::new(&self.settings);
        self.application = Application::new();
        self.application.last_poll = ctx.now;
        self.metrics = Metrics::new(&self.settings);
        self.assigned.clear();
        self.buffered.clear();
        let fact = Fact::ConsumerStarted { consumer: self.me };
        ctx.fact(self.rank, fact);
    }

    /// The process is gone, without a word to anybody.
    fn end_process(&mut self, ctx: &mut Context<'_>, state: ProcessState) {
        self.hang_up_all(ctx);
        for message in std::mem::take(&mut self.stalled) {
            if let Message::Answer(id) | Message::Refusal(id) = message {
                ctx.calls.take(id);
            }
        }
        self.assigned.clear();
        self.buffered.clear();
        self.state = state;
        let fact = Fact::ConsumerExited { consumer: self.me };
        ctx.fact(self.rank, fact);
    }

    /// `poll()` threw: the application ends, and its client is closed on the way out.
    fn fail(&mut self, ctx: &mut Context<'_>, exception: Arc<Exception>) {
        let fact = Fact::ConsumerFailed {
            consumer: self.me,
            exception,
        };
        ctx.fact(self.rank, fact);
        self.close(ctx);
    }

    /// `close()`: commits, leaves the group and ends.
    fn close(&mut self, ctx: &mut Context<'_>) {
        self.commit_positions(ctx);
        self.leave(ctx, Leaving::Closed);
        self.end_process(ctx, ProcessState::Closed);
    }

    /// A message reached this consumer.
    pub fn on_message(&mut self, ctx: &mut Context<'_>, message: Message) {
        if self.state == ProcessState::Paused {
            self.stalled.push_back(message);
            return;
        }
        self.take_message(ctx, message);
        self.act(ctx);
    }

    fn take_message(&mut self, ctx: &mut Context<'_>, message: Message) {
        match message {
            Message::Answer(id) | Message::Refusal(id) => {
                let Some(call) = ctx.calls.take(id) else {
                    return;
                };
                let Some(at) = self.sent.iter().position(|sent| sent.id == id) else {
                    return;
                };
                let sent = self.sent.remove(at);
                self.on_answer(ctx, sent, call);
            }
            Message::WireReset(wire) if self.is_current(wire) => {
                self.disconnect(ctx, wire.broker(), wire.lane());
            }
            _ => {}
        }
    }

    fn on_answer(&mut self, ctx: &mut Context<'_>, sent: Sent, call: call::Call) {
        let took = ctx.now.since(sent.at);
        match (sent.about, call.answer) {
            (About::Connect, Answer::Accepted) => self.on_accepted(ctx, sent),
            (About::Connect, _) => self.disconnect(ctx, sent.broker, sent.lane),
            (About::ApiVersions, _) => self.on_ready(sent),
            (About::Metadata, Answer::Metadata(image)) => self.on_metadata(ctx, &image),
            (About::Metadata, _) => self.on_metadata_failed(ctx),
            (About::Fetch, _) => {
                if let Ask::Fetch(fetch) = call.ask {
                    self.on_fetched(ctx, &fetch, took);
                }
            }
            (About::ListOffsets, Answer::Offsets(offsets)) => self.on_list_offsets(ctx, &offsets),
            (About::Committed, Answer::Offsets(offsets)) => self.on_committed(ctx, &offsets),
            (About::Commit, answer) => self.on_commit_answer(ctx, sent, &answer),
            (_, answer) => self.on_group_answer(ctx, sent, answer),
        }
    }

    /// A call was lost with its connection.
    fn on_lost(&mut self, ctx: &mut Context<'_>, sent: Sent) {
        match sent.about {
            About::Metadata => self.on_metadata_failed(ctx),
            About::Fetch => self.on_fetch_lost(ctx, sent),
            About::ListOffsets => self.back_off_offsets(ctx),
            About::Connect | About::ApiVersions
                if sent.lane == crate::sim::network::Lane::Regular =>
            {
                self.on_metadata_failed(ctx);
            }
            _ => self.on_coordinator_lost(ctx, sent.about),
        }
    }

    /// Something happens to the process.
    pub fn on_fault(
        &mut self,
        ctx: &mut Context<'_>,
        fault: ConsumerFault,
    ) -> Result<(), &'static str> {
        match (fault, self.state) {
            (ConsumerFault::Pause, ProcessState::Running) => {
                self.state = ProcessState::Paused;
                self.paused_at = ctx.now;
            }
            (ConsumerFault::Pause, _) => return Err("the consumer is not running"),
            (ConsumerFault::Resume, ProcessState::Paused) => self.resume(ctx),
            (ConsumerFault::Resume, _) => return Err("the consumer is not paused"),
            (ConsumerFault::Restart, ProcessState::Closed | ProcessState::Exited) => {
                self.start_process(ctx);
            }
            (_, ProcessState::NotStarted) => return Err("the consumer has not started yet"),
            (_, ProcessState::Closed | ProcessState::Exited) => {
                return Err("the consumer's process is gone already");
            }
            (ConsumerFault::Crash, _) => self.end_process(ctx, ProcessState::Exited),
            (ConsumerFault::Close, ProcessState::Paused) => {
                return Err("the consumer is paused");
            }
            (ConsumerFault::Close, _) => self.close(ctx),
            (ConsumerFault::Restart, _) => {
                self.end_process(ctx, ProcessState::Exited);
                self.start_process(ctx);
            }
        }
        self.act(ctx);
        Ok(())
    }

    /// The process goes on where it was: its work is late by the pause, and the kernel kept what
    /// came meanwhile.
    fn resume(&mut self, ctx: &mut Context<'_>) {
        self.state = ProcessState::Running;
        self.application.shift(ctx.now.since(self.paused_at));
        for message in std::mem::take(&mut self.stalled) {
            self.take_message(ctx, message);
        }
    }

    /// Another processing rate from now on.
    pub fn set_rate(
        &mut self,
        ctx: &mut Context<'_>,
        micro_records_per_second: u64,
    ) -> Result<(), &'static str> {
        if micro_records_per_second == 0 {
            return Err("a consumer's rate is above 0: pause it instead");
        }
        self.micro_records_per_second = Some(micro_records_per_second);
        self.act(ctx);
        Ok(())
    }

    fn client_id_bytes(&self) -> u32 {
        self.client_id.len() as u32
    }
}
