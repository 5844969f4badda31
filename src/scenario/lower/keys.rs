//! The keys of a load, as serialized bytes.

use crate::scenario::fields::{Kind, WEIGHTED_KEY_TABLE};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::shape::described;
use crate::scenario::tree::{Node, Place};
use crate::sim::config::{KEYS_MAX, KeyChoice, KeyConfig};

use super::World;

/// What in a format is replaced by a key's number.
const NUMBER: &str = "{n}";

/// How a key becomes bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Serializer {
    Text,
    Int32,
    Int64,
    Json,
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
        return weighted(world, load.items("key"), Serializer::Text, place);
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
        Some("int32") => Serializer::Int32,
        Some("int64") => Serializer::Int64,
        Some("json") => Serializer::Json,
        _ => Serializer::Text,
    };
    misplaced(world, fields, form, serializer);
    match form {
        "uniform" => numbered(world, fields, "uniform", serializer, KeyChoice::Uniform),
        "cycle" => numbered(world, fields, "cycle", serializer, KeyChoice::Cycle),
        "zipf" => zipf(world, fields, serializer),
        "weighted" => weighted(world, fields.items("weighted"), serializer, fields.place),
        _ => from_file(world, fields, serializer),
    }
}

/// Keys of the table that mean nothing with this form.
fn misplaced(world: &mut World<'_>, fields: &Fields<'_>, form: &str, serializer: Serializer) {
    if fields.has("count") && form != "zipf" {
        let problem = Problem::new(format!("`count` does not go with `{form}`"));
        let label = format!("`{form}` says how many");
        world.problem(problem.at(fields.place_of("count"), label));
    }
    let is_numbered = matches!(form, "uniform" | "cycle" | "zipf");
    let is_number = matches!(serializer, Serializer::Int32 | Serializer::Int64);
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

/// Keys from 1 to the number that `form` says.
fn numbered(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    form: &str,
    serializer: Serializer,
    choice: KeyChoice,
) -> KeyConfig {
    let count = fields.whole::<u32>(form).unwrap_or(1);
    if !world.take_entries(count as usize, fields.place_of(form)) {
        return none();
    }
    let format = format(world, fields, count);
    let keys = (1..=count)
        .map(|n| match serializer {
            Serializer::Int32 => (n as i32).to_be_bytes().to_vec(),
            Serializer::Int64 => i64::from(n).to_be_bytes().to_vec(),
            _ => text_bytes(&format.replace(NUMBER, &n.to_string()), serializer),
        })
        .collect();
    KeyConfig {
        keys,
        choice,
        explicit_partition: None,
    }
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
fn zipf(world: &mut World<'_>, fields: &Fields<'_>, serializer: Serializer) -> KeyConfig {
    let exponent = fields.number("zipf").unwrap_or(1.0);
    if !fields.has("count") {
        let problem = Problem::new("`zipf` does not say how many keys");
        let place = fields.place_of("zipf");
        world.problem(
            problem
                .at(place, "`count` is missing")
                .hint("{ zipf = 1.1, count = 5000 }"),
        );
        return none();
    }
    let count = fields.whole::<u32>("count").unwrap_or(1);
    let weights = (1..=count)
        .map(|n| libm::pow(f64::from(n), -exponent))
        .collect();
    numbered(
        world,
        fields,
        "count",
        serializer,
        KeyChoice::Weighted(weights),
    )
}

/// A list of keys, each with a weight or 1.
fn weighted(
    world: &mut World<'_>,
    items: &[Node],
    serializer: Serializer,
    place: Place,
) -> KeyConfig {
    if items.is_empty() {
        let problem = Problem::new("`key` lists no keys");
        world.problem(
            problem
                .at(place, "expected at least one")
                .hint("key = \"none\""),
        );
    }
    if items.len() > KEYS_MAX as usize || !world.take_entries(items.len(), place) {
        return none();
    }
    let mut keys = Vec::with_capacity(items.len());
    let mut weights = Vec::with_capacity(items.len());
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
        match listed_key(text, serializer) {
            Some(key) => keys.push(key),
            None => world.problem(not_a_number(text, item.place)),
        }
        weights.push(weight);
    }
    if !weights.iter().any(|weight| *weight > 0.0) && !items.is_empty() {
        let problem = Problem::new("all weights are zero");
        world.problem(problem.at(place, "one must be above 0"));
    }
    let is_even = weights
        .windows(2)
        .all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
    let choice = if is_even {
        KeyChoice::Uniform
    } else {
        KeyChoice::Weighted(weights)
    };
    KeyConfig {
        keys,
        choice,
        explicit_partition: None,
    }
}

/// One key in each line of a file.
fn from_file(world: &mut World<'_>, fields: &Fields<'_>, serializer: Serializer) -> KeyConfig {
    let place = fields.place_of("file");
    let Some(text) = super::values::neighbour(world, fields, "file") else {
        return none();
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        world
            .problem(Problem::new("the file has no keys").at(place, "expected a key in each line"));
    }
    if lines.len() > KEYS_MAX as usize {
        let problem = Problem::new("the file has too many keys");
        world.problem(problem.at(place, format!("a load has at most {KEYS_MAX}")));
        return none();
    }
    if !world.take_entries(lines.len(), place) {
        return none();
    }
    let mut keys = Vec::with_capacity(lines.len());
    for line in lines {
        let Some(key) = listed_key(line, serializer) else {
            world.problem(not_a_number(line, place));
            break;
        };
        keys.push(key);
    }
    KeyConfig {
        keys,
        choice: KeyChoice::Uniform,
        explicit_partition: None,
    }
}

fn not_a_number(text: &str, place: Place) -> Problem {
    let kind = Kind::Whole(i128::from(i64::MIN), i128::from(i64::MAX));
    Problem::new(format!("the key `{text}` is not a number"))
        .at(place, "because of `as`")
        .hint(format!(
            "`as` = \"int32\" or \"int64\" takes {}",
            described(&kind)
        ))
}

/// A key that was written out, serialized; `None` when it is no number and should be one.
fn listed_key(text: &str, serializer: Serializer) -> Option<Vec<u8>> {
    match serializer {
        Serializer::Int32 => text.parse::<i32>().ok().map(|n| n.to_be_bytes().to_vec()),
        Serializer::Int64 => text.parse::<i64>().ok().map(|n| n.to_be_bytes().to_vec()),
        Serializer::Text | Serializer::Json => Some(text_bytes(text, serializer)),
    }
}

fn text_bytes(text: &str, serializer: Serializer) -> Vec<u8> {
    match serializer {
        Serializer::Json => serde_json::Value::from(text).to_string().into_bytes(),
        _ => text.as_bytes().to_vec(),
    }
}
