//! What must hold.

use crate::command::text::{append, listed, nearest};
use crate::command::units::show_duration;
use crate::insight::expectation::{
    Bound, Check, EventCheck, EventKind, Expectation, Harm, MetricCheck, Reduce, Window,
};
use crate::insight::kind::FactKind;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::shape::{number, written};
use crate::sim::config::Config;
use crate::sim::fact::ErrorClass;
use crate::sim::ids::ProducerIndex;
use crate::sim::time::{SimSpan, SimTime};

use super::{World, metric};

/// What each form of an expectation is made of, besides `name`.
const FORMS: [(&str, &[&str]); 4] = [
    (
        "metric",
        &[
            "at", "from", "to", "reduce", "below", "above", "equals", "between",
        ],
    ),
    ("event", &["producer", "first-at", "within", "count"]),
    ("log", &["offsets"]),
    ("no", &[]),
];

/// The `[[expect]]` tables.
pub(super) fn expectations(
    world: &mut World<'_>,
    root: Fields<'_>,
    config: &Config,
) -> Vec<Expectation> {
    let mut list = Vec::new();
    for fields in root.tables("expect") {
        let Some(form) = form(world, &fields) else {
            continue;
        };
        let found = match form {
            "metric" => metric_check(world, &fields, config),
            "event" => event_check(world, &fields),
            "log" => log_check(world, &fields, config),
            _ => Some(no_check(&fields)),
        };
        let Some((sentence, check)) = found else {
            continue;
        };
        let name = fields.text("name").map_or(sentence, str::to_owned);
        list.push(Expectation { name, check });
    }
    list
}

/// Which form a table has; keys that do not go with it are problems.
fn form(world: &mut World<'_>, fields: &Fields<'_>) -> Option<&'static str> {
    let used: Vec<_> = FORMS.iter().filter(|(form, _)| fields.has(form)).collect();
    let [(form, own)] = used[..] else {
        let names: Vec<&str> = FORMS.iter().map(|(form, _)| *form).collect();
        let problem = Problem::new("an expectation looks at exactly one thing");
        let label = format!("expected one of {}", listed(&names, "or"));
        world.problem(problem.at(fields.place, label));
        return None;
    };
    for entry in &fields.table.entries {
        let is_known = fields.spec.field(&entry.key).is_some();
        let key = entry.key.as_str();
        if is_known && key != "name" && key != *form && !own.contains(&key) {
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

fn metric_check(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    config: &Config,
) -> Option<(String, Check)> {
    let path = fields.text("metric")?;
    if let Err(problem) = metric::check(path, fields.place_of("metric"), config) {
        world.problem(problem);
    }
    let (window, when) = window(world, fields)?;
    let (bound, what) = bound(world, fields)?;
    let sentence = format!("{path} {when} {what}");
    Some((
        sentence,
        Check::Metric(MetricCheck {
            path: path.to_owned(),
            window,
            bound,
        }),
    ))
}

/// Which samples, and that in words.
fn window(world: &mut World<'_>, fields: &Fields<'_>) -> Option<(Window, String)> {
    let shown = |time: SimTime| show_duration(time.since(SimTime::ZERO));
    if fields.has("at") {
        let others = ["from", "to", "reduce"]
            .into_iter()
            .find(|name| fields.has(name));
        if let Some(other) = others {
            let problem =
                Problem::new(format!("`at` is one moment: `{other}` does not go with it"));
            world.problem(
                problem
                    .at(fields.place_of(other), "")
                    .at(fields.place_of("at"), ""),
            );
        }
        let at = world.moment(fields, "at")?;
        return Some((Window::At(at), format!("at {}", shown(at))));
    }
    let from = if fields.has("from") {
        world.moment(fields, "from")?
    } else {
        SimTime::ZERO
    };
    let end = SimTime::ZERO + world.duration;
    let to = if fields.has("to") {
        world.moment(fields, "to")?
    } else {
        end
    };
    if from > to {
        let problem = Problem::new("`from` comes after `to`");
        world.problem(
            problem
                .at(fields.place_of("from"), "")
                .at(fields.place_of("to"), ""),
        );
    }
    let word = fields.text("reduce").unwrap_or("last");
    let reduce = match word {
        "min" => Reduce::Min,
        "max" => Reduce::Max,
        "mean" => Reduce::Mean,
        "p99" => Reduce::P99,
        "sum" => Reduce::Sum,
        _ => Reduce::Last,
    };
    let words = format!("({word}, {} to {})", shown(from), shown(to));
    Some((Window::Reduced { from, to, reduce }, words))
}

/// The one bound, and that in words.
pub(super) fn bound(world: &mut World<'_>, fields: &Fields<'_>) -> Option<(Bound, String)> {
    let forms = ["below", "above", "equals", "between"];
    let used: Vec<&str> = forms.into_iter().filter(|form| fields.has(form)).collect();
    let [form] = used[..] else {
        let problem = Problem::new("an expectation has exactly one bound");
        let label = format!("expected one of {}", listed(&forms, "or"));
        world.problem(problem.at(fields.place, label));
        return None;
    };
    if form == "between" {
        let items = fields.items("between");
        let numbers: Vec<f64> = items
            .iter()
            .filter_map(|item| number(&item.value))
            .collect();
        let [low, high] = numbers[..] else {
            let problem = Problem::new("`between` takes two numbers");
            world.problem(problem.at(fields.place_of("between"), "expected [a, b]"));
            return None;
        };
        if low > high {
            let problem = Problem::new("`between` is upside down");
            world.problem(problem.at(fields.place_of("between"), "expected the smaller one first"));
        }
        let shown = items
            .iter()
            .map(|item| written(&item.value))
            .collect::<Vec<_>>();
        return Some((
            Bound::Between(low, high),
            format!("between {}", shown.join(" and ")),
        ));
    }
    let value = fields.number(form)?;
    let bound = match form {
        "below" => Bound::Below(value),
        "above" => Bound::Above(value),
        _ => Bound::Equals(value),
    };
    let shown = fields
        .node(form)
        .map(|node| written(&node.value))
        .unwrap_or_default();
    Some((bound, format!("{form} {shown}")))
}

fn event_check(world: &mut World<'_>, fields: &Fields<'_>) -> Option<(String, Check)> {
    let name = fields.text("event")?;
    let event = event(world, name, fields)?;
    let mut sentence = name.to_owned();
    let producer = match fields.text("producer") {
        Some(name) => {
            append(&mut sentence, format_args!(" at {name}"));
            Some(producer(world, name, fields)?)
        }
        None => None,
    };
    let first_at = if fields.has("first-at") {
        let at = world.moment(fields, "first-at")?;
        let within = fields.duration("within").unwrap_or(SimSpan::ZERO);
        let at_words = show_duration(at.since(SimTime::ZERO));
        append(
            &mut sentence,
            format_args!(" first at {at_words} ± {}", show_duration(within)),
        );
        Some((at, within))
    } else {
        None
    };
    let (at_least, at_most) = count(world, fields);
    match at_most {
        Some(most) if most == at_least => append(&mut sentence, format_args!(", {most} times")),
        Some(most) => append(&mut sentence, format_args!(", {at_least} to {most} times")),
        None if at_least != 1 => append(&mut sentence, format_args!(", at least {at_least} times")),
        None => {}
    }
    Some((
        sentence,
        Check::Event(EventCheck {
            event,
            producer,
            first_at,
            at_least,
            at_most,
        }),
    ))
}

pub(super) fn event(world: &mut World<'_>, name: &str, fields: &Fields<'_>) -> Option<EventKind> {
    if let Some(class) = ErrorClass::from_name(name) {
        return Some(EventKind::Exception(class));
    }
    let facts = FactKind::ALL.iter().map(|kind| kind.name());
    if FactKind::from_name(name).is_some() {
        return Some(EventKind::Fact(name.to_owned()));
    }
    let near = nearest(name, facts.clone().chain(ErrorClass::names()));
    let problem = Problem::new(format!("there is no event `{name}`"));
    let problem = problem.at(fields.place_of("event"), "no exception, no kind of event");
    world.problem(match near {
        Some(_) => problem.maybe(near),
        None => problem.hint(format!(
            "kinds of events are {}",
            facts.collect::<Vec<_>>().join(", ")
        )),
    });
    None
}

pub(super) fn producer(
    world: &mut World<'_>,
    name: &str,
    fields: &Fields<'_>,
) -> Option<ProducerIndex> {
    if let Some(at) = world.producers.iter().position(|known| known == name) {
        return Some(ProducerIndex(at as u16));
    }
    let near = nearest(name, world.producers.iter().map(String::as_str));
    let problem = Problem::new(format!("there is no producer `{name}`")).maybe(near);
    world
        .findings
        .problem(problem.at(fields.place_of("producer"), ""));
    None
}

pub(super) fn count(world: &mut World<'_>, fields: &Fields<'_>) -> (u64, Option<u64>) {
    let Some(table) = fields.table("count") else {
        return (1, None);
    };
    let (least, most) = (
        table.whole::<u64>("at-least"),
        table.whole::<u64>("at-most"),
    );
    match (table.whole::<u64>("exactly"), least, most) {
        (Some(n), None, None) => (n, Some(n)),
        (None, Some(least), Some(most)) if least > most => {
            let problem = Problem::new("`at-least` is above `at-most`");
            world.problem(problem.at(table.place, ""));
            (least, None)
        }
        (None, least, most) if least.is_some() || most.is_some() => (least.unwrap_or(0), most),
        _ => {
            let problem = Problem::new("`count` says how often in one way");
            world.problem(problem.at(table.place, "expected at-least, at-most, or exactly alone"));
            (1, None)
        }
    }
}

fn log_check(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    config: &Config,
) -> Option<(String, Check)> {
    let partition = fields.text("log")?;
    let names = crate::command::Names::planned(config);
    if names.partition(partition).is_none() {
        let known: Vec<String> = names.partitions().collect();
        let near = nearest(partition, known.iter().map(String::as_str));
        let problem = Problem::new(format!("there is no partition `{partition}`"));
        world.problem(
            problem
                .at(fields.place_of("log"), "expected TOPIC-N")
                .maybe(near),
        );
    }
    if !fields.has("offsets") {
        let problem = Problem::new("a log expectation has no `offsets`");
        let hint = "offsets = [\"40 trip-9001\"], or [] for an empty log";
        world.problem(problem.at(fields.place, "`offsets` is missing").hint(hint));
    }
    let offsets = fields
        .texts("offsets")
        .into_iter()
        .map(str::to_owned)
        .collect();
    let check = Check::Log {
        partition: partition.to_owned(),
        offsets,
    };
    Some((format!("the log of {partition}"), check))
}

fn no_check(fields: &Fields<'_>) -> (String, Check) {
    let words = fields.texts("no");
    let harms = words
        .iter()
        .filter_map(|word| match *word {
            "acknowledged-loss" => Some(Harm::AcknowledgedLoss),
            "duplicate" => Some(Harm::Duplicate),
            "reorder" => Some(Harm::Reorder),
            "split-key" => Some(Harm::SplitKey),
            "out-of-order-read" => Some(Harm::OutOfOrderRead),
            "failed-present" => Some(Harm::FailedPresent),
            _ => None,
        })
        .collect();
    (format!("no {}", listed(&words, "and no")), Check::No(harms))
}
