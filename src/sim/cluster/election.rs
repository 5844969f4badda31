//! Who leads a partition.
//!
//! A replica may lead if it is alive and in the ISR or, when that is empty, eligible (KIP-966): a
//! replica that left the ISR while fewer than `min.insync.replicas` remained still has everything
//! that was committed. Clusters since 4.1 keep track of those; before, the last member of an ISR
//! is never removed.
//! Source: `PartitionChangeBuilder`, `ReplicationControlManager`.

use std::borrow::Cow;

use crate::kafka::version::KafkaVersion;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::quorum::NO_CONTROLLER;
use crate::sim::command::ElectionType;
use crate::sim::config::Config;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicPartition};
use crate::sim::metadata::{Image, Recovery};
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;
use crate::sim::view::ElectionOutcome;

/// The first line whose new clusters track eligible leader replicas
/// (`eligible.leader.replicas.version`).
const ELIGIBLE_SINCE: KafkaVersion = KafkaVersion::new(4, 1, 0);

/// Whether the controller tracks eligible leader replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// It does.
    Tracked,
    /// The last member of an ISR stays there instead.
    Untracked,
}

impl Eligible {
    /// As new clusters of this version do.
    pub(super) fn of(config: &Config) -> Self {
        if config.kafka >= ELIGIBLE_SINCE {
            Self::Tracked
        } else {
            Self::Untracked
        }
    }
}

/// Why a leader is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Election {
    /// The leader may be gone: it stays if it may lead.
    Online,
    /// The first replica of the assignment leads if it may.
    Preferred,
    /// Somebody leads, whatever is lost.
    Unclean,
}

/// Why a broker leaves ISRs and offices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retirement {
    /// It is fenced, or shuts down in order.
    Clean,
    /// It comes back after a crash: what it had not flushed may be lost.
    AfterCrash,
}

impl Cluster {
    /// Removes a broker from ISRs and moves its leaders.
    pub(super) fn retire(&self, image: &mut Image, broker: BrokerIndex, why: Retirement) {
        for index in self.brokers[broker.index()].replica_of.clone() {
            let state = &mut image.partitions[index.index()];
            let was = state.isr.clone();
            let is_tracked = self.controller.eligible == Eligible::Tracked;
            if is_tracked || state.isr.len() > 1 {
                state.isr.retain(|&member| member != broker);
            }
            self.track_eligible(image, index, &was);
            let state = &mut image.partitions[index.index()];
            if why == Retirement::AfterCrash && is_tracked {
                state.elr.retain(|&member| member != broker);
            }
            if state.leader == Some(broker) {
                self.elect(image, index, Election::Online);
            }
        }
    }

    /// The ISR changed from `was`: below `min.insync.replicas` whoever left it stays eligible.
    pub(super) fn track_eligible(
        &self,
        image: &mut Image,
        index: PartitionIndex,
        was: &[BrokerIndex],
    ) {
        let min_isr = self.partitions[index.index()].effective_min_isr();
        let state = &mut image.partitions[index.index()];
        if self.controller.eligible == Eligible::Untracked || state.isr.len() >= min_isr {
            state.elr.clear();
            return;
        }
        for &member in was {
            if !state.elr.contains(&member) {
                state.elr.push(member);
            }
        }
        let isr = &state.isr;
        state.elr.retain(|member| !isr.contains(member));
    }

    /// Elects a leader, or none. Whether one was found.
    pub(super) fn elect(&self, image: &mut Image, index: PartitionIndex, kind: Election) -> bool {
        let found = self.candidate(image, index, kind);
        let state = &mut image.partitions[index.index()];
        let before = state.leader;
        match found {
            Some((leader, Recovery::Recovered)) if !state.isr.contains(&leader) => {
                state.isr = vec![leader];
                state.elr.retain(|&member| member != leader);
            }
            Some((leader, Recovery::Recovering)) => {
                state.isr = vec![leader];
                state.recovery = Recovery::Recovering;
                state.elr.clear();
            }
            _ => {}
        }
        state.leader = found.map(|(leader, _)| leader);
        if state.leader.is_some() {
            state.last_known_leader = None;
        } else if before.is_some() && self.controller.eligible == Eligible::Tracked {
            state.last_known_leader = before;
        }
        if state.leader != before {
            state.epoch += 1;
        }
        found.is_some()
    }

    /// Who would lead; [`Recovery::Recovering`] if records may be lost by it.
    pub(super) fn candidate(
        &self,
        image: &Image,
        index: PartitionIndex,
        kind: Election,
    ) -> Option<(BrokerIndex, Recovery)> {
        let partition = &self.partitions[index.index()];
        let state = image.partition(index);
        let replicas = || partition.assignment();
        let may_lead =
            |b: BrokerIndex| image.unfenced[b.index()] && !self.controller.leaving[b.index()];
        let is_valid = |b: BrokerIndex| {
            let is_eligible = state.isr.is_empty() && state.elr.contains(&b);
            may_lead(b) && (state.isr.contains(&b) || is_eligible)
        };
        let current = state.leader.filter(|&leader| is_valid(leader));
        let first = replicas().next().filter(|&preferred| is_valid(preferred));
        let any = || replicas().find(|&b| is_valid(b));
        let clean = match kind {
            Election::Preferred => first.or(current).or_else(any),
            Election::Online | Election::Unclean => current.or_else(any),
        };
        if let Some(leader) = clean {
            return Some((leader, Recovery::Recovered));
        }
        let nobody_is_eligible = state.isr.is_empty() && state.elr.is_empty();
        let last_known = state
            .last_known_leader
            .or(state.leader)
            .filter(|&b| nobody_is_eligible && may_lead(b));
        let allowed = partition.settings.unclean_leader_election || kind == Election::Unclean;
        let unclean = last_known.or_else(|| replicas().find(|&b| allowed && may_lead(b)));
        unclean.map(|leader| (leader, Recovery::Recovering))
    }

    /// Leaders go back to preferred replicas that are in sync (`auto.leader.rebalance.enable`).
    pub(super) fn on_leader_rebalance(&mut self, ctx: &mut Context<'_>) {
        let Some(first) = self.brokers.first() else {
            return;
        };
        let settings = &first.settings.controller;
        let period = SimSpan::from_seconds(settings.leader_imbalance_check_interval_seconds.max(1));
        ctx.queue
            .push(ctx.now + period, Rank::CONTROLLER, Event::LeaderRebalance);
        if !settings.auto_leader_rebalance {
            return;
        }
        let away: Vec<_> = self
            .indices()
            .filter(|&index| {
                let leader = self.controller.image.partition(index).leader;
                let preferred = self.partitions[index.index()].assignment().next();
                leader.is_some() && leader != preferred
            })
            .collect();
        self.elect_all(ctx, &away, Election::Preferred);
    }

    /// Partitions without a leader whose topics allow it get one that may lack records
    /// (`unclean.leader.election.interval.ms`).
    pub(super) fn on_unclean_election(&mut self, ctx: &mut Context<'_>) {
        let Some(first) = self.brokers.first() else {
            return;
        };
        let interval = first
            .settings
            .controller
            .unclean_leader_election_interval_ms;
        let next = ctx.now + SimSpan::from_millis(interval.max(1));
        ctx.queue
            .push(next, Rank::CONTROLLER, Event::UncleanElection);
        let leaderless: Vec<_> = self
            .indices()
            .filter(|&index| {
                let settings = &self.partitions[index.index()].settings;
                let leader = self.controller.image.partition(index).leader;
                settings.unclean_leader_election && leader.is_none()
            })
            .collect();
        self.elect_all(ctx, &leaderless, Election::Online);
    }

    /// Looks for leaders of these partitions, and says so if any changed.
    pub(super) fn elect_all(
        &mut self,
        ctx: &mut Context<'_>,
        partitions: &[PartitionIndex],
        kind: Election,
    ) {
        if partitions.is_empty() || !self.is_controlled(ctx) {
            return;
        }
        let mut image = (*self.controller.image).clone();
        for &index in partitions {
            self.elect(&mut image, index, kind);
        }
        if image != *self.controller.image {
            self.publish(ctx, image);
        }
    }

    /// What an election that an operator asks for would do, partition by partition; of all
    /// partitions, only those that need one.
    pub fn plan_election(
        &self,
        election: ElectionType,
        partition: Option<TopicPartition>,
    ) -> Vec<(PartitionIndex, ElectionOutcome)> {
        let one = partition.and_then(|name| self.find(name));
        let outcome = |index| (index, self.election_outcome(election, index));
        if partition.is_some() {
            return one.map(outcome).into_iter().collect();
        }
        // Those of `__transaction_state` come behind all others.
        let internal = self.transactions.state_log().iter().copied();
        let outcomes = self.indices().chain(internal).map(outcome);
        outcomes
            .filter(|(_, outcome)| *outcome != ElectionOutcome::NotNeeded)
            .collect()
    }

    fn election_outcome(&self, election: ElectionType, index: PartitionIndex) -> ElectionOutcome {
        let image = &self.controller.image;
        let leader = image.partition(index).leader;
        let preferred = self.partitions[index.index()].assignment().next();
        let (is_needed, kind, failure) = match election {
            ElectionType::Preferred => (
                leader != preferred,
                Election::Preferred,
                ElectionOutcome::PreferredLeaderNotAvailable,
            ),
            ElectionType::Unclean => (
                leader.is_none(),
                Election::Unclean,
                ElectionOutcome::EligibleLeadersNotAvailable,
            ),
        };
        if !is_needed {
            return ElectionOutcome::NotNeeded;
        }
        match self.candidate(image, index, kind) {
            Some((elected, _)) if Some(elected) != leader => ElectionOutcome::Elected,
            _ => failure,
        }
    }

    /// An operator's election.
    pub fn run_election(
        &mut self,
        ctx: &mut Context<'_>,
        election: ElectionType,
        partition: Option<TopicPartition>,
    ) -> Result<(), Cow<'static, str>> {
        if !self.is_controlled(ctx) {
            return Err(NO_CONTROLLER.into());
        }
        let planned = self.plan_election(election, partition);
        let kind = match election {
            ElectionType::Preferred => Election::Preferred,
            ElectionType::Unclean => Election::Unclean,
        };
        let elected = planned
            .iter()
            .filter(|(_, outcome)| *outcome == ElectionOutcome::Elected);
        let elected: Vec<_> = elected.map(|&(index, _)| index).collect();
        if let (true, Some(error)) = (
            elected.is_empty(),
            planned.iter().find_map(|(_, outcome)| outcome.error()),
        ) {
            return Err(error.default_message().into());
        }
        self.elect_all(ctx, &elected, kind);
        Ok(())
    }

    /// All partitions that exist, in order of topics and numbers.
    pub(super) fn indices(&self) -> impl Iterator<Item = PartitionIndex> + '_ {
        let image = &self.controller.image;
        let topics = image.topics.iter();
        topics.flat_map(|topic| topic.partitions.iter().copied())
    }
}
