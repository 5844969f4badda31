//! The texts that one scenario is made of, and where further ones are found.
//!
//! A file refers to others by paths relative to itself, a scenario of the embedded library to its
//! neighbours there. Invariants: no text is longer than [`FILE_BYTES_MAX`], checked before it is
//! read; each text is read once; paths are escaped before anybody sees them.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::command::text::{escaped, nearest};

use super::library;
use super::problem::{Position, Problem};
use super::tree::{Place, SourceId};

/// The longest text that is read, in bytes: scenario, properties, keys or sample.
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Where a scenario comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// A scenario of the embedded library, by its name.
    Embedded(String),
    /// A text, for instance out of a recording; it may refer to the embedded library only.
    Text {
        /// What stands for a path in messages.
        name: String,
        /// The TOML text.
        text: String,
    },
}

/// Where a text lies, so that it is read once and its own references can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    File(PathBuf),
    /// By its path inside the library.
    Library(String),
    /// Nowhere: a text that was handed over.
    Given,
}

struct Text {
    path: String,
    /// As it may be shown; the places of a tree are in it.
    shown: String,
    /// As it was read, where that is not to be shown.
    original: Option<String>,
    /// Stretches of `shown` that hold secrets, in order and apart from each other.
    secrets: Vec<Range<usize>>,
    location: Location,
    /// The same for all paths that lead to one file.
    canonical: Option<PathBuf>,
}

/// All texts read so far.
#[derive(Default)]
pub(crate) struct Sources {
    list: Vec<Text>,
}

impl Sources {
    /// The path as shown in messages.
    pub(crate) fn path(&self, source: SourceId) -> &str {
        self.list
            .get(usize::from(source.0))
            .map_or("", |text| &text.path)
    }

    pub(crate) fn text(&self, source: SourceId) -> &str {
        self.list
            .get(usize::from(source.0))
            .map_or("", |text| &text.shown)
    }

    /// All texts, in the order in which they were opened.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|text| text.shown.as_str())
    }

    pub(crate) fn location(&self, source: SourceId) -> Location {
        self.list
            .get(usize::from(source.0))
            .map_or(Location::Given, |text| text.location.clone())
    }

    /// Where a place is, as people count.
    pub(crate) fn position(&self, place: Place) -> Position {
        let before = &self.text(place.source)[..self.range(place).start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            path: self.path(place.source).to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The bytes of a place, within its text and between characters whatever happens.
    pub(crate) fn range(&self, place: Place) -> Range<usize> {
        let text = self.text(place.source);
        let boundary = |at: u32| {
            let at = (at as usize).min(text.len());
            (0..=at)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0)
        };
        let start = boundary(place.start);
        start..boundary(place.end).max(start)
    }

    /// Takes a text that was handed over.
    pub(crate) fn give(&mut self, path: &str, text: String) -> SourceId {
        self.add(Text {
            path: escaped(path),
            shown: text,
            original: None,
            secrets: Vec::new(),
            location: Location::Given,
            canonical: None,
        })
    }

    /// Opens what a person named; the problem says why it cannot be read.
    pub(crate) fn open(&mut self, source: Source) -> Result<SourceId, Problem> {
        match source {
            Source::Text { name, text } if text.len() as u64 > FILE_BYTES_MAX => {
                Err(too_large(&name, text.len() as u64))
            }
            Source::Text { name, text } => Ok(self.give(&name, text)),
            Source::Path(path) => self.read(Location::File(path)),
            Source::Embedded(name) => match library::path_of(&name) {
                Some(path) => self.read(Location::Library(path)),
                None => Err(unknown_name(&name)),
            },
        }
    }

    /// Reads what a text refers to: a neighbour of it, or a scenario of the library by its name.
    pub(crate) fn follow(&mut self, from: SourceId, reference: &str) -> Result<SourceId, Problem> {
        let location = match self.location(from) {
            Location::File(path) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                let candidates = [reference.to_owned(), format!("{reference}.toml")];
                let mut paths = candidates.iter().map(|name| folder.join(name));
                match paths.find(|path| path.exists()) {
                    Some(path) => Location::File(path),
                    None => in_library("", reference)
                        .unwrap_or_else(|| Location::File(folder.join(reference))),
                }
            }
            Location::Library(path) => {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                in_library(folder, reference).ok_or_else(|| unknown_name(reference))?
            }
            // It stands nowhere, so only whole paths lead from it to files.
            Location::Given if Path::new(reference).is_absolute() => {
                Location::File(PathBuf::from(reference))
            }
            Location::Given => in_library("", reference).ok_or_else(|| unknown_name(reference))?,
        };
        self.read(location)
    }

    fn read(&mut self, location: Location) -> Result<SourceId, Problem> {
        let canonical = match &location {
            Location::File(path) => fs::canonicalize(path).ok(),
            Location::Library(_) | Location::Given => None,
        };
        let is_same = |text: &Text| {
            text.location == location || (canonical.is_some() && text.canonical == canonical)
        };
        if let Some(at) = self.list.iter().position(is_same) {
            return Ok(SourceId(at as u16));
        }
        let (path, text) = match &location {
            Location::File(path) => (path.display().to_string(), read_file(path)?),
            Location::Library(path) => {
                let text = library::text_at(path).ok_or_else(|| unknown_name(path))?;
                (path.clone(), text.to_owned())
            }
            Location::Given => return Err(Problem::new("nothing to read")),
        };
        Ok(self.add(Text {
            path: escaped(&path),
            shown: text,
            original: None,
            secrets: Vec::new(),
            location,
            canonical,
        }))
    }

    fn add(&mut self, text: Text) -> SourceId {
        self.list.push(text);
        SourceId((self.list.len() - 1) as u16)
    }

    /// Remembers where a text holds secrets; its places stay what they are.
    pub(crate) fn hide(&mut self, source: SourceId, mut secrets: Vec<Range<usize>>) {
        let Some(text) = self.list.get_mut(usize::from(source.0)) else {
            return;
        };
        secrets.sort_unstable_by_key(|secret| secret.start);
        text.secrets.clear();
        for secret in secrets {
            match text.secrets.last_mut() {
                Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
                _ => text.secrets.push(secret),
            }
        }
    }

    /// The stretches of a text that hold secrets, in order.
    pub(crate) fn secrets(&self, source: SourceId) -> &[Range<usize>] {
        self.list
            .get(usize::from(source.0))
            .map_or(&[], |text| &text.secrets)
    }

    /// A text as it was read, secrets included: for readers, not for messages.
    pub(crate) fn original(&self, source: SourceId) -> &str {
        let text = self.list.get(usize::from(source.0));
        text.map_or("", |text| text.original.as_deref().unwrap_or(&text.shown))
    }

    /// Replaces a text by one that may be shown: secrets masked.
    pub(crate) fn mask(&mut self, source: SourceId, shown: String) {
        if let Some(text) = self.list.get_mut(usize::from(source.0)) {
            let original = std::mem::replace(&mut text.shown, shown);
            text.original.get_or_insert(original);
        }
    }
}

/// A reference inside the library: a path from `folder`, from its root, or a scenario's name.
fn in_library(folder: &str, reference: &str) -> Option<Location> {
    let from_folder = normalized(&format!("{folder}/{reference}"))?;
    let candidates = [
        from_folder.clone(),
        format!("{from_folder}.toml"),
        reference.to_owned(),
    ];
    let path = candidates
        .into_iter()
        .find(|path| library::text_at(path).is_some())
        .or_else(|| library::path_of(reference))?;
    Some(Location::Library(path))
}

/// A path of the library without `.` and `..`; `None` when it leaves the library.
fn normalized(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn read_file(path: &Path) -> Result<String, Problem> {
    let shown = path.display().to_string();
    let fail = |why: &str| Problem::new(format!("cannot read {shown}: {why}"));
    let about = fs::metadata(path).map_err(|error| missing(path, &error))?;
    if about.is_dir() {
        return Err(fail("it is a folder").hint("name a file, or use `kdrill check FOLDER`"));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(too_large(&shown, about.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| fail(&error.to_string()))?;
    // A pipe or a device has no length beforehand.
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| fail(&error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large(&shown, bytes.len() as u64));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = String::from_utf8_lossy(&bytes[..at]).matches('\n').count() + 1;
        let byte = bytes.get(at).copied().unwrap_or(0);
        fail(&format!(
            "byte {at} (0x{byte:02x}, in line {line}) is not UTF-8"
        ))
        .hint("save the file as UTF-8")
    })
}

fn missing(path: &Path, error: &std::io::Error) -> Problem {
    let shown = path.display().to_string();
    if error.kind() != std::io::ErrorKind::NotFound {
        return Problem::new(format!("cannot read {shown}: {error}"));
    }
    let problem = Problem::new(format!("there is no file {shown}"));
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let names = library::names();
    match stem.and_then(|stem| {
        let known = names.iter().map(String::as_str);
        known
            .clone()
            .find(|name| *name == stem)
            .or_else(|| nearest(&stem, known))
            .map(str::to_owned)
    }) {
        Some(name) => problem.hint(format!("the embedded library has `{name}`")),
        None => problem.hint("`kdrill list` shows the embedded scenarios"),
    }
}

fn unknown_name(name: &str) -> Problem {
    let names = library::names();
    let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    Problem::new(format!("the embedded library has no `{name}`"))
        .maybe(near.as_deref())
        .hint("`kdrill list` shows what there is")
}

fn too_large(path: &str, bytes: u64) -> Problem {
    Problem::new(format!("{path} is too large: {bytes} bytes"))
        .hint(format!("a file has at most {} MiB", FILE_BYTES_MAX >> 20))
}
