//! Kafka's own configuration: its keys with their places, and what Kafka says about them.

use crate::command::units;
use crate::kafka::config::{ConfigProblem, Note, is_secret};

use crate::scenario::problem::{Findings, Problem};
use crate::scenario::read::Fields;
use crate::scenario::shape::written;
use crate::scenario::tree::{Node, Place, Value};

/// One configured key.
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) key_place: Place,
    pub(super) place: Place,
}

/// Configuration of one component, in the order in which later ones win.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) list: Vec<Setting>,
}

impl Settings {
    /// The `config` of a table, put over what is already there.
    pub(super) fn put_table(&mut self, fields: &Fields<'_>) {
        let Some(table) = fields.node("config").and_then(Node::as_table) else {
            return;
        };
        for entry in &table.entries {
            let value = match &entry.node.value {
                Value::Array(items) => {
                    let texts: Vec<String> =
                        items.iter().map(|item| written(&item.value)).collect();
                    texts.join(",")
                }
                other => written(other),
            };
            self.put(Setting {
                key: entry.key.clone(),
                value,
                key_place: entry.key_place,
                place: entry.node.place,
            });
        }
    }

    pub(super) fn put(&mut self, setting: Setting) {
        self.list.retain(|old| old.key != setting.key);
        self.list.push(setting);
    }

    /// As the tables of `kafka::config` take them.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        self.list
            .iter()
            .map(|setting| (setting.key.clone(), setting.value.clone()))
            .collect()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Setting> {
        self.list.iter().find(|setting| setting.key == key)
    }

    /// Says what Kafka refuses, at the keys at fault; `otherwise` is where nothing was set.
    pub(super) fn refused(
        &self,
        problems: Vec<ConfigProblem>,
        otherwise: Place,
        findings: &mut Findings,
    ) {
        for refused in problems {
            let (error, text) = (refused.error.name(), &refused.text);
            let problem = Problem::new(format!("{error}: {}", text.trim_end_matches('.')));
            let setting = self.get(&refused.key);
            let place = setting.map_or(otherwise, |setting| setting.place);
            let label = if setting.is_some() {
                String::new()
            } else {
                refused.key.clone()
            };
            let problem = problem.at(place, label);
            let problem = match refused.hint {
                Some(hint) => problem.hint(hint),
                None => match setting.and_then(bare_number) {
                    Some(bare) => problem.hint(format!("Kafka takes bare numbers here: {bare}")),
                    None => problem,
                },
            };
            findings.problem(problem);
        }
    }

    /// Passes on what Kafka silently changes or ignores.
    pub(super) fn noted(&self, notes: Vec<Note>, otherwise: Place, findings: &mut Findings) {
        for note in notes {
            let place = self
                .get(&note.key)
                .map_or(otherwise, |setting| setting.key_place);
            let text = note.text.trim_end_matches('.');
            findings.note(Problem::new(format!("`{}`: {text}", note.key)).at(place, ""));
        }
    }
}

/// What a value with a unit would be as Kafka takes it: bytes, or milliseconds.
fn bare_number(setting: &Setting) -> Option<String> {
    if is_secret(&setting.key) {
        return None;
    }
    if setting.key.rsplit('.').next() == Some("ms") {
        return units::duration(&setting.value)
            .ok()
            .map(|span| span.as_millis().to_string());
    }
    units::size(&setting.value)
        .ok()
        .map(|bytes| bytes.to_string())
}
