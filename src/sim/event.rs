//! Everything that can be scheduled. Events are small and copied: what is large waits in a slab.

use crate::sim::cluster::PeerCallId;
use crate::sim::consumer::{CallId, Wire};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicPartition};
use crate::sim::network::Lane;
use crate::sim::request::RequestId;

/// Something that will happen at its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A producer's own next moment: a record, a timer, or the end of what it may do alone. Only
    /// the latest `turn` counts; earlier ones were overtaken by something sooner.
    Run { producer: ProducerIndex, turn: u32 },
    /// A message reaches the other end of its link.
    Deliver(Message),
    /// A broker's request handler and disk are done with a request.
    RequestHandled {
        broker: BrokerIndex,
        incarnation: u32,
        request: RequestId,
    },
    /// An acks=all request has waited as long as its `timeoutMs` allows.
    PurgatoryExpired(RequestId),
    /// A follower's disk took what it fetched.
    FollowerAppended(Fetcher),
    /// A broker looks for followers that fell behind (task `isr-expiration`).
    IsrExpiration {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// A broker is due to send a heartbeat to the controller.
    Heartbeat {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// The controller looks for brokers whose session ended.
    SessionCheck,
    /// The metadata log reaches a broker.
    MetadataApplied {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// The controller moves leaders back to the preferred replicas
    /// (`leader.imbalance.check.interval.seconds`).
    LeaderRebalance,
    /// What was committed in a topic reaches a load that copies it.
    ReplayFetch {
        /// Whose load.
        producer: ProducerIndex,
        /// Which of its loads.
        load: u16,
    },
    /// Brokers look for compacted logs that are dirty enough.
    LogCleaner,
    /// A starting broker is ready to register.
    Registration {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// A broker in controlled shutdown may exit.
    ShutdownDone {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// A broker's request to change the in-sync replicas of partitions that it leads reaches the
    /// controller.
    AlterPartition {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// A consumer's own next moment; only the latest `turn` counts.
    ConsumerTurn { consumer: ConsumerIndex, turn: u32 },
    /// A broker that was slowed down gets to a consumer's request.
    CallHandled {
        broker: BrokerIndex,
        incarnation: u32,
        call: CallId,
    },
    /// A consumer's fetch has waited for `fetch.max.wait.ms`.
    FetchExpired(CallId),
    /// A group looks whether a member has been silent for too long.
    GroupSession { group: GroupIndex, member: u32 },
    /// A rebalance has waited as long as it may for members to join.
    GroupRebalance { group: GroupIndex, turn: u32 },
    /// A command from outside, by its place in the list of commands.
    Command(u32),
    /// A broker reads a connection again whose client was over its quota.
    ThrottleOver {
        broker: BrokerIndex,
        channel: Channel,
    },
    /// Brokers look for segments that are too old or too many.
    LogRetention,
    /// Leaders look for producers that have not written for too long.
    ProducerIdExpiration,
    /// The controller's answer to an `AlterPartition`.
    IsrAltered {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// A follower's fetch has waited for `replica.fetch.wait.max.ms`.
    FetchWaited(Fetcher),
    /// A follower that was refused asks for a partition again.
    FetchRetried {
        follower: BrokerIndex,
        partition: TopicPartition,
    },
    /// A fetcher connects anew.
    FetcherStarted(Fetcher),
    /// The controller looks for partitions without a leader that may get any
    /// (`unclean.leader.election.interval.ms`).
    UncleanElection,
    /// A broker may send replicas records again (`leader.replication.throttled.rate`).
    ReplicationQuota {
        broker: BrokerIndex,
        incarnation: u32,
    },
    /// What a broker says to itself, or learns without a link.
    Loopback(Message),
    /// A call between brokers has waited for `request.timeout.ms`.
    PeerCallExpired(PeerCallId),
    /// A record of `__transaction_state` has waited for its replicas long enough, by its number.
    StateAppendExpired(u32),
    /// A coordinator goes on with the markers of an id, by its place.
    TransactionCompletion(u32),
    /// A coordinator looks for transactions that take too long.
    TransactionScan {
        /// Which.
        broker: BrokerIndex,
        /// In which of its lives.
        incarnation: u32,
    },
    /// A leader asks a busy coordinator again about the transaction of a request.
    VerifyAgain(RequestId),
    /// A leader that could not reach the controller looks again who should be in sync.
    IsrLook {
        /// Which broker.
        broker: BrokerIndex,
        /// Of which of its processes.
        incarnation: u32,
    },
    /// The other controllers hear from the active one, or notice that they do not.
    QuorumTick,
    /// `kafka-transactions.sh forceTerminateTransaction` asks for an epoch again.
    TransactionTermination {
        /// Of which id, by its place.
        place: u32,
        /// How often it has asked.
        tries: u16,
    },
}

/// The queue keeps every event beside its key, and moves both around.
const _: () = assert!(size_of::<Event>() <= 16, "events must stay small");

/// What travels on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// TCP SYN of a client.
    Connect(Channel),
    /// The connection stands.
    Accepted(Channel),
    /// Nobody listens, or a firewall says no.
    Refused(Channel),
    /// The connection is reset, from the broker's side.
    Reset(Channel),
    /// The client closed its end.
    Closed(Channel),
    /// A request, towards its broker.
    Request(RequestId),
    /// Its response, towards the client.
    Response(RequestId),
    /// A follower's fetch request, towards the leader.
    Fetch(Fetcher),
    /// The fetched records, towards the follower.
    Fetched(Fetcher),
    /// A consumer's request, or its wish to connect, towards the broker.
    Call(CallId),
    /// The answer, towards the consumer.
    Answer(CallId),
    /// The answer to a wish to connect that a firewall refused: the only one that still passes.
    Refusal(CallId),
    /// A consumer's connection is reset, from the broker's side.
    WireReset(Wire),
    /// A consumer closed its end of a connection.
    WireClosed(Wire),
    /// What a broker asks another.
    PeerRequest(PeerCallId),
    /// The answer, or the news that there will be none.
    PeerResponse(PeerCallId),
}

/// One TCP connection of a client: the slot in its connection table and how often that slot was
/// used, so that what belongs to an earlier connection is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Whose.
    pub producer: ProducerIndex,
    /// Bootstrap addresses first, then brokers.
    pub slot: u16,
    /// How often this slot connected.
    pub generation: u32,
}

impl Channel {
    /// Where it runs on the link to its broker, in a cluster of so many.
    pub fn lane(self, brokers: usize) -> Lane {
        if (self.slot as usize) < brokers {
            Lane::Bootstrap
        } else {
            Lane::Regular
        }
    }
}

/// The replica fetcher thread of one broker for one other (`num.replica.fetchers` = 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetcher {
    /// Who fetches.
    pub follower: BrokerIndex,
    /// From whom.
    pub leader: BrokerIndex,
    /// How often this fetcher was set up anew, so that what belongs to an earlier one is
    /// recognised.
    pub turn: u32,
}
