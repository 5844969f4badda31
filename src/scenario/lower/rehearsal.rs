//! What makes a scenario a rehearsal.

use crate::command::text::{append, listed, nearest};
use crate::command::units::show_duration;
use crate::command::{self, Names};
use crate::insight::expectation::EventCheck;
use crate::insight::path;
use crate::rehearsal::plan::{
    AlertRule, Condition, Goal, Objective, Plan, Requirement, Secrecy, StepRule, Sustained, Trigger,
};
use crate::rehearsal::script::{self, ScriptLine};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::tree::{Node, Value};
use crate::sim::command::Command;
use crate::sim::config::Config;
use crate::sim::time::SimTime;

use super::timeline::pointed_at;
use super::{World, expect, metric};

/// What each form of a condition is made of, besides `for`.
const FORMS: [(&str, &[&str]); 3] = [
    (
        "metric",
        &["below", "above", "equals", "between", "increase-over"],
    ),
    ("event", &["producer", "count"]),
    ("alert", &[]),
];
/// Keys that are no part of a condition.
const BESIDE: [&str; 3] = ["name", "say", "for"];

/// What makes the scenario a rehearsal; nothing where no table says so.
pub(super) fn plan(world: &mut World<'_>, root: Fields<'_>, config: &Config) -> Option<Plan> {
    let names = ["rehearsal", "alert", "step", "victory"];
    if !names.iter().any(|name| root.has(name)) {
        return None;
    }
    let alerts = alerts(world, root, config);
    let alert_names: Vec<&str> = alerts.iter().map(|alert| alert.name.as_str()).collect();
    let first = config.timeline.first().map_or(SimTime::ZERO, |(at, _)| *at);
    let mut plan = Plan {
        steps: steps(world, root, (config, &alert_names)),
        victory: victory(world, root, (config, &alert_names)),
        begins: first,
        ..Plan::default()
    };
    if root
        .table("scenario")
        .is_some_and(|table| table.flag("blind"))
    {
        plan.secrecy = Secrecy::Blind;
    }
    plan.alerts = alerts;
    if let Some(table) = root.table("rehearsal") {
        rehearsal(world, &table, config, &mut plan);
    }
    Some(plan)
}

fn rehearsal(world: &mut World<'_>, table: &Fields<'_>, config: &Config, plan: &mut Plan) {
    let text = |name| table.text(name).unwrap_or_default().trim().to_owned();
    plan.briefing = text("briefing");
    plan.cause = text("cause");
    if table.has("begins") {
        plan.begins = world.moment(table, "begins").unwrap_or(plan.begins);
    }
    if table.has("deadline") {
        plan.deadline = world.moment(table, "deadline");
    }
    plan.objective = table.table("objective").map(|objective| Objective {
        share_ppm: objective.share("share").unwrap_or(1_000_000),
        within: objective.duration("within").unwrap_or_default(),
    });
    plan.solution = lines(world, table.items("solution"), config);
    plan.trap = lines(world, table.items("trap"), config);
}

/// Commands with their moments.
fn lines(world: &mut World<'_>, nodes: &[Node], config: &Config) -> Vec<ScriptLine> {
    let names = Names::planned(config);
    let mut lines = Vec::new();
    for (number, node) in (1..).zip(nodes) {
        let Some(line) = node.as_text() else {
            continue;
        };
        let line = match script::parse_line(line, number) {
            Ok(line) => line,
            Err(text) => {
                world.problem(Problem::new("this is no line of a script").at(node.place, text));
                continue;
            }
        };
        if let Err(problem) = command::parse(&line.command, &names) {
            let problem = pointed_at(&problem, &line.command, node.place, world.sources);
            world.problem(problem);
        }
        lines.push(line);
    }
    lines
}

fn alerts(world: &mut World<'_>, root: Fields<'_>, config: &Config) -> Vec<AlertRule> {
    let mut list: Vec<AlertRule> = Vec::new();
    for fields in root.tables("alert") {
        let Some(name) = fields.text("name") else {
            continue;
        };
        if list.iter().any(|other| other.name == name) {
            let problem = Problem::new(format!("there are two alerts `{name}`"));
            world.problem(problem.at(fields.place_of("name"), "again here"));
        }
        if let Some(sustained) = sustained(world, &fields, (config, &[])) {
            list.push(AlertRule {
                name: name.to_owned(),
                sustained,
                say: fields.text("say").unwrap_or_default().trim().to_owned(),
            });
        }
    }
    list
}

fn victory(world: &mut World<'_>, root: Fields<'_>, context: (&Config, &[&str])) -> Vec<Goal> {
    let mut list = Vec::new();
    for fields in root.tables("victory") {
        if let Some(sustained) = sustained(world, &fields, context) {
            let name = fields.text("name").unwrap_or(&sustained.words).to_owned();
            list.push(Goal { name, sustained });
        }
    }
    list
}

fn steps(world: &mut World<'_>, root: Fields<'_>, context: (&Config, &[&str])) -> Vec<StepRule> {
    let names = Names::planned(context.0);
    let mut list = Vec::new();
    for fields in root.tables("step") {
        let when = match fields.table("when") {
            Some(table) => sustained(world, &table, context).map(Trigger::When),
            None => world.moment(&fields, "when").map(Trigger::At),
        };
        let require = match (fields.node("require"), fields.table("require")) {
            (Some(_), Some(table)) => sustained(world, &table, context).map(Requirement::State),
            (Some(node), None) => commands(world, node, &names),
            (None, _) => None,
        };
        if fields.has("before") && require.is_none() {
            let problem = Problem::new("`before` needs something to be done");
            let problem = problem.at(fields.place_of("before"), "no `require` here");
            world.problem(problem);
        }
        let Some(when) = when else {
            continue;
        };
        list.push(StepRule {
            when,
            say: fields.text("say").unwrap_or_default().trim().to_owned(),
            require,
            before: fields.duration("before"),
            hints: fields
                .texts("hints")
                .into_iter()
                .map(str::to_owned)
                .collect(),
        });
    }
    list
}

/// One command, or one of several.
fn commands(world: &mut World<'_>, node: &Node, names: &Names) -> Option<Requirement> {
    let nodes = match &node.value {
        Value::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut commands: Vec<Command> = Vec::new();
    let mut words = String::new();
    for node in nodes {
        let line = node.as_text()?;
        match command::parse(line, names) {
            Ok(command) => {
                if words.is_empty() {
                    line.clone_into(&mut words);
                }
                commands.push(command);
            }
            Err(problem) => {
                let problem = pointed_at(&problem, line, node.place, world.sources);
                world.problem(problem);
            }
        }
    }
    (!commands.is_empty()).then_some(Requirement::Commands(commands, words))
}

/// The condition that a table holds, and for how long it must hold.
fn sustained(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    (config, alerts): (&Config, &[&str]),
) -> Option<Sustained> {
    let (condition, mut words) = match form(world, fields)? {
        "metric" => figure(world, fields, config)?,
        "event" => event(world, fields)?,
        _ => alert(world, fields, alerts)?,
    };
    let hold = fields.duration("for").unwrap_or_default();
    if hold.as_nanos() > 0 {
        append(&mut words, format_args!(" for {}", show_duration(hold)));
    }
    Some(Sustained {
        condition,
        hold,
        words,
    })
}

/// Which form a condition has; keys that do not go with it are problems.
fn form(world: &mut World<'_>, fields: &Fields<'_>) -> Option<&'static str> {
    let known = |form: &&(&str, &[&str])| fields.spec.field(form.0).is_some();
    let forms: Vec<_> = FORMS.iter().filter(known).collect();
    let used: Vec<_> = forms.iter().filter(|(form, _)| fields.has(form)).collect();
    let [(form, own)] = used[..] else {
        let names: Vec<&str> = forms.iter().map(|(form, _)| *form).collect();
        let problem = Problem::new("a condition looks at exactly one thing");
        let label = format!("expected one of {}", listed(&names, "or"));
        world.problem(problem.at(fields.place, label));
        return None;
    };
    for entry in &fields.table.entries {
        let key = entry.key.as_str();
        let is_known = fields.spec.field(key).is_some();
        if is_known && key != *form && !BESIDE.contains(&key) && !own.contains(&key) {
            let problem = Problem::new(format!("`{key}` does not go with `{form}`"));
            let label = match own {
                [] => format!("`{form}` stands alone"),
                own => format!("with `{form}` go {}", listed(own, "and")),
            };
            world.problem(problem.at(entry.key_place, label));
        }
    }
    Some(form)
}

fn figure(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    config: &Config,
) -> Option<(Condition, String)> {
    let written = fields.text("metric")?;
    if let Err(problem) = metric::check(written, fields.place_of("metric"), config) {
        world.problem(problem);
    }
    let (bound, what) = expect::bound(world, fields)?;
    let growth = fields.duration("increase-over");
    let words = match growth {
        Some(span) => format!("increase of {written} over {} {what}", show_duration(span)),
        None => format!("{written} {what}"),
    };
    let metric = path::parse(written, config).ok()?;
    let condition = Condition::Figure {
        metric,
        bound,
        growth,
    };
    Some((condition, words))
}

fn event(world: &mut World<'_>, fields: &Fields<'_>) -> Option<(Condition, String)> {
    let name = fields.text("event")?;
    let event = expect::event(world, name, fields)?;
    let mut words = name.to_owned();
    let producer = match fields.text("producer") {
        Some(name) => {
            append(&mut words, format_args!(" at {name}"));
            Some(expect::producer(world, name, fields)?)
        }
        None => None,
    };
    let (at_least, at_most) = expect::count(world, fields);
    match at_most {
        Some(most) if most == at_least => append(&mut words, format_args!(", {most} times")),
        Some(most) => append(&mut words, format_args!(", {at_least} to {most} times")),
        None if at_least != 1 => append(&mut words, format_args!(", at least {at_least} times")),
        None => {}
    }
    let check = EventCheck {
        event,
        producer,
        first_at: None,
        at_least,
        at_most,
    };
    Some((Condition::Event(check), words))
}

fn alert(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    alerts: &[&str],
) -> Option<(Condition, String)> {
    let name = fields.text("alert")?;
    if let Some(place) = alerts.iter().position(|known| *known == name) {
        return Some((Condition::Alert(place), format!("alert {name} fires")));
    }
    let near = nearest(name, alerts.iter().copied());
    let problem = Problem::new(format!("there is no alert `{name}`")).maybe(near);
    world.problem(problem.at(fields.place_of("alert"), "not among [[alert]]"));
    None
}
