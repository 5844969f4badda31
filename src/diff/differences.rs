//! What differs between two reports, as a tree that holds nothing else.

use serde_json::{Map, Value, json};

use crate::session::pair::Parting;

use super::Side;

/// The version of the format.
const FORMAT: u32 = 1;
/// Parts of a report that say which run it is, not what came of it, and parts that are stories.
const LEFT_OUT: [&str; 9] = [
    "format",
    "scenario",
    "title",
    "seed",
    "version",
    "digest",
    "happenings",
    "keys",
    "simulated_seconds",
];

/// Two runs and what they differ in.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// When and how they part; `None` where they never do.
    pub parting: Option<Parting>,
    /// Figures that differ, by their place in the report, each as `{"a": …, "b": …}`.
    pub figures: Value,
}

impl Comparison {
    /// Compares two runs that were finished.
    pub fn new(a: Side, b: Side, parting: Option<Parting>) -> Self {
        let figures = differences(&figures_of(&a), &figures_of(&b));
        Self {
            a,
            b,
            parting,
            figures: figures.unwrap_or_else(|| json!({})),
        }
    }

    /// Whether it is one run.
    pub fn is_same(&self) -> bool {
        self.a.report.digest == self.b.report.digest
    }

    /// Everything, for programs: pretty JSON with sorted keys and a last line break.
    pub fn json(&self) -> String {
        let parted = self.parting.as_ref().map(|parting| {
            json!({
                "seconds": parting.at.as_seconds(),
                "a": parting.a,
                "b": parting.b,
            })
        });
        let value = json!({
            "format": FORMAT,
            "same": self.is_same(),
            "a": of_side(&self.a),
            "b": of_side(&self.b),
            "parted": parted,
            "differences": self.figures,
        });
        format!("{value:#}\n")
    }
}

fn of_side(side: &Side) -> Value {
    let report = &side.report;
    json!({
        "scenario": report.scenario,
        "title": report.title,
        "changes": side.changes,
        "seed": report.seed,
        "simulated_seconds": report.simulated_seconds,
        "ended": report.ended,
        "digest": report.digest,
    })
}

/// The report's figures as a tree; lists of things with names become tables by name.
fn figures_of(side: &Side) -> Value {
    let mut value = serde_json::to_value(&side.report).unwrap_or(Value::Null);
    if let Value::Object(fields) = &mut value {
        fields.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
        for list in fields.values_mut().filter(|value| value.is_array()) {
            *list = by_name(list.take());
        }
    }
    value
}

fn by_name(list: Value) -> Value {
    let Value::Array(items) = list else {
        return list;
    };
    let mut table = Map::new();
    for mut item in items {
        let name = item.as_object_mut().and_then(|item| item.remove("name"));
        let name = name.as_ref().and_then(Value::as_str).unwrap_or("");
        // Names need not be different: a second one gets a number.
        let mut key = name.to_owned();
        let mut number = 1;
        while table.contains_key(&key) {
            number += 1;
            key = format!("{name} ({number})");
        }
        table.insert(key, item);
    }
    Value::Object(table)
}

/// Where two trees differ, leaf by leaf; `None` where they do not.
fn differences(a: &Value, b: &Value) -> Option<Value> {
    if a == b {
        return None;
    }
    let (Value::Object(of_a), Value::Object(of_b)) = (a, b) else {
        return Some(json!({ "a": a, "b": b }));
    };
    let mut found = Map::new();
    for key in of_a.keys().chain(of_b.keys()) {
        let none = &Value::Null;
        let (one, other) = (of_a.get(key).unwrap_or(none), of_b.get(key).unwrap_or(none));
        if let Some(difference) = differences(one, other) {
            found.insert(key.clone(), difference);
        }
    }
    Some(Value::Object(found))
}

/// The two values of a leaf, if a difference is one.
pub(super) fn leaf(value: &Value) -> Option<(&Value, &Value)> {
    let fields = value.as_object()?;
    (fields.len() == 2).then(|| Some((fields.get("a")?, fields.get("b")?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_left() {
        let a = json!({ "x": 1, "y": { "z": 2, "same": 3 }, "gone": true });
        let b = json!({ "x": 1, "y": { "z": 4, "same": 3 } });
        let found = differences(&a, &b).expect("they differ");
        let expected =
            json!({ "y": { "z": { "a": 2, "b": 4 } }, "gone": { "a": true, "b": null } });
        assert_eq!(found, expected);
        assert_eq!(differences(&a, &a), None);
        assert_eq!(leaf(&found["y"]["z"]), Some((&json!(2), &json!(4))));
    }

    #[test]
    fn lists_of_names_become_tables_and_lose_nothing() {
        let list = json!([{ "name": "x", "n": 1 }, { "name": "x", "n": 2 }]);
        assert_eq!(
            by_name(list),
            json!({ "x": { "n": 1 }, "x (2)": { "n": 2 } })
        );
    }
}
