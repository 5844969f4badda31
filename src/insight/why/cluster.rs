//! What is wrong with brokers, their partitions and the ways between them.

use super::producer::DISK_BEHIND;
use super::{Case, Cause, Effect, Link};
use crate::insight::metric::{BrokerFigure, Metric};
use crate::insight::names;
use crate::insight::sentence::state_words;
use crate::insight::series::Series;
use crate::insight::warning::bytes;
use crate::sim::config::Peer;
use crate::sim::fact::{BrokerState, Fact, LinkState};
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::time::SimTime;
use crate::sim::view::PartitionView;

impl Case<'_> {
    pub(super) fn of_cluster(self) -> Vec<Effect> {
        let brokers = (0..self.config().brokers.len()).map(|place| BrokerIndex(place as u16));
        let mut effects: Vec<Effect> = brokers.flat_map(|broker| self.of_broker(broker)).collect();
        effects.extend(self.of_partitions());
        effects
    }

    pub(super) fn of_broker(self, broker: BrokerIndex) -> Vec<Effect> {
        let view = self.simulation.broker(broker);
        if view.state != BrokerState::Running {
            vec![Effect::Away(broker)]
        } else if view.disk_backlog >= DISK_BEHIND {
            vec![Effect::DiskBehind(broker)]
        } else {
            Vec::new()
        }
    }

    /// Partitions in danger first, then producers whose records wait.
    pub(super) fn of_partitions(self) -> Vec<Effect> {
        let views = self.simulation.partition_views();
        let leaderless = views.iter().filter(|view| view.leader.is_none());
        let mut effects: Vec<Effect> = leaderless
            .map(|view| Effect::Leaderless(view.index))
            .collect();
        let under = views
            .iter()
            .filter(|view| view.leader.is_some() && view.isr.len() < view.min_isr);
        effects.extend(under.map(|view| Effect::TooFewInSync(view.index)));
        let producers = self.insight.producers().iter();
        effects.extend(producers.flat_map(|view| self.of_producer(view.index)));
        effects
    }

    pub(super) fn of_replicas(self, partition: PartitionIndex) -> Vec<Effect> {
        let view = self.simulation.partition(partition);
        match view.leader {
            None => vec![Effect::Leaderless(partition)],
            Some(_) if view.isr.len() < view.min_isr => vec![Effect::TooFewInSync(partition)],
            Some(_) => {
                let missing = self.missing(&view);
                let away = missing.filter(|broker| self.is_away(*broker));
                away.map(Effect::Away).into_iter().collect()
            }
        }
    }

    pub(super) fn leaderless(self, partition: PartitionIndex) -> (Link, Cause) {
        let view = self.simulation.partition(partition);
        let name = names::partition(self.config(), partition);
        let at = self.last(|fact| {
            matches!(fact, Fact::LeaderChanged { partition: other, leader: None, .. }
                if *other == partition)
        });
        let mut heirs = view.isr.iter().chain(&view.elr).copied();
        let heir = heirs.next().or(view.last_known_leader);
        let text = match heir {
            Some(heir) => format!(
                "nobody leads {name}: only broker {} has all that is committed",
                names::broker(self.config(), heir)
            ),
            None => format!("nobody leads {name}"),
        };
        let cause = heir.map_or(Cause::Unknown, |heir| Cause::Effect(Effect::Away(heir)));
        (Link { at, text }, cause)
    }

    pub(super) fn too_few_in_sync(self, partition: PartitionIndex) -> (Link, Cause) {
        let view = self.simulation.partition(partition);
        let at = self.last(
            |fact| matches!(fact, Fact::IsrChanged { partition: other, .. } if *other == partition),
        );
        let text = format!(
            "{} has {} of the {} in-sync replicas of min.insync.replicas: its leader refuses \
             acks=all",
            names::partition(self.config(), partition),
            view.isr.len(),
            view.min_isr,
        );
        let cause = match (self.missing(&view), view.leader) {
            (Some(missing), Some(leader)) => self.parted(missing, leader),
            _ => Cause::Unknown,
        };
        (Link { at, text }, cause)
    }

    pub(super) fn follower_behind(
        self,
        partition: PartitionIndex,
        follower: BrokerIndex,
    ) -> (Link, Cause) {
        let view = self.simulation.partition(partition);
        let name = names::broker(self.config(), follower);
        let behind = view.log_end_offset.saturating_sub(view.high_watermark);
        let text = format!(
            "acks=all waits for broker {name}, which is in sync and {behind} records behind in {}",
            names::partition(self.config(), partition),
        );
        let leader = view.leader.unwrap_or(follower);
        (Link::now(text), self.parted(follower, leader))
    }

    /// What keeps a follower from its leader.
    fn parted(self, follower: BrokerIndex, leader: BrokerIndex) -> Cause {
        let (here, there) = (Peer::Broker(follower), Peer::Broker(leader));
        if self.is_away(follower) {
            Cause::Effect(Effect::Away(follower))
        } else if self.simulation.link_state(here, there) != LinkState::Up {
            Cause::Effect(Effect::LinkBroken(here, there))
        } else if self.simulation.link_state(here, Peer::Controller) != LinkState::Up {
            Cause::Effect(Effect::LinkBroken(here, Peer::Controller))
        } else if self.simulation.broker(follower).disk_backlog >= DISK_BEHIND {
            Cause::Effect(Effect::DiskBehind(follower))
        } else {
            Cause::Unknown
        }
    }

    /// The in-sync follower that a partition's high watermark waits for, if something keeps it.
    pub(super) fn laggard(self, view: &PartitionView) -> Option<BrokerIndex> {
        let leader = view.leader?;
        let ends = self.simulation.replica_ends(view.index);
        let followers = ends
            .into_iter()
            .filter(|(broker, _)| *broker != leader && view.isr.contains(broker));
        let (slowest, end) = followers.min_by_key(|(_, end)| *end)?;
        let is_kept = !matches!(self.parted(slowest, leader), Cause::Unknown);
        (end < view.log_end_offset && is_kept).then_some(slowest)
    }

    /// A replica that should be in sync and is not: of those that are away the one that went last.
    fn missing(self, view: &PartitionView) -> Option<BrokerIndex> {
        let missing = view
            .replicas
            .iter()
            .copied()
            .filter(|broker| !view.isr.contains(broker));
        missing.max_by_key(|broker| (self.is_away(*broker), self.changed(*broker)))
    }

    fn is_away(self, broker: BrokerIndex) -> bool {
        self.simulation.broker(broker).state != BrokerState::Running
    }

    /// When a broker's process or registration last changed.
    fn changed(self, broker: BrokerIndex) -> Option<SimTime> {
        self.last(
            |fact| matches!(fact, Fact::BrokerChanged { broker: other, .. } if *other == broker),
        )
    }

    pub(super) fn away(self, broker: BrokerIndex) -> (Link, Cause) {
        let state = self.simulation.broker(broker).state;
        let at = self.changed(broker);
        let text = format!(
            "broker {} {}",
            names::broker(self.config(), broker),
            state_words(state)
        );
        let cause = match self.deed_against(broker) {
            Cause::Unknown => {
                let (here, there) = (Peer::Broker(broker), Peer::Controller);
                match self.simulation.link_state(here, there) {
                    LinkState::Up => Cause::Unknown,
                    _ => Cause::Effect(Effect::LinkBroken(here, there)),
                }
            }
            deed => deed,
        };
        (Link { at, text }, cause)
    }

    pub(super) fn disk_behind(self, broker: BrokerIndex) -> (Link, Cause) {
        let backlog = self.simulation.broker(broker).disk_backlog;
        let series = Metric::Broker(broker, BrokerFigure::AppendRate);
        let rate = self.insight.series(series).and_then(Series::last);
        let takes = rate.map_or(String::new(), |rate| {
            format!(", and it takes {}/s", bytes(rate as u64))
        });
        let text = format!(
            "the disk of broker {} is {} ms behind{takes}",
            names::broker(self.config(), broker),
            backlog.as_millis(),
        );
        let cause = match self.deed_against_disk(broker) {
            Cause::Unknown => self.heaviest_load(),
            deed => deed,
        };
        (Link::now(text), cause)
    }

    /// The producer that asks for most: with nothing done to the disk, it is simply too much.
    fn heaviest_load(self) -> Cause {
        let producers = self.insight.producers().iter();
        let heaviest = producers.max_by(|a, b| a.rate_asked.total_cmp(&b.rate_asked));
        heaviest.map_or(Cause::Unknown, |view| {
            Cause::Effect(Effect::Load(view.index))
        })
    }

    pub(super) fn link_broken(self, one: Peer, two: Peer) -> (Link, Cause) {
        let config = self.config();
        let state = match self.simulation.link_state(one, two) {
            LinkState::Up => "is as configured",
            LinkState::Degraded => "is worse than configured",
            LinkState::Cut => "is cut: what is sent is never answered",
            LinkState::Refusing => "refuses connections",
        };
        let text = format!(
            "the link between {} and {} {state}",
            names::peer(config, one),
            names::peer(config, two),
        );
        (Link::now(text), self.deed_between(one, two))
    }
}
