//! `kdrill check`: files and folders, each with its problems and notes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::text::{append, escaped};

use super::problem::Paint;
use super::sources::Source;
use super::{Overrides, load};

/// Folders inside folders that are looked into at most.
const FOLDER_DEPTH_MAX: usize = 16;

/// Whether something is fit to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every file loads.
    Sound,
    /// One at least does not.
    Faulty,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Text to print: problems, notes, and a line for each file.
    pub text: String,
    /// The worst of all files.
    pub verdict: Verdict,
}

/// Checks files, and every `*.toml` in folders, in the order of their paths.
pub fn check(paths: &[PathBuf], paint: Paint) -> Checked {
    let mut checked = Checked {
        text: String::new(),
        verdict: Verdict::Sound,
    };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found = Vec::new();
            scenarios_in(path, FOLDER_DEPTH_MAX, &mut found);
            found.sort();
            if found.is_empty() {
                let shown = escaped(&path.display().to_string());
                append(
                    &mut checked.text,
                    format_args!("error: {shown} has no *.toml files\n"),
                );
                checked.verdict = Verdict::Faulty;
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    for file in files {
        one(file, paint, &mut checked);
    }
    checked
}

fn one(file: PathBuf, paint: Paint, checked: &mut Checked) {
    let shown = escaped(&file.display().to_string());
    match load(Source::Path(file), &Overrides::default()) {
        Ok(scenario) => {
            for note in &scenario.notes {
                checked.text.push_str(&note.rendered);
                checked.text.push_str("\n\n");
            }
            append(&mut checked.text, format_args!("{shown}: ok\n"));
        }
        Err(problems) => {
            checked.verdict = Verdict::Faulty;
            checked.text.push_str(&problems.render(paint));
            let count = problems.count();
            let noun = if count == 1 { "problem" } else { "problems" };
            append(&mut checked.text, format_args!("{shown}: {count} {noun}\n"));
        }
    }
}

/// Every scenario file in a folder and those inside it; what cannot be read has none.
fn scenarios_in(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && depth > 0 && !path.is_symlink() {
            scenarios_in(&path, depth - 1, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
            && path.is_file()
        {
            found.push(path);
        }
    }
}
