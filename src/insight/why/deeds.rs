//! What the outside did, and when things changed.

use super::{Case, Cause, Link};
use crate::insight::deed;
use crate::sim::command::{BrokerFault, Command, LinkFault};
use crate::sim::config::Peer;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::time::SimTime;

impl Case<'_> {
    /// The latest command that did this, as the end of a chain.
    pub(super) fn deed(self, is_it: impl Fn(&Command) -> bool) -> Cause {
        let markers = self.insight.log().markers().iter().rev();
        let found = markers.into_iter().find_map(|marker| match &marker.fact {
            Fact::CommandApplied(command) if is_it(command) => Some((marker.last_at, command)),
            _ => None,
        });
        found.map_or(Cause::Unknown, |(at, command)| {
            Cause::Root(Link::since(at, deed::words(command, self.config())))
        })
    }

    /// What took a broker away.
    pub(super) fn deed_against(self, broker: BrokerIndex) -> Cause {
        self.deed(|command| match command {
            Command::Broker(
                other,
                BrokerFault::Kill { .. }
                | BrokerFault::Stop
                | BrokerFault::Pause
                | BrokerFault::Fence,
            ) => *other == broker,
            Command::KillCoordinator(kill) => kill.found == Some(broker),
            _ => false,
        })
    }

    /// What slowed a broker's disk down.
    pub(super) fn deed_against_disk(self, broker: BrokerIndex) -> Cause {
        self.deed(|command| {
            matches!(
                command,
                Command::Broker(other, BrokerFault::DiskRate(Some(_)) | BrokerFault::DiskFull)
                    if *other == broker
            )
        })
    }

    /// What a broker's requests became slow by.
    pub(super) fn deed_against_requests(self, broker: BrokerIndex) -> Cause {
        self.deed(|command| {
            matches!(command, Command::Broker(other, BrokerFault::Slow(_)) if *other == broker)
        })
    }

    /// What broke, or narrowed, the way between two ends.
    pub(super) fn deed_between(self, one: Peer, two: Peer) -> Cause {
        self.deed(|command| {
            let Command::Link(a, b, fault) = command else {
                return false;
            };
            let joins = |a: Peer, b: Peer| means(a, one) && means(b, two);
            !matches!(fault, LinkFault::Heal) && (joins(*a, *b) || joins(*b, *a))
        })
    }

    /// What befell a producer's process.
    pub(super) fn deed_to_process(self, producer: ProducerIndex) -> Cause {
        self.deed(|command| matches!(command, Command::Producer(other, _) if *other == producer))
    }

    /// What changed how much a producer sends, or how.
    pub(super) fn deed_to_load(self, producer: ProducerIndex) -> Cause {
        self.deed(|command| match command {
            Command::SetRate {
                producer: other, ..
            }
            | Command::SetClient {
                producer: other, ..
            } => *other == producer,
            _ => false,
        })
    }

    /// When a fact of this kind was last said.
    pub(super) fn last(self, is_it: impl Fn(&Fact) -> bool) -> Option<SimTime> {
        let entries = self.insight.log().entries().rev();
        let mut said = entries.filter(|entry| is_it(&entry.first.fact));
        said.next().map(|entry| entry.first.at)
    }
}

/// Whether a peer of a command means this end.
fn means(named: Peer, end: Peer) -> bool {
    match (named, end) {
        (Peer::Any, _) => true,
        (Peer::Group(group), Peer::Member(of, _)) => group == of,
        _ => named == end,
    }
}
