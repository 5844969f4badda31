//! From what was written on the command line to scenarios: files, folders, library names.
//!
//! An existing path wins over a name of the embedded library.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::text::escaped;
use crate::scenario::{Source, library};

/// Folders within folders that are looked into at most.
const FOLDER_DEPTH_MAX: usize = 16;

/// Something that names no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NothingThere {
    /// What was written.
    pub wanted: String,
    /// What is wrong with it.
    problem: String,
    /// What to do.
    hint: String,
}

impl fmt::Display for NothingThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n\n{}", self.problem, self.hint)
    }
}

impl std::error::Error for NothingThere {}

/// The scenarios that are meant, in order; files of a folder by their path.
pub fn select(wanted: &[PathBuf]) -> Vec<Result<Source, NothingThere>> {
    wanted.iter().flat_map(|path| select_one(path)).collect()
}

/// Whether several scenarios may be meant, so that there is no screen to show them on.
pub fn is_several(wanted: &[PathBuf]) -> bool {
    1 < wanted.len() || wanted.iter().any(|path| path.is_dir())
}

/// How people know a source.
pub fn shown(source: &Source) -> String {
    match source {
        Source::Path(path) => escaped(&path.display().to_string()),
        Source::Embedded(name) | Source::Text { name, .. } => escaped(name),
    }
}

fn select_one(wanted: &Path) -> Vec<Result<Source, NothingThere>> {
    if wanted.is_dir() {
        let mut files = Vec::new();
        collect(wanted, FOLDER_DEPTH_MAX, &mut files);
        files.sort();
        if files.is_empty() {
            return vec![Err(nothing(
                wanted,
                "has no *.toml files",
                "name a file, or a folder that has some",
            ))];
        }
        return files
            .into_iter()
            .map(|file| Ok(Source::Path(file)))
            .collect();
    }
    if wanted.exists() {
        return vec![Ok(Source::Path(wanted.to_owned()))];
    }
    vec![by_name(wanted)]
}

fn by_name(wanted: &Path) -> Result<Source, NothingThere> {
    let name = wanted.to_string_lossy();
    let looks_like_path = name.contains(['/', '\\']) || name.ends_with(".toml");
    if looks_like_path {
        return Err(nothing(
            wanted,
            "does not exist",
            "`kdrill list` shows the scenarios that kdrill brings along",
        ));
    }
    match library::find(&name) {
        Ok(_) => Ok(Source::Embedded(name.into_owned())),
        Err(missing) => {
            let hint = match missing.nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`kdrill list` shows all scenarios that kdrill brings along".to_owned(),
            };
            Err(nothing(
                wanted,
                "is neither a file nor a scenario of the library",
                &hint,
            ))
        }
    }
}

fn nothing(wanted: &Path, problem: &str, hint: &str) -> NothingThere {
    let wanted = escaped(&wanted.display().to_string());
    NothingThere {
        problem: format!("'{wanted}' {problem}"),
        hint: hint.to_owned(),
        wanted,
    }
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    // A folder that cannot be read has no files.
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_scenario = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if is_scenario && path.is_file() {
            files.push(path);
        } else if 0 < depth && path.is_dir() && !path.is_symlink() {
            collect(&path, depth - 1, files);
        }
    }
}
