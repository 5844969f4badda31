//! Links between machines: latency, jitter, bandwidth, loss, cut and refusal. It knows no Kafka.
//!
//! Each direction of a link belongs to its sender, which is what lets a producer run ahead of the
//! others: nobody else touches the queue in front of its own wire. Simplifications, and why they
//! are safe:
//! - TCP's windows are not modelled: a message leaves at the link's rate and is there one latency
//!   later. Kafka's batches are small against the bandwidth-delay product of a data centre.
//! - Loss does not lose: the message, and with it everything behind it in that direction, is late
//!   by the retransmission timeout (200 ms, doubling), as TCP shows it to an application.
//! - On a cut link a message waits and is there after the cut, at TCP's next retransmission. What
//!   was on the wire when the link was healed comes behind all that waited.

use crate::sim::command::LinkFault;
use crate::sim::config::{Config, LATENCY_MIN, LinkConfig, Peer};
use crate::sim::event::Message;
use crate::sim::fact::LinkState;
use crate::sim::ids::{BrokerIndex, ConsumerIndex, ProducerIndex};
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// TCP's first retransmission timeout on a data-centre network (Linux `TCP_RTO_MIN`).
const RETRANSMISSION: SimSpan = SimSpan::from_millis(200);
/// TCP's longest time between two retransmissions (Linux `TCP_RTO_MAX`).
const RETRANSMISSION_MAX: SimSpan = SimSpan::from_seconds(120);
/// A message that is lost so often in a row is let through.
const LOSSES_MAX: u32 = 8;

/// One link, by its place in [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkIndex(u32);

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the producer, from the broker with the lower index, or from the controller.
    Forth = 0,
    /// Towards them.
    Back = 1,
}

/// All links.
#[derive(Clone, Debug)]
pub struct Network {
    links: Vec<Link>,
    directions: Vec<Direction>,
    brokers: usize,
    producers: usize,
    /// The first link of a consumer: they come last, so that the streams of all others keep their
    /// numbers.
    first_consumer: usize,
    /// By producer: when what is on its way to it arrives.
    inbound: Vec<Vec<SimTime>>,
}

#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Link {
    now: LinkConfig,
    passing: Passing,
    /// When the last of what waited for a cut to end arrives.
    released_until: SimTime,
    ends: (Peer, Peer),
    configured: LinkConfig,
    /// When it last stopped passing everything.
    stopped: SimTime,
    held: Vec<Held>,
    /// What waited for a cut to end and is on its way again.
    released: Vec<Message>,
    /// When the last of what was on the wire when the link was healed would arrive.
    on_wire_until: SimTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    Open,
    Cut,
    Refusing,
}

/// What becomes of a message that is due to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is let through.
    Passes,
    /// It is kept until the link is healed, or it is gone: the link is down.
    Stays,
    /// Earlier bytes of its stream are still on their way: it is there then.
    Later(SimTime),
}

/// A message that waits for a cut to end.
#[derive(Clone, Copy, Debug)]
struct Held {
    arrived: SimTime,
    message: Message,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Direction {
    wire_free: SimTime,
    /// By lane: TCP hands over in order within a connection.
    last_arrival: [SimTime; LANES],
    draws: Stream,
}

/// Connections that two machines have with each other at most: a client has one as to a bootstrap
/// address and one as to a broker.
const LANES: usize = 2;

/// One connection's place on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// A client's to a broker from metadata; a replica fetcher's; a consumer's for records.
    Regular = 0,
    /// A producer's to a bootstrap address; a consumer's to its group's coordinator.
    Bootstrap = 1,
}

/// When a message leaves and arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// The last byte is on the wire.
    pub written: SimTime,
    /// The last byte is at the other end.
    pub arrives: SimTime,
}

impl Network {
    /// The links of a configured world.
    pub fn new(config: &Config) -> Self {
        let (brokers, producers) = (config.brokers.len(), config.producers.len());
        let mut network = Self {
            links: Vec::new(),
            directions: Vec::new(),
            brokers,
            producers,
            first_consumer: 0,
            inbound: vec![Vec::new(); producers],
        };
        for producer in 0..producers {
            for broker in 0..brokers {
                let ends = (
                    Peer::Producer(ProducerIndex(producer as u16)),
                    Peer::Broker(BrokerIndex(broker as u16)),
                );
                network.add(config, ends);
            }
        }
        for a in 0..brokers {
            for b in 0..brokers {
                let ends = (
                    Peer::Broker(BrokerIndex(a as u16)),
                    Peer::Broker(BrokerIndex(b as u16)),
                );
                network.add(config, ends);
            }
        }
        for broker in 0..brokers {
            network.add(
                config,
                (Peer::Controller, Peer::Broker(BrokerIndex(broker as u16))),
            );
        }
        network.first_consumer = network.links.len();
        for consumer in &config.consumers {
            for broker in 0..brokers {
                let member = Peer::Member(consumer.group, consumer.number);
                network.add(config, (member, Peer::Broker(BrokerIndex(broker as u16))));
            }
        }
        network
    }

    fn add(&mut self, config: &Config, ends: (Peer, Peer)) {
        let mut link = config.link;
        for over in &config.links {
            if joins(over.a, over.b, ends) {
                link = over.link;
            }
        }
        link.latency = link.latency.max(LATENCY_MIN);
        let index = self.links.len() as u32;
        for purpose in [Purpose::LinkForth, Purpose::LinkBack] {
            self.directions.push(Direction {
                wire_free: SimTime::ZERO,
                last_arrival: [SimTime::ZERO; LANES],
                draws: Stream::new(config.seed, purpose, index, 0),
            });
        }
        self.links.push(Link {
            ends,
            configured: link,
            now: link,
            passing: Passing::Open,
            stopped: SimTime::ZERO,
            held: Vec::new(),
            released: Vec::new(),
            released_until: SimTime::ZERO,
            on_wire_until: SimTime::ZERO,
        });
    }

    /// The link between a producer and a broker.
    pub fn client(&self, producer: ProducerIndex, broker: BrokerIndex) -> LinkIndex {
        LinkIndex((producer.index() * self.brokers + broker.index()) as u32)
    }

    /// The link between two brokers.
    pub fn replica(&self, a: BrokerIndex, b: BrokerIndex) -> LinkIndex {
        let (low, high) = (a.min(b), a.max(b));
        let base = self.producers * self.brokers;
        LinkIndex((base + low.index() * self.brokers + high.index()) as u32)
    }

    /// The link between the controller and a broker.
    pub fn controller(&self, broker: BrokerIndex) -> LinkIndex {
        let base = self.producers * self.brokers + self.brokers * self.brokers;
        LinkIndex((base + broker.index()) as u32)
    }

    /// The link between a consumer and a broker.
    pub fn consumer(&self, consumer: ConsumerIndex, broker: BrokerIndex) -> LinkIndex {
        let first = self.first_consumer + consumer.index() * self.brokers;
        LinkIndex((first + broker.index()) as u32)
    }

    /// A message will reach this producer at `at`.
    pub fn expect(&mut self, producer: ProducerIndex, at: SimTime) {
        self.inbound[producer.index()].push(at);
    }

    /// A message that was expected at `at` is there, or will not come.
    pub fn expected(&mut self, producer: ProducerIndex, at: SimTime) {
        let inbound = &mut self.inbound[producer.index()];
        if let Some(place) = inbound.iter().position(|&other| other == at) {
            inbound.swap_remove(place);
        }
    }

    /// When the first message on its way to this producer arrives.
    pub fn first_inbound(&self, producer: ProducerIndex) -> SimTime {
        self.inbound[producer.index()]
            .iter()
            .copied()
            .min()
            .unwrap_or(SimTime::NEVER)
    }

    /// The shortest time in which anything new can reach this producer: how far it may run alone,
    /// unless something is on its way already.
    pub fn lookahead(&self, producer: ProducerIndex) -> SimSpan {
        let first = producer.index() * self.brokers;
        self.links[first..first + self.brokers]
            .iter()
            .map(|link| link.configured.latency)
            .min()
            .unwrap_or(LATENCY_MIN)
    }

    /// One-way latency without load, for small messages outside the data path.
    pub fn latency(&self, link: LinkIndex) -> SimSpan {
        self.links[link.0 as usize].now.latency
    }

    /// A new connection on a lane: this end does not wait for what an earlier one has under way.
    pub fn connect(&mut self, (link, lane): (LinkIndex, Lane), way: Way) {
        let direction = &mut self.directions[link.0 as usize * 2 + way as usize];
        direction.last_arrival[lane as usize] = SimTime::ZERO;
    }

    /// Sends `bytes` at `now`.
    pub fn transmit(
        &mut self,
        (link, lane): (LinkIndex, Lane),
        way: Way,
        now: SimTime,
        bytes: u32,
    ) -> Transit {
        let config = self.links[link.0 as usize].now;
        let direction = &mut self.directions[link.0 as usize * 2 + way as usize];
        let mut written = now;
        if let Some(bandwidth) = config.bandwidth {
            let span = u64::from(bytes) * NANOS_PER_SECOND / bandwidth.max(1);
            written = now.max(direction.wire_free) + SimSpan::from_nanos(span);
            direction.wire_free = written;
        }
        let mut arrives = written + config.latency;
        if config.jitter > SimSpan::ZERO {
            arrives += SimSpan::from_nanos(direction.draws.below(config.jitter.as_nanos() + 1));
        }
        if config.loss_ppm > 0 {
            arrives += direction.late_by(config.loss_ppm);
        }
        let last_arrival = &mut direction.last_arrival[lane as usize];
        arrives = arrives.max(*last_arrival);
        *last_arrival = arrives;
        Transit { written, arrives }
    }

    /// What becomes of a message that is due to arrive now.
    pub fn arrive(&mut self, link: LinkIndex, now: SimTime, message: Message) -> Arrival {
        let link = &mut self.links[link.0 as usize];
        match link.passing {
            Passing::Open => link.let_in(now, message),
            Passing::Cut => {
                link.held.push(Held {
                    arrived: now,
                    message,
                });
                Arrival::Stays
            }
            // Only the news that nobody is there passes.
            Passing::Refusing => match message {
                Message::Refused(_)
                | Message::Reset(_)
                | Message::Refusal(_)
                | Message::WireReset(_) => Arrival::Passes,
                _ => Arrival::Stays,
            },
        }
    }

    /// Whether connections over this link are refused.
    pub fn is_refusing(&self, link: LinkIndex) -> bool {
        self.links[link.0 as usize].passing == Passing::Refusing
    }

    /// Whether messages pass.
    pub fn is_open(&self, link: LinkIndex) -> bool {
        self.links[link.0 as usize].passing == Passing::Open
    }

    /// Whether a connection over this link is lost by now: it was reset, or nothing passed for as
    /// long as its ends wait for an answer.
    pub fn has_broken(&self, link: LinkIndex, now: SimTime, patience: SimSpan) -> bool {
        let link = &self.links[link.0 as usize];
        match link.passing {
            Passing::Open => false,
            Passing::Refusing => true,
            Passing::Cut => now.since(link.stopped) >= patience,
        }
    }

    /// How a link is.
    pub fn state(&self, link: LinkIndex) -> LinkState {
        let link = &self.links[link.0 as usize];
        match link.passing {
            Passing::Cut => LinkState::Cut,
            Passing::Refusing => LinkState::Refusing,
            Passing::Open if link.now != link.configured => LinkState::Degraded,
            Passing::Open => LinkState::Up,
        }
    }

    /// All links that join `a` and `b`.
    pub fn between(&self, a: Peer, b: Peer) -> Vec<LinkIndex> {
        (0..self.links.len() as u32)
            .filter(|&index| joins(a, b, self.links[index as usize].ends))
            .map(LinkIndex)
            .collect()
    }

    /// The two ends of a link.
    pub fn ends(&self, link: LinkIndex) -> (Peer, Peer) {
        self.links[link.0 as usize].ends
    }

    /// Changes a link; messages that waited in a cut come out with their arrival when it ends.
    pub fn change(
        &mut self,
        index: LinkIndex,
        fault: LinkFault,
        now: SimTime,
    ) -> Vec<(SimTime, Message)> {
        let link = &mut self.links[index.0 as usize];
        if link.passing == Passing::Open {
            link.stopped = now;
        }
        match fault {
            LinkFault::Cut => {
                link.passing = Passing::Cut;
                link.released.clear();
            }
            LinkFault::Refuse => {
                link.passing = Passing::Refusing;
                link.released.clear();
                // What waited meets the refusal: whoever wished to connect hears of it.
                let held = std::mem::take(&mut link.held);
                return held.into_iter().map(|held| (now, held.message)).collect();
            }
            LinkFault::Heal => {
                link.passing = Passing::Open;
                link.now = link.configured;
                return self.release(index, now);
            }
            LinkFault::Delay(extra) => link.now.latency = link.configured.latency + extra,
            LinkFault::Limit(bandwidth) => link.now.bandwidth = bandwidth,
            LinkFault::Loss(ppm) => link.now.loss_ppm = ppm,
            // It befalls connections, not the link.
            LinkFault::Reset => {}
        }
        Vec::new()
    }
}

impl Network {
    /// What a healed link held back, in order, and nothing that is sent later overtakes it.
    fn release(&mut self, index: LinkIndex, now: SimTime) -> Vec<(SimTime, Message)> {
        let link = &mut self.links[index.0 as usize];
        let held = std::mem::take(&mut link.held);
        let mut last = now;
        let released: Vec<(SimTime, Message)> = held
            .into_iter()
            .map(|held| {
                last = last.max(resent(held.arrived, now) + link.now.latency);
                (last, held.message)
            })
            .collect();
        link.released = released.iter().map(|(_, message)| *message).collect();
        link.released_until = last;
        link.on_wire_until = now;
        for way in [Way::Forth, Way::Back] {
            let direction = &mut self.directions[index.0 as usize * 2 + way as usize];
            for arrival in &mut direction.last_arrival {
                link.on_wire_until = link.on_wire_until.max(*arrival);
                *arrival = last.max(*arrival);
            }
        }
        released
    }
}

impl Link {
    /// What was on the wire when the link was healed must not overtake what waited before. What is
    /// sent later comes behind it anyway, or is of a new connection and waits for nobody.
    fn let_in(&mut self, now: SimTime, message: Message) -> Arrival {
        if self.released_until <= now {
            return Arrival::Passes;
        }
        if let Some(place) = self.released.iter().position(|&other| other == message) {
            self.released.remove(place);
            return Arrival::Passes;
        }
        if now <= self.on_wire_until {
            return Arrival::Later(self.released_until);
        }
        Arrival::Passes
    }
}

impl Direction {
    fn late_by(&mut self, loss_ppm: u32) -> SimSpan {
        let (mut late, mut timeout) = (SimSpan::ZERO, RETRANSMISSION);
        for _ in 0..LOSSES_MAX {
            if self.draws.below(1_000_000) >= u64::from(loss_ppm) {
                break;
            }
            late += timeout;
            timeout = timeout.times(2);
        }
        late
    }
}

/// TCP's first retransmission at or after `healed` of a message that was due at `due`.
fn resent(due: SimTime, healed: SimTime) -> SimTime {
    let (mut at, mut timeout) = (due, RETRANSMISSION);
    while at < healed {
        at += timeout;
        timeout = timeout.times(2).min(RETRANSMISSION_MAX);
    }
    at
}

fn joins(a: Peer, b: Peer, ends: (Peer, Peer)) -> bool {
    let is = |peer: Peer, end: Peer| {
        let is_of_group = matches!(
            (peer, end),
            (Peer::Group(group), Peer::Member(of, _)) if group == of
        );
        peer == Peer::Any || peer == end || is_of_group
    };
    (is(a, ends.0) && is(b, ends.1)) || (is(a, ends.1) && is(b, ends.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resent_message_comes_at_the_next_doubling_of_the_timeout() {
        let at = |healed_ms| resent(SimTime::ZERO, SimTime::from_millis(healed_ms)).as_millis();
        assert_eq!([at(0), at(1), at(201), at(601)], [0, 200, 600, 1400]);
    }

    #[test]
    fn a_star_joins_every_pair_in_either_direction() {
        let trips = Peer::Producer(ProducerIndex(0));
        let broker = Peer::Broker(BrokerIndex(1));
        assert!(joins(trips, Peer::Any, (trips, broker)));
        assert!(joins(Peer::Any, trips, (trips, broker)));
        assert!(!joins(trips, Peer::Controller, (trips, broker)));
    }
}
