//! What a rehearsal is worth, and the error budget.
//!
//! A win is worth [`FULL`] points, less what hints, missed requirements, a spent error budget and
//! lost time cost; a loss is worth nothing.

use serde::Serialize;

use crate::insight::ledger::Account;
use crate::insight::sentence;
use crate::sim::time::{SimSpan, SimTime};

use super::plan::Objective;

/// Points of a perfect win.
pub const FULL: u32 = 100;
/// Points that one hint costs.
pub const HINT: u32 = 5;
/// Points that one requirement costs whose time ran out.
pub const MISSED: u32 = 10;
/// Points that the whole error budget costs, and more than the whole no more.
pub const BUDGET: u32 = 20;
/// Points that mitigating at the very deadline costs.
pub const TIME: u32 = 20;

/// How much of what may go wrong went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Records that the application wanted to send.
    pub records: u64,
    /// Those that were refused, failed, lost, gone with their process, or late.
    pub bad: u64,
    /// Those that may be bad.
    pub allowed: f64,
}

impl Budget {
    /// The budget of `account`, of which `late` records were acknowledged too late.
    pub fn of(objective: Objective, account: &Account, late: u64) -> Self {
        let tally = &account.tally;
        let records = account.sent + tally.refused;
        let lost = tally.acknowledged_lost + tally.abandoned_absent;
        let bad = tally.refused + tally.failed() + lost + late;
        let share_bad = f64::from(1_000_000 - objective.share_ppm.min(1_000_000)) / 1e6;
        Self {
            records,
            bad,
            allowed: records as f64 * share_bad,
        }
    }

    /// How much of it is used: 1 is all of it.
    pub fn used(&self) -> f64 {
        if self.bad == 0 {
            return 0.0;
        }
        self.bad as f64 / self.allowed.max(f64::MIN_POSITIVE)
    }
}

/// What costs points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Hints that were asked for.
    pub hints: u32,
    /// Requirements whose time ran out.
    pub missed: u32,
    /// The error budget, where there is one.
    pub budget: Option<Budget>,
    /// From the first page to the mitigation, and to the deadline.
    pub times: Option<(SimTime, SimTime, SimTime)>,
}

/// One line of a bill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What for.
    pub what: String,
    /// Points, as a cost.
    pub points: u32,
}

/// What a win is worth, and what it cost.
pub fn of_win(costs: &Costs) -> (u32, Vec<Item>) {
    let mut bill = Vec::new();
    let mut cost = |what: String, points: u32| {
        if 0 < points {
            bill.push(Item { what, points });
        }
    };
    let counted = |count: u32, what| sentence::count(u64::from(count), what);
    cost(counted(costs.hints, "hint"), costs.hints * HINT);
    let missed = counted(costs.missed, "missed requirement");
    cost(missed, costs.missed * MISSED);
    if let Some(budget) = costs.budget {
        let used = budget.used();
        let points = (used.min(1.0) * f64::from(BUDGET)).ceil() as u32;
        cost(format!("{:.0} % of the error budget", used * 100.0), points);
    }
    if let Some((page, mitigated, deadline)) = costs.times {
        let share = |span: SimSpan| {
            let whole = deadline.since(page).as_seconds();
            if whole <= 0.0 {
                0.0
            } else {
                span.as_seconds() / whole
            }
        };
        let taken = mitigated.since(page);
        let points = (share(taken).min(1.0) * f64::from(TIME)).round() as u32;
        cost(format!("{taken} from page to mitigation"), points);
    }
    let sum: u32 = bill.iter().map(|item| item.points).sum();
    (FULL.saturating_sub(sum), bill)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::ledger::Tally;

    #[test]
    fn a_budget_counts_everything_that_a_caller_would_call_an_error() {
        let tally = Tally {
            acknowledged_present: 9_000,
            acknowledged_lost: 1,
            failed_absent: 2,
            refused: 3,
            ..Tally::default()
        };
        let objective = Objective {
            share_ppm: 999_000,
            within: SimSpan::from_seconds(2),
        };
        let budget = Budget::of(objective, &Account::new(tally, 9_997), 4);
        assert_eq!((budget.records, budget.bad), (10_000, 10));
        assert!((budget.used() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_win_is_worth_less_the_more_help_and_time_it_took() {
        let perfect = of_win(&Costs::default());
        assert_eq!(perfect, (FULL, Vec::new()));
        let page = SimTime::from_seconds(10);
        let slow = of_win(&Costs {
            hints: 2,
            missed: 1,
            times: Some((page, SimTime::from_seconds(60), SimTime::from_seconds(110))),
            ..Costs::default()
        });
        assert_eq!(slow.0, FULL - 2 * HINT - MISSED - TIME / 2);
        let hopeless = of_win(&Costs {
            hints: 40,
            ..Costs::default()
        });
        assert_eq!(hopeless.0, 0);
    }
}
