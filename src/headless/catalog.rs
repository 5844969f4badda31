//! What can be said without running anything: the library's table of contents, a scenario's text,
//! what is wrong with files.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::command::text::escaped;
use crate::report::output::{Destination, WriteError};
use crate::scenario::{Verdict, check as check_files, library};

use super::{Exit, complain, paint_for};

/// Prints `text`.
pub fn print(text: &str) -> Exit {
    match Destination::stdout().write(text) {
        Ok(()) => Exit::Held,
        Err(error) => unwritten(&error),
    }
}

/// Prints what the library has.
pub fn list() -> Exit {
    print(&contents())
}

/// Prints the text of a scenario of the library.
pub fn show(name: &str) -> Exit {
    match library::find(name) {
        Ok(text) => print(text),
        Err(missing) => {
            let hint = match missing.nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`kdrill list` shows all scenarios of the library".to_owned(),
            };
            complain(&format!(
                "error: the library has no scenario '{}'\n\n{hint}",
                escaped(name)
            ));
            Exit::Usage
        }
    }
}

/// Prints what is wrong with files.
pub fn check(paths: &[PathBuf]) -> Exit {
    let checked = check_files(paths, paint_for(&std::io::stdout()));
    let exit = match checked.verdict {
        Verdict::Sound => Exit::Held,
        Verdict::Faulty => Exit::Usage,
    };
    exit.merge(print(&checked.text))
}

fn unwritten(error: &WriteError) -> Exit {
    complain(&format!("error: {error}"));
    Exit::Unwritten
}

fn contents() -> String {
    let mut text = String::new();
    let mut category = String::new();
    for entry in library::list() {
        if entry.category != category {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _written = writeln!(text, "{gap}{}", entry.category);
            category.clone_from(&entry.category);
        }
        let _written = writeln!(
            text,
            "  {:<24}  {} ({:.0} s)\n      {}",
            entry.name,
            escaped(&entry.title),
            entry.duration.as_seconds(),
            escaped(&entry.question),
        );
    }
    text
}
