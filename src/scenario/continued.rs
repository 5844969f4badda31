//! A scenario and what was typed in its run, written as a scenario that gives the same run again.
//!
//! It `extends` the original where it can, and repeats its text where it cannot. Its timeline takes
//! the original's place, so it says both: the original's commands and those that were typed, each
//! at its exact moment. Commands of one moment keep their order: the file's come first, as they
//! did, and what was typed comes after everything else of its moment, as all commands do.
//!
//! Invariant: nothing is taken on trust. [`is_same`] says whether a text that was read back means
//! the same run; a text that does not is no continuation.

use std::path::{Component, Path, PathBuf};

use crate::command::render;
use crate::command::text::append;
use crate::sim::command::Command;
use crate::sim::config::Config;
use crate::sim::time::{NANOS_PER_SECOND, SimTime};

use super::{Scenario, Source, library};

/// A command that was typed: when, what, and its meaning.
pub type Typed<'a> = (SimTime, &'a str, &'a Command);

/// Texts that may give the run again when they become the file `path`, the best one first.
pub fn texts(scenario: &Scenario, typed: &[Typed<'_>], path: &Path) -> Vec<String> {
    let folder = folder_of(path);
    // In its folder a name means the file of that name, and nothing extends itself.
    let is_itself = |parent: &String| {
        [parent.clone(), format!("{parent}.toml")]
            .iter()
            .any(|name| folder.join(name) == folder.join(path.file_name().unwrap_or_default()))
    };
    let mut texts = Vec::new();
    let timeline = Timeline::of(scenario, typed);
    let mut parents = parents(&scenario.origin.source, folder);
    parents.retain(|parent| !is_itself(parent));
    for parent in parents {
        texts.push(extending(scenario, &parent, &timeline, Expected::Inherited));
        texts.push(extending(scenario, &parent, &timeline, Expected::Nothing));
    }
    // Where the text has a timeline of its own, only what was typed is added.
    texts.push(whole(scenario, &timeline.typed));
    texts.push(whole(scenario, &timeline.all()));
    texts
}

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    parent
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Whether `read` is the run of `scenario` with what was typed in it.
pub fn is_same(read: &Scenario, scenario: &Scenario, typed: &[Typed<'_>]) -> bool {
    let mut wanted = essence(&scenario.config);
    let typed = typed
        .iter()
        .map(|(at, _, command)| (*at, (*command).clone()));
    wanted.timeline.extend(typed);
    wanted.timeline.sort_by_key(|(at, _)| *at);
    // What comes after the end never happens.
    let end = SimTime::ZERO + wanted.duration;
    let mut read = essence(&read.config);
    for config in [&mut wanted, &mut read] {
        config.timeline.retain(|(at, _)| *at <= end);
    }
    read == wanted
}

/// The configuration without what is only remembered to save time.
fn essence(config: &Config) -> Config {
    let mut config = config.clone();
    for producer in &mut config.producers {
        producer.curves = [].into();
    }
    config
}

/// What becomes of the original's expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// They hold here too.
    Inherited,
    /// The run ends before some of them: none is left.
    Nothing,
}

/// The original's timeline and what was typed, as tables.
struct Timeline {
    original: String,
    typed: String,
}

impl Timeline {
    fn of(scenario: &Scenario, typed: &[Typed<'_>]) -> Self {
        // What was added to topics may be spoken of.
        let mut names = scenario.names();
        let end = SimTime::ZERO + scenario.config.duration;
        let timeline = scenario.config.timeline.iter();
        let commands = timeline.clone().map(|(_, command)| command);
        for command in commands.chain(typed.iter().map(|(_, _, command)| *command)) {
            if let Command::AddPartitions { topic, partitions } = command
                && names.partitions_of(*topic) < *partitions
            {
                names.set_partitions(*topic, *partitions);
            }
        }
        let original = timeline
            .filter(|(at, _)| *at <= end)
            .map(|(at, command)| entry(*at, &render(command, &names)));
        Self {
            original: original.collect(),
            typed: typed.iter().map(|(at, line, _)| entry(*at, line)).collect(),
        }
    }

    /// Both, each under its heading.
    fn all(&self) -> String {
        let mut text = String::new();
        if !self.original.is_empty() {
            append(&mut text, format_args!("\n# As before:\n{}", self.original));
        }
        append(&mut text, format_args!("{}", self.typed()));
        text
    }

    fn typed(&self) -> String {
        match self.typed.as_str() {
            "" => String::new(),
            typed => format!("\n# What was typed:\n{typed}"),
        }
    }
}

/// One command with its moment, to the nanosecond.
fn entry(at: SimTime, line: &str) -> String {
    let at = moment(at);
    format!("\n[[timeline]]\nat = \"{at}\"\ndo = {}\n", quoted(line))
}

/// A moment in seconds, with as many decimals as it needs.
fn moment(at: SimTime) -> String {
    let (seconds, nanos) = (
        at.as_nanos() / NANOS_PER_SECOND,
        at.as_nanos() % NANOS_PER_SECOND,
    );
    if nanos == 0 {
        return format!("{seconds}s");
    }
    let decimals = format!("{nanos:09}");
    format!("{seconds}.{}s", decimals.trim_end_matches('0'))
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The ways in which a file in `folder` can name what it extends.
fn parents(source: &Source, folder: &Path) -> Vec<String> {
    match source {
        Source::Text { .. } => Vec::new(),
        Source::Embedded(name) => {
            let path = library::path_of(name);
            let path = path.map(|path| path.trim_end_matches(".toml").to_owned());
            std::iter::once(name.clone()).chain(path).collect()
        }
        Source::Path(path) => {
            let absolute = |path: &Path| std::path::absolute(path).ok();
            let Some(path) = absolute(path) else {
                return Vec::new();
            };
            let near = absolute(folder).and_then(|folder| from_folder(&folder, &path));
            let paths = near.into_iter().chain([path]);
            paths
                .filter_map(|path| path.to_str().map(str::to_owned))
                .collect()
        }
    }
}

/// The way from a folder to a file, both absolute.
fn from_folder(folder: &Path, file: &Path) -> Option<PathBuf> {
    let shared = folder
        .components()
        .zip(file.components())
        .take_while(|(one, other)| one == other)
        .count();
    // Nothing but the root in common: the absolute path says it better.
    if shared < 2 && folder.components().count() > 1 {
        return None;
    }
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    let down = file.components().skip(shared);
    Some(up.chain(down).collect())
}

/// A file that extends the original.
fn extending(scenario: &Scenario, parent: &str, timeline: &Timeline, expected: Expected) -> String {
    let overrides = &scenario.origin.overrides;
    let mut text = format!("extends = {}\n", quoted(parent));
    append(&mut text, format_args!("{}", sets(&overrides.set)));
    if expected == Expected::Nothing {
        text.push_str("# The run ends before some of what was expected.\nexpect = []\n");
    }
    let mut changed = String::new();
    if let Some(seed) = overrides.seed {
        append(&mut changed, format_args!("seed = {seed}\n"));
    }
    if overrides.until.is_some() {
        let end = moment(SimTime::ZERO + scenario.config.duration);
        append(&mut changed, format_args!("duration = \"{end}\"\n"));
    }
    if !changed.is_empty() {
        append(&mut text, format_args!("\n[scenario]\n{changed}"));
    }
    if !timeline.typed.is_empty() || overrides.until.is_some() {
        text.push_str(&timeline.all());
    }
    text
}

/// The original's text, changed and continued.
fn whole(scenario: &Scenario, timeline: &str) -> String {
    let overrides = &scenario.origin.overrides;
    let mut changes = overrides.set.clone();
    changes.extend(overrides.seed.map(|seed| format!("scenario.seed={seed}")));
    changes.extend(overrides.until.map(|_| {
        let end = moment(SimTime::ZERO + scenario.config.duration);
        format!("scenario.duration={end}")
    }));
    let text = scenario.text.trim_end();
    // The question stays the first thing that is read; keys of the top come before all tables.
    let is_opening = |line: &str| line.is_empty() || line.trim_start().starts_with('#');
    let opening = text.split_inclusive('\n');
    let opening: usize = opening
        .take_while(|line| is_opening(line.trim_end()))
        .map(str::len)
        .sum();
    let (opening, rest) = text.split_at(opening);
    format!("{opening}{}{rest}\n{timeline}", sets(&changes))
}

fn sets(changes: &[String]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let changes: Vec<String> = changes.iter().map(|change| quoted(change)).collect();
    format!("set = [{}]\n", changes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::units;
    use crate::sim::time::SimSpan;

    #[test]
    fn moments_are_exact_to_the_nanosecond() {
        for nanos in [0, 1, 12_500_000_000, 61_234_567_891, 3_600_000_000_010] {
            let at = SimTime::from_nanos(nanos);
            assert_eq!(
                units::duration(&moment(at)),
                Ok(SimSpan::from_nanos(nanos)),
                "{}",
                moment(at)
            );
        }
        assert_eq!(moment(SimTime::from_millis(12_500)), "12.5s");
    }

    #[test]
    fn a_file_is_named_from_its_neighbour() {
        let way = |folder: &str, file: &str| from_folder(Path::new(folder), Path::new(file));
        assert_eq!(way("/a/b", "/a/b/c.toml"), Some("c.toml".into()));
        assert_eq!(way("/a/b", "/a/x/c.toml"), Some("../x/c.toml".into()));
        assert_eq!(way("/a/b", "/x/c.toml"), None);
    }
}
