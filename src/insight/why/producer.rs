//! What holds producers up.

use super::{Case, Cause, Effect, Link};
use crate::insight::metric::{Metric, OwnFigure};
use crate::insight::names;
use crate::insight::sentence::count;
use crate::insight::series::Series;
use crate::insight::warning::bytes;
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::rdkafka_metric::{RdkafkaBrokerMetric, WindowField};
use crate::kafka::settings::Acks;
use crate::sim::config::Peer;
use crate::sim::fact::{BlockedOn, BrokerState, Fact, LinkState, Node};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{
    ConnectionState, ConnectionView, PartitionView, ProcessState, ProducerView, RdkafkaFigure,
    ThreadState,
};

/// Share of a pool or queue that is worth a question.
const USED_SHARE: f64 = 0.10;
/// A disk that is this far behind holds up whoever waits for it.
pub(super) const DISK_BEHIND: SimSpan = SimSpan::from_millis(20);
/// An age of a batch, or message, that is worth a question.
const AGE_LONG: SimSpan = SimSpan::from_millis(1_000);
/// A wait that is worth a question.
const WAIT_LONG: SimSpan = SimSpan::from_millis(100);
/// Time on one request from which a broker is slow.
const REQUEST_SLOW: SimSpan = SimSpan::from_millis(5);

impl Case<'_> {
    pub(super) fn of_producer(self, producer: ProducerIndex) -> Vec<Effect> {
        let view = self.simulation.producer(producer);
        if view.state != ProcessState::Running {
            return vec![Effect::ProcessStopped(producer)];
        }
        if longest_wait(&view)
            .is_some_and(|(_, since)| WAIT_LONG <= self.simulation.now().since(since))
        {
            return vec![Effect::Waits(producer)];
        }
        let age = view
            .queue
            .map_or(view.buffer.oldest_batch_age, |queue| queue.oldest_age);
        if used_share(&view) >= USED_SHARE || age.is_some_and(|age| AGE_LONG <= age) {
            return vec![Effect::Unfinished(producer)];
        }
        Vec::new()
    }

    pub(super) fn waits(self, producer: ProducerIndex) -> (Link, Cause) {
        let view = self.simulation.producer(producer);
        let name = names::producer(self.config(), producer);
        let Some((on, since)) = longest_wait(&view) else {
            return (Link::now(format!("{name} waited")), Cause::Unknown);
        };
        let (what, cause) = match on {
            BlockedOn::Memory { .. } => ("for memory, inside send()", Effect::Full(producer)),
            BlockedOn::Room => ("for room in the queue", Effect::Full(producer)),
            BlockedOn::Metadata { .. } => {
                ("for metadata, inside send()", Effect::NoMetadata(producer))
            }
            BlockedOn::Acks => ("for its acknowledgements", Effect::Unfinished(producer)),
            BlockedOn::Flush => ("inside flush()", Effect::Unfinished(producer)),
            BlockedOn::Close => ("inside close()", Effect::Unfinished(producer)),
            BlockedOn::Reports => ("for delivery reports", Effect::Unfinished(producer)),
            BlockedOn::Transaction(_) => {
                ("inside a transactional call", Effect::Coordinator(producer))
            }
        };
        let text = format!("a thread of {name} waits {what}");
        (Link::since(since, text), Cause::Effect(cause))
    }

    pub(super) fn full(self, producer: ProducerIndex) -> (Link, Cause) {
        let view = self.simulation.producer(producer);
        let name = names::producer(self.config(), producer);
        let text = match view.queue {
            Some(queue) => {
                format!("the queue of {name} is full: {} messages", queue.messages)
            }
            None => format!(
                "buffer.memory of {name} is full: {} batches hold {} of {}",
                view.buffer.batches,
                bytes(view.buffer.total_bytes - view.buffer.available_bytes),
                bytes(view.buffer.total_bytes),
            ),
        };
        let exhausted = Fact::PoolExhausted { producer };
        let at = self.last(|fact| *fact == exhausted);
        (
            Link { at, text },
            Cause::Effect(Effect::Unfinished(producer)),
        )
    }

    pub(super) fn unfinished(self, producer: ProducerIndex) -> (Link, Cause) {
        let view = self.simulation.producer(producer);
        let name = names::producer(self.config(), producer);
        let (parts, age) = if let Some(queue) = view.queue {
            let waiting = queue.waiting + queue.unassigned;
            let parts = [waiting, queue.in_flight, queue.retrying];
            let shown = parts.map(|messages| (messages, count(messages, "message")));
            (shown, queue.oldest_age)
        } else {
            let buffer = &view.buffer;
            let waiting = buffer.ready_bytes + buffer.open_bytes;
            let parts = [waiting, buffer.in_flight_bytes, buffer.retrying_bytes];
            (
                parts.map(|held| (held, bytes(held))),
                buffer.oldest_batch_age,
            )
        };
        let words = ["not sent yet", "in flight", "to be sent again"];
        let held: Vec<String> = parts
            .into_iter()
            .zip(words)
            .filter(|((held, _), _)| *held > 0)
            .map(|((_, shown), words)| format!("{shown} {words}"))
            .collect();
        let held = held.join(", ");
        let text = format!("what {name} sent is not acknowledged: {held}");
        let at = age.map(|age| SimTime::from_nanos(self.nanos_now() - age.as_nanos()));
        (Link { at, text }, self.suspect(producer, &view))
    }

    /// Where what is not acknowledged waits: the partition without a leader, or the broker, that
    /// holds most of it.
    fn suspect(self, producer: ProducerIndex, view: &ProducerView) -> Cause {
        if view
            .queue
            .is_some_and(|queue| queue.reported > queue.messages / 2)
        {
            let text = "most of it is done, and its reports wait for a poll() that does not come";
            return Cause::Root(Link::now(text.to_owned()));
        }
        let queued = |view: &&PartitionView| view.queued_bytes > 0;
        let views = self.simulation.partition_views();
        let mut waiting: Vec<&PartitionView> = views.iter().filter(queued).collect();
        waiting.sort_by_key(|view| std::cmp::Reverse(view.queued_bytes));
        if let Some(view) = waiting.iter().find(|view| view.leader.is_none()) {
            return Cause::Effect(Effect::Leaderless(view.index));
        }
        let mut held = vec![0_u64; self.config().brokers.len()];
        for view in &waiting {
            if let Some(leader) = view.leader {
                held[leader.index()] += view.queued_bytes;
            }
        }
        let brokers = (0..held.len()).map(|place| BrokerIndex(place as u16));
        let most = brokers
            .filter(|broker| held[broker.index()] > 0)
            .max_by_key(|broker| (self.is_suspicious(producer, *broker), held[broker.index()]));
        most.map_or(Cause::Effect(Effect::Load(producer)), |broker| {
            Cause::Effect(Effect::Unanswered(producer, broker))
        })
    }

    /// Whether anything but load keeps a broker from answering.
    fn is_suspicious(self, producer: ProducerIndex, broker: BrokerIndex) -> bool {
        !matches!(
            self.obstacle(producer, broker),
            Cause::Effect(Effect::Load(_)) | Cause::Unknown
        )
    }

    pub(super) fn unanswered(self, producer: ProducerIndex, broker: BrokerIndex) -> (Link, Cause) {
        let view = self.simulation.producer(producer);
        let name = names::broker(self.config(), broker);
        let connection = connection(&view, broker);
        let text = match connection.map(|it| (it.state, it.in_flight)) {
            Some((ConnectionState::Ready, 1)) => {
                format!("broker {name} has not answered a request")
            }
            Some((ConnectionState::Ready, in_flight)) => {
                format!("broker {name} has not answered {in_flight} requests")
            }
            Some((ConnectionState::Connecting | ConnectionState::CheckingApiVersions, _)) => {
                format!("no connection to broker {name} is ready yet")
            }
            Some((ConnectionState::Disconnected, _)) | None => {
                format!("there is no connection to broker {name}")
            }
        };
        let is_it = |fact: &Fact| {
            matches!(fact, Fact::Disconnected { producer: other, node: Node::Broker(node), .. }
                if (*other, *node) == (producer, broker))
        };
        let is_ready = connection.is_some_and(|it| it.state == ConnectionState::Ready);
        let at = (!is_ready).then(|| self.last(is_it)).flatten();
        (Link { at, text }, self.obstacle(producer, broker))
    }

    /// What stands between a producer and a broker's answer.
    fn obstacle(self, producer: ProducerIndex, broker: BrokerIndex) -> Cause {
        let simulation = self.simulation;
        let (here, there) = (Peer::Producer(producer), Peer::Broker(broker));
        let link = simulation.link_state(here, there);
        if matches!(link, LinkState::Cut | LinkState::Refusing) {
            return Cause::Effect(Effect::LinkBroken(here, there));
        }
        let view = simulation.broker(broker);
        if view.state != BrokerState::Running {
            return Cause::Effect(Effect::Away(broker));
        }
        if self.is_throttled(producer, broker) {
            let text = "brokers throttle the client: it is over its producer_byte_rate";
            return Cause::Root(Link::now(text.to_owned()));
        }
        if let Some(cause) = self.replicas_of(producer, broker) {
            return cause;
        }
        if view.disk_backlog >= DISK_BEHIND {
            return Cause::Effect(Effect::DiskBehind(broker));
        }
        if view.request_time >= REQUEST_SLOW
            && let Cause::Root(link) = self.deed_against_requests(broker)
        {
            return Cause::Root(link);
        }
        if link == LinkState::Degraded {
            return Cause::Effect(Effect::LinkBroken(here, there));
        }
        Cause::Effect(Effect::Load(producer))
    }

    fn is_throttled(self, producer: ProducerIndex, broker: BrokerIndex) -> bool {
        let view = self.simulation.producer(producer);
        let is_muted = connection(&view, broker).is_some_and(|connection| connection.is_throttled);
        let figure = if view.queue.is_none() {
            let average = ProducerMetric::ProduceThrottleTimeAvg;
            self.simulation.producer_metric(producer, average)
        } else {
            let average = RdkafkaBrokerMetric::Throttle(WindowField::Avg);
            let figure = RdkafkaFigure::Broker(broker, average);
            self.simulation.rdkafka_figure(producer, figure)
        };
        is_muted || figure.is_some_and(|throttled| throttled > 0.0)
    }

    /// What keeps acks=all waiting at the partitions that a broker leads.
    fn replicas_of(self, producer: ProducerIndex, broker: BrokerIndex) -> Option<Cause> {
        let client = &self.config().producers[producer.index()].client;
        if client.acks() != Some(Acks::All) {
            return None;
        }
        let views = self.simulation.partition_views();
        let mut led = views
            .iter()
            .filter(|view| view.leader == Some(broker) && view.queued_bytes > 0);
        led.find_map(|view| {
            if view.isr.len() < view.min_isr {
                return Some(Cause::Effect(Effect::TooFewInSync(view.index)));
            }
            let follower = self.laggard(view)?;
            Some(Cause::Effect(Effect::FollowerBehind(view.index, follower)))
        })
    }

    pub(super) fn no_metadata(self, producer: ProducerIndex) -> (Link, Cause) {
        let view = self.simulation.producer(producer);
        let name = names::producer(self.config(), producer);
        let rebootstrapped = Fact::Rebootstrapped { producer };
        let forgot = self.last(|fact| *fact == rebootstrapped);
        let text = match forgot {
            Some(_) => format!(
                "no broker that {name} knew was usable: it forgot its topics and went back to \
                 bootstrap.servers"
            ),
            None => format!("{name} has no metadata of its topics"),
        };
        let brokers = (0..self.config().brokers.len()).map(|place| BrokerIndex(place as u16));
        let mut obstacles = brokers.map(|broker| self.obstacle(producer, broker));
        let cause = obstacles.find(|cause| {
            matches!(
                cause,
                Cause::Effect(Effect::LinkBroken(..) | Effect::Away(_))
            )
        });
        let no_topic = || {
            let unknown = self.config().topics.iter().find(|t| t.existing.is_none())?;
            let text = format!("topic {} does not exist", unknown.name);
            Some(Cause::Root(Link::now(text)))
        };
        let at = forgot.or_else(|| longest_wait(&view).map(|(_, since)| since));
        let cause = cause.or_else(no_topic).unwrap_or(Cause::Unknown);
        (Link { at, text }, cause)
    }

    pub(super) fn load(self, producer: ProducerIndex) -> (Link, Cause) {
        let name = names::producer(self.config(), producer);
        let figure = |figure| {
            let series = self.insight.series(Metric::own(producer, figure));
            series.and_then(Series::last)
        };
        let asked = self.simulation.producer(producer).rate_asked;
        let wish = if asked.is_finite() && asked > 0.0 {
            format!("{name} wants to send {asked:.0} records/s")
        } else {
            format!("{name} sends as fast as it can")
        };
        let text = match figure(OwnFigure::AckRate) {
            Some(acked) => {
                format!("{wish}, and {acked:.0} were acknowledged in the last second")
            }
            None => wish,
        };
        (Link::now(text), self.deed_to_load(producer))
    }

    pub(super) fn process_stopped(self, producer: ProducerIndex) -> (Link, Cause) {
        let name = names::producer(self.config(), producer);
        let state = match self.simulation.producer(producer).state {
            ProcessState::NotStarted => "has not started yet",
            ProcessState::Running => "runs",
            ProcessState::Paused => "is stopped",
            ProcessState::Closed => "has closed its client",
            ProcessState::Exited => "is gone",
        };
        let link = Link::now(format!("the process of {name} {state}"));
        (link, self.deed_to_process(producer))
    }

    pub(super) fn nanos_now(self) -> u64 {
        self.simulation.now().as_nanos()
    }
}

/// What the thread that waits longest waits for, and since when.
fn longest_wait(view: &ProducerView) -> Option<(BlockedOn, SimTime)> {
    let waits = view.threads.iter().filter_map(|thread| match thread.state {
        ThreadState::Blocked { on, since } => Some((on, since)),
        _ => None,
    });
    waits.min_by_key(|(_, since)| *since)
}

fn used_share(view: &ProducerView) -> f64 {
    let (used, total) = match view.queue {
        Some(queue) => (
            queue.messages,
            queue.messages_max.map_or(u64::MAX, u64::from),
        ),
        None => (
            view.buffer.total_bytes - view.buffer.available_bytes,
            view.buffer.total_bytes,
        ),
    };
    used as f64 / total.max(1) as f64
}

fn connection(view: &ProducerView, broker: BrokerIndex) -> Option<&ConnectionView> {
    let mut connections = view.connections.iter();
    connections.find(|connection| connection.node == Node::Broker(broker))
}
