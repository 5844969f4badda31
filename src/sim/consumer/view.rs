//! What a consumer looks like from outside. Nothing here changes anything.

use crate::kafka::metric_name::ConsumerMetric;
use crate::sim::consumer::Consumer;
use crate::sim::consumer::application::Stage;
use crate::sim::time::SimTime;
use crate::sim::view::{AssignedView, ConsumerView, LoopState, ProcessState};

impl Consumer {
    /// Everything at once.
    pub fn view(&self, now: SimTime) -> ConsumerView {
        let until = match self.application.stage {
            Stage::Polling => LoopState::Polling,
            Stage::Processing { until } => LoopState::Processing {
                until: until.max(now),
            },
        };
        ConsumerView {
            index: self.me,
            group: self.group,
            state: self.state,
            stage: self.membership.stage,
            generation: self.membership.generation(),
            application: until,
            last_poll: self.application.last_poll,
            assigned: self.assigned_views().collect(),
            buffered_records: self.buffered.iter().map(|b| b.to - b.from).sum(),
            rate: self.micro_records_per_second.map(|rate| rate as f64 / 1e6),
            totals: self.totals,
        }
    }

    /// Partitions that it reads, in order.
    pub fn assigned_views(&self) -> impl Iterator<Item = AssignedView> {
        self.assigned.iter().map(|assigned| AssignedView {
            partition: assigned.partition,
            position: assigned.next_offset(),
        })
    }

    /// A metric as the client would report it now.
    pub fn metric(&self, metric: ConsumerMetric, now: SimTime) -> Option<f64> {
        if matches!(
            self.state,
            ProcessState::NotStarted | ProcessState::Exited | ProcessState::Closed
        ) {
            return None;
        }
        let ago = |then: SimTime| Some(now.since(then).as_seconds());
        match metric {
            ConsumerMetric::AssignedPartitions => Some(self.assigned.len() as f64),
            ConsumerMetric::LastHeartbeatSecondsAgo => ago(self.membership.last_heartbeat),
            ConsumerMetric::LastPollSecondsAgo => ago(self.application.last_poll),
            metric => self.metrics.read(metric, now),
        }
    }
}
