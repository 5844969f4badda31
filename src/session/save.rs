//! Keeping a run as a scenario: what was typed, and when, in a file that gives the same run again.
//!
//! Invariants: the file is read back before it appears, and means the same run; it appears whole or
//! not at all; no file that is already there is touched.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use crate::scenario::continued::{self, Typed};
use crate::scenario::{Overrides, Source, load};

use super::Session;

/// What is added to a scenario's name where none was given.
const ADDED: &str = "-saved";
/// Names that are tried at most: `NAME.toml`, `NAME-2.toml`, …
const NAMES_MAX: u32 = 1_000;

/// Why a run could not be saved.
#[derive(Debug)]
pub enum SaveError {
    /// No text in that folder gives the same run.
    NotTheSame,
    /// Nothing could be written there.
    Unwritten(PathBuf, io::Error),
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTheSame => f.write_str(
                "a file there would not give the same run: the original changed, or lies where it \
                 cannot be named",
            ),
            Self::Unwritten(path, cause) => {
                write!(f, "could not write {}: {cause}", path.display())
            }
        }
    }
}

impl std::error::Error for SaveError {}

impl Session {
    /// Saves the run as a scenario, as `wanted` or under a name of its own in the working folder;
    /// where that is taken, with a number behind it. The path that it got.
    pub fn save(&self, wanted: Option<&Path>) -> Result<PathBuf, SaveError> {
        let wanted = match wanted {
            Some(path) => with_extension(path),
            None => PathBuf::from(format!("{}{ADDED}.toml", stem(&self.scenario.name))),
        };
        let names = (1..=NAMES_MAX).map(|number| numbered(&wanted, number));
        for path in names.filter(|path| path.symlink_metadata().is_err()) {
            let unwritten = |cause| SaveError::Unwritten(path.clone(), cause);
            match self.proven(&path)?.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                // Somebody was faster.
                Err(PersistError { error, .. }) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(failed) => return Err(unwritten(failed.error)),
            }
        }
        let taken = io::Error::new(ErrorKind::AlreadyExists, "every name is taken");
        Err(SaveError::Unwritten(wanted, taken))
    }

    /// A file that gives the same run once it is `path`: it was read back from beside it.
    fn proven(&self, path: &Path) -> Result<NamedTempFile, SaveError> {
        let typed: Vec<Typed<'_>> = self
            .journal
            .iter()
            .map(|entry| (entry.at, entry.line.as_str(), &entry.command))
            .collect();
        for text in continued::texts(&self.scenario, &typed, path) {
            let written = written(path, &text);
            let file = written.map_err(|cause| SaveError::Unwritten(path.to_owned(), cause))?;
            let source = Source::Path(file.path().to_owned());
            let read = load(source, &Overrides::default());
            if read.is_ok_and(|read| continued::is_same(&read, &self.scenario, &typed)) {
                return Ok(file);
            }
        }
        Err(SaveError::NotTheSame)
    }
}

/// The scenario's name without what an earlier save added to it.
fn stem(name: &str) -> &str {
    let (before, number) = name.rsplit_once('-').unwrap_or((name, ""));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_number && before.ends_with(ADDED) {
        before
    } else {
        name
    };
    name.strip_suffix(ADDED).unwrap_or(name)
}

fn with_extension(path: &Path) -> PathBuf {
    match path.extension() {
        Some(_) => path.to_owned(),
        None => path.with_extension("toml"),
    }
}

/// A file beside `path` with this text.
fn written(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = continued::folder_of(path);
    if !folder.is_dir() {
        return Err(io::Error::new(
            ErrorKind::NotFound,
            "there is no such folder",
        ));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kdrill-").suffix(".toml");
    usual_permissions(&mut builder);
    // The temporary name means nothing to anybody.
    let file = builder.tempfile_in(folder);
    let mut file = file.map_err(|cause| io::Error::from(cause.kind()))?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// `NAME.toml`, `NAME-2.toml` and so on.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// What a new file usually gets, less the umask: a temporary one would be its owner's alone.
#[cfg(unix)]
fn usual_permissions(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn usual_permissions(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_saved_before_keeps_its_name() {
        assert_eq!(stem("full-buffer"), "full-buffer");
        assert_eq!(stem("full-buffer-saved"), "full-buffer");
        assert_eq!(stem("full-buffer-saved-2"), "full-buffer");
        assert_eq!(stem("grow-3-to-6"), "grow-3-to-6");
        assert_eq!(stem("saved-2"), "saved-2");
    }

    #[test]
    fn taken_names_are_counted_on() {
        assert_eq!(numbered(Path::new("a/b.toml"), 1), Path::new("a/b.toml"));
        assert_eq!(numbered(Path::new("a/b.toml"), 3), Path::new("a/b-3.toml"));
    }
}
