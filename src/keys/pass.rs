//! The pass over all keys.

use std::io::{self, Read};

use crate::kafka::serializer::{KeySerializer, Unfit};

use super::lines::{LINE_BYTES_MAX, LineError, Lines};
use super::place::{Hashes, Placed};
use super::progress::Progress;
use super::rows::Rows;
use super::show::shown;
use super::tally::Tally;
use super::{Request, Separator};

/// Problems that are told at most; the others are counted.
const PROBLEMS_MAX: usize = 10;
/// Characters of a key or count in a problem at most.
const QUOTED_CHARS_MAX: usize = 40;
/// Keys between two drawings of the progress bar.
const KEYS_PER_LOOK: u64 = 32_768;

/// What is constant during a pass.
#[derive(Debug)]
pub struct Reading<'a> {
    request: &'a Request,
    /// How people know the input.
    name: &'a str,
    key: Vec<u8>,
    problems: Problems,
}

/// How a pass ended.
#[derive(Debug)]
pub enum Ended {
    /// All keys were placed.
    Whole(Box<Tally>),
    /// Some keys do not fit.
    Unfit(Problems),
    /// Reading failed.
    Unread(io::Error),
    /// A row could not be written.
    Unwritten(io::Error),
    /// Somebody pressed Ctrl+C.
    Interrupted,
}

/// What is wrong with keys.
#[derive(Debug, Default)]
pub struct Problems {
    told: Vec<String>,
    untold: u64,
}

impl Problems {
    fn push(&mut self, problem: impl FnOnce() -> String) {
        if self.told.len() < PROBLEMS_MAX {
            self.told.push(problem());
        } else {
            self.untold += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// All in lines.
    pub fn text(&self) -> String {
        let mut lines = self.told.clone();
        if 0 < self.untold {
            lines.push(format!("error: {} more keys do not fit", self.untold));
        }
        lines.join("\n")
    }
}

/// Places every line of `lines`, which people know as `name`.
pub fn pass<R: Read>(
    lines: &mut Lines<'_, R>,
    request: &Request,
    rows: &mut dyn Rows,
    (name, bytes): (&str, Option<u64>),
) -> Ended {
    let mut reading = Reading::new(request, name);
    let mut tally = Tally::new(request.partitions, request.grow);
    let mut progress = Progress::new(bytes, request);
    loop {
        let number = lines.number() + 1;
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(LineError::TooLong) => {
                reading.problems.push(|| {
                    format!(
                        "error: {name}:{number}: the line is longer than {LINE_BYTES_MAX} bytes"
                    )
                });
                break;
            }
            Err(LineError::Unread(error)) => return Ended::Unread(error),
            Err(LineError::Interrupted) => return Ended::Interrupted,
        };
        if let Some(placed) = reading.place(line, number)
            && let Err(error) = rows.take(&placed, &mut tally)
        {
            return Ended::Unwritten(error);
        }
        if number.is_multiple_of(KEYS_PER_LOOK) {
            if rows.is_unread() {
                break;
            }
            progress.show(number, lines.bytes_done());
        }
    }
    reading.end(tally)
}

/// Places keys of the command line.
pub fn pass_arguments(keys: &[String], request: &Request, rows: &mut dyn Rows) -> Ended {
    let mut reading = Reading::new(request, "argument");
    let mut tally = Tally::new(request.partitions, request.grow);
    for (number, key) in (1..).zip(keys) {
        if let Some(placed) = reading.placed(key.as_bytes(), 1, number)
            && let Err(error) = rows.take(&placed, &mut tally)
        {
            return Ended::Unwritten(error);
        }
    }
    reading.end(tally)
}

impl<'a> Reading<'a> {
    /// No key is read yet.
    pub fn new(request: &'a Request, name: &'a str) -> Self {
        Self {
            request,
            name,
            key: Vec::new(),
            problems: Problems::default(),
        }
    }

    fn end(self, tally: Tally) -> Ended {
        if self.problems.is_empty() {
            Ended::Whole(Box::new(tally))
        } else {
            Ended::Unfit(self.problems)
        }
    }

    /// A line with its key and count; nothing when it does not fit, or when another did not.
    fn place<'s>(&'s mut self, line: &'s [u8], number: u64) -> Option<Placed<'s>> {
        let Separator::Byte(separator) = self.request.separator else {
            return self.placed(line, 1, number);
        };
        let Some(at) = memchr::memrchr(separator, line) else {
            return self.placed(line, 1, number);
        };
        let (text, count) = (&line[..at], &line[at + 1..]);
        if let Some(records) = whole(count) {
            return self.placed(text, records, number);
        }
        let name = self.name;
        self.problems.push(|| {
            format!(
                "error: {name}:{number}: {} is not a count of records; --separator says what \
                 stands between key and count",
                quoted(count)
            )
        });
        None
    }

    /// Where a key goes; nothing when it does not fit, or when another did not.
    fn placed<'s>(&'s mut self, text: &'s [u8], records: u64, number: u64) -> Option<Placed<'s>> {
        let request = self.request;
        let is_null = request
            .null_marker
            .as_ref()
            .is_some_and(|marker| marker.as_bytes() == text);
        self.key.clear();
        if !is_null && let Err(unfit) = request.serializer.serialize(text, &mut self.key) {
            let name = self.name;
            self.problems
                .push(|| unfit_text(name, number, text, unfit, request.serializer));
        }
        if !self.problems.is_empty() {
            return None;
        }
        let hashes = Hashes::of(&self.key);
        Some(Placed {
            text,
            key: (!is_null).then_some(&self.key),
            records,
            places: hashes.places(request.partitions),
            grown: request.grow.map(|grow| hashes.places(grow)),
        })
    }
}

fn unfit_text(
    name: &str,
    number: u64,
    text: &[u8],
    unfit: Unfit,
    serializer: KeySerializer,
) -> String {
    let place = if name == "argument" {
        format!("argument {number}")
    } else {
        format!("{name}:{number}")
    };
    let hint = match unfit {
        Unfit::NotText => "; --serializer hex takes any bytes".to_owned(),
        Unfit::NotWhole | Unfit::OutOfRange(_) | Unfit::NotHex => {
            format!(" (--serializer {})", serializer.name())
        }
    };
    format!("error: {place}: {} {unfit}{hint}", quoted(text))
}

/// The start of what was written, harmless to show.
fn quoted(text: &[u8]) -> String {
    let mut shown: String = shown(text).chars().take(QUOTED_CHARS_MAX + 1).collect();
    if QUOTED_CHARS_MAX < shown.chars().count() {
        shown.pop();
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// A whole number of records, blanks around it aside.
fn whole(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let digits = is_number
        .then(|| std::str::from_utf8(text).ok())
        .flatten()?;
    digits.parse().ok()
}
