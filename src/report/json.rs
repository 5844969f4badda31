//! The report for programs.
//!
//! One run is one object; several are `{"format": 1, "runs": […], "unloadable": […]}`.

use serde_json::{Value, json};

use super::model::FORMAT;
use super::{Outcome, Report};

/// All outcomes as pretty JSON with sorted keys and a last line break.
pub(super) fn render(outcomes: &[Outcome]) -> String {
    let value = match outcomes {
        [Outcome::Ran(report)] => of_report(report),
        _ => of_several(outcomes),
    };
    // Keys of `Value` are sorted; alternate display is indented.
    format!("{value:#}\n")
}

fn of_several(outcomes: &[Outcome]) -> Value {
    let mut runs = Vec::new();
    let mut unloadable = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Ran(report) => runs.push(of_report(report)),
            Outcome::Unloadable { scenario, problem } => {
                unloadable.push(json!({ "scenario": scenario, "problem": problem }));
            }
        }
    }
    json!({ "format": FORMAT, "runs": runs, "unloadable": unloadable })
}

fn of_report(report: &Report) -> Value {
    // Only numbers, strings and maps with string keys: nothing that JSON could not hold.
    serde_json::to_value(report).unwrap_or(Value::Null)
}
