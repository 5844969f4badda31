//! What holds transactions up, and those who read.

use super::{Case, Cause, Effect, Link};
use crate::insight::metric::{GroupFigure, Metric};
use crate::insight::names;
use crate::insight::sentence::count;
use crate::insight::series::Series;
use crate::kafka::settings::IsolationLevel;
use crate::sim::config::Peer;
use crate::sim::fact::{BrokerState, Fact, LinkState};
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex, ProducerIndex};
use crate::sim::time::SimSpan;
use crate::sim::view::{EntryKind, GroupPartitionView, GroupState, ProcessState, TransactionView};

/// Records behind from which a group's lag is worth a question.
const LAG_MIN: u64 = 100;

impl Case<'_> {
    pub(super) fn of_transactions(self) -> Vec<Effect> {
        let producers = self.insight.producers().iter();
        let is_transactional = |producer: ProducerIndex| {
            let client = &self.config().producers[producer.index()].client;
            client.transactional_id().is_some()
        };
        let mut effects: Vec<Effect> = producers
            .filter(|view| is_transactional(view.index))
            .flat_map(|view| self.of_producer(view.index))
            .collect();
        let groups = (0..self.config().groups.len()).map(|place| GroupIndex(place as u16));
        effects.extend(
            groups
                .filter(|group| self.stuck_at(*group).is_some())
                .map(Effect::GroupBehind),
        );
        effects
    }

    /// The partition whose last stable offset keeps a group of committed readers.
    fn stuck_at(self, group: GroupIndex) -> Option<PartitionIndex> {
        let mut members = self.config().consumers.iter();
        let is_committed = members.any(|member| {
            member.group == group
                && member.settings.fetch.isolation == IsolationLevel::ReadCommitted
        });
        let view = self.insight.groups().get(group.index())?;
        view.partitions.iter().find_map(|read| {
            let log = self.simulation.partition(read.partition);
            let has_all = read.position.is_some_and(|at| at >= log.last_stable_offset);
            let is_stuck = has_all && log.last_stable_offset < log.high_watermark;
            (is_committed && is_stuck).then_some(read.partition)
        })
    }

    pub(super) fn group_behind(self, group: GroupIndex) -> (Link, Cause) {
        let name = names::group(self.config(), group);
        let Some(view) = self.insight.groups().get(group.index()) else {
            return (Link::now(format!("group {name} reads")), Cause::Unknown);
        };
        let lag: u64 = view
            .partitions
            .iter()
            .filter_map(GroupPartitionView::lag)
            .sum();
        let text = format!("group {name} is {} behind", count(lag, "record"));
        if let Some(partition) = self.stuck_at(group) {
            return (
                Link::now(text),
                Cause::Effect(Effect::OpenTransaction(partition)),
            );
        }
        let cause = if view.state != GroupState::Stable {
            let text = format!("its group is {}: nobody reads meanwhile", view.state.name());
            let at = self.last(|fact| {
                matches!(fact, Fact::GroupRebalancing { group: other, .. } if *other == group)
            });
            Cause::Root(Link { at, text })
        } else if let Some(away) = self.leader_away(&view.partitions) {
            Cause::Effect(away)
        } else if lag >= LAG_MIN {
            Cause::Root(self.slow_application(group))
        } else {
            Cause::Unknown
        };
        (Link::now(text), cause)
    }

    fn leader_away(self, partitions: &[GroupPartitionView]) -> Option<Effect> {
        partitions.iter().find_map(|read| {
            let view = self.simulation.partition(read.partition);
            let Some(leader) = view.leader else {
                return Some(Effect::Leaderless(read.partition));
            };
            let is_away = self.simulation.broker(leader).state != BrokerState::Running;
            is_away.then_some(Effect::Away(leader))
        })
    }

    fn slow_application(self, group: GroupIndex) -> Link {
        let series = self
            .insight
            .series(Metric::Group(group, GroupFigure::ConsumeRate));
        let rate = series.and_then(Series::last).unwrap_or(0.0);
        Link::now(format!(
            "its applications process {rate:.0} records/s, and more are written"
        ))
    }

    pub(super) fn open_transaction(self, partition: PartitionIndex) -> (Link, Cause) {
        let view = self.simulation.partition(partition);
        let name = names::partition(self.config(), partition);
        let entries = self.simulation.transactional_entries(partition);
        let first = entries.iter().find(|entry| {
            let is_records = matches!(entry.what, EntryKind::Records { .. });
            is_records && entry.offset >= view.last_stable_offset
        });
        let held = format!(
            "readers of committed records stop at offset {} of {name}",
            view.last_stable_offset
        );
        let Some((producer_id, epoch)) = first.map(|entry| entry.producer) else {
            return (Link::now(held), Cause::Unknown);
        };
        let ids = self.simulation.transactions();
        let is_open = |id: &&TransactionView| {
            id.producer.0 == producer_id
                && !id.state.is_settled()
                && id.partitions.contains(&partition)
        };
        let Some(id) = ids.iter().find(is_open) else {
            let text = format!(
                "{held}: a transaction of {producer_id}/{epoch} is open, and no coordinator knows it"
            );
            let root = "it hangs until kafka-transactions.sh aborts it".to_owned();
            return (Link::now(text), Cause::Root(Link::now(root)));
        };
        let shown = names::shown(&id.transactional_id);
        let text = format!("{held}: the transaction of {shown} is {}", id.state.name());
        let link = Link {
            at: id.started,
            text,
        };
        (link, self.owner_of(id))
    }

    /// What keeps the owner of an open transaction from its end.
    fn owner_of(self, id: &TransactionView) -> Cause {
        let clients = self.simulation.transactional_clients();
        let mut owners = clients.iter().filter(|client| {
            client.transactional_id == id.transactional_id
                && client.owns.is_some_and(|(of, _)| of == id.producer.0)
        });
        if let Some(owner) = owners.next_back() {
            let view = self.simulation.producer(owner.producer);
            if view.state != ProcessState::Running {
                return Cause::Effect(Effect::ProcessStopped(owner.producer));
            }
            if let Some(&effect) = self.of_producer(owner.producer).first() {
                return Cause::Effect(effect);
            }
        }
        let Some(started) = id.started else {
            return Cause::Unknown;
        };
        let due = started + SimSpan::from_millis(id.timeout_ms);
        Cause::Root(Link::now(format!(
            "its owner has not ended it; the coordinator aborts it after {:.1} s \
             (transaction.timeout.ms)",
            due.as_seconds()
        )))
    }

    pub(super) fn coordinator(self, producer: ProducerIndex) -> (Link, Cause) {
        let client = &self.config().producers[producer.index()].client;
        let id = client.transactional_id().unwrap_or("");
        let shown = names::shown(id);
        let ids = self.simulation.transactions();
        let known = ids.iter().find(|view| &*view.transactional_id == id);
        let Some((view, coordinator)) = known.and_then(|id| Some((id, id.coordinator?))) else {
            let text = format!("no coordinator of {shown} can be reached");
            return (Link::now(text), self.any_broker_away());
        };
        let broker = names::broker(self.config(), coordinator);
        let text = format!(
            "the coordinator of {shown} is broker {broker}, and has it as {}",
            view.state.name()
        );
        let (here, there) = (Peer::Producer(producer), Peer::Broker(coordinator));
        let cause = if self.simulation.broker(coordinator).state != BrokerState::Running {
            Cause::Effect(Effect::Away(coordinator))
        } else if self.simulation.link_state(here, there) != LinkState::Up {
            Cause::Effect(Effect::LinkBroken(here, there))
        } else if view.state.prepared().is_some() {
            self.marker_waits(view)
        } else {
            Cause::Effect(Effect::Unfinished(producer))
        };
        (Link::since(view.updated, text), cause)
    }

    /// Markers are on their way to a partition whose leader does not take them.
    fn marker_waits(self, id: &TransactionView) -> Cause {
        let found = id.partitions.iter().find_map(|&partition| {
            let view = self.simulation.partition(partition);
            let Some(leader) = view.leader else {
                return Some(Effect::Leaderless(partition));
            };
            (self.simulation.broker(leader).state != BrokerState::Running)
                .then_some(Effect::Away(leader))
        });
        found.map_or(Cause::Unknown, Cause::Effect)
    }

    fn any_broker_away(self) -> Cause {
        let mut brokers = (0..self.config().brokers.len()).map(|place| BrokerIndex(place as u16));
        let away = brokers.find(|b| self.simulation.broker(*b).state != BrokerState::Running);
        away.map_or(Cause::Unknown, |broker| Cause::Effect(Effect::Away(broker)))
    }
}
