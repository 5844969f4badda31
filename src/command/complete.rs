//! What could come next in a line that is being typed.

use std::ops::Range;

use clap::{Arg, CommandFactory};

use crate::kafka::error::ErrorCode;

use super::grammar::Line;
use super::names::Names;
use super::setting::{self, ClientVersion};
use super::words;

/// Completions offered at once at most.
pub const COMPLETIONS_MAX: usize = 200;

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What to put there.
    pub text: String,
    /// What it means; may be empty.
    pub help: String,
    /// The bytes of the line that it takes the place of.
    pub replace: Range<usize>,
}

/// What could stand at the cursor (a byte of the line), sorted as the grammar has it.
pub fn complete(line: &str, cursor: usize, names: &Names) -> Vec<Completion> {
    let cursor = (0..=cursor.min(line.len()))
        .rev()
        .find(|at| line.is_char_boundary(*at));
    let before = &line[..cursor.unwrap_or(0)];
    let Ok(words) = words::split(before) else {
        return Vec::new();
    };
    let (done, begun) = match words.split_last() {
        Some((last, rest)) if last.range.end == before.len() => (rest, Some(last)),
        _ => (&words[..], None),
    };
    let replace = begun.map_or(before.len()..before.len(), |word| word.range.clone());
    let begun = begun.map_or("", |word| word.text.as_str());
    let done: Vec<&str> = done.iter().map(|word| word.text.as_str()).collect();
    let mut offers = offers(&done, begun, names);
    offers.retain(|(text, _)| text.starts_with(begun));
    offers.truncate(COMPLETIONS_MAX);
    offers
        .into_iter()
        .map(|(text, help)| Completion {
            text,
            help,
            replace: replace.clone(),
        })
        .collect()
}

/// Everything that can follow some words, with help.
fn offers(done: &[&str], begun: &str, names: &Names) -> Vec<(String, String)> {
    let mut definition = Line::command();
    let mut rest = done;
    while definition.has_subcommands() {
        let Some((first, after)) = rest.split_first() else {
            let commands = definition.get_subcommands();
            let shown = commands.filter(|command| !command.is_hide_set());
            return shown.map(named).collect();
        };
        let Some(inner) = definition.find_subcommand(first).cloned() else {
            return Vec::new();
        };
        (definition, rest) = (inner, after);
    }
    let flag = |word: &str| {
        let name = word.strip_prefix("--")?;
        definition
            .get_arguments()
            .find(|arg| arg.get_long() == Some(name))
    };
    let takes_value = |arg: &&Arg| arg.get_action().takes_values();
    let last = rest.last().and_then(|word| flag(word));
    if let Some(arg) = last.filter(takes_value) {
        return values(arg, (rest.last().copied(), begun), names);
    }
    let mut positionals = definition.get_positionals();
    let mut used = 0;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match flag(word) {
            Some(arg) => {
                if takes_value(&arg) {
                    words.next(); // Its value.
                }
            }
            None => used += 1,
        }
    }
    let mut offers = positionals
        .nth(used)
        .map(|arg| values(arg, (rest.last().copied(), begun), names))
        .unwrap_or_default();
    let shown = definition.get_arguments().filter(|arg| !arg.is_hide_set());
    let unused = shown.filter_map(|arg| {
        let long = format!("--{}", arg.get_long()?);
        (!rest.contains(&long.as_str())).then(|| (long, help(arg.get_help())))
    });
    offers.extend(unused);
    offers
}

fn named(command: &clap::Command) -> (String, String) {
    (command.get_name().to_owned(), help(command.get_about()))
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// What an argument can be, by what its id says that it names.
fn values(
    arg: &Arg,
    (before, begun): (Option<&str>, &str),
    names: &Names,
) -> Vec<(String, String)> {
    let plain = |text: String| (text, String::new());
    let brokers = || {
        names
            .brokers()
            .map(|id| (id.to_string(), "broker".to_owned()))
    };
    let producers = || {
        names
            .producers()
            .map(|name| (name.to_owned(), "producer".to_owned()))
    };
    let groups = || {
        names
            .groups()
            .map(|name| (name.to_owned(), "consumer group".to_owned()))
    };
    let members = || {
        names
            .members()
            .take(COMPLETIONS_MAX)
            .map(|name| (name, "consumer".to_owned()))
    };
    match arg.get_id().as_str() {
        "broker" => brokers().collect(),
        "producer" => producers().collect(),
        "group" => groups().collect(),
        "consumer" => groups().chain(members()).collect(),
        "a" | "b" => {
            let others = [("controller", "the controller quorum"), ("*", "everybody")];
            let others = others.map(|(text, help)| (text.to_owned(), help.to_owned()));
            producers()
                .chain(groups())
                .chain(brokers())
                .chain(others)
                .collect()
        }
        "key" => names.keys().map(str::to_owned).map(plain).collect(),
        "transactional_id" => names
            .transactional_ids()
            .iter()
            .map(|id| (id.clone(), "transactional id".to_owned()))
            .collect(),
        "topic" => names.topics().map(str::to_owned).map(plain).collect(),
        "partition" => {
            let fits = |name: &String| name.starts_with(begun);
            names
                .partitions()
                .filter(fits)
                .take(COMPLETIONS_MAX)
                .map(plain)
                .collect()
        }
        "error" => ErrorCode::ALL
            .iter()
            .map(|error| (error.name().to_owned(), error.default_message().to_owned()))
            .collect(),
        "setting" => setting::keys(before.and_then(|name| client(name, names)))
            .into_iter()
            .map(|(key, help)| (format!("{key}="), help))
            .collect(),
        _ => Vec::new(),
    }
}

/// The client of the producer with this name.
fn client(name: &str, names: &Names) -> Option<ClientVersion> {
    let (client, _) = names.client(names.producer(name)?)?;
    Some(client)
}
