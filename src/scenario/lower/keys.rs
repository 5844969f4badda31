//! The keys of a load, as serialized bytes.

mod spread;

use crate::command::text::escaped;
use crate::kafka::serializer::{KeySerializer, Unfit};
use crate::scenario::fields::{Kind, WEIGHTED_KEY_TABLE};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::shape::described;
use crate::scenario::tree::{Node, Place};
use crate::sim::config::{KEYS_MAX, KeyChoice, KeyConfig};

use super::World;

/// The largest weight of a key.
const WEIGHT_MAX: f64 = 1e15;
/// What in a format is replaced by a key's number.
const NUMBER: &str = "{n}";

/// Keys as people write them, before they are serialized.
struct Texts {
    keys: Vec<String>,
    choice: KeyChoice,
    /// Where they stand in the scenario.
    place: Place,
}

/// No keys.
fn none() -> KeyConfig {
    KeyConfig {
        keys: Vec::new(),
        choice: KeyChoice::Uniform,
        explicit_partition: None,
    }
}

/// `key`, in whichever form it is written.
pub(super) fn keys(world: &mut World<'_>, load: &Fields<'_>) -> KeyConfig {
    let place = load.place_of("key");
    if let Some(table) = load.table("key") {
        return from_table(world, &table);
    }
    if load
        .node("key")
        .is_some_and(|node| node.as_array().is_some())
    {
        let texts = weighted(world, load.items("key"), KeySerializer::String, place);
        return serialized(world, texts, KeySerializer::String);
    }
    none()
}

/// `key = { … }`: exactly one source of keys.
fn from_table(world: &mut World<'_>, fields: &Fields<'_>) -> KeyConfig {
    let forms = ["uniform", "zipf", "cycle", "weighted", "file"];
    let used: Vec<&str> = forms.into_iter().filter(|form| fields.has(form)).collect();
    let [form] = used[..] else {
        let problem = match used[..] {
            [] => Problem::new("`key` does not say which keys").at(fields.place, ""),
            [.., last] => Problem::new("`key` says twice which keys").at(
                fields.place_of(last),
                format!("and `{}` stands there too", used[0]),
            ),
        };
        world.problem(problem.hint("exactly one of uniform, zipf, cycle, weighted and file"));
        return none();
    };
    let serializer = match fields.text("as") {
        Some("int32") => KeySerializer::Int32,
        Some("int64") => KeySerializer::Int64,
        Some("json") => KeySerializer::Json,
        _ => KeySerializer::String,
    };
    misplaced(world, fields, form, serializer);
    let texts = match form {
        "uniform" => numbered(world, fields, "uniform", serializer, KeyChoice::Uniform),
        "cycle" => numbered(world, fields, "cycle", serializer, KeyChoice::Cycle),
        "zipf" => zipf(world, fields, serializer),
        "weighted" => weighted(world, fields.items("weighted"), serializer, fields.place),
        _ => from_file(world, fields),
    };
    let texts = texts.and_then(|texts| spread::spread(world, fields, texts));
    serialized(world, texts, serializer)
}

/// The bytes of all keys.
fn serialized(world: &mut World<'_>, texts: Option<Texts>, serializer: KeySerializer) -> KeyConfig {
    let Some(texts) = texts else { return none() };
    let mut keys = Vec::with_capacity(texts.keys.len());
    for text in &texts.keys {
        let mut key = Vec::with_capacity(text.len());
        if let Err(unfit) = serializer.serialize(text.as_bytes(), &mut key) {
            world.problem(unfit_key(text, unfit, texts.place));
            return none();
        }
        keys.push(key);
    }
    KeyConfig {
        keys,
        choice: texts.choice,
        explicit_partition: None,
    }
}

/// Keys of the table that mean nothing with this form.
fn misplaced(world: &mut World<'_>, fields: &Fields<'_>, form: &str, serializer: KeySerializer) {
    if fields.has("count") && form != "zipf" {
        let problem = Problem::new(format!("`count` does not go with `{form}`"));
        let label = format!("`{form}` says how many");
        world.problem(problem.at(fields.place_of("count"), label));
    }
    let is_numbered = matches!(form, "uniform" | "cycle" | "zipf");
    let is_number = is_number(serializer);
    if fields.has("format") && (!is_numbered || is_number) {
        let problem = Problem::new("`format` has nothing to format here");
        let label = if is_number {
            "the keys are the numbers themselves"
        } else {
            "keys are given"
        };
        world.problem(problem.at(fields.place_of("format"), label));
    }
}

/// Whether a serializer takes numbers alone.
const fn is_number(serializer: KeySerializer) -> bool {
    matches!(serializer, KeySerializer::Int32 | KeySerializer::Int64)
}

/// Keys from 1 to the number that `form` says.
fn numbered(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    form: &str,
    serializer: KeySerializer,
    choice: KeyChoice,
) -> Option<Texts> {
    let count = fields.whole::<u32>(form).unwrap_or(1);
    let place = fields.place_of(form);
    if !world.take_entries(count as usize, place) {
        return None;
    }
    let format = if is_number(serializer) {
        NUMBER
    } else {
        format(world, fields, count)
    };
    let numbers = (1..=count).map(|n| n.to_string());
    Some(Texts {
        keys: numbers.map(|n| format.replace(NUMBER, &n)).collect(),
        choice,
        place,
    })
}

/// A format in which every key gets its number.
fn format<'a>(world: &mut World<'_>, fields: &Fields<'a>, count: u32) -> &'a str {
    let format = fields.text("format").unwrap_or(NUMBER);
    let place = fields.place_of("format");
    if count > 1 && !format.contains(NUMBER) {
        let problem = Problem::new("`format` makes every key the same");
        world.problem(problem.at(place, "expected {n} in it, the key's number"));
    } else if format.replace(NUMBER, "").contains(['{', '}']) {
        let note = Problem::new("`format` knows only {n}; other braces stay as they are");
        world.findings.note(note.at(place, ""));
    }
    format
}

/// Key n with weight n^-s.
fn zipf(world: &mut World<'_>, fields: &Fields<'_>, serializer: KeySerializer) -> Option<Texts> {
    let exponent = fields.number("zipf").unwrap_or(1.0);
    if !fields.has("count") {
        let problem = Problem::new("`zipf` does not say how many keys");
        let place = fields.place_of("zipf");
        world.problem(
            problem
                .at(place, "`count` is missing")
                .hint("{ zipf = 1.1, count = 5000 }"),
        );
        return None;
    }
    let count = fields.whole::<u32>("count").unwrap_or(1);
    let choice = KeyChoice::Weighted(zipf_weights(count, exponent));
    numbered(world, fields, "count", serializer, choice)
}

/// n^-s for n from 1 to `count`.
fn zipf_weights(count: u32, exponent: f64) -> Vec<f64> {
    let weight = |n| libm::pow(f64::from(n), -exponent);
    (1..=count).map(weight).collect()
}

/// A list of keys, each with a weight or 1.
fn weighted(
    world: &mut World<'_>,
    items: &[Node],
    serializer: KeySerializer,
    place: Place,
) -> Option<Texts> {
    if items.is_empty() {
        let problem = Problem::new("`key` lists no keys");
        world.problem(
            problem
                .at(place, "expected at least one")
                .hint("key = \"none\""),
        );
    }
    if items.len() > KEYS_MAX as usize || !world.take_entries(items.len(), place) {
        return None;
    }
    let mut texts = Vec::with_capacity(items.len());
    let mut weights = Vec::with_capacity(items.len());
    let mut misfits = 0;
    for item in items {
        let (text, weight) = match (item.as_text(), item.as_table()) {
            (Some(text), _) => (text, 1.0),
            (_, Some(table)) => {
                let fields = Fields {
                    spec: &WEIGHTED_KEY_TABLE,
                    table,
                    place: item.place,
                };
                (
                    fields.text("key").unwrap_or(""),
                    fields.number("weight").unwrap_or(1.0),
                )
            }
            _ => continue,
        };
        if let Err(unfit) = serializer.serialize(text.as_bytes(), &mut Vec::new()) {
            world.problem(unfit_key(text, unfit, item.place));
            misfits += 1;
        }
        texts.push(text.to_owned());
        weights.push(weight);
    }
    if misfits > 0 {
        return None;
    }
    Some(Texts {
        keys: texts,
        choice: choice_by(world, weights, place),
        place,
    })
}

/// Keys by their weights; evenly where these are equal.
fn choice_by(world: &mut World<'_>, weights: Vec<f64>, place: Place) -> KeyChoice {
    if !weights.iter().any(|weight| *weight > 0.0) && !weights.is_empty() {
        let problem = Problem::new("all weights are zero");
        world.problem(problem.at(place, "one must be above 0"));
    }
    let is_even = weights
        .windows(2)
        .all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
    if is_even {
        KeyChoice::Uniform
    } else {
        KeyChoice::Weighted(weights)
    }
}

/// One key in each line of a file, and behind a tab its weight where it has one.
fn from_file(world: &mut World<'_>, fields: &Fields<'_>) -> Option<Texts> {
    let place = fields.place_of("file");
    let text = super::values::neighbour(world, fields, "file")?;
    let lines = text.lines().enumerate();
    let lines: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.is_empty()).collect();
    if lines.is_empty() {
        world
            .problem(Problem::new("the file has no keys").at(place, "expected a key in each line"));
    }
    if lines.len() > KEYS_MAX as usize {
        let problem = Problem::new("the file has too many keys");
        world.problem(problem.at(place, format!("a load has at most {KEYS_MAX}")));
        return None;
    }
    if !world.take_entries(lines.len(), place) {
        return None;
    }
    let mut texts = Vec::with_capacity(lines.len());
    let mut weights = Vec::with_capacity(lines.len());
    for (number, line) in lines {
        let (key, weight) = line.rsplit_once('\t').unwrap_or((line, "1"));
        let weight = weight.trim().parse().ok();
        let Some(weight) = weight.filter(|weight| (0.0..=WEIGHT_MAX).contains(weight)) else {
            let title = format!(
                "line {} of the file has no weight behind its tab",
                number + 1
            );
            world.problem(Problem::new(title).at(place, "expected a number of at least 0"));
            return None;
        };
        texts.push(key.to_owned());
        weights.push(weight);
    }
    Some(Texts {
        keys: texts,
        choice: choice_by(world, weights, place),
        place,
    })
}

fn unfit_key(text: &str, unfit: Unfit, place: Place) -> Problem {
    let problem = Problem::new(format!("the key `{}` {unfit}", escaped(text)));
    let kind = Kind::Whole(i128::from(i64::MIN), i128::from(i64::MAX));
    problem.at(place, "because of `as`").hint(format!(
        "`as` = \"int32\" or \"int64\" takes {}",
        described(&kind)
    ))
}
