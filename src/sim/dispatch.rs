//! Events to actors: the only place where actors meet.

use std::borrow::Cow;
use std::sync::Arc;

use crate::sim::cluster::PeerCallId;
use crate::sim::command::{
    BrokerFault, Command, ConsumerFault, CoordinatorKill, Inquiry, LinkFault,
};
use crate::sim::config::Peer;
use crate::sim::consumer::{Answer, Ask, CallId, Consumer};
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::fact::{Fact, LinkState};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex};
use crate::sim::network::{Arrival, LinkIndex};
use crate::sim::queue::Rank;
use crate::sim::simulation::Simulation;
use crate::sim::time::{SimSpan, SimTime};

/// How long a fetcher waits for an answer (`replica.socket.timeout.ms`).
const REPLICA_SOCKET_TIMEOUT: SimSpan = SimSpan::from_seconds(30);

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Broker(BrokerIndex),
    Producer(ProducerIndex),
    Consumer(ConsumerIndex),
}

impl Simulation {
    /// One event happens. Producers may run ahead up to `target`.
    pub(super) fn dispatch(&mut self, at: SimTime, event: Event, target: SimTime) {
        match event {
            Event::Run { producer, turn } => {
                let limit = self.limit_of(producer, at, target);
                let (mut ctx, _, producers) = self.split(at);
                producers[producer.index()].on_turn(&mut ctx, turn, limit);
            }
            Event::Deliver(message) => self.deliver(at, message, target),
            Event::ConsumerTurn { consumer, turn } => {
                let (mut ctx, consumers) = self.split_consumers(at);
                consumers[consumer.index()].on_turn(&mut ctx, turn);
            }
            Event::Command(number) => self.obey(at, number),
            Event::ReplayFetch { producer, load } => self.replay(at, producer, load),
            timer => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.on_timer(&mut ctx, timer);
            }
        }
    }

    /// How far a producer may run alone from `at` on.
    fn limit_of(&self, producer: ProducerIndex, at: SimTime, target: SimTime) -> SimTime {
        let limit = self.limit(target);
        if self.cluster.is_shutting_down() {
            // A broker that shuts down resets connections at a moment of its own.
            limit.min(at + self.network.lookahead(producer))
        } else {
            limit
        }
    }

    fn deliver(&mut self, at: SimTime, message: Message, target: SimTime) {
        let Some((receiver, link)) = self.route(message) else {
            return;
        };
        if let Receiver::Producer(producer) = receiver {
            self.network.expected(producer, at);
        }
        match self.network.arrive(link, at, message) {
            Arrival::Passes => {}
            Arrival::Stays => return self.bounce(at, message, link),
            Arrival::Later(then) => {
                let rank = self.rank_of_sender(message, receiver);
                if let Receiver::Producer(producer) = receiver {
                    self.network.expect(producer, then);
                }
                self.queue.push(then, rank, Event::Deliver(message));
                return;
            }
        }
        if let Receiver::Consumer(consumer) = receiver {
            let (mut ctx, consumers) = self.split_consumers(at);
            return consumers[consumer.index()].on_message(&mut ctx, message);
        }
        if let Receiver::Producer(producer) = receiver {
            let limit = self.limit_of(producer, at, target);
            let (mut ctx, _, producers) = self.split(at);
            return producers[producer.index()].on_message(&mut ctx, message, limit);
        }
        let (mut ctx, cluster, _) = self.split(at);
        if let Receiver::Broker(broker) = receiver {
            cluster.on_message(&mut ctx, broker, message);
        }
    }

    /// A message that did not arrive: on a cut link it waits; one that refuses answers connects
    /// with a reset, and swallows the rest together with its connection.
    #[cold]
    fn bounce(&mut self, at: SimTime, message: Message, link: LinkIndex) {
        if !self.network.is_refusing(link) {
            return;
        }
        match message {
            Message::Connect(channel) => {
                let latency = self.network.latency(link);
                let broker = BrokerIndex(channel.slot % self.config.brokers.len().max(1) as u16);
                let event = Event::Deliver(Message::Refused(channel));
                self.network.expect(channel.producer, at + latency);
                self.queue.push(at + latency, Rank::broker(broker), event);
            }
            Message::Request(request) | Message::Response(request) => {
                self.requests.release(request);
            }
            Message::Call(id) | Message::Answer(id) => self.bounce_call(at, id, link),
            Message::PeerRequest(id) | Message::PeerResponse(id) => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.lose_peer_call(&mut ctx, id);
            }
            _ => {}
        }
    }

    /// A consumer's call on a link that refuses: a wish to connect is refused, the rest is lost.
    fn bounce_call(&mut self, at: SimTime, id: CallId, link: LinkIndex) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        if !matches!(call.ask, Ask::Connect) {
            self.calls.take(id);
            return;
        }
        call.answer = Answer::Refused;
        let broker = call.wire.broker();
        let arrives = at + self.network.latency(link);
        let event = Event::Deliver(Message::Refusal(id));
        self.queue.push(arrives, Rank::broker(broker), event);
    }

    #[cold]
    fn obey(&mut self, at: SimTime, number: u32) {
        self.barriers.pop();
        let command = self.aimed(Arc::clone(&self.commands[number as usize]));
        let outcome = self.carry_out(at, &command);
        let outcome = outcome.and_then(|()| self.show(at, &command));
        let (mut ctx, ..) = self.split(at);
        let fact = match outcome {
            Ok(None) => Fact::CommandApplied(command),
            Ok(Some(shown)) => shown,
            Err(reason) => Fact::CommandRefused { command, reason },
        };
        ctx.fact(Rank::CONTROLLER, fact);
    }

    /// The command with what only this moment knows: who coordinates an id.
    fn aimed(&self, command: Arc<Command>) -> Arc<Command> {
        let Command::KillCoordinator(kill) = &*command else {
            return command;
        };
        let found = self.cluster.transaction_leader(&kill.transactional_id);
        let kill = kill.clone();
        Arc::new(Command::KillCoordinator(CoordinatorKill { found, ..kill }))
    }

    /// What a tool shows that was asked by the timeline.
    fn show(&self, at: SimTime, command: &Command) -> Result<Option<Fact>, Cow<'static, str>> {
        let Command::Inquire(Inquiry::Transactions(inquiry)) = command else {
            return Ok(None);
        };
        let here = (&*self.config, at);
        let answer = self.cluster.transactions_answer(inquiry, here)?;
        Ok(Some(Fact::TransactionsShown {
            inquiry: inquiry.clone(),
            answer: Arc::new(answer),
        }))
    }

    fn carry_out(&mut self, at: SimTime, command: &Arc<Command>) -> Result<(), Cow<'static, str>> {
        match **command {
            Command::Link(a, b, fault) => Ok(self.change_links(at, (a, b), fault)?),
            Command::AddPartitions { topic, partitions } => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.add_partitions(&mut ctx, topic, partitions)
            }
            Command::PlacePartitions {
                topic,
                ref replicas,
            } => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.place_partitions(&mut ctx, topic, replicas)
            }
            Command::ElectLeaders {
                election,
                partition,
            } => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.run_election(&mut ctx, election, partition)
            }
            Command::Reassign(ref reassign) => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.on_reassign(&mut ctx, reassign)
            }
            Command::AbortTransaction(ref abort) => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.abort_transaction(&mut ctx, abort)
            }
            Command::ForceTerminate(ref transactional_id) => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.force_terminate(&mut ctx, transactional_id)
            }
            Command::ResetOffsets(ref reset) => {
                let config = Arc::clone(&self.config);
                self.split(at).1.reset_offsets(&config, reset)
            }
            Command::DeleteOffsets { group, ref scope } => {
                self.split(at).1.delete_offsets(group, scope)
            }
            Command::DeleteGroup(group) => self.split(at).1.delete_group(group),
            _ => Ok(self.carry_out_fault(at, command)?),
        }
    }

    fn carry_out_fault(&mut self, at: SimTime, command: &Command) -> Result<(), &'static str> {
        match *command {
            Command::Consumer(consumer, fault) => {
                let (mut ctx, consumers) = self.split_consumers(at);
                return consumers[consumer.index()].on_fault(&mut ctx, fault);
            }
            Command::Group(group, fault) => return self.change_group(at, group, fault),
            Command::SetConsumerRate {
                group,
                micro_records_per_second,
            } => return self.set_group_rate(at, group, micro_records_per_second),
            _ => {}
        }
        let (mut ctx, cluster, producers) = self.split(at);
        match command {
            Command::Broker(broker, fault) => cluster.on_fault(&mut ctx, *broker, *fault),
            Command::KillCoordinator(kill) => {
                let found = kill.found.ok_or("nobody coordinates this id now")?;
                let lose_tail_records = kill.lose_tail_records;
                cluster.on_fault(&mut ctx, found, BrokerFault::Kill { lose_tail_records })
            }
            Command::SwallowResponses { broker, count } => {
                cluster.swallow(*broker, *count);
                Ok(())
            }
            Command::Inject {
                error,
                partition,
                count,
            } => {
                let partition = cluster
                    .find(*partition)
                    .ok_or("there is no such partition yet")?;
                cluster.inject(partition, *error, *count);
                Ok(())
            }
            Command::Producer(producer, fault) => {
                producers[producer.index()].on_fault(&mut ctx, *fault)
            }
            Command::SetClient {
                producer,
                key,
                value,
            } => {
                producers[producer.index()].set_client(&mut ctx, (key, value))?;
                if key == "client.id" {
                    cluster.name_client(*producer, value);
                }
                Ok(())
            }
            Command::SetRate {
                producer,
                micro_records_per_second,
            } => producers[producer.index()].set_rate(&mut ctx, *micro_records_per_second),
            Command::SetQuota {
                entity,
                producer_byte_rate,
            } => {
                cluster.set_quota(entity, *producer_byte_rate);
                Ok(())
            }
            Command::SetTopic { topic, changes } => cluster.set_topic(&mut ctx, *topic, changes),
            // Everything else was carried out above.
            _ => Ok(()),
        }
    }

    /// The same befalls every member of a group; refused only if nothing could be done to any.
    fn change_group(
        &mut self,
        at: SimTime,
        group: GroupIndex,
        fault: ConsumerFault,
    ) -> Result<(), &'static str> {
        self.each_member(at, group, |consumer, ctx| consumer.on_fault(ctx, fault))
    }

    /// Every member of a group processes that many records from now on.
    fn set_group_rate(
        &mut self,
        at: SimTime,
        group: GroupIndex,
        micro_records_per_second: u64,
    ) -> Result<(), &'static str> {
        self.each_member(at, group, |consumer, ctx| {
            consumer.set_rate(ctx, micro_records_per_second)
        })
    }

    fn each_member(
        &mut self,
        at: SimTime,
        group: GroupIndex,
        mut act: impl FnMut(&mut Consumer, &mut Context<'_>) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        let config = Arc::clone(&self.config);
        let (mut ctx, consumers) = self.split_consumers(at);
        let mut outcome = Err("the group has no members");
        for (consumer, of) in consumers.iter_mut().zip(&config.consumers) {
            if of.group == group {
                let this = act(consumer, &mut ctx);
                outcome = if outcome.is_ok() { outcome } else { this };
            }
        }
        outcome
    }

    fn change_links(
        &mut self,
        at: SimTime,
        (a, b): (Peer, Peer),
        fault: LinkFault,
    ) -> Result<(), &'static str> {
        let links = self.network.between(a, b);
        let Some(&first) = links.first() else {
            return Err("no link joins these two");
        };
        if fault == LinkFault::Reset {
            return self.reset_clients(at, &links);
        }
        for link in links {
            let is_restored = match fault {
                LinkFault::Heal => self.network.has_broken(link, at, REPLICA_SOCKET_TIMEOUT),
                // What was sent while it refused is lost; what is sent now waits for the heal.
                LinkFault::Cut => self.network.is_refusing(link),
                _ => false,
            };
            for (arrives, message) in self.network.change(link, fault, at) {
                let Some((to, _)) = self.route(message) else {
                    continue;
                };
                let rank = self.rank_of_sender(message, to);
                if let Receiver::Producer(producer) = to {
                    self.network.expect(producer, arrives);
                }
                self.queue.push(arrives, rank, Event::Deliver(message));
            }
            if fault == LinkFault::Refuse {
                self.reset_link(at, link);
            }
            if let (Peer::Broker(a), Peer::Broker(b)) = self.network.ends(link)
                && is_restored
                && a < b
            {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.on_replica_link_restored(&mut ctx, (a, b));
            }
        }
        let state = self.network.state(first);
        let (mut ctx, ..) = self.split(at);
        ctx.fact(Rank::CONTROLLER, Fact::LinkChanged { a, b, state });
        Ok(())
    }

    /// Something between clients and brokers forgets their connections and tells both ends, which
    /// hear of it at once: where on the way it stands is not said.
    fn reset_clients(&mut self, at: SimTime, links: &[LinkIndex]) -> Result<(), &'static str> {
        let mut outcome = Err("no client's connections go over an open link between these two");
        for &link in links {
            let (end, Peer::Broker(broker)) = self.network.ends(link) else {
                continue;
            };
            if !self.network.is_open(link) {
                continue;
            }
            let config = Arc::clone(&self.config);
            let (mut ctx, cluster, _) = self.split(at);
            let resets: Vec<Message> = match end {
                Peer::Producer(producer) => {
                    let closed =
                        cluster.close_connections(&mut ctx, broker, |other| other == producer);
                    closed.into_iter().map(Message::Reset).collect()
                }
                Peer::Member(group, number) => {
                    let closed = cluster.close_wires(&mut ctx, broker, |other| {
                        let consumer = &config.consumers[other.index()];
                        (consumer.group, consumer.number) == (group, number)
                    });
                    closed.into_iter().map(Message::WireReset).collect()
                }
                _ => continue,
            };
            outcome = Ok(());
            for message in resets {
                if let Peer::Producer(producer) = end {
                    self.network.expect(producer, at);
                }
                let event = Event::Deliver(message);
                self.queue.push(at, Rank::broker(broker), event);
            }
        }
        outcome
    }

    /// A link that refuses resets what stands.
    fn reset_link(&mut self, at: SimTime, link: LinkIndex) {
        let (end, Peer::Broker(broker)) = self.network.ends(link) else {
            return;
        };
        let config = Arc::clone(&self.config);
        let (mut ctx, cluster, _) = self.split(at);
        match end {
            Peer::Producer(producer) => {
                cluster.reset_connections(&mut ctx, broker, |other| other == producer);
            }
            Peer::Member(group, number) => {
                let is_it = |other: ConsumerIndex| {
                    let consumer = &config.consumers[other.index()];
                    (consumer.group, consumer.number) == (group, number)
                };
                cluster.reset_wires(&mut ctx, broker, is_it);
            }
            _ => {}
        }
    }

    fn rank_of_sender(&self, message: Message, to: Receiver) -> Rank {
        match (message, to) {
            (Message::Fetch(fetcher), _) => Rank::broker(fetcher.follower),
            (Message::Fetched(fetcher), _) => Rank::broker(fetcher.leader),
            (Message::Request(id) | Message::Response(id), Receiver::Producer(_)) => {
                Rank::broker(self.requests.get(id).broker)
            }
            (Message::Request(id), Receiver::Broker(_)) => {
                Rank::producer(&self.config, self.requests.get(id).channel.producer)
            }
            (
                Message::Connect(channel)
                | Message::Closed(channel)
                | Message::Accepted(channel)
                | Message::Refused(channel)
                | Message::Reset(channel),
                _,
            ) => Rank::producer(&self.config, channel.producer),
            (Message::Call(id), _) => match self.calls.get(id) {
                Some(call) => Rank::consumer(&self.config, call.wire.consumer),
                None => Rank::CONTROLLER,
            },
            (Message::WireClosed(wire), _) => Rank::consumer(&self.config, wire.consumer),
            (Message::Answer(id) | Message::Refusal(id), _) => match self.calls.get(id) {
                Some(call) => Rank::broker(call.wire.broker()),
                None => Rank::CONTROLLER,
            },
            (Message::WireReset(wire), _) => Rank::broker(wire.broker()),
            (Message::PeerRequest(id), _) => self.rank_of_peer(id, |(from, _)| from),
            (Message::PeerResponse(id), _) => self.rank_of_peer(id, |(_, to)| to),
            (Message::Request(_) | Message::Response(_), _) => Rank::CONTROLLER,
        }
    }

    fn rank_of_peer(
        &self,
        id: PeerCallId,
        who: impl FnOnce((BrokerIndex, BrokerIndex)) -> BrokerIndex,
    ) -> Rank {
        let ends = self.cluster.peer_ends(id);
        ends.map_or(Rank::CONTROLLER, |ends| Rank::broker(who(ends)))
    }

    /// How the link between two ends is; the worst of several.
    pub fn link_state(&self, a: Peer, b: Peer) -> LinkState {
        let worst = |state: &LinkState| match state {
            LinkState::Up => 0,
            LinkState::Degraded => 1,
            LinkState::Refusing => 2,
            LinkState::Cut => 3,
        };
        let links = self.network.between(a, b);
        let states = links.into_iter().map(|link| self.network.state(link));
        states.max_by_key(worst).unwrap_or(LinkState::Up)
    }
}

impl Simulation {
    /// Who gets a message, and over which link; nobody when it is about a call that has ended.
    fn route(&self, message: Message) -> Option<(Receiver, LinkIndex)> {
        let brokers = self.config.brokers.len().max(1) as u16;
        let broker_of = |slot: u16| BrokerIndex(slot % brokers);
        let found = match message {
            Message::Connect(channel) | Message::Closed(channel) => {
                let broker = broker_of(channel.slot);
                (
                    Receiver::Broker(broker),
                    self.network.client(channel.producer, broker),
                )
            }
            Message::Accepted(channel) | Message::Refused(channel) | Message::Reset(channel) => {
                let link = self
                    .network
                    .client(channel.producer, broker_of(channel.slot));
                (Receiver::Producer(channel.producer), link)
            }
            Message::Request(id) => {
                let request = self.requests.get(id);
                let link = self
                    .network
                    .client(request.channel.producer, request.broker);
                (Receiver::Broker(request.broker), link)
            }
            Message::Response(id) => {
                let request = self.requests.get(id);
                let link = self
                    .network
                    .client(request.channel.producer, request.broker);
                (Receiver::Producer(request.channel.producer), link)
            }
            Message::Fetch(fetcher) => {
                let link = self.network.replica(fetcher.follower, fetcher.leader);
                (Receiver::Broker(fetcher.leader), link)
            }
            Message::Fetched(fetcher) => {
                let link = self.network.replica(fetcher.follower, fetcher.leader);
                (Receiver::Broker(fetcher.follower), link)
            }
            Message::Call(id) => {
                let wire = self.calls.get(id)?.wire;
                let link = self.network.consumer(wire.consumer, wire.broker());
                (Receiver::Broker(wire.broker()), link)
            }
            Message::Answer(id) | Message::Refusal(id) => {
                let wire = self.calls.get(id)?.wire;
                let link = self.network.consumer(wire.consumer, wire.broker());
                (Receiver::Consumer(wire.consumer), link)
            }
            Message::WireClosed(wire) => {
                let link = self.network.consumer(wire.consumer, wire.broker());
                (Receiver::Broker(wire.broker()), link)
            }
            Message::WireReset(wire) => {
                let link = self.network.consumer(wire.consumer, wire.broker());
                (Receiver::Consumer(wire.consumer), link)
            }
            Message::PeerRequest(id) => {
                let (from, to) = self.cluster.peer_ends(id)?;
                (Receiver::Broker(to), self.network.replica(from, to))
            }
            Message::PeerResponse(id) => {
                let (from, to) = self.cluster.peer_ends(id)?;
                (Receiver::Broker(from), self.network.replica(from, to))
            }
        };
        Some(found)
    }
}
