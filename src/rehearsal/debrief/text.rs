//! A debrief as Markdown.

use crate::command::text::{append, escaped};

use super::{Debrief, Moment};

/// Warnings that are told at most.
const WARNINGS_TOLD: usize = 12;

/// The whole debrief.
pub(super) fn markdown(debrief: &Debrief) -> String {
    let mut text = String::new();
    let name = escaped(&debrief.scenario);
    let title = escaped(&debrief.title);
    append(
        &mut text,
        format_args!("# Debrief: {title}\n\n{}\n", debrief.verdict_text),
    );
    append(
        &mut text,
        format_args!(
            "\nScenario `{name}`, seed {}. Score: {} of {}.\n",
            debrief.seed,
            debrief.score,
            super::score::FULL
        ),
    );
    for item in &debrief.costs {
        append(
            &mut text,
            format_args!("- −{}: {}\n", item.points, item.what),
        );
    }
    times(debrief, &mut text);
    told(debrief, &mut text);
    damage(debrief, &mut text);
    deeds(debrief, &mut text);
    cause(debrief, &mut text);
    text
}

fn seconds(value: f64) -> String {
    format!("{value:.1} s")
}

/// A moment, and how long after the page it was.
fn since_page(debrief: &Debrief, value: Option<f64>) -> String {
    match (value, debrief.times.page) {
        (Some(value), Some(page)) => {
            format!("{} ({:+.1} s after the page)", seconds(value), value - page)
        }
        (Some(value), None) => seconds(value),
        (None, _) => "never".to_owned(),
    }
}

fn times(debrief: &Debrief, text: &mut String) {
    let times = &debrief.times;
    let page = times.page.map_or_else(
        || "never".to_owned(),
        |page| {
            let since = page - times.begins;
            format!("{} ({since:.1} s after it began)", seconds(page))
        },
    );
    text.push_str("\n## Times\n\n");
    let lines = [
        ("Time to page", page),
        ("Time to detect", since_page(debrief, times.detect)),
        ("Time to mitigate", since_page(debrief, times.mitigate)),
        ("Deadline", seconds(times.deadline)),
    ];
    for (what, value) in lines {
        append(text, format_args!("- {what}: {value}\n"));
    }
    for page in &debrief.pages {
        let resolved = page.resolved.map_or_else(
            || "still firing".to_owned(),
            |at| format!("resolved at {}", seconds(at)),
        );
        append(
            text,
            format_args!(
                "- Alert {}: fired at {}, {resolved}\n",
                escaped(&page.alert),
                seconds(page.fired)
            ),
        );
    }
}

/// What had to be reached, and what the playbook asked for.
fn told(debrief: &Debrief, text: &mut String) {
    text.push_str("\n## What had to be reached\n\n");
    for goal in &debrief.goals {
        let mark = if goal.is_reached { "x" } else { " " };
        append(text, format_args!("- [{mark}] {}", escaped(&goal.name)));
        match goal.seen {
            Some(seen) => append(text, format_args!(" (last seen: {})\n", figure(seen))),
            None => text.push('\n'),
        }
    }
    for asked in &debrief.requirements {
        let mark = if asked.done.is_some() { "x" } else { " " };
        let when = match (asked.done, asked.is_missed) {
            (Some(done), false) => format!("done at {}", seconds(done)),
            (Some(done), true) => format!("done too late, at {}", seconds(done)),
            (None, true) => "missed".to_owned(),
            (None, false) => "not done".to_owned(),
        };
        let what = escaped(&asked.what);
        append(text, format_args!("- [{mark}] playbook: {what}, {when}\n"));
    }
}

fn figure(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}")
    }
}

fn damage(debrief: &Debrief, text: &mut String) {
    let records = &debrief.records;
    text.push_str("\n## Records\n\n| what | records |\n|---|---|\n");
    let lines = [
        ("sent", records.sent),
        ("acknowledged", records.acknowledged),
        ("lost after they were acknowledged", records.lost),
        ("gone with their process", records.abandoned),
        ("duplicated", records.duplicated),
        ("out of order", records.reordered),
        ("delayed", records.delayed),
        ("refused by send()", records.refused),
        ("failed", records.failed),
        ("still under way", records.under_way),
    ];
    for (what, count) in lines {
        append(text, format_args!("| {what} | {count} |\n"));
    }
    if let Some(budget) = &debrief.budget {
        append(
            text,
            format_args!(
                "\nError budget: {} of {} records were bad, {:.0} may be: {:.0} % of it is used.\n",
                budget.bad,
                budget.records,
                budget.allowed,
                budget.used() * 100.0
            ),
        );
    }
}

fn deeds(debrief: &Debrief, text: &mut String) {
    text.push_str("\n## What was done\n\n");
    if debrief.deeds.is_empty() {
        text.push_str("Nothing.\n");
    }
    for deed in &debrief.deeds {
        append(
            text,
            format_args!(
                "- {}: `{}` ({})\n",
                seconds(deed.at),
                escaped(&deed.line).replace('`', "'"),
                deed.kind
            ),
        );
    }
}

fn cause(debrief: &Debrief, text: &mut String) {
    text.push_str("\n## What happened\n\n");
    moments(&debrief.faults, usize::MAX, text);
    if !debrief.warnings.is_empty() {
        text.push_str("\nWhat the warnings said, and since when:\n\n");
        moments(&debrief.warnings, WARNINGS_TOLD, text);
    }
    if !debrief.chains.is_empty() {
        text.push_str("\nWhere it came from, as it stood when an alert fired last:\n\n");
    }
    for chain in &debrief.chains {
        for (place, link) in chain.iter().enumerate() {
            let sign = if place == 0 { "- " } else { "  ← " };
            append(text, format_args!("{sign}{}\n", escaped(link)));
        }
    }
    if !debrief.cause.is_empty() {
        append(text, format_args!("\n{}\n", debrief.cause));
    }
    commands("Reference solution", &debrief.solution, text);
    commands(
        "What is usually tried, and does not help",
        &debrief.trap,
        text,
    );
}

fn commands(title: &str, lines: &[String], text: &mut String) {
    if lines.is_empty() {
        return;
    }
    append(text, format_args!("\n## {title}\n\n```text\n"));
    for line in lines {
        append(text, format_args!("{}\n", escaped(line)));
    }
    text.push_str("```\n");
}

fn moments(moments: &[Moment], most: usize, text: &mut String) {
    for moment in moments.iter().take(most) {
        append(
            text,
            format_args!("- {}: {}\n", seconds(moment.at), escaped(&moment.text)),
        );
    }
    if most < moments.len() {
        append(text, format_args!("- and {} more\n", moments.len() - most));
    }
}
