//! Where keys come from.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The command line: each argument is a key.
    Arguments(Vec<String>),
    /// A file with a key in each line; `-` is standard input.
    File(PathBuf),
    /// Standard input, likewise.
    Stdin,
}

/// Something to read lines from.
pub struct Input {
    /// The bytes.
    pub reader: Box<dyn Read>,
    /// How many there are, where that is known.
    pub bytes: Option<u64>,
    /// How people know it.
    pub name: String,
}

/// Opens a source of lines; nothing for keys of the command line.
pub fn open(source: &Source) -> Result<Option<Input>, String> {
    match source {
        Source::Arguments(_) => Ok(None),
        Source::File(path) if path.as_os_str() != "-" => of_file(path).map(Some),
        Source::File(_) | Source::Stdin => of_stdin().map(Some),
    }
}

fn of_file(path: &Path) -> Result<Input, String> {
    let name = path.display().to_string();
    let failed = |error: &io::Error| format!("could not read {name}: {error}");
    let file = File::open(path).map_err(|error| failed(&error))?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    if metadata.is_dir() {
        return Err(format!("could not read {name}: it is a folder"));
    }
    Ok(Input {
        bytes: metadata.is_file().then_some(metadata.len()),
        reader: Box::new(file),
        name,
    })
}

fn of_stdin() -> Result<Input, String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err("there are no keys\n\n\
             name some (`kdrill keys user-1 user-2`), name a file (--file), or pipe them in"
            .to_owned());
    }
    Ok(Input {
        reader: Box::new(stdin),
        bytes: None,
        name: "standard input".to_owned(),
    })
}
