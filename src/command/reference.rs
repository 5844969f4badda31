//! What can be said, for the help overlay.

use clap::{Arg, CommandFactory};

use super::grammar::Line;

/// Every command: how it is used, and what it does.
pub fn reference() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut open = vec![(Vec::new(), Line::command())];
    while let Some((path, definition)) = open.pop() {
        if !definition.has_subcommands() {
            let help = definition
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            lines.push((usage(&path, &definition), help));
            continue;
        }
        // The last one pushed is the next one visited: keep the order of the definition.
        let inner = definition.get_subcommands();
        let inner = inner.filter(|command| !command.is_hide_set());
        let inner: Vec<_> = inner.cloned().collect();
        for command in inner.into_iter().rev() {
            let mut path = path.clone();
            path.push(command.get_name().to_owned());
            open.push((path, command));
        }
    }
    lines
}

/// `broker kill BROKER [--lose-tail N]`
pub(super) fn usage(path: &[String], definition: &clap::Command) -> String {
    let mut parts: Vec<String> = path.to_vec();
    let shown = definition.get_arguments().filter(|arg| !arg.is_hide_set());
    parts.extend(shown.map(argument));
    if definition.has_subcommands() {
        parts.push("…".to_owned());
    }
    parts.join(" ")
}

fn argument(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map_or_else(|| arg.get_id().to_string(), ToString::to_string);
    let shown = match arg.get_long() {
        Some(long) if !arg.get_action().takes_values() => format!("--{long}"),
        Some(long) => format!("--{long} {value}"),
        None => value,
    };
    if arg.is_required_set() {
        shown
    } else {
        format!("[{shown}]")
    }
}
