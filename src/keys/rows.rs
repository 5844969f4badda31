//! Where placed keys go, and the command as a whole.

use std::io::{self, BufWriter};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::headless::{Exit, complain, paint_for};
use crate::report::output::{Destination, Stream, Tap};

use super::csv_rows::CsvRows;
use super::input::{self, Input, Source};
use super::json_rows::JsonRows;
use super::lines::Lines;
use super::pass::{Ended, pass, pass_arguments};
use super::place::Placed;
use super::tally::Tally;
use super::text::TextRows;
use super::{Format, Request};

/// Bytes that are gathered before they are written.
const WRITE_BYTES: usize = 256 * 1024;

/// Something that takes placed keys.
pub trait Rows {
    /// Takes a key, and counts it.
    fn take(&mut self, placed: &Placed<'_>, tally: &mut Tally) -> io::Result<()>;

    /// Whether nobody reads on.
    fn is_unread(&self) -> bool {
        false
    }
}

/// Counts and lists nothing.
pub struct NoRows;

impl Rows for NoRows {
    fn take(&mut self, placed: &Placed<'_>, tally: &mut Tally) -> io::Result<()> {
        tally.count(placed);
        Ok(())
    }
}

/// Rows of a format.
enum Listed {
    Text(TextRows, BufWriter<Stream>),
    Csv(CsvRows<BufWriter<Stream>>),
    /// Partitions are listed, keys are not.
    Partitions(CsvRows<BufWriter<Stream>>),
    Json(JsonRows<BufWriter<Stream>>),
}

/// What is written, and how much of it.
struct Writing<'a> {
    request: &'a Request,
    listed: Listed,
    left: u64,
    tap: Tap,
}

/// Answers a request.
pub fn run(request: &Request) -> Exit {
    let interrupted = Arc::new(AtomicBool::new(false));
    if request.output.is_some() {
        // A half written file has to be taken away; a second Ctrl+C does not wait for that.
        let (code, flag) = (
            i32::from(Exit::Interrupted.code()),
            Arc::clone(&interrupted),
        );
        let signal = signal_hook::consts::SIGINT;
        let _second = signal_hook::flag::register_conditional_shutdown(signal, code, flag);
        let _first = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    let input = match input::open(&request.source) {
        Ok(input) => input,
        Err(problem) => {
            complain(&format!("error: {problem}"));
            return Exit::Usage;
        }
    };
    let destination = match &request.output {
        None => Ok(Destination::stdout()),
        Some(path) => Destination::file(path),
    };
    let stream = match destination {
        Ok(destination) => destination.stream(),
        Err(error) => {
            complain(&format!("error: {error}"));
            return Exit::Unwritten;
        }
    };
    let mut writing = match Writing::new(stream, request) {
        Ok(writing) => writing,
        Err(error) => return unwritten(request, &error),
    };
    let ended = match (&request.source, input) {
        (Source::Arguments(keys), _) => pass_arguments(keys, request, &mut writing),
        (_, Some(input)) => read(input, request, &mut writing, &interrupted),
        (_, None) => return Exit::Usage,
    };
    if !matches!(ended, Ended::Whole(_)) {
        // What is buffered is not flushed either.
        writing.tap.close();
    }
    match ended {
        Ended::Whole(tally) => match writing.finish(&tally) {
            Ok(()) => Exit::Held,
            Err(error) => unwritten(request, &error),
        },
        Ended::Unfit(problems) => {
            complain(&problems.text());
            Exit::Usage
        }
        Ended::Unread(error) => {
            complain(&format!("error: the keys could not be read: {error}"));
            Exit::Usage
        }
        Ended::Unwritten(error) => unwritten(request, &error),
        Ended::Interrupted => Exit::Interrupted,
    }
}

fn read(
    input: Input,
    request: &Request,
    writing: &mut Writing<'_>,
    interrupted: &AtomicBool,
) -> Ended {
    let mut lines = Lines::new(input.reader, interrupted);
    pass(&mut lines, request, writing, (&input.name, input.bytes))
}

fn unwritten(request: &Request, error: &io::Error) -> Exit {
    let name = request
        .output
        .as_ref()
        .map_or("standard output".to_owned(), |path| {
            path.display().to_string()
        });
    complain(&format!("error: could not write {name}: {error}"));
    Exit::Unwritten
}

impl<'a> Writing<'a> {
    fn new(stream: Stream, request: &'a Request) -> io::Result<Self> {
        let tap = stream.tap();
        let output = BufWriter::with_capacity(WRITE_BYTES, stream);
        let (partitions, grow) = (request.partitions, request.grow);
        let listed = match request.format {
            Format::Text => Listed::Text(TextRows::default(), output),
            Format::Json => Listed::Json(JsonRows::new(output, request)?),
            Format::Csv if request.listed_max() == 0 => {
                Listed::Partitions(CsvRows::new(output, partitions, grow, &["partition"])?)
            }
            Format::Csv => Listed::Csv(CsvRows::new(output, partitions, grow, &["key", "count"])?),
        };
        Ok(Self {
            request,
            listed,
            left: request.listed_max(),
            tap,
        })
    }

    fn finish(self, tally: &Tally) -> io::Result<()> {
        let request = self.request;
        let output = match self.listed {
            Listed::Text(rows, mut output) => {
                let paint = match request.output {
                    None => paint_for(&io::stdout()),
                    Some(_) => crate::scenario::Paint::Plain,
                };
                io::Write::write_all(&mut output, rows.text(request, tally, paint).as_bytes())?;
                output
            }
            Listed::Json(rows) => rows.finish(request, tally)?,
            Listed::Csv(rows) => rows.finish()?,
            Listed::Partitions(mut rows) => {
                rows.partitions(tally)?;
                rows.finish()?
            }
        };
        let mut stream = output
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        io::Write::flush(&mut stream)?;
        stream.commit().map_err(|error| error.cause)
    }
}

impl Rows for Writing<'_> {
    fn take(&mut self, placed: &Placed<'_>, tally: &mut Tally) -> io::Result<()> {
        tally.count(placed);
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        match &mut self.listed {
            Listed::Text(rows, _) => {
                rows.key(placed);
                Ok(())
            }
            Listed::Csv(rows) => rows.key(placed),
            Listed::Json(rows) => rows.key(placed),
            Listed::Partitions(_) => Ok(()),
        }
    }

    fn is_unread(&self) -> bool {
        self.tap.is_closed()
    }
}
