//! Where a report goes: whole or not at all.
//!
//! Invariants: a regular file appears complete or stays as it was; a reader that closed its end
//! of standard output is not an error.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::NamedTempFile;

/// Where to write.
#[derive(Debug)]
pub struct Destination {
    target: Target,
    /// How people know it.
    name: String,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A device or pipe: written in place, it cannot be replaced.
    Device(File),
    /// A file beside its final place.
    Beside {
        file: NamedTempFile,
        path: PathBuf,
    },
}

/// A report could not be written.
#[derive(Debug)]
pub struct WriteError {
    /// Where it should have gone.
    pub destination: String,
    /// Why not.
    pub cause: io::Error,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "could not write {}: {}", self.destination, self.cause)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

impl Destination {
    /// Standard output.
    pub fn stdout() -> Self {
        Self {
            target: Target::Stdout,
            name: "standard output".to_owned(),
        }
    }

    /// The file `path`. It is opened now, so that a long run does not end in a surprise.
    pub fn file(path: &Path) -> Result<Self, WriteError> {
        let name = path.display().to_string();
        match open(path) {
            Ok(target) => Ok(Self { target, name }),
            Err(cause) => Err(WriteError {
                destination: name,
                cause,
            }),
        }
    }

    /// Opens it for writing bit by bit.
    pub fn stream(self) -> Stream {
        Stream {
            target: self.target,
            name: self.name,
            tap: Tap::default(),
        }
    }

    /// Writes all of `text`.
    pub fn write(self, text: &str) -> Result<(), WriteError> {
        let written = match self.target {
            Target::Stdout => to_stdout(text),
            Target::Device(mut file) => file.write_all(text.as_bytes()).and_then(|()| file.flush()),
            Target::Beside { file, path } => replace(file, &path, text),
        };
        written.map_err(|cause| WriteError {
            destination: self.name,
            cause,
        })
    }
}

/// A destination that is written bit by bit. What has been written to a regular file appears with
/// [`Stream::commit`], and is gone without it.
#[derive(Debug)]
pub struct Stream {
    target: Target,
    name: String,
    tap: Tap,
}

/// Closes a stream from outside: what is written from then on goes nowhere. A stream whose reader
/// went away closes by itself.
#[derive(Clone, Debug, Default)]
pub struct Tap(Rc<Cell<bool>>);

impl Tap {
    /// Nothing more is to be written, not even what is buffered.
    pub fn close(&self) {
        self.0.set(true);
    }

    /// Whether what is written goes nowhere.
    pub fn is_closed(&self) -> bool {
        self.0.get()
    }
}

impl Stream {
    /// What closes it.
    pub fn tap(&self) -> Tap {
        self.tap.clone()
    }

    /// Everything is written.
    pub fn commit(self) -> Result<(), WriteError> {
        let committed = match self.target {
            Target::Stdout | Target::Device(_) => Ok(()),
            Target::Beside { file, path } => persist(file, &path),
        };
        committed.map_err(|cause| WriteError {
            destination: self.name,
            cause,
        })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tap.is_closed() {
            return Ok(bytes.len());
        }
        match &mut self.target {
            Target::Stdout => match io::stdout().write(bytes) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    self.tap.close();
                    Ok(bytes.len())
                }
                result => result,
            },
            Target::Device(file) => file.write(bytes),
            Target::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout => match io::stdout().flush() {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                result => result,
            },
            Target::Device(file) => file.flush(),
            Target::Beside { file, .. } => file.flush(),
        }
    }
}

/// Writes to standard output; a closed pipe is success.
pub fn to_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn open(path: &Path) -> io::Result<Target> {
    let existing = path.metadata();
    match &existing {
        Ok(metadata) if metadata.is_dir() => {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
        }
        Ok(metadata) if !metadata.is_file() => {
            return OpenOptions::new()
                .write(true)
                .open(path)
                .map(Target::Device);
        }
        _ => {}
    }
    // A link stays a link: what it points at is replaced.
    let path = if existing.is_ok() {
        path.canonicalize()?
    } else {
        path.to_owned()
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kdrill-");
    let permissions = existing.ok().map(|metadata| metadata.permissions());
    if let Some(permissions) = permissions.or_else(usual_permissions) {
        builder.permissions(permissions);
    }
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    Ok(Target::Beside { file, path })
}

fn replace(mut file: NamedTempFile, path: &Path, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    persist(file, path)
}

fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path)
        .map(|_file| ())
        .map_err(|error| error.error)
}

/// What a new file usually gets, less the umask.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there are none to give")]
fn usual_permissions() -> Option<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(std::fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<std::fs::Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_and_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "old").unwrap();
        Destination::file(&path).unwrap().write("new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_destination_that_is_never_written_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "old").unwrap();
        drop(Destination::file(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Destination::file(folder.path()).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let error = Destination::file(Path::new("/dev/full"))
            .unwrap()
            .write("text")
            .unwrap_err();
        assert!(
            error.to_string().starts_with("could not write /dev/full: "),
            "{error}"
        );
        assert!(Path::new("/dev/full").exists());
    }
}
