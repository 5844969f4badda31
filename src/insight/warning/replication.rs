//! Diagnoses about partitions that too few replicas hold up.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::sim::ids::BrokerIndex;
use crate::sim::view::PartitionView;

/// Nobody leads a partition (Kafka's `OfflinePartitionsCount`).
pub(super) struct PartitionsOffline;

impl Diagnosis for PartitionsOffline {
    fn name(&self) -> &'static str {
        "partitions-offline"
    }

    fn summary(&self) -> &'static str {
        "topics have partitions that nobody leads"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((first, more)) = concerned(subject, checkup, |p| p.leader.is_none()) else {
            return Verdict::Quiet;
        };
        let heirs = heirs(first).into_iter();
        let heirs: Vec<String> = heirs
            .map(|broker| names::broker(checkup.config(), broker))
            .collect();
        let until = match &heirs[..] {
            [] => String::new(),
            heirs => format!(" until broker {} is back", heirs.join(" or ")),
        };
        let name = names::partition(checkup.config(), first.index);
        Verdict::Raised(match more {
            0 => format!("{name} is offline: it has no leader{until}"),
            more => format!("{name} and {more} more are offline: {name} has no leader{until}"),
        })
    }
}

/// Fewer replicas are in sync than acks=all asks for (Kafka's `UnderMinIsrPartitionCount`).
pub(super) struct UnderMinIsr;

impl Diagnosis for UnderMinIsr {
    fn name(&self) -> &'static str {
        "under-min-isr"
    }

    fn summary(&self) -> &'static str {
        "topics have too few replicas in sync for acks=all"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let is_under = |p: &PartitionView| p.leader.is_some() && p.isr.len() < p.min_isr;
        let Some((first, more)) = concerned(subject, checkup, is_under) else {
            return Verdict::Quiet;
        };
        let (in_sync, needed) = (first.isr.len(), first.min_isr);
        let name = names::partition(checkup.config(), first.index);
        let who = match more {
            0 => name,
            more => format!("{name}, like {more} more,"),
        };
        Verdict::Raised(format!(
            "{who} has {in_sync} of the {needed} in-sync replicas that min.insync.replicas asks \
             for: acks=all is refused"
        ))
    }
}

/// The first partition of a topic that this holds for, and how many more there are.
fn concerned<'a>(
    subject: Subject,
    checkup: &Checkup<'a>,
    holds: impl Fn(&PartitionView) -> bool,
) -> Option<(&'a PartitionView, usize)> {
    let Subject::Topic(topic) = subject else {
        return None;
    };
    let mut found = checkup.partitions_of(topic).filter(|p| holds(p));
    let first = found.next()?;
    Some((first, found.count()))
}

/// Who may lead a partition without a leader as soon as it is back.
fn heirs(partition: &PartitionView) -> Vec<BrokerIndex> {
    let mut heirs = partition.isr.clone();
    heirs.extend(&partition.elr);
    if heirs.is_empty() {
        heirs.extend(partition.last_known_leader);
    }
    heirs
}
