//! The scenarios inside the binary: the folder `scenarios/`, by category.
//!
//! Invariant: a name is a file's stem, and no two files share one (a test checks it).

use include_dir::{Dir, include_dir};

use crate::command::text::nearest;
use crate::sim::time::SimSpan;

use super::{Overrides, Source, load};

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// One scenario of the library, as a picker shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: the file's stem.
    pub name: String,
    /// The folder it lies in.
    pub category: String,
    /// `[scenario] title`.
    pub title: String,
    /// The question that it answers: its file's leading comment.
    pub question: String,
    /// How long a run takes in simulated time.
    pub duration: SimSpan,
}

/// All scenarios, by category and then by name.
pub fn list() -> Vec<Entry> {
    paths().iter().filter_map(|path| describe(path)).collect()
}

/// The names of all scenarios, by category and then by name.
pub fn names() -> Vec<String> {
    paths().iter().map(|path| stem(path).to_owned()).collect()
}

/// The text of a scenario by its name.
pub fn find(name: &str) -> Result<&'static str, NoSuchScenario> {
    path_of(name)
        .and_then(|path| text_at(&path))
        .ok_or_else(|| {
            let names = names();
            let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
            NoSuchScenario {
                name: name.to_owned(),
                nearest: near,
            }
        })
}

/// A name that the library does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchScenario {
    /// What was asked for.
    pub name: String,
    /// The nearest name there is.
    pub nearest: Option<String>,
}

impl std::fmt::Display for NoSuchScenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = crate::command::text::escaped(&self.name);
        write!(f, "the embedded library has no `{name}`")?;
        match &self.nearest {
            Some(near) => write!(f, "\ndid you mean `{near}`?"),
            None => write!(f, "\n`kdrill list` shows what there is"),
        }
    }
}

impl std::error::Error for NoSuchScenario {}

/// The path inside the library of a scenario's name.
pub(crate) fn path_of(name: &str) -> Option<String> {
    paths().into_iter().find(|path| stem(path) == name)
}

/// The text at a path inside the library: a scenario or a sample.
pub(crate) fn text_at(path: &str) -> Option<&'static str> {
    FOLDER
        .get_file(path)
        .and_then(include_dir::File::contents_utf8)
}

fn describe(path: &str) -> Option<Entry> {
    let name = stem(path);
    let scenario = load(Source::Embedded(name.to_owned()), &Overrides::default()).ok()?;
    Some(Entry {
        name: name.to_owned(),
        category: path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned(),
        title: scenario.title.clone(),
        question: scenario.question.clone(),
        duration: scenario.config.duration,
    })
}

/// Paths of all scenario files, sorted.
fn paths() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![&FOLDER];
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        found.extend(folder.files().filter_map(|file| {
            let path = file.path();
            let is_scenario = path
                .extension()
                .is_some_and(|extension| extension == "toml");
            is_scenario.then(|| path.to_string_lossy().replace('\\', "/"))
        }));
    }
    found.sort_by(|one, other| (folder(one), stem(one)).cmp(&(folder(other), stem(other))));
    found
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn stem(path: &str) -> &str {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    file.strip_suffix(".toml").unwrap_or(file)
}
