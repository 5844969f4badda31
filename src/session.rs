//! The one front door: engine, insight, journal of commands and snapshots.
//!
//! Screen, headless runs, recordings and tests drive the same [`Session`]. Its methods are of
//! three kinds: getters, [`Session::advance_to`] and its kin that let simulated time pass, and
//! [`Session::command`], which is what the outside does.
//!
//! Invariants:
//! - However time is sliced, the run is the same: samples are taken at every multiple of the
//!   sample time exactly once, after everything of that moment has happened.
//! - A run is (scenario, journal): replaying the journal's lines at their moments gives the same
//!   digest. Going back in time is exactly such a replay, from a snapshot.
//! - Nobody can look into the future: a command after going back drops the journal behind it.

mod known;
pub mod pair;
mod rehearse;
mod rewind;
mod save;
mod snapshot;

use std::sync::Arc;

use crate::command::{self, CommandProblem, Names, completed, tool};
use crate::insight::Insight;
use crate::insight::event_log::Marker;
use crate::insight::metric::Metric;
use crate::insight::sampler::TooManySeries;
use crate::insight::{deed, sampler};
use crate::rehearsal::Rehearsal;
use crate::rehearsal::typed::{Deed, DeedKind};
use crate::scenario::Scenario;
use crate::sim::command::Command;
use crate::sim::fact::{Fact, Stamped};
use crate::sim::ids::TopicIndex;
use crate::sim::time::SimTime;
use crate::sim::{Advance, Output, Progress, Simulation};

use known::Known;
use snapshot::Snapshots;

pub use save::SaveError;
pub use snapshot::BYTES_MAX as SNAPSHOT_BYTES_MAX;

/// One command, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// When it was given.
    pub at: SimTime,
    /// The line.
    pub line: String,
    /// What it means.
    pub command: Command,
}

/// Whether a session can go back in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Snapshots are kept.
    Snapshots,
    /// Nothing is kept: the run goes forwards only, and takes less memory.
    ForwardsOnly,
}

/// One run of a scenario. A clone goes its own way, and shares the kept states of the past.
#[derive(Clone, Debug)]
pub struct Session {
    scenario: Arc<Scenario>,
    names: Names,
    simulation: Simulation,
    insight: Insight,
    /// Where the scenario is one.
    rehearsal: Option<Rehearsal>,
    /// What the person did, looks too.
    deeds: Vec<Deed>,
    journal: Vec<JournalEntry>,
    /// Entries of the journal that the engine has.
    given: usize,
    /// The moment of the next sample.
    next_sample: SimTime,
    snapshots: Snapshots,
    /// What is known of the run beyond the present.
    known: Known,
    /// Figures that panes asked for, so that they are still sampled after going back.
    asked: Vec<Metric>,
    is_finished: bool,
    /// Reused for what the engine says.
    output: Output,
}

impl Session {
    /// A run of `scenario` at time zero, which can go back in time later.
    pub fn new(scenario: Arc<Scenario>) -> Self {
        Self::with_memory(scenario, Memory::Snapshots)
    }

    /// A run of `scenario` at time zero.
    pub fn with_memory(scenario: Arc<Scenario>, memory: Memory) -> Self {
        let config = Arc::clone(&scenario.config);
        let mut insight = Insight::new(&config, &Arc::from(scenario.expectations.as_slice()));
        let plan = scenario.plan.as_ref();
        let rehearsal = plan.map(|plan| Rehearsal::new(plan, &mut insight, &config));
        let mut session = Self {
            names: Names::of(&config),
            simulation: Simulation::new(config),
            insight,
            rehearsal,
            deeds: Vec::new(),
            journal: Vec::new(),
            given: 0,
            next_sample: SimTime::ZERO,
            snapshots: Snapshots::new(memory),
            known: Known::default(),
            asked: Vec::new(),
            is_finished: false,
            output: Output::default(),
            scenario,
        };
        session.keep_snapshot();
        session
    }

    // === Getters ===

    /// What is run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The engine.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What is concluded from the run so far.
    pub fn insight(&self) -> &Insight {
        &self.insight
    }

    /// Everything up to and including this moment has happened.
    pub fn now(&self) -> SimTime {
        self.simulation.now()
    }

    /// When the run ends.
    pub fn end(&self) -> SimTime {
        self.simulation.end()
    }

    /// Whether the run has come to its end.
    pub fn is_over(&self) -> bool {
        self.is_finished && self.end() <= self.now()
    }

    /// The furthest moment that this run came to; behind the present after going back.
    pub fn furthest(&self) -> SimTime {
        self.known.furthest
    }

    /// Whether the run has been further than this: until another command is given, what comes is
    /// known.
    pub fn is_past(&self) -> bool {
        self.now() < self.known.furthest
    }

    /// The moments worth a mark, as far as the run has been.
    pub fn marks(&self) -> &[Marker] {
        let marks = self.insight.log().markers();
        if self.is_past() && marks.len() < self.known.marks.len() {
            &self.known.marks
        } else {
            marks
        }
    }

    /// The next moment at which anything happens: an event, a command of the journal, the end.
    pub fn next_at(&self) -> SimTime {
        let end = self.end();
        let event = self.simulation.next_at().unwrap_or(end);
        let command = self.journal.get(self.given).map_or(end, |entry| entry.at);
        event.min(command).min(end).max(self.now())
    }

    /// The commands given so far; after going back, also those still to come again.
    pub fn journal(&self) -> &[JournalEntry] {
        &self.journal
    }

    /// The names that commands can use.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The digest over everything that happened.
    pub fn digest(&self) -> u64 {
        self.simulation.digest()
    }

    // === Time passes ===

    /// Lets time pass until `target` (at most to the end), or until about `events_max` things have
    /// happened.
    pub fn advance_to(&mut self, target: SimTime, events_max: u64) -> Advance {
        let target = target.min(self.end());
        let mut budget = events_max;
        loop {
            let advance = self.simulation.advance_to(self.next_stop(target), budget);
            let said = self.observe();
            self.known.reach(self.now());
            // A moment is never left half done, so it can be sampled even if the budget is spent.
            self.sample_if_due();
            if advance.progress == Progress::BudgetSpent {
                return advance;
            }
            if self.give_due() {
                // What the command does at this moment comes next.
                continue;
            }
            if self.end() <= self.now() {
                self.finish();
                return Advance {
                    reached: self.now(),
                    progress: Progress::Ended,
                };
            }
            if target <= self.now() {
                return Advance {
                    reached: self.now(),
                    progress: Progress::Reached,
                };
            }
            // The engine does not say how many events it took; what it said is a fair measure.
            budget = budget.saturating_sub(said + 1);
            if budget == 0 {
                return Advance {
                    reached: self.now(),
                    progress: Progress::BudgetSpent,
                };
            }
        }
    }

    /// On to the next moment at which anything happens: an event, or a command of the journal.
    pub fn step(&mut self) -> Advance {
        self.advance_to(self.next_at(), u64::MAX)
    }

    /// The run goes no further: decides the expectations that are still open.
    pub fn finish(&mut self) {
        if !self.is_finished {
            self.is_finished = true;
            self.insight.finish(&self.simulation);
            if let Some(rehearsal) = &mut self.rehearsal {
                rehearsal.finish(&self.deeds, self.simulation.now());
            }
        }
    }

    // === The outside acts ===

    /// Gives a command now; what it does, in a sentence.
    pub fn command(&mut self, line: &str) -> Result<String, CommandProblem> {
        let command = command::parse(line, &self.names)?;
        // Everything of this moment comes first, so that a replay finds the command's place.
        let _reached = self.advance_to(self.now(), u64::MAX);
        let at = self.now();
        let reply = match self.reply(&command, line) {
            Ok(reply) => reply,
            Err(problem) => {
                self.remember(line, DeedKind::Refused(problem.message.clone()));
                return Err(problem);
            }
        };
        if matches!(command, Command::Inquire(_) | Command::Follow { .. }) {
            // Looking changes nothing.
            self.remember(line, DeedKind::Looked(command));
            return Ok(reply);
        }
        if self.is_over() {
            let problem = CommandProblem::new("the run is over", 0..line.trim_end().len());
            return Err(problem.hint("go back in time and give it there: `,`, `[` or `goto -10s`"));
        }
        self.journal.truncate(self.given);
        self.snapshots.forget_after(at);
        self.deeds.retain(|deed| deed.at <= at);
        self.remember(line, DeedKind::Acted(command.clone()));
        self.known.forget_after(at);
        self.journal.push(JournalEntry {
            at,
            line: line.to_owned(),
            command,
        });
        let _given = self.give_due();
        Ok(reply)
    }

    /// Samples `metric` from now on, if it is not yet. The run does not notice.
    pub fn ask(&mut self, metric: Metric) -> Result<sampler::SeriesId, TooManySeries> {
        let id = self.insight.ask(metric, self.next_sample)?;
        if !self.asked.contains(&metric) {
            self.asked.push(metric);
        }
        Ok(id)
    }

    // === Inside ===

    /// What the outside is told: what the command does, or what Kafka's tool says.
    fn reply(&self, command: &Command, line: &str) -> Result<String, CommandProblem> {
        let simulation = &self.simulation;
        if let Some(said) = tool::outcome(command, line, simulation) {
            return said;
        }
        match command {
            Command::Inquire(inquiry) => Ok(tool::answer(inquiry, simulation)),
            Command::Follow { key, record } => {
                let told = self.insight.follow(simulation, key, *record);
                told.map_err(|text| CommandProblem::new(text, 0..line.trim_end().len()))
            }
            // These print nothing where they succeed.
            &Command::AddPartitions { topic, partitions } => simulation
                .check_growth(topic, partitions)
                .map(|()| String::new())
                .map_err(|text| tool::refusal(&text, line)),
            Command::PlacePartitions { topic, replicas } => simulation
                .check_placement(*topic, replicas)
                .map(|()| String::new())
                .map_err(|text| tool::refusal(&text, line)),
            _ => Ok(completed(command, simulation.config())
                .unwrap_or_else(|| deed::words(command, simulation.config()))),
        }
    }

    /// The names follow what the cluster has.
    fn follow_topics(&mut self) {
        let topics = 0..self.simulation.config().topics.len();
        for topic in topics.map(|place| TopicIndex(place as u16)) {
            let partitions = self.simulation.partitions_of(topic);
            self.names.set_partitions(topic, partitions);
        }
    }

    /// Hands the engine the next command of the journal, if its moment has come; whether it did.
    /// One at a time: each comes after everything else of its moment.
    fn give_due(&mut self) -> bool {
        let Some(entry) = self
            .journal
            .get(self.given)
            .filter(|entry| entry.at <= self.now())
        else {
            return false;
        };
        self.simulation.enqueue(entry.at, entry.command.clone());
        self.given += 1;
        true
    }

    /// Where the engine must stop next: a sample, a command, or the target.
    fn next_stop(&self, target: SimTime) -> SimTime {
        let command = self
            .journal
            .get(self.given)
            .map_or(SimTime::NEVER, |entry| entry.at);
        target.min(self.next_sample).min(command).max(self.now())
    }

    /// Takes what the engine said; how much that was.
    fn observe(&mut self) -> u64 {
        self.simulation.drain(&mut self.output);
        self.insight.observe(&self.output);
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.observe(&self.output);
        }
        let is_growth = |stamped: &Stamped| matches!(stamped.fact, Fact::PartitionsAdded { .. });
        if self.output.facts.iter().any(is_growth) {
            self.follow_topics();
        }
        (self.output.facts.len() + self.output.flows.len()) as u64
    }

    fn sample_if_due(&mut self) {
        if self.next_sample <= self.now() {
            self.insight.sample(&self.simulation);
            if let Some(rehearsal) = &mut self.rehearsal {
                rehearsal.sample(&self.insight, &self.deeds, &self.simulation);
            }
            let sample = self.simulation.config().sample;
            self.next_sample += sample.max(crate::sim::time::SimSpan::from_nanos(1));
            self.keep_snapshot();
        }
    }
}
