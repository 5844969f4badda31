//! Events to actors: the only place where actors meet.

use std::borrow::Cow;
use std::sync::Arc;

use crate::sim::command::{Command, LinkFault};
use crate::sim::config::Peer;
use crate::sim::event::{Event, Message};
use crate::sim::fact::{Fact, LinkState};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::network::{LinkIndex, Network};
use crate::sim::queue::Rank;
use crate::sim::request::Requests;
use crate::sim::simulation::Simulation;
use crate::sim::time::SimTime;

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Broker(BrokerIndex),
    Producer(ProducerIndex),
}

impl Simulation {
    /// One event happens. Producers may run ahead up to `target`.
    pub(super) fn dispatch(&mut self, at: SimTime, event: Event, target: SimTime) {
        match event {
            Event::Run { producer, turn } => {
                let limit = self.limit(target);
                let (mut ctx, cluster, producers) = self.split(at);
                let producer = &mut producers[producer.index()];
                if producer.is_turn(turn) {
                    // A broker that shuts down resets connections at a moment of its own.
                    let limit = if cluster.is_shutting_down() {
                        limit.min(at + producer.lookahead())
                    } else {
                        limit
                    };
                    producer.run(&mut ctx, limit);
                }
            }
            Event::Deliver(message) => self.deliver(at, message),
            Event::Command(number) => self.obey(at, number),
            Event::ReplayFetch { producer, load } => self.replay(at, producer, load),
            timer => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.on_timer(&mut ctx, timer);
            }
        }
    }

    fn deliver(&mut self, at: SimTime, message: Message) {
        let (receiver, link) = route(message, &self.network, &self.requests, &self.config);
        if let Receiver::Producer(producer) = receiver {
            self.network.expected(producer, at);
        }
        let Some(message) = self.network.arrive(link, at, message) else {
            self.bounce(at, message, link);
            return;
        };
        let (mut ctx, cluster, producers) = self.split(at);
        match receiver {
            Receiver::Broker(broker) => cluster.on_message(&mut ctx, broker, message),
            Receiver::Producer(producer) => {
                producers[producer.index()].on_message(&mut ctx, message);
            }
        }
    }

    /// A message that did not arrive: on a cut link it waits; one that refuses answers connects
    /// with a reset, and swallows the rest together with its connection.
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
            _ => {}
        }
    }

    fn obey(&mut self, at: SimTime, number: u32) {
        self.barriers.pop();
        let command = self.commands[number as usize].clone();
        let outcome = self.carry_out(at, &command);
        let (mut ctx, ..) = self.split(at);
        let fact = match outcome {
            Ok(()) => Fact::CommandApplied(command),
            Err(reason) => Fact::CommandRefused { command, reason },
        };
        ctx.fact(Rank::CONTROLLER, fact);
    }

    fn carry_out(&mut self, at: SimTime, command: &Arc<Command>) -> Result<(), Cow<'static, str>> {
        match **command {
            Command::Link(a, b, fault) => Ok(self.change_links(at, (a, b), fault)?),
            Command::AddPartitions { topic, partitions } => {
                let (mut ctx, cluster, _) = self.split(at);
                cluster.add_partitions(&mut ctx, topic, partitions)
            }
            _ => Ok(self.carry_out_fault(at, command)?),
        }
    }

    fn carry_out_fault(&mut self, at: SimTime, command: &Command) -> Result<(), &'static str> {
        let (mut ctx, cluster, producers) = self.split(at);
        match command {
            Command::Broker(broker, fault) => cluster.on_fault(&mut ctx, *broker, *fault),
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
            } => producers[producer.index()].set_client(&mut ctx, (key, value)),
            Command::SetRate {
                producer,
                micro_records_per_second,
            } => producers[producer.index()].set_rate(&mut ctx, *micro_records_per_second),
            Command::Link(..) | Command::AddPartitions { .. } | Command::Inquire(_) => Ok(()),
        }
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
        for link in links {
            for (arrives, message) in self.network.change(link, fault, at) {
                let rank = self.rank_of_sender(message);
                let to = route(message, &self.network, &self.requests, &self.config).0;
                if let Receiver::Producer(producer) = to {
                    self.network.expect(producer, arrives);
                }
                self.queue.push(arrives, rank, Event::Deliver(message));
            }
            if fault == LinkFault::Refuse {
                self.reset_link(at, link);
            }
        }
        let state = self.network.state(first);
        let (mut ctx, ..) = self.split(at);
        ctx.fact(Rank::CONTROLLER, Fact::LinkChanged { a, b, state });
        Ok(())
    }

    /// A link that refuses resets what stands.
    fn reset_link(&mut self, at: SimTime, link: LinkIndex) {
        let (Peer::Producer(producer), Peer::Broker(broker)) = self.network.ends(link) else {
            return;
        };
        let (mut ctx, cluster, _) = self.split(at);
        cluster.reset_connections(&mut ctx, broker, |other| other == producer);
    }

    fn rank_of_sender(&self, message: Message) -> Rank {
        let to = route(message, &self.network, &self.requests, &self.config).0;
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
            (Message::Response(_), Receiver::Broker(_)) => Rank::CONTROLLER,
        }
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

/// Who gets a message, and over which link.
fn route(
    message: Message,
    network: &Network,
    requests: &Requests,
    config: &crate::sim::config::Config,
) -> (Receiver, LinkIndex) {
    let brokers = config.brokers.len().max(1) as u16;
    let broker_of = |slot: u16| BrokerIndex(slot % brokers);
    match message {
        Message::Connect(channel) | Message::Closed(channel) => {
            let broker = broker_of(channel.slot);
            (
                Receiver::Broker(broker),
                network.client(channel.producer, broker),
            )
        }
        Message::Accepted(channel) | Message::Refused(channel) | Message::Reset(channel) => {
            let link = network.client(channel.producer, broker_of(channel.slot));
            (Receiver::Producer(channel.producer), link)
        }
        Message::Request(id) => {
            let request = requests.get(id);
            let link = network.client(request.channel.producer, request.broker);
            (Receiver::Broker(request.broker), link)
        }
        Message::Response(id) => {
            let request = requests.get(id);
            let link = network.client(request.channel.producer, request.broker);
            (Receiver::Producer(request.channel.producer), link)
        }
        Message::Fetch(fetcher) => {
            let link = network.replica(fetcher.follower, fetcher.leader);
            (Receiver::Broker(fetcher.leader), link)
        }
        Message::Fetched(fetcher) => {
            let link = network.replica(fetcher.follower, fetcher.leader);
            (Receiver::Broker(fetcher.follower), link)
        }
    }
}
