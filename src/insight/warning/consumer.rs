//! Diagnoses about consumer groups.

use super::group_evidence::GroupEvidence;
use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::sim::view::{GroupState, GroupView};

/// Seconds over which unread records must grow without a break.
const GROWS_SECONDS: usize = 10;
/// Share of what arrived in that time that must be left over, in per cent.
const GROWS_SHARE_PERCENT: u64 = 5;
/// Records that must be left over at least: what one `poll()` may return comes and goes.
const GROWS_RECORDS: u64 = 1_000;
/// Seconds that a group may take to agree.
const STALLED_SECONDS: u64 = 10;

/// The group that `subject` is, with its name.
fn group<'a>(
    subject: Subject,
    checkup: &Checkup<'a>,
) -> Option<(&'a GroupView, &'a GroupEvidence, &'a str)> {
    let Subject::Group(index) = subject else {
        return None;
    };
    let view = checkup.groups.get(index.index())?;
    let evidence = checkup.evidence.of_group(index)?;
    Some((view, evidence, names::group(checkup.config(), index)))
}

/// The group reads less than is written.
pub(super) struct LagGrows;

impl Diagnosis for LagGrows {
    fn name(&self) -> &'static str {
        "lag-grows"
    }

    fn summary(&self) -> &'static str {
        "consumer groups fall behind"
    }

    fn scope(&self) -> Scope {
        Scope::Groups
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((_, evidence, name)) = group(subject, checkup) else {
            return Verdict::Quiet;
        };
        let Some((first, last)) = evidence.over(GROWS_SECONDS) else {
            return Verdict::Unsure;
        };
        let grown = last.unread.saturating_sub(first.unread);
        let arrived = last.written.saturating_sub(first.written);
        let enough = (arrived * GROWS_SHARE_PERCENT / 100).max(GROWS_RECORDS.min(arrived / 2));
        if grown == 0 || grown < enough || !evidence.grew_every_second(GROWS_SECONDS) {
            return Verdict::Quiet;
        }
        let seconds = GROWS_SECONDS as u64;
        Verdict::Raised(format!(
            "group {name} falls behind: {} records/s are written and {} read, {} are unread",
            arrived / seconds,
            arrived.saturating_sub(grown) / seconds,
            last.unread,
        ))
    }
}

/// Some members have nothing to do, whatever happens.
pub(super) struct MoreMembersThanPartitions;

impl Diagnosis for MoreMembersThanPartitions {
    fn name(&self) -> &'static str {
        "more-members-than-partitions"
    }

    fn summary(&self) -> &'static str {
        "consumer groups have idle members"
    }

    fn scope(&self) -> Scope {
        Scope::Groups
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, _, name)) = group(subject, checkup) else {
            return Verdict::Quiet;
        };
        if view.state != GroupState::Stable {
            return Verdict::Unsure;
        }
        if view.idle == 0 {
            return Verdict::Quiet;
        }
        let (are, they) = if view.idle == 1 {
            ("is", "it takes")
        } else {
            ("are", "they take")
        };
        Verdict::Raised(format!(
            "group {name} has {} members for {} partitions: {} {are} idle, and {they} over only \
             when another leaves",
            view.members,
            view.partitions.len(),
            view.idle,
        ))
    }
}

/// A rebalance waits for somebody who does not come, and meanwhile nobody reads.
pub(super) struct RebalanceStalls;

impl Diagnosis for RebalanceStalls {
    fn name(&self) -> &'static str {
        "rebalance-stalls"
    }

    fn summary(&self) -> &'static str {
        "consumer groups wait for a member"
    }

    fn scope(&self) -> Scope {
        Scope::Groups
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Some((view, evidence, name)) = group(subject, checkup) else {
            return Verdict::Quiet;
        };
        if evidence.unstable_seconds < STALLED_SECONDS {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "group {name} has been rebalancing for {} s ({}): members that have joined read \
             nothing until the others join or time out",
            evidence.unstable_seconds,
            view.state.name(),
        ))
    }
}
