//! One key made into several: salt for the hottest, and sub-keys.
//!
//! Both divide a key's weight and nothing else, so a load asks for as many records as before. What
//! a real application does with a random salt for each record is one draw from the divided weights.

use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::tree::Place;
use crate::sim::config::{KEYS_MAX, KeyChoice};

use super::{NUMBER, Texts, World, zipf_weights};

/// What in a format is replaced by the whole key.
const KEY: &str = "{key}";

/// How keys are divided.
struct Division<'a> {
    /// The table's name.
    name: &'static str,
    /// Keys that are divided at most, the heaviest first.
    hottest: usize,
    /// What each part weighs, relative to the others.
    parts: Vec<f64>,
    /// The number of the first part.
    first: u32,
    format: &'a str,
    place: Place,
}

/// Divides keys as `key` says, by sub-keys first, since salt is for what is still hot then.
pub(super) fn spread(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    mut texts: Texts,
) -> Option<Texts> {
    if let Some(table) = fields.table("sub-keys") {
        let count = table.whole::<u32>("count").unwrap_or(1);
        let exponent = table.number("zipf").unwrap_or(0.0);
        let division = Division {
            name: "sub-keys",
            hottest: table.whole("hottest").unwrap_or(usize::MAX),
            parts: zipf_weights(count, exponent),
            first: 1,
            format: table.text("format").unwrap_or("{key}/{n}"),
            place: fields.place_of("sub-keys"),
        };
        texts = divided(world, fields, texts, &division)?;
    }
    if let Some(table) = fields.table("salt") {
        let over = table.whole::<u32>("over").unwrap_or(2);
        let division = Division {
            name: "salt",
            hottest: table.whole("hottest").unwrap_or(1),
            parts: zipf_weights(over, 0.0),
            first: 0,
            format: table.text("format").unwrap_or("{key}#{n}"),
            place: fields.place_of("salt"),
        };
        texts = divided(world, fields, texts, &division)?;
    }
    Some(texts)
}

fn divided(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    texts: Texts,
    division: &Division<'_>,
) -> Option<Texts> {
    if let Some(problem) = refusal(fields, division) {
        world.problem(problem);
        return None;
    }
    let keys = texts.keys.len();
    let hottest = division.hottest.min(keys);
    let total = keys + hottest.saturating_mul(division.parts.len() - 1);
    if (KEYS_MAX as usize) < total {
        let problem = Problem::new(format!("`{}` makes too many keys", division.name));
        let label = format!("{total}, and a load has at most {KEYS_MAX}");
        world.problem(problem.at(division.place, label));
        return None;
    }
    if !world.take_entries(total - keys, division.place) {
        return None;
    }
    let weights = match texts.choice {
        KeyChoice::Weighted(weights) => weights,
        KeyChoice::Uniform | KeyChoice::Cycle => vec![1.0; keys],
    };
    let is_hot = heaviest(&weights, hottest);
    let sum: f64 = division.parts.iter().sum();
    let mut divided = Texts {
        keys: Vec::with_capacity(total),
        choice: KeyChoice::Uniform,
        place: texts.place,
    };
    let mut divided_weights = Vec::with_capacity(total);
    for ((text, weight), is_hot) in texts.keys.into_iter().zip(weights).zip(is_hot) {
        if !is_hot {
            divided.keys.push(text);
            divided_weights.push(weight);
            continue;
        }
        for (n, part) in (division.first..).zip(&division.parts) {
            let numbered = division.format.replace(NUMBER, &n.to_string());
            divided.keys.push(numbered.replace(KEY, &text));
            divided_weights.push(weight * part / sum);
        }
    }
    divided.choice = super::choice_by(world, divided_weights, divided.place);
    Some(divided)
}

/// Why keys cannot be divided so.
fn refusal(fields: &Fields<'_>, division: &Division<'_>) -> Option<Problem> {
    let (name, format) = (division.name, division.format);
    let place = division.place;
    if fields.has("cycle") {
        let problem = Problem::new(format!("`{name}` does not go with `cycle`"));
        return Some(problem.at(place, "keys in turn have no weights to divide"));
    }
    if matches!(fields.text("as"), Some("int32" | "int64")) {
        let problem = Problem::new(format!("`{name}` makes text of keys"));
        let label = "and `as` says that they are numbers";
        return Some(problem.at(place, label).hint("as = \"string\""));
    }
    let has_number = division.parts.len() == 1 || format.contains(NUMBER);
    if !has_number || !format.contains(KEY) {
        let problem = Problem::new(format!(
            "the `format` of `{name}` makes different keys the same"
        ));
        return Some(problem.at(place, "expected {key} and {n} in it"));
    }
    None
}

/// Whether each key is among the `most` heaviest; of equals, the earlier are.
fn heaviest(weights: &[f64], most: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&one, &other| weights[other].total_cmp(&weights[one]));
    let mut is_hot = vec![false; weights.len()];
    for place in order.into_iter().take(most) {
        is_hot[place] = true;
    }
    is_hot
}
