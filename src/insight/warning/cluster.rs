//! Diagnoses about brokers, topics and the run as a whole.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict, bytes};
use crate::insight::names;
use crate::insight::sentence::count;
use crate::sim::fact::BrokerState;
use crate::sim::ids::BrokerIndex;
use crate::sim::time::SimSpan;
use crate::sim::view::PartitionView;

/// Share of all pools that partitions without a leader must hold.
const PINNED_SHARE: f64 = 0.25;
/// A disk that is this far behind holds up whoever waits for it.
const DISK_BEHIND: SimSpan = SimSpan::from_millis(1_000);

/// Acknowledged records are in no log.
pub(super) struct AcknowledgedLoss;

impl Diagnosis for AcknowledgedLoss {
    fn name(&self) -> &'static str {
        "acknowledged-loss"
    }

    fn summary(&self) -> &'static str {
        "losses of acknowledged records"
    }

    fn scope(&self) -> Scope {
        Scope::Run
    }

    fn check(&self, _: Subject, checkup: &Checkup<'_>) -> Verdict {
        let lost = checkup.ledger.total().acknowledged_lost;
        if lost == 0 {
            return Verdict::Quiet;
        }
        let (is, are) = if lost == 1 {
            ("was", "is")
        } else {
            ("were", "are")
        };
        Verdict::Raised(format!(
            "{} {is} acknowledged and {are} in no log",
            count(lost, "record")
        ))
    }
}

/// Batches for partitions without a live leader hold the memory that all others need.
pub(super) struct DeadLeaderPinsPool;

impl Diagnosis for DeadLeaderPinsPool {
    fn name(&self) -> &'static str {
        "dead-leader-pins-pool"
    }

    fn summary(&self) -> &'static str {
        "dead leaders pin memory"
    }

    fn scope(&self) -> Scope {
        Scope::Run
    }

    fn check(&self, _: Subject, checkup: &Checkup<'_>) -> Verdict {
        let simulation = checkup.simulation;
        let brokers = 0..checkup.config().brokers.len();
        let dead: Vec<bool> = brokers
            .map(|broker| simulation.broker(BrokerIndex(broker as u16)))
            .map(|broker| broker.state != BrokerState::Running)
            .collect();
        let is_live = |partition: &PartitionView| {
            partition
                .leader
                .is_some_and(|leader| !dead.get(leader.index()).copied().unwrap_or(false))
        };
        let pinning: Vec<&PartitionView> = checkup
            .partitions
            .iter()
            .filter(|partition| 0 < partition.queued_batches && !is_live(partition))
            .collect();
        let pinned: u64 = pinning.iter().map(|partition| partition.queued_bytes).sum();
        let pools: u64 = checkup
            .producers
            .iter()
            .map(|view| view.buffer.total_bytes)
            .sum();
        let Some(first) = pinning.first() else {
            return Verdict::Quiet;
        };
        if (pinned as f64) < PINNED_SHARE * pools as f64 {
            return Verdict::Quiet;
        }
        let name = names::partition(checkup.config(), first.index);
        let who = match pinning.len() {
            1 => format!("{name} has no live leader, and its batches hold"),
            more => format!(
                "{name} and {} more have no live leader, and their batches hold",
                more - 1
            ),
        };
        Verdict::Raised(format!(
            "{who} {} of {} of buffer.memory until delivery.timeout.ms: sends to healthy \
             partitions wait for it too",
            bytes(pinned),
            bytes(pools),
        ))
    }
}

/// A disk takes less than what comes.
pub(super) struct DiskBound;

impl Diagnosis for DiskBound {
    fn name(&self) -> &'static str {
        "disk-bound"
    }

    fn summary(&self) -> &'static str {
        "brokers are disk-bound"
    }

    fn scope(&self) -> Scope {
        Scope::Brokers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Broker(broker) = subject else {
            return Verdict::Quiet;
        };
        let view = checkup.simulation.broker(broker);
        if view.disk_backlog < DISK_BEHIND {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "broker {} is disk-bound: its disk is {:.1} s behind, and appends wait in line",
            names::broker(checkup.config(), broker),
            view.disk_backlog.as_seconds(),
        ))
    }
}
