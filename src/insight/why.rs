//! Why: from what is seen back to what the outside did, link by link.
//!
//! A chain begins with a symptom and ends with a deed, or with a load that is simply too high. Each
//! link is one [`Effect`]; explaining it names the next. Everything is read from views, facts and
//! configuration of this moment, so a chain explains what holds now.
//!
//! Invariants: asking changes nothing; a chain never names an effect twice, so it ends.

mod cluster;
mod deeds;
mod producer;
mod readers;

use super::Insight;
use super::warning::Subject;
use crate::sim::Simulation;
use crate::sim::config::{Config, Peer};
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;

/// Links of a chain at most.
pub const LINKS_MAX: usize = 12;
/// Chains of an answer at most.
pub const CHAINS_MAX: usize = 6;

/// What somebody wants to know the cause of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What holds this producer up.
    Producer(ProducerIndex),
    /// Why records wait, or partitions are in danger.
    Partitions,
    /// Why transactions and those who read them do not get on.
    Transactions,
    /// What is wrong in the cluster.
    Cluster,
    /// What the warnings of now come from.
    Warnings,
    /// What the latest event came from that has a cause.
    Events,
}

/// One link of a chain: what holds, or happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Since when, or when; nothing where that is not known.
    pub at: Option<SimTime>,
    /// A sentence without a full stop.
    pub text: String,
}

/// The moments that an answer names, in the order in which it does: what can be gone to by number.
pub fn moments(chains: &[Chain]) -> Vec<SimTime> {
    let mut moments: Vec<SimTime> = Vec::new();
    for at in chains.iter().flatten().filter_map(|link| link.at) {
        if !moments.contains(&at) {
            moments.push(at);
        }
    }
    moments
}

/// From what is seen, first, to where it comes from, last. Never empty.
pub type Chain = Vec<Link>;

/// Something that has a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Threads of a producer wait.
    Waits(ProducerIndex),
    /// A producer's pool or queue has no room.
    Full(ProducerIndex),
    /// A producer's records are on their way and do not come to an end.
    Unfinished(ProducerIndex),
    /// A producer's requests to a broker get no answer, or may not be sent.
    Unanswered(ProducerIndex, BrokerIndex),
    /// A client does not know its topics.
    NoMetadata(ProducerIndex),
    /// A client's calls wait for the coordinator of its transactions.
    Coordinator(ProducerIndex),
    /// More comes than goes.
    Load(ProducerIndex),
    /// Nobody leads a partition.
    Leaderless(PartitionIndex),
    /// A partition has fewer replicas in sync than acks=all needs.
    TooFewInSync(PartitionIndex),
    /// A leader waits for a follower before it answers acks=all.
    FollowerBehind(PartitionIndex, BrokerIndex),
    /// A broker does not serve.
    Away(BrokerIndex),
    /// A broker's disk is behind.
    DiskBehind(BrokerIndex),
    /// Nothing, or little, passes between two ends.
    LinkBroken(Peer, Peer),
    /// A group is behind.
    GroupBehind(GroupIndex),
    /// A transaction is open in a partition, and holds readers up.
    OpenTransaction(PartitionIndex),
    /// An application process is stopped, or gone.
    ProcessStopped(ProducerIndex),
}

/// What an effect comes from.
enum Cause {
    /// Something that has a cause itself.
    Effect(Effect),
    /// Where the chain ends.
    Root(Link),
    /// Nothing that is known.
    Unknown,
}

/// What is looked at.
#[derive(Clone, Copy)]
struct Case<'a> {
    simulation: &'a Simulation,
    insight: &'a Insight,
}

/// The chains that answer a question; none where nothing is wrong.
pub fn why(question: Question, simulation: &Simulation, insight: &Insight) -> Vec<Chain> {
    let case = Case {
        simulation,
        insight,
    };
    let mut chains: Vec<Chain> = Vec::new();
    for effect in case.asked(question) {
        let chain = case.chain(effect);
        let root = chain.last().cloned();
        // What comes from the same deed is told once, by its longest way.
        let is_same = |other: &Chain| {
            other.last() == root.as_ref() && other.iter().any(|link| chain.contains(link))
        };
        match chains.iter().position(is_same) {
            Some(place) if chains[place].len() < chain.len() => chains[place] = chain,
            None if chains.len() < CHAINS_MAX => chains.push(chain),
            _ => {}
        }
    }
    chains
}

impl<'a> Case<'a> {
    fn config(self) -> &'a Config {
        self.simulation.config()
    }

    /// Where the chains of an answer begin.
    fn asked(self, question: Question) -> Vec<Effect> {
        match question {
            Question::Producer(producer) => self.of_producer(producer),
            Question::Partitions => self.of_partitions(),
            Question::Transactions => self.of_transactions(),
            Question::Cluster => self.of_cluster(),
            Question::Warnings => {
                let warnings = self.insight.warnings().active();
                let mut effects: Vec<Effect> = Vec::new();
                for warning in warnings {
                    effects.extend(self.of_subject(warning.subject, warning.name));
                }
                effects.dedup();
                effects
            }
            Question::Events => self.of_events(),
        }
    }

    fn of_subject(self, subject: Subject, warning: &str) -> Vec<Effect> {
        match (subject, warning) {
            (Subject::Producer(producer), "metadata-blocked") => vec![Effect::NoMetadata(producer)],
            (Subject::Producer(producer), _) => self.of_producer(producer),
            (Subject::Broker(broker), _) => self.of_broker(broker),
            (Subject::Topic(topic), _) => {
                let mut effects = self.of_partitions();
                effects.retain(|effect| match effect {
                    Effect::Leaderless(partition) | Effect::TooFewInSync(partition) => {
                        partition.name().topic == topic
                    }
                    _ => false,
                });
                effects
            }
            (Subject::Group(group), _) => vec![Effect::GroupBehind(group)],
            (Subject::Run, _) => self.of_partitions(),
        }
    }

    fn of_events(self) -> Vec<Effect> {
        let entries = self.insight.log().entries().rev();
        let mut effects = entries.map(|entry| self.of_fact(&entry.first.fact));
        effects
            .find(|effects| !effects.is_empty())
            .unwrap_or_default()
    }

    fn of_fact(self, fact: &Fact) -> Vec<Effect> {
        match *fact {
            Fact::PoolExhausted { producer } => vec![Effect::Full(producer)],
            Fact::ThreadBlocked { producer, .. }
            | Fact::RecordRefused { producer, .. }
            | Fact::BatchFailed { producer, .. }
            | Fact::BatchRetried { producer, .. }
            | Fact::UnassignedFailed { producer, .. }
            | Fact::Disconnected { producer, .. }
            | Fact::TransactionCallFailed { producer, .. }
            | Fact::TransactionFailed { producer, .. } => self.of_producer(producer),
            Fact::Rebootstrapped { producer } => vec![Effect::NoMetadata(producer)],
            Fact::LeaderChanged {
                partition,
                leader: None,
                ..
            } => vec![Effect::Leaderless(partition)],
            Fact::LeaderChanged { partition, .. } | Fact::IsrChanged { partition, .. } => {
                self.of_replicas(partition)
            }
            Fact::BrokerChanged { broker, .. } => self.of_broker(broker),
            _ => Vec::new(),
        }
    }

    fn chain(self, first: Effect) -> Chain {
        let mut chain = Vec::new();
        let mut explained = Vec::new();
        let mut next = Some(first);
        while let Some(effect) = next.take() {
            if explained.contains(&effect) || LINKS_MAX <= chain.len() {
                break;
            }
            explained.push(effect);
            let (link, cause) = self.explain(effect);
            chain.push(link);
            match cause {
                Cause::Effect(cause) => next = Some(cause),
                Cause::Root(link) => chain.push(link),
                Cause::Unknown => {}
            }
        }
        chain
    }

    fn explain(self, effect: Effect) -> (Link, Cause) {
        match effect {
            Effect::Waits(producer) => self.waits(producer),
            Effect::Full(producer) => self.full(producer),
            Effect::Unfinished(producer) => self.unfinished(producer),
            Effect::Unanswered(producer, broker) => self.unanswered(producer, broker),
            Effect::NoMetadata(producer) => self.no_metadata(producer),
            Effect::Coordinator(producer) => self.coordinator(producer),
            Effect::Load(producer) => self.load(producer),
            Effect::Leaderless(partition) => self.leaderless(partition),
            Effect::TooFewInSync(partition) => self.too_few_in_sync(partition),
            Effect::FollowerBehind(partition, follower) => {
                self.follower_behind(partition, follower)
            }
            Effect::Away(broker) => self.away(broker),
            Effect::DiskBehind(broker) => self.disk_behind(broker),
            Effect::LinkBroken(a, b) => self.link_broken(a, b),
            Effect::GroupBehind(group) => self.group_behind(group),
            Effect::OpenTransaction(partition) => self.open_transaction(partition),
            Effect::ProcessStopped(producer) => self.process_stopped(producer),
        }
    }
}

impl Link {
    fn since(at: SimTime, text: String) -> Self {
        Self { at: Some(at), text }
    }

    fn now(text: String) -> Self {
        Self { at: None, text }
    }
}
