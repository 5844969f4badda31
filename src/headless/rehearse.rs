//! Rehearsals without a screen: a script instead of a person, the debrief, one exit code.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::text::escaped;
use crate::rehearsal::Verdict;
use crate::rehearsal::debrief::Debrief;
use crate::rehearsal::script::{self, Moment, ScriptLine};
use crate::report::output::Destination;
use crate::scenario::{Overrides, Scenario, Source, load};
use crate::session::{Memory, Session};
use crate::sim::time::SimTime;

use super::{Exit, complain, paint_for};

/// Bytes of a script at most.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

/// What to rehearse, and where its debrief goes.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which scenario.
    pub source: Source,
    /// For all random streams, and for the numbers that it varies.
    pub seed: Option<u64>,
    /// Commands; without a file nothing is done.
    pub script: Option<PathBuf>,
    /// Where the debrief goes as Markdown.
    pub debrief: Option<PathBuf>,
    /// What is printed.
    pub format: Format,
}

/// What a debrief is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Markdown.
    Text,
    /// JSON with sorted keys.
    Json,
}

/// A line of a script that cannot be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untypable {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub text: String,
}

impl fmt::Display for Untypable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl std::error::Error for Untypable {}

/// Rehearses by a script and writes the debrief.
pub fn run(request: &Request) -> Exit {
    match rehearse(request) {
        Ok(exit) => exit,
        Err(problem) => {
            complain(&problem.text);
            problem.exit
        }
    }
}

struct Failure {
    text: String,
    exit: Exit,
}

impl Failure {
    fn usage(text: String) -> Self {
        let exit = Exit::Usage;
        Self { text, exit }
    }

    fn unwritten(error: &crate::report::output::WriteError) -> Self {
        Self {
            text: format!("error: {error}"),
            exit: Exit::Unwritten,
        }
    }
}

fn rehearse(request: &Request) -> Result<Exit, Failure> {
    let scenario = load_rehearsal(&request.source, request.seed).map_err(Failure::usage)?;
    let lines = match &request.script {
        Some(path) => read_script(path).map_err(Failure::usage)?,
        None => Vec::new(),
    };
    let file = match &request.debrief {
        Some(path) => Some(Destination::file(path).map_err(|error| Failure::unwritten(&error))?),
        None => None,
    };
    let mut session = Session::with_memory(Arc::new(scenario), Memory::ForwardsOnly);
    play(&mut session, &lines).map_err(|problem| Failure::usage(format!("error: {problem}")))?;
    let debrief = session
        .debrief()
        .ok_or_else(|| Failure::usage("error: there is nothing to rehearse".to_owned()))?;
    let exit = exit_of(session.verdict());
    match publish(&debrief, file, request.format) {
        Exit::Held => Ok(exit),
        unwritten => Ok(unwritten),
    }
}

/// Prints a debrief, and writes it to a file where one is named.
pub fn publish(debrief: &Debrief, file: Option<Destination>, format: Format) -> Exit {
    let text = match format {
        Format::Text => debrief.markdown(),
        Format::Json => debrief.json(),
    };
    let written = file.map_or(Ok(()), |file| file.write(&debrief.markdown()));
    match written.and_then(|()| Destination::stdout().write(&text)) {
        Ok(()) => Exit::Held,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

/// Loads a scenario that can be won or lost; in words why it cannot.
pub fn load_rehearsal(source: &Source, seed: Option<u64>) -> Result<Scenario, String> {
    let overrides = Overrides {
        seed,
        vary: seed,
        ..Overrides::default()
    };
    let scenario = load(source.clone(), &overrides)
        .map_err(|problems| problems.render(paint_for(&std::io::stderr())))?;
    let is_winnable = |scenario: &Scenario| {
        let plan = scenario.plan.as_ref();
        plan.is_some_and(|plan| !plan.victory.is_empty())
    };
    if is_winnable(&scenario) {
        return Ok(scenario);
    }
    let name = escaped(&scenario.name);
    Err(format!(
        "error: `{name}` is no rehearsal: it has no [[victory]]\n\n`kdrill list` shows those under \
         `incidents`; `kdrill run {name}` runs it"
    ))
}

fn read_script(path: &Path) -> Result<Vec<ScriptLine>, String> {
    let shown = escaped(&path.display().to_string());
    let unreadable = |text: String| format!("error: {shown}: {text}");
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if SCRIPT_BYTES_MAX < size.len() {
        let text = format!("a script has at most {SCRIPT_BYTES_MAX} bytes");
        return Err(unreadable(text));
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    script::parse(&text).map_err(|problem| unreadable(problem.to_string()))
}

/// What the process answers with.
pub const fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Won { .. } => Exit::Held,
        Verdict::Lost { .. } | Verdict::UnderWay => Exit::Failed,
    }
}

/// Plays a script until the rehearsal is won or lost, or the run is over.
pub fn play(session: &mut Session, lines: &[ScriptLine]) -> Result<(), Untypable> {
    let sample = session.scenario().config.sample;
    let mut left: Vec<&ScriptLine> = lines.iter().collect();
    while session.verdict() == Verdict::UnderWay {
        let page = session
            .rehearsal()
            .and_then(|rehearsal| rehearsal.pages().first())
            .map(|page| page.fired);
        let due_at = |line: &ScriptLine| match line.when {
            Moment::At(at) => Some(at),
            Moment::AfterPage(span) => page.map(|page| page + span),
        };
        let now = session.now();
        if let Some(place) = left
            .iter()
            .position(|line| due_at(line).is_some_and(|at| at <= now))
        {
            type_line(session, left.remove(place))?;
            continue;
        }
        if session.is_over() {
            break;
        }
        let due = left.iter().filter_map(|line| due_at(line)).min();
        let next = (now + sample).min(due.unwrap_or(SimTime::NEVER));
        let _reached = session.advance_to(next, u64::MAX);
    }
    session.finish();
    Ok(())
}

/// Types one line. What a tool refuses is part of the story; what says nothing is not.
fn type_line(session: &mut Session, line: &ScriptLine) -> Result<(), Untypable> {
    match line.command.as_str() {
        "hint" => {
            let _told = session.take_hint();
        }
        "give-up" => session.give_up(),
        command => {
            let refused_before = session.deeds().len();
            let said = session.command(command);
            if let Err(problem) = said
                && session.deeds().len() == refused_before
            {
                return Err(Untypable {
                    line: line.number,
                    text: problem.to_string(),
                });
            }
        }
    }
    Ok(())
}
