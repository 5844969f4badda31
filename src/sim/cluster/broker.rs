//! One broker's process: connections, request handling, disk.
//!
//! A connection has one request in hand at a time; later ones wait in its socket buffer
//! (`KafkaChannel` muting). The disk is one queue that takes bytes in the order in which requests
//! ask for it, for partitions that the broker leads and those that it follows alike.
//!
//! Simplification: request handlers are as many as needed (`num.io.threads` never runs out), so
//! `request-time` is a delay of each Produce request and not a queue.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::kafka::quota::QuotaSensor;
use crate::kafka::settings::BrokerSettings;
use crate::sim::cluster::consumers::WireEnd;
use crate::sim::cluster::isr::IsrRequests;
use crate::sim::cluster::quotas::ShareKey;
use crate::sim::cluster::reassign::ReplicationQuota;
use crate::sim::config::BrokerConfig;
use crate::sim::consumer::CallId;
use crate::sim::event::{Channel, Message};
use crate::sim::fact::BrokerState;
use crate::sim::ids::PartitionIndex;
use crate::sim::metadata::Image;
use crate::sim::request::RequestId;
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// The incarnation of the processes that run at time zero.
pub(super) const FIRST_INCARNATION: u32 = 1;

/// One broker.
#[derive(Clone, Debug)]
pub struct Broker {
    pub(super) settings: BrokerSettings,
    pub(super) process: Process,
    /// Grows with every start, so that what belongs to an earlier process is recognised.
    pub(super) incarnation: u32,
    pub(super) connections: Vec<Connection>,
    /// Messages, and requests in hand, that a paused process will see when it goes on.
    pub(super) stalled: VecDeque<Message>,
    pub(super) stalled_handled: VecDeque<RequestId>,
    pub(super) stalled_calls: Vec<CallId>,
    /// Connections of consumers, two of each.
    pub(super) wires: Vec<WireEnd>,
    /// The metadata that this broker has applied.
    pub(super) image: Arc<Image>,
    /// Partitions of which it holds a replica.
    pub(super) replica_of: Vec<PartitionIndex>,
    /// Responses that vanish next.
    pub(super) swallow: u32,
    pub(super) disk: Disk,
    /// Time of a handler per request.
    pub(super) request_time: SimSpan,
    /// What a command added to it.
    pub(super) slowed_by: SimSpan,
    pub(super) requests: u32,
    pub(super) produce_requests: u64,
    /// What it asks the controller for.
    pub(super) isr_requests: IsrRequests,
    pub(super) replication_quota: ReplicationQuota,
    pub(super) heartbeats: Heartbeats,
    pub(super) last_end: LastEnd,
    /// What each share of a quota has sent lately, and how long clients were throttled so far.
    pub(super) quota_sensors: BTreeMap<ShareKey, QuotaSensor>,
    pub(super) throttled: SimSpan,
}

/// Whether heartbeats go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heartbeats {
    /// Every `broker.heartbeat.interval.ms`.
    Regular,
    /// The process hung when one was due.
    Stopped,
}

/// How a broker's process ended last (the clean-shutdown file).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastEnd {
    /// In order, or not yet: nothing is lost.
    Clean,
    /// It crashed: what was not flushed may be lost.
    Crash,
}

/// Whether a broker's process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// Serves.
    Up,
    /// Hangs: the kernel still takes connections and bytes.
    Paused,
    /// Serves while its leaders move away.
    ShuttingDown,
    /// Registers and recovers its logs; takes no client yet.
    Starting,
    /// Does not exist.
    Down,
}

/// What one broker's log directory takes.
#[derive(Clone, Debug)]
pub struct Disk {
    /// Bytes per second; `None` never holds anything up.
    pub rate: Option<u64>,
    /// When all that was asked for is done.
    pub free_at: SimTime,
    /// Bytes taken so far.
    pub bytes: u64,
    /// Whether appends fail.
    pub space: Space,
}

/// Whether a log directory has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Room enough.
    Free,
    /// None: the broker takes the directory offline.
    Full,
}

/// One client connection at a broker.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    pub(super) generation: u32,
    pub(super) state: Socket,
    pub(super) pending: VecDeque<RequestId>,
}

/// What a connection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Socket {
    /// No connection.
    #[default]
    Closed,
    /// Waits for a request.
    Idle,
    /// A request is in hand; nothing more is read.
    Muted,
    /// As idle, but responses vanish.
    SwallowingIdle,
    /// As muted, but responses vanish.
    SwallowingMuted,
}

impl Broker {
    /// A broker that runs from the start, for so many producers and consumers.
    pub fn new(
        config: &BrokerConfig,
        image: Arc<Image>,
        (producers, consumers): (usize, usize),
    ) -> Self {
        Self {
            settings: config.settings.clone(),
            process: Process::Up,
            incarnation: FIRST_INCARNATION,
            connections: vec![Connection::default(); producers * 2],
            stalled: VecDeque::new(),
            stalled_handled: VecDeque::new(),
            stalled_calls: Vec::new(),
            wires: vec![WireEnd::default(); consumers * 2],
            image,
            replica_of: Vec::new(),
            swallow: 0,
            disk: Disk {
                rate: config.append_rate,
                free_at: SimTime::ZERO,
                bytes: 0,
                space: Space::Free,
            },
            request_time: config.request_time,
            slowed_by: SimSpan::ZERO,
            requests: 0,
            produce_requests: 0,
            isr_requests: IsrRequests::default(),
            replication_quota: ReplicationQuota::default(),
            heartbeats: Heartbeats::Regular,
            last_end: LastEnd::Clean,
            quota_sensors: BTreeMap::new(),
            throttled: SimSpan::ZERO,
        }
    }

    /// Whether its log directory takes nothing more.
    pub fn is_full(&self) -> bool {
        self.disk.space == Space::Full
    }

    /// Whether its process answers.
    pub fn is_serving(&self) -> bool {
        matches!(self.process, Process::Up | Process::ShuttingDown)
    }

    /// Process and registration in one word.
    pub fn state(&self, is_unfenced: Fencing) -> BrokerState {
        match (self.process, is_unfenced) {
            (Process::Down, Fencing::Unfenced) => BrokerState::Dead,
            (Process::Paused, _) => BrokerState::Paused,
            (Process::ShuttingDown, _) => BrokerState::ShuttingDown,
            (Process::Starting, _) => BrokerState::Starting,
            (Process::Up | Process::Down, Fencing::Fenced) => BrokerState::Fenced,
            (Process::Up, Fencing::Unfenced) => BrokerState::Running,
        }
    }

    /// Keeps a message for later when the process hangs; says whether it did. Connections are
    /// taken by the kernel.
    pub(super) fn stalls(&mut self, message: Message) -> bool {
        let waits = self.process == Process::Paused && !matches!(message, Message::Connect(_));
        if waits {
            self.stalled.push_back(message);
        }
        waits
    }

    /// The connection of a channel, if it is still that one.
    pub(super) fn connection(&mut self, channel: Channel) -> Option<&mut Connection> {
        let place = self.place(channel);
        let connection = &mut self.connections[place];
        (connection.generation == channel.generation && connection.state != Socket::Closed)
            .then_some(connection)
    }

    /// Where a channel's connection is kept: each client has a bootstrap and a regular one.
    pub(super) fn place(&self, channel: Channel) -> usize {
        let brokers = self.image.unfenced.len();
        channel.producer.index() * 2 + usize::from(channel.slot as usize >= brokers)
    }

    /// Time that a handler spends on one Produce request now, the disk's not included.
    pub fn time_of_a_request(&self) -> SimSpan {
        self.slowed_by + self.request_time
    }

    /// How far the disk is behind.
    pub fn disk_backlog(&self, now: SimTime) -> SimSpan {
        self.disk.free_at.since(now)
    }

    /// Bytes appended so far.
    pub fn bytes_appended(&self) -> u64 {
        self.disk.bytes
    }

    /// Requests that arrived and are not answered.
    pub fn requests_in_hand(&self) -> u32 {
        self.requests
    }

    /// How long clients over their quotas were throttled so far, all together.
    pub fn throttled(&self) -> SimSpan {
        self.throttled
    }

    /// Produce requests answered so far.
    pub fn produce_requests_answered(&self) -> u64 {
        self.produce_requests
    }
}

/// The controller's view of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fencing {
    /// Registered and alive.
    Unfenced,
    /// May not lead.
    Fenced,
}

impl Disk {
    /// Takes `bytes`, not before `ready`; gives the moment when they are written.
    pub(super) fn write(&mut self, ready: SimTime, bytes: u64) -> SimTime {
        self.bytes += bytes;
        let Some(rate) = self.rate else { return ready };
        let span = u128::from(bytes) * u128::from(NANOS_PER_SECOND) / u128::from(rate.max(1));
        let span = SimSpan::from_nanos(u64::try_from(span).unwrap_or(u64::MAX));
        self.free_at = self.free_at.max(ready) + span;
        self.free_at
    }
}

impl Socket {
    /// The same, with a request in hand.
    pub(super) fn muted(self) -> Self {
        match self {
            Self::Idle | Self::Muted => Self::Muted,
            Self::SwallowingIdle | Self::SwallowingMuted => Self::SwallowingMuted,
            Self::Closed => Self::Closed,
        }
    }

    /// The same, with nothing in hand.
    pub(super) fn unmuted(self) -> Self {
        match self {
            Self::Idle | Self::Muted => Self::Idle,
            Self::SwallowingIdle | Self::SwallowingMuted => Self::SwallowingIdle,
            Self::Closed => Self::Closed,
        }
    }

    pub(super) fn is_muted(self) -> bool {
        matches!(self, Self::Muted | Self::SwallowingMuted)
    }

    pub(super) fn swallows(self) -> bool {
        matches!(self, Self::SwallowingIdle | Self::SwallowingMuted)
    }
}
