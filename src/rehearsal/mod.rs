//! Rehearsals: alerts that page, the playbook, what has to be reached, score and debrief.
//!
//! [`Rehearsal`] is a fold over facts, samples and what the person typed. The session hands it
//! what the engine said ([`Rehearsal::observe`]) and lets it look at every sample
//! ([`Rehearsal::sample`]).
//!
//! Invariants:
//! - The engine does not notice: nothing here enters the digest of a run.
//! - Everything is decided at samples, and a deed counts at the first sample *after* its moment,
//!   so neither slicing nor a replay from a snapshot changes what is decided.
//! - A verdict never changes once it is spoken.

pub mod debrief;
pub mod plan;
pub mod score;
pub mod script;
pub mod typed;
mod watch;

use std::sync::Arc;

use crate::insight::Insight;
use crate::insight::why::{Chain, Question, why};
use crate::sim::config::Config;
use crate::sim::fact::Flow;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::{Output, Simulation};

use plan::{Plan, Requirement, StepRule, Trigger};
use typed::{Deed, DeedKind, HintId};
use watch::Watch;

/// Pages that are remembered at most.
pub const PAGES_MAX: usize = 1_000;

/// How an alert stands, as Prometheus has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlertState {
    /// Its condition does not hold, and never fired.
    #[default]
    Inactive,
    /// Its condition holds, but not for long enough yet.
    Pending {
        /// Since when it holds.
        since: SimTime,
    },
    /// It pages.
    Firing {
        /// Since when it fires.
        since: SimTime,
    },
    /// It fired, and its condition does not hold any more.
    Resolved {
        /// Since when.
        since: SimTime,
    },
}

impl AlertState {
    /// One word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Inactive => "inactive",
            Self::Pending { .. } => "pending",
            Self::Firing { .. } => "FIRING",
            Self::Resolved { .. } => "resolved",
        }
    }
}

/// One time that an alert fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Which alert, by its place in the plan.
    pub alert: usize,
    /// When it fired.
    pub fired: SimTime,
    /// When it was resolved.
    pub resolved: Option<SimTime>,
}

/// How a step of the playbook stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepState {
    /// When it was told.
    pub opened: Option<SimTime>,
    /// When what it asks for was done; at once where it asks for nothing.
    pub done: Option<SimTime>,
    /// When its time ran out.
    pub missed: Option<SimTime>,
}

/// How the rehearsal stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Undecided.
    #[default]
    UnderWay,
    /// All that had to be reached is.
    Won {
        /// Since when all of it held.
        since: SimTime,
        /// When it had held for long enough.
        at: SimTime,
    },
    /// It was not reached.
    Lost {
        /// When that was clear.
        at: SimTime,
        /// Why.
        how: Loss,
    },
}

/// How a rehearsal is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Time ran out.
    TooLate,
    /// The person gave up.
    GaveUp,
}

/// How one goal stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalState {
    /// Since when it holds.
    pub since: Option<SimTime>,
    /// Whether it has held for long enough.
    pub is_reached: bool,
    /// The last figure, or number of events.
    pub seen: Option<f64>,
}

/// A rehearsal while time passes.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    plan: Arc<Plan>,
    config: Arc<Config>,
    alerts: Vec<(Watch, AlertState)>,
    pages: Vec<Page>,
    /// For each step its trigger, its requirement, and how it stands.
    steps: Vec<(Option<Watch>, Option<Watch>, StepState)>,
    goals: Vec<Watch>,
    /// Deeds that were looked at.
    deeds_taken: usize,
    /// Records that were acknowledged later than the objective allows.
    late: u64,
    /// Where it came from, as it stood when an alert fired last: it is told in the debrief.
    chains: Vec<Chain>,
    verdict: Verdict,
    /// The last sample.
    now: SimTime,
}

impl Rehearsal {
    /// Nothing happened yet. Asks for the figures that its conditions look at.
    pub fn new(plan: &Arc<Plan>, insight: &mut Insight, config: &Arc<Config>) -> Self {
        let alerts = plan.alerts.iter();
        let alerts = alerts.map(|rule| {
            let watch = Watch::new(&rule.sustained, insight, config);
            (watch, AlertState::Inactive)
        });
        let alerts = alerts.collect();
        let steps = plan.steps.iter();
        let steps = steps.map(|step| {
            let trigger = match &step.when {
                Trigger::When(sustained) => Some(Watch::new(sustained, insight, config)),
                Trigger::At(_) => None,
            };
            let requirement = match &step.require {
                Some(Requirement::State(sustained)) => Some(Watch::new(sustained, insight, config)),
                _ => None,
            };
            (trigger, requirement, StepState::default())
        });
        let steps = steps.collect();
        let goals = plan.victory.iter();
        let goals = goals.map(|goal| Watch::new(&goal.sustained, insight, config));
        let goals = goals.collect();
        Self {
            plan: Arc::clone(plan),
            config: Arc::clone(config),
            alerts,
            pages: Vec::new(),
            steps,
            goals,
            deeds_taken: 0,
            late: 0,
            chains: Vec::new(),
            verdict: Verdict::UnderWay,
            now: SimTime::ZERO,
        }
    }

    // === What the world did ===

    /// Takes what the engine said since the last time.
    pub fn observe(&mut self, output: &Output) {
        if let Some(objective) = self.plan.objective {
            let late = output.flows.iter().filter_map(|flow| match flow {
                Flow::Acknowledged(batch) if objective.within < batch.at.since(batch.created) => {
                    Some(u64::from(batch.records))
                }
                _ => None,
            });
            self.late += late.sum::<u64>();
        }
        let plan = Arc::clone(&self.plan);
        for stamped in &output.facts {
            for ((watch, _), rule) in self.alerts.iter_mut().zip(&plan.alerts) {
                watch.observe(&rule.sustained, stamped, &self.config);
            }
            for ((trigger, requirement, _), rule) in self.steps.iter_mut().zip(&plan.steps) {
                if let (Some(watch), Trigger::When(sustained)) = (trigger, &rule.when) {
                    watch.observe(sustained, stamped, &self.config);
                }
                if let (Some(watch), Some(Requirement::State(sustained))) =
                    (requirement, &rule.require)
                {
                    watch.observe(sustained, stamped, &self.config);
                }
            }
            for (watch, goal) in self.goals.iter_mut().zip(&plan.victory) {
                watch.observe(&goal.sustained, stamped, &self.config);
            }
        }
    }

    /// Looks at the samples of `now`, and at what was typed before it.
    pub fn sample(&mut self, insight: &Insight, deeds: &[Deed], simulation: &Simulation) {
        let now = simulation.now();
        self.now = now;
        let plan = Arc::clone(&self.plan);
        let pages = self.pages.len();
        self.sample_alerts(&plan, insight, now);
        if pages < self.pages.len() && self.verdict == Verdict::UnderWay {
            self.ask_why(insight, simulation);
        }
        let firing = self.firing();
        let taken = self.deeds_taken.min(deeds.len());
        let new = deeds[taken..].iter().take_while(|deed| deed.at < now);
        let new: Vec<&Deed> = new.collect();
        self.deeds_taken = taken + new.len();
        for (state, rule) in self.steps.iter_mut().zip(&plan.steps) {
            sample_step(state, rule, (insight, &firing), (&new, now));
        }
        for (watch, goal) in self.goals.iter_mut().zip(&plan.victory) {
            watch.sample(&goal.sustained, insight, (now, &firing));
        }
        if self.verdict == Verdict::UnderWay {
            let gave_up = new.iter().find(|deed| deed.kind == DeedKind::GaveUp);
            self.verdict = match gave_up {
                Some(deed) => Verdict::Lost {
                    at: deed.at,
                    how: Loss::GaveUp,
                },
                None => self.judged(&plan, now),
            };
        }
    }

    /// The run goes no further: what is undecided is decided by how it stands.
    pub fn finish(&mut self, deeds: &[Deed], now: SimTime) {
        self.verdict = self.verdict(deeds);
        if self.verdict != Verdict::UnderWay || self.plan.victory.is_empty() {
            return;
        }
        let late = Verdict::Lost {
            at: now,
            how: Loss::TooLate,
        };
        // What nobody was paged for was prevented.
        self.verdict = match self.all_reached(now) {
            Some(since) if self.pages.is_empty() => Verdict::Won { since, at: now },
            _ => late,
        };
    }

    // === What can be read ===

    /// What is rehearsed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How it stands. Who gave up has lost, though the next sample is still to come.
    pub fn verdict(&self, deeds: &[Deed]) -> Verdict {
        self.verdict_of(deeds.iter())
    }

    fn verdict_of<'a>(&self, deeds: impl Iterator<Item = &'a Deed>) -> Verdict {
        let mut deeds = deeds;
        let gave_up = deeds.find(|deed| deed.kind == DeedKind::GaveUp);
        match (self.verdict, gave_up) {
            (Verdict::UnderWay, Some(deed)) => Verdict::Lost {
                at: deed.at,
                how: Loss::GaveUp,
            },
            (verdict, _) => verdict,
        }
    }

    /// How an alert stands, by its place in the plan.
    pub fn alert(&self, place: usize) -> AlertState {
        self.alerts
            .get(place)
            .map_or(AlertState::Inactive, |(_, state)| *state)
    }

    /// The last figure that an alert looked at.
    pub fn alert_seen(&self, place: usize) -> Option<f64> {
        self.alerts.get(place).and_then(|(watch, _)| watch.seen())
    }

    /// The times that alerts fired, oldest first.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// How a step stands, by its place in the plan.
    pub fn step(&self, place: usize) -> StepState {
        self.steps
            .get(place)
            .map_or_else(StepState::default, |(_, _, state)| *state)
    }

    /// How a goal stands, by its place in the plan.
    pub fn goal(&self, place: usize) -> Option<GoalState> {
        let (watch, goal) = (self.goals.get(place)?, self.plan.victory.get(place)?);
        Some(GoalState {
            since: watch.since(),
            is_reached: watch.holds(goal.sustained.hold, self.now),
            seen: watch.seen(),
        })
    }

    /// Records that were acknowledged later than the objective allows.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// When the rehearsal is lost, at the latest.
    pub fn deadline(&self) -> SimTime {
        let end = SimTime::ZERO + self.config.duration;
        self.plan.deadline.unwrap_or(end).min(end)
    }

    /// How long a step's requirement may still take.
    pub fn time_left(&self, place: usize) -> Option<SimSpan> {
        let state = self.step(place);
        let (opened, before) = (state.opened?, self.plan.steps.get(place)?.before?);
        let is_open = state.done.is_none() && state.missed.is_none();
        is_open.then(|| (opened + before).since(self.now))
    }

    /// The next hint that can be had: of the first step that is open, or failing that of the last
    /// ones that were opened.
    pub fn next_hint(&self, deeds: &[Deed]) -> Option<(HintId, &str)> {
        let is_taken = |id: HintId| deeds.iter().any(|deed| deed.kind == DeedKind::Hint(id));
        let steps = self.plan.steps.iter().enumerate();
        let mut opened = steps.filter(|(place, _)| self.step(*place).opened.is_some());
        opened.find_map(|(step, rule)| {
            let mut hints = rule.hints.iter().enumerate();
            hints.find_map(|(hint, text)| {
                let id = HintId { step, hint };
                (!is_taken(id)).then_some((id, text.as_str()))
            })
        })
    }

    /// How many hints are still to be had now.
    pub fn hints_left(&self, deeds: &[Deed]) -> usize {
        let steps = self.plan.steps.iter().enumerate();
        let opened = steps.filter(|(place, _)| self.step(*place).opened.is_some());
        let all: usize = opened.map(|(_, rule)| rule.hints.len()).sum();
        let is_hint = |deed: &&Deed| matches!(deed.kind, DeedKind::Hint(_));
        all.saturating_sub(deeds.iter().filter(is_hint).count())
    }

    /// From what was seen when an alert fired last to where it came from.
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    // === Inside ===

    fn ask_why(&mut self, insight: &Insight, simulation: &Simulation) {
        const QUESTIONS: [Question; 4] = [
            Question::Warnings,
            Question::Partitions,
            Question::Transactions,
            Question::Cluster,
        ];
        let mut answers = QUESTIONS
            .iter()
            .map(|asked| why(*asked, simulation, insight));
        if let Some(chains) = answers.find(|chains| !chains.is_empty()) {
            self.chains = chains;
        }
    }

    fn firing(&self) -> Vec<bool> {
        let states = self.alerts.iter();
        states
            .map(|(_, state)| matches!(state, AlertState::Firing { .. }))
            .collect()
    }

    fn sample_alerts(&mut self, plan: &Plan, insight: &Insight, now: SimTime) {
        for (place, ((watch, state), rule)) in self.alerts.iter_mut().zip(&plan.alerts).enumerate()
        {
            // An alert looks at figures and events, not at other alerts.
            watch.sample(&rule.sustained, insight, (now, &[]));
            let fires = watch.holds(rule.sustained.hold, now);
            *state = match (*state, watch.since()) {
                (AlertState::Firing { since }, Some(_)) => AlertState::Firing { since },
                (AlertState::Firing { .. }, None) => {
                    let mut pages = self.pages.iter_mut().rev();
                    if let Some(page) = pages.find(|page| page.alert == place) {
                        page.resolved = Some(now);
                    }
                    AlertState::Resolved { since: now }
                }
                (_, Some(_)) if fires => {
                    if self.pages.len() < PAGES_MAX {
                        self.pages.push(Page {
                            alert: place,
                            fired: now,
                            resolved: None,
                        });
                    }
                    AlertState::Firing { since: now }
                }
                (_, Some(since)) => AlertState::Pending { since },
                (AlertState::Resolved { since }, None) => AlertState::Resolved { since },
                (_, None) if self.pages.iter().any(|page| page.alert == place) => {
                    AlertState::Resolved { since: now }
                }
                (_, None) => AlertState::Inactive,
            };
        }
    }

    /// Since when everything holds, if all of it has held for long enough. What held before the
    /// first page says nothing, so the time that something has to hold begins there.
    fn all_reached(&self, now: SimTime) -> Option<SimTime> {
        let page = self.pages.first().map(|page| page.fired);
        let from = page.unwrap_or(self.plan.begins);
        let goals = self.goals.iter().zip(&self.plan.victory);
        let mut all_since = from;
        for (watch, goal) in goals {
            let since = watch.since()?.max(from);
            if now.since(since) < goal.sustained.hold {
                return None;
            }
            all_since = all_since.max(since);
        }
        Some(all_since)
    }

    fn judged(&self, plan: &Plan, now: SimTime) -> Verdict {
        if plan.victory.is_empty() || now < plan.begins {
            return Verdict::UnderWay;
        }
        let first_page = self.pages.first().map(|page| page.fired);
        let can_be_won = first_page.is_some() || plan.alerts.is_empty();
        let reached = can_be_won.then(|| self.all_reached(now)).flatten();
        match reached {
            Some(since) => Verdict::Won { since, at: now },
            None if self.deadline() <= now && first_page.is_some() => Verdict::Lost {
                at: now,
                how: Loss::TooLate,
            },
            None => Verdict::UnderWay,
        }
    }
}

/// Lets one step open, be done, or be missed.
fn sample_step(
    (trigger, requirement, state): &mut (Option<Watch>, Option<Watch>, StepState),
    rule: &StepRule,
    (insight, firing): (&Insight, &[bool]),
    (deeds, now): (&[&Deed], SimTime),
) {
    if let (Some(watch), Trigger::When(sustained)) = (trigger.as_mut(), &rule.when) {
        watch.sample(sustained, insight, (now, firing));
    }
    if let (Some(watch), Some(Requirement::State(sustained))) =
        (requirement.as_mut(), &rule.require)
    {
        watch.sample(sustained, insight, (now, firing));
    }
    let before = state.opened;
    if state.opened.is_none() {
        let opens = match (&rule.when, trigger.as_ref()) {
            (Trigger::At(at), _) => *at <= now,
            (Trigger::When(sustained), Some(watch)) => watch.holds(sustained.hold, now),
            (Trigger::When(_), None) => false,
        };
        state.opened = opens.then_some(now);
    }
    let Some(opened) = state.opened.filter(|_| state.done.is_none()) else {
        return;
    };
    state.done = match (&rule.require, requirement.as_ref()) {
        (None, _) => Some(opened),
        (Some(Requirement::Commands(commands, _)), _) => deeds
            .iter()
            .find(|deed| {
                let command = deed.kind.command();
                command.is_some_and(|command| commands.contains(command))
            })
            .map(|deed| deed.at),
        (Some(Requirement::State(sustained)), Some(watch)) => {
            // It has to come to hold once the step is open.
            (before.is_some() && watch.holds(sustained.hold, now)).then_some(now)
        }
        (Some(Requirement::State(_)), None) => None,
    };
    let is_late = rule.before.is_some_and(|before| before < now.since(opened));
    if state.missed.is_none() && is_late && state.done.is_none() {
        state.missed = Some(now);
    }
}
