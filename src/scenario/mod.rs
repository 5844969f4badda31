//! Scenario files: from TOML to a validated [`Scenario`], or to all their problems at once.
//!
//! [`load`] reads a text and those it refers to, parses them into trees that know
//! their places, merges what they extend, applies overrides, checks the shape against the
//! declarative field tables, and lowers the result to [`Config`] and expectations. Invariants: a
//! `Scenario` exists only if it is consistent; no text makes this module panic; nothing of a text
//! reaches a terminal unescaped.

mod check;
pub mod continued;
mod extend;
mod fields;
mod instant;
pub mod library;
mod lower;
mod parse;
mod problem;
mod properties;
mod read;
mod reference;
mod render;
mod schema;
mod secrets;
mod set;
mod shape;
mod sources;
#[cfg(test)]
mod tests;
mod tree;
mod vary;

use std::path::PathBuf;
use std::sync::Arc;

use crate::command::Names;
use crate::insight::expectation::Expectation;
use crate::rehearsal::plan::Plan;
use crate::sim::config::{Config, DURATION_MAX};
use crate::sim::time::SimSpan;

pub use check::{Checked, Verdict, check};
pub use extend::EXTENDS_DEPTH_MAX;
pub use lower::{LOAD_ENTRIES_MAX, SAMPLE_MIN};
pub use problem::{PROBLEMS_MAX, Paint, Position, Problem, Problems};
pub use reference::reference;
pub use schema::schema;
pub use sources::{FILE_BYTES_MAX, Source};

use fields::ROOT;
use problem::Findings;
use read::Fields;
use shape::{Completeness, Shape};
use sources::{Location, Sources};
use tree::Place;

/// What a command line changes about a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Another seed (`--seed`).
    pub seed: Option<u64>,
    /// Another end of the run (`--until`), before or after the scenario's own.
    pub until: Option<SimSpan>,
    /// `path=value`, in order (`--set`).
    pub set: Vec<String>,
    /// Draws the numbers that a rehearsal varies (`[rehearsal] vary`) by this seed.
    pub vary: Option<u64>,
}

/// How much Kafka it takes to follow a scenario (`[scenario] level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// None.
    Beginner,
    /// Some.
    Intermediate,
    /// Much.
    Advanced,
}

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: the file's stem, or that of the library.
    pub name: String,
    /// A few words.
    pub title: String,
    /// The question that it answers: the leading comment of its file, or of the one it extends.
    pub question: String,
    /// What there is to see; may be empty.
    pub description: String,
    /// How much Kafka it takes to follow.
    pub level: Option<Level>,
    /// What the engine runs.
    pub config: Arc<Config>,
    /// What must hold, in the order of the file.
    pub expectations: Vec<Expectation>,
    /// What makes it a rehearsal, if anything does.
    pub plan: Option<Arc<Plan>>,
    /// What is worth knowing: settings that silently change, keys without effect.
    pub notes: Vec<Note>,
    /// The file's own text, without those that it refers to.
    pub text: String,
    /// The file; `None` for the library and for texts that were handed over.
    pub path: Option<PathBuf>,
    /// What it was loaded from, and what the command line changed about it.
    pub origin: Origin,
}

/// Where a scenario came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What was named.
    pub source: Source,
    /// What the command line changed about it.
    pub overrides: Overrides,
}

/// Something worth knowing about a scenario that is not wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// In one line.
    pub text: String,
    /// Where it stands, if anywhere.
    pub position: Option<Position>,
    /// With carets, as a terminal shows it (no colours).
    pub rendered: String,
}

impl Scenario {
    /// The names that commands use in this scenario.
    pub fn names(&self) -> Names {
        Names::of(&self.config)
    }
}

/// Loads a scenario, or says everything that is wrong with it.
pub fn load(source: Source, overrides: &Overrides) -> Result<Scenario, Problems> {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let scenario = read(source, overrides, &mut sources, &mut findings);
    let sources = Arc::new(sources);
    let notes = findings.finish(&sources)?;
    let mut scenario = scenario.ok_or_else(|| Problems::unexplained(&sources))?;
    scenario.notes = notes
        .iter()
        .map(|note| Note {
            text: note.title().to_owned(),
            position: note.marks.first().map(|mark| sources.position(mark.place)),
            rendered: render::note(note, &sources, Paint::Plain),
        })
        .collect();
    Ok(scenario)
}

fn read(
    source: Source,
    overrides: &Overrides,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Scenario> {
    if overrides
        .until
        .is_some_and(|until| until > DURATION_MAX || until == SimSpan::ZERO)
    {
        let days = DURATION_MAX.as_seconds() / 86_400.0;
        findings.problem(Problem::new(format!(
            "--until must be above 0 and at most {days} days"
        )));
    }
    let origin = Origin {
        source: source.clone(),
        overrides: overrides.clone(),
    };
    let main = match sources.open(source) {
        Ok(main) => main,
        Err(problem) => {
            findings.problem(problem);
            return None;
        }
    };
    let mut whole = extend::read(sources, main, findings);
    vary::apply(&mut whole.table, overrides.vary, findings);
    for set in &overrides.set {
        set::apply(&mut whole.table, set, sources, findings);
    }
    let place = Place::new(main, &(0..0));
    if !whole.torn.is_empty() {
        shape_of_torn(&whole, place, sources, findings);
        return None;
    }
    Shape {
        findings,
        completeness: Completeness::Whole,
    }
    .table(&ROOT, &whole.table, place);
    let root = Fields {
        spec: &ROOT,
        table: &whole.table,
        place,
    };
    let lowered = lower::lower(root, overrides, (sources, main), findings)?;
    let scenario = root.table("scenario")?;
    Some(Scenario {
        name: name(sources, main),
        title: scenario.text("title")?.to_owned(),
        question: question(sources),
        description: scenario.text("description").unwrap_or("").trim().to_owned(),
        level: match scenario.text("level") {
            Some("beginner") => Some(Level::Beginner),
            Some("intermediate") => Some(Level::Intermediate),
            Some("advanced") => Some(Level::Advanced),
            _ => None,
        },
        config: Arc::new(lowered.config),
        expectations: lowered.expectations,
        plan: lowered.plan.map(Arc::new),
        notes: Vec::new(),
        text: sources.text(main).to_owned(),
        path: match sources.location(main) {
            Location::File(path) => Some(path),
            Location::Library(_) | Location::Given => None,
        },
        origin,
    })
}

/// What can still be said about a text that is not whole: not about the lines at fault.
fn shape_of_torn(whole: &extend::Whole, place: Place, sources: &Sources, findings: &mut Findings) {
    let mut rest = Findings::default();
    let mut shape = Shape {
        findings: &mut rest,
        completeness: Completeness::Torn,
    };
    shape.table(&ROOT, &whole.table, place);
    let line = |place: Place| {
        (
            place.source,
            parse::line_of(sources.text(place.source), place),
        )
    };
    let torn: Vec<_> = whole.torn.iter().map(|place| line(*place)).collect();
    for problem in rest.into_problems() {
        let is_torn = problem
            .marks
            .iter()
            .any(|mark| torn.contains(&line(mark.place)));
        if !is_torn {
            findings.problem(problem);
        }
    }
}

fn name(sources: &Sources, main: tree::SourceId) -> String {
    let path = sources.path(main);
    let file = path.rsplit_once(['/', '\\']).map_or(path, |(_, file)| file);
    file.strip_suffix(".toml").unwrap_or(file).to_owned()
}

/// The leading comment of the first file in a chain of `extends` that has one.
fn question(sources: &Sources) -> String {
    sources
        .texts()
        .map(parse::question)
        .find(|question| !question.is_empty())
        .unwrap_or_default()
}
