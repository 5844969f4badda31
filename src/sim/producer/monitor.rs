//! A monitoring agent beside the application, which reads all metrics now and then.
//!
//! That is part of the run: the client opens a rate's first window when somebody first reads it,
//! and throws stale samples away when somebody reads. What screens and reports read leaves no
//! trace.

use crate::sim::config::Monitor;
use crate::sim::time::{SimSpan, SimTime};

/// When the agent looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    monitor: Option<Monitor>,
    next: SimTime,
}

impl Looks {
    /// Looks of an agent, if there is one.
    pub(super) fn new(monitor: Option<Monitor>) -> Self {
        let next = monitor.map_or(SimTime::NEVER, |monitor| monitor.from);
        Self { monitor, next }
    }

    /// When it looks next.
    pub(super) fn next_at(&self) -> SimTime {
        self.next
    }

    /// It looks now, or its process is new: the next look is the first after this moment, or at it
    /// if the process is new.
    pub(super) fn go_on(&mut self, now: SimTime, from: From) {
        let Some(monitor) = self.monitor.filter(|monitor| monitor.from <= now) else {
            return;
        };
        let every = monitor.every.as_nanos().max(1);
        let past = now.since(monitor.from).as_nanos();
        let count = match from {
            From::Here => past.div_ceil(every),
            From::Later => (past / every).saturating_add(1),
        };
        self.next = monitor.from + SimSpan::from_nanos(count.saturating_mul(every));
    }
}

/// Whether the present moment counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// It does.
    Here,
    /// It does not.
    Later,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::metric_name::ProducerMetric;
    use crate::sim::testing::{Run, TRIPS, load, world};

    fn at(ms: u64) -> SimTime {
        SimTime::from_millis(ms)
    }

    fn looks() -> Looks {
        let monitor = Monitor {
            every: SimSpan::from_millis(1000),
            from: at(20),
        };
        Looks::new(Some(monitor))
    }

    #[test]
    fn without_an_agent_nobody_looks() {
        let mut looks = Looks::new(None);
        looks.go_on(at(7), From::Here);
        assert_eq!(looks.next_at(), SimTime::NEVER);
    }

    #[test]
    fn it_looks_in_even_steps_and_leaves_out_those_of_a_pause() {
        let mut looks = looks();
        assert_eq!(looks.next_at(), at(20));
        looks.go_on(at(20), From::Later);
        assert_eq!(looks.next_at(), at(1020));
        looks.go_on(at(5500), From::Later);
        assert_eq!(looks.next_at(), at(6020));
    }

    /// `bufferpool-wait-ratio` of a pool that fills after some seconds, read at 20 s.
    fn ratio_at_20_s(monitor: Option<Monitor>, slice_ms: u64) -> f64 {
        let mut config = world();
        config.link.bandwidth = Some(2_000_000);
        config.producers[0].monitor = monitor;
        config.producers[0].loads.push(load(10_000));
        let mut run = Run::new(config);
        for ms in (slice_ms..=20_000).step_by(slice_ms as usize) {
            run.to(ms);
        }
        let metric = ProducerMetric::BufferpoolWaitRatio;
        run.simulation.producer_metric(TRIPS, metric).unwrap()
    }

    #[test]
    fn a_ratio_that_is_read_from_the_start_is_divided_by_more() {
        let (unread, read) = (
            ratio_at_20_s(None, 20_000),
            ratio_at_20_s(looks().monitor, 20_000),
        );
        assert!(0.0 < read && read < 0.9 * unread, "{read} {unread}");
        let sliced = ratio_at_20_s(looks().monitor, 50);
        assert!((sliced - read).abs() < f64::EPSILON, "{sliced} {read}");
    }

    #[test]
    fn a_new_process_may_be_looked_at_when_it_starts() {
        let mut looks = looks();
        looks.go_on(at(3020), From::Here);
        assert_eq!(looks.next_at(), at(3020));
    }
}
