//! What a rehearsal came to: times, deeds, damage, score, cause and reference solution.

mod text;

use serde::Serialize;

use crate::insight::Insight;
use crate::insight::deed;
use crate::insight::ledger::Account;
use crate::insight::why::Chain;
use crate::sim::Simulation;
use crate::sim::time::SimTime;

use super::plan::Requirement;
use super::score::{self, Budget, Costs, Item};
use super::typed::{Deed, DeedKind};
use super::{Loss, Rehearsal, Verdict};

/// What a rehearsal came to. Times are simulated seconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Debrief {
    /// Version of this form.
    pub format: u32,
    /// The scenario's name.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// Its seed.
    pub seed: u64,
    /// `won`, `lost`, or `under way`.
    pub verdict: &'static str,
    /// In a sentence.
    pub verdict_text: String,
    /// Points, of 100.
    pub score: u32,
    /// What cost points.
    pub costs: Vec<Item>,
    /// Times of what matters.
    pub times: Times,
    /// Every time that an alert fired.
    pub pages: Vec<PageLine>,
    /// What was typed, looks too.
    pub deeds: Vec<DeedLine>,
    /// What playbook steps asked for.
    pub requirements: Vec<RequirementLine>,
    /// What had to be reached.
    pub goals: Vec<GoalLine>,
    /// What became of the records.
    pub records: Records,
    /// The error budget, where there is one.
    pub budget: Option<Budget>,
    /// What the scenario did, with its times.
    pub faults: Vec<Moment>,
    /// What the warnings said, with the time of the first.
    pub warnings: Vec<Moment>,
    /// From what was seen when an alert fired last, first, to where it came from, last.
    pub chains: Vec<Vec<String>>,
    /// What really happened, in words.
    pub cause: String,
    /// Commands that win.
    pub solution: Vec<String>,
    /// What is usually tried, and does not help.
    pub trap: Vec<String>,
}

/// Times of what matters, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// When it could begin to go wrong.
    pub begins: f64,
    /// When the first alert fired.
    pub page: Option<f64>,
    /// The first thing that was typed after the first page.
    pub detect: Option<f64>,
    /// When everything that had to be reached began to hold.
    pub mitigate: Option<f64>,
    /// When it was decided.
    pub decided: Option<f64>,
    /// When it would have been lost.
    pub deadline: f64,
}

/// One time that an alert fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageLine {
    /// Which alert.
    pub alert: String,
    /// When it fired.
    pub fired: f64,
    /// When it was resolved.
    pub resolved: Option<f64>,
}

/// One thing that was typed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeedLine {
    /// When.
    pub at: f64,
    /// `acted`, `looked`, `refused`, `hint` …
    pub kind: &'static str,
    /// As it was typed.
    pub line: String,
}

/// What a step asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequirementLine {
    /// In words.
    pub what: String,
    /// When it was asked for.
    pub opened: Option<f64>,
    /// When it was done.
    pub done: Option<f64>,
    /// Whether its time ran out before.
    pub is_missed: bool,
}

/// What had to be reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalLine {
    /// Its name.
    pub name: String,
    /// Whether it is.
    pub is_reached: bool,
    /// The last figure, or number of events.
    pub seen: Option<f64>,
}

/// What became of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Records {
    /// Taken by the clients.
    pub sent: u64,
    /// Acknowledged.
    pub acknowledged: u64,
    /// Acknowledged, and in no log.
    pub lost: u64,
    /// Gone with their process, and in no log.
    pub abandoned: u64,
    /// In a log more than once.
    pub duplicated: u64,
    /// Acknowledged later than the objective allows.
    pub delayed: u64,
    /// Refused by `send()` and given up.
    pub refused: u64,
    /// Failed in their callback.
    pub failed: u64,
    /// Behind a later record.
    pub reordered: u64,
    /// Neither acknowledged nor failed yet.
    pub under_way: u64,
}

/// Something with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// When.
    pub at: f64,
    /// What.
    pub text: String,
}

impl Debrief {
    /// What `rehearsal` came to so far. `name` and `title` are the scenario's.
    pub fn of(
        (name, title): (&str, &str),
        (rehearsal, deeds): (&Rehearsal, &[Deed]),
        insight: &Insight,
        simulation: &Simulation,
    ) -> Self {
        let now = simulation.now();
        let deeds: Vec<&Deed> = deeds.iter().filter(|deed| deed.at <= now).collect();
        let verdict = rehearsal.verdict_of(deeds.iter().copied());
        let account = insight.account(simulation);
        let plan = rehearsal.plan();
        let late = rehearsal.late();
        let budget = plan
            .objective
            .map(|objective| Budget::of(objective, &account, late));
        let times = times(rehearsal, &deeds, verdict);
        let (score, costs) = score(rehearsal, &deeds, verdict, budget);
        let config = simulation.config();
        Self {
            format: 1,
            scenario: name.to_owned(),
            title: title.to_owned(),
            seed: config.seed,
            verdict: match verdict {
                Verdict::Won { .. } => "won",
                Verdict::Lost { .. } => "lost",
                Verdict::UnderWay => "under way",
            },
            verdict_text: verdict_text(verdict),
            score,
            costs,
            times,
            pages: pages(rehearsal),
            deeds: deeds.iter().map(|deed| line_of(deed)).collect(),
            requirements: requirements(rehearsal),
            goals: goals(rehearsal),
            records: records(&account, late),
            budget,
            faults: config
                .timeline
                .iter()
                .filter(|(at, _)| *at <= now)
                .map(|(at, command)| Moment {
                    at: at.as_seconds(),
                    text: deed::words(command, config),
                })
                .collect(),
            warnings: insight
                .warnings()
                .all()
                .iter()
                .map(|warning| Moment {
                    at: warning.first.as_seconds(),
                    text: warning.text.clone(),
                })
                .collect(),
            chains: rehearsal.chains().iter().map(told).collect(),
            cause: plan.cause.trim().to_owned(),
            solution: plan.solution.iter().map(ToString::to_string).collect(),
            trap: plan.trap.iter().map(ToString::to_string).collect(),
        }
    }

    /// As JSON with sorted keys.
    pub fn json(&self) -> String {
        // A value's maps are sorted; a derived form has nothing that cannot be written.
        let value = serde_json::to_value(self).unwrap_or_default();
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }

    /// As Markdown, for people.
    pub fn markdown(&self) -> String {
        text::markdown(self)
    }
}

/// The links of a chain in words.
fn told(chain: &Chain) -> Vec<String> {
    let words = chain.iter().map(|link| match link.at {
        Some(at) => format!("{} ({:.1} s)", link.text, at.as_seconds()),
        None => link.text.clone(),
    });
    words.collect()
}

fn verdict_text(verdict: Verdict) -> String {
    match verdict {
        Verdict::Won { since, at } => {
            format!("Won: everything held from {since} on, and was confirmed at {at}.")
        }
        Verdict::Lost {
            at,
            how: Loss::TooLate,
        } => format!("Lost: the time was up at {at}."),
        Verdict::Lost {
            at,
            how: Loss::GaveUp,
        } => format!("Lost: given up at {at}."),
        Verdict::UnderWay => "Not decided yet.".to_owned(),
    }
}

fn times(rehearsal: &Rehearsal, deeds: &[&Deed], verdict: Verdict) -> Times {
    let page = rehearsal.pages().first().map(|page| page.fired);
    let detect = page.and_then(|page| {
        let mut after = deeds.iter().filter(|deed| page <= deed.at);
        after.find(|deed| deed.kind.is_detection())
    });
    let seconds = |time: SimTime| time.as_seconds();
    Times {
        begins: seconds(rehearsal.plan().begins),
        page: page.map(seconds),
        detect: detect.map(|deed| seconds(deed.at)),
        mitigate: match verdict {
            Verdict::Won { since, .. } => Some(seconds(since)),
            _ => None,
        },
        decided: match verdict {
            Verdict::Won { at, .. } | Verdict::Lost { at, .. } => Some(seconds(at)),
            Verdict::UnderWay => None,
        },
        deadline: seconds(rehearsal.deadline()),
    }
}

fn score(
    rehearsal: &Rehearsal,
    deeds: &[&Deed],
    verdict: Verdict,
    budget: Option<Budget>,
) -> (u32, Vec<Item>) {
    let Verdict::Won { since, .. } = verdict else {
        return (0, Vec::new());
    };
    let is_hint = |deed: &&&Deed| matches!(deed.kind, DeedKind::Hint(_));
    let steps = 0..rehearsal.plan().steps.len();
    let missed = steps.filter(|place| rehearsal.step(*place).missed.is_some());
    let page = rehearsal.pages().first().map(|page| page.fired);
    score::of_win(&Costs {
        hints: deeds.iter().filter(is_hint).count() as u32,
        missed: missed.count() as u32,
        budget,
        times: page.map(|page| (page, since, rehearsal.deadline())),
    })
}

fn line_of(deed: &Deed) -> DeedLine {
    DeedLine {
        at: deed.at.as_seconds(),
        kind: deed.kind.word(),
        line: deed.line.clone(),
    }
}

fn pages(rehearsal: &Rehearsal) -> Vec<PageLine> {
    let lines = rehearsal.pages().iter().map(|page| PageLine {
        alert: rehearsal.plan().alerts[page.alert].name.clone(),
        fired: page.fired.as_seconds(),
        resolved: page.resolved.map(SimTime::as_seconds),
    });
    lines.collect()
}

fn requirements(rehearsal: &Rehearsal) -> Vec<RequirementLine> {
    let steps = rehearsal.plan().steps.iter().enumerate();
    let asked = steps.filter_map(|(place, rule)| {
        let state = rehearsal.step(place);
        let requirement: &Requirement = rule.require.as_ref()?;
        Some(RequirementLine {
            what: requirement.words().to_owned(),
            opened: state.opened.map(SimTime::as_seconds),
            done: state.done.map(SimTime::as_seconds),
            is_missed: state.missed.is_some(),
        })
    });
    asked.collect()
}

fn goals(rehearsal: &Rehearsal) -> Vec<GoalLine> {
    let goals = rehearsal.plan().victory.iter().enumerate();
    let lines = goals.filter_map(|(place, goal)| {
        let state = rehearsal.goal(place)?;
        Some(GoalLine {
            name: goal.name.clone(),
            is_reached: state.is_reached,
            seen: state.seen,
        })
    });
    lines.collect()
}

fn records(account: &Account, late: u64) -> Records {
    let tally = &account.tally;
    Records {
        sent: account.sent,
        acknowledged: tally.acknowledged(),
        lost: tally.acknowledged_lost,
        abandoned: tally.abandoned_absent,
        duplicated: tally.duplicated,
        delayed: late,
        refused: tally.refused,
        failed: tally.failed(),
        reordered: tally.reordered,
        under_way: account.under_way,
    }
}
