//! The timeline: commands with their moments.

use crate::command::{self, CommandProblem, Names, screen};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::sources::Sources;
use crate::scenario::tree::Place;
use crate::sim::command::{Command, Inquiry};
use crate::sim::time::SimTime;

use super::World;

/// The `[[timeline]]` tables in the order of time; those of one moment keep their order.
pub(super) fn timeline(
    world: &mut World<'_>,
    root: Fields<'_>,
    names: &Names,
) -> Vec<(SimTime, Command)> {
    let names = &grown(root, names);
    let mut timeline = Vec::new();
    for fields in root.tables("timeline") {
        let at = world.moment(&fields, "at");
        let Some(line) = fields.text("do") else {
            continue;
        };
        if let Some(verb) = screen::verb(line) {
            let title = format!("`{verb}` is for the screen: it moves nothing in the world");
            let problem = Problem::new(title).at(fields.place_of("do"), "");
            world.problem(problem.hint("type it at the prompt"));
            continue;
        }
        match command::parse(line, names) {
            // What this tool shows becomes an event.
            Ok(command @ Command::Inquire(Inquiry::Transactions(_))) => {
                timeline.extend(at.map(|at| (at, command)));
            }
            Ok(Command::Inquire(_) | Command::Follow { .. }) => {
                let problem = Problem::new("this command only looks, and nobody sees it here");
                let problem = problem.at(fields.place_of("do"), "");
                world.problem(problem.hint("type it at the prompt"));
            }
            Ok(command) => timeline.extend(at.map(|at| (at, command))),
            Err(problem) => {
                let problem = pointed_at(&problem, line, fields.place_of("do"), world.sources);
                world.problem(problem);
            }
        }
    }
    timeline.sort_by_key(|(at, _)| *at);
    timeline
}

/// The names with the partitions that the timeline adds: other lines may speak of them. One that
/// comes too early for its partition is refused when its moment comes.
fn grown(root: Fields<'_>, names: &Names) -> Names {
    let mut grown = names.clone();
    for fields in root.tables("timeline") {
        let command = fields.text("do").map(|line| command::parse(line, names));
        let growth = command.and_then(|command| command.ok()?.growth());
        if let Some((topic, partitions)) = growth
            && grown.partitions_of(topic) < partitions
        {
            grown.set_partitions(topic, partitions);
        }
    }
    grown
}

/// A problem of a line, with its caret at the word inside the string that holds the line.
pub(super) fn pointed_at(
    problem: &CommandProblem,
    line: &str,
    place: Place,
    sources: &Sources,
) -> Problem {
    let text = sources.text(place.source);
    let written = text.get(place.range()).unwrap_or("");
    // With escapes inside, the line is not written as it reads: underline the whole string.
    let place = match written.find(line) {
        Some(offset) if !line.is_empty() => {
            let start = place.start + offset as u32;
            let (from, to) = (problem.range.start as u32, problem.range.end as u32);
            Place {
                start: start + from,
                end: start + to,
                ..place
            }
        }
        _ => place,
    };
    let pointed = Problem::new(&problem.message).at(place, "");
    match &problem.hint {
        Some(hint) => pointed.hint(hint),
        None => pointed,
    }
}
