//! `kdrill shot`: one frame of a run, as it would stand on a screen, in a file.
//!
//! Invariants: the frame is the one that the screen draws; it depends on the scenario, the moment,
//! the size and the looks that were asked for, never on the terminal or the environment; the file
//! is written whole or not at all.

pub(crate) mod ansi;
mod svg;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::headless::{Exit, complain, paint_for, select};
use crate::report::output::Destination;
use crate::scenario::{Overrides, Scenario, load};
use crate::session::Session;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::Run;
use crate::tui::model::{Detail, Origin};
use crate::tui::pace::Speed;
use crate::tui::pane::Pane;
use crate::tui::theme::Theme;

pub use svg::Background;

/// What a still is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StillFormat {
    /// Characters only.
    Text,
    /// Characters with the escape sequences of a terminal.
    Ansi,
    /// A picture that looks the same whatever fonts there are: lines, bars and dots are drawn.
    Svg(Background),
}

/// Which frame, and where it goes.
#[derive(Clone, Debug)]
pub struct Request {
    /// A file, or the name of a scenario of the library.
    pub scenario: PathBuf,
    /// Seed and changed values.
    pub overrides: Overrides,
    /// The moment; the end of the run where none is given.
    pub at: Option<SimSpan>,
    /// Columns and lines.
    pub size: (u16, u16),
    /// The pane that takes the whole screen; all of them where none is named.
    pub pane: Option<Pane>,
    /// Looks.
    pub theme: Theme,
    /// What it is written as.
    pub format: StillFormat,
    /// Where it goes; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// Runs the scenario up to the moment and writes the frame.
pub fn run(request: &Request) -> Exit {
    let scenario = match load_one(request) {
        Ok(scenario) => scenario,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let destination = match &request.output {
        None => Destination::stdout(),
        Some(path) => match Destination::file(path) {
            Ok(destination) => destination,
            Err(error) => {
                complain(&format!("error: {error}"));
                return Exit::Unwritten;
            }
        },
    };
    let still = Still::take(scenario, request);
    match destination.write(&still.render(request.format)) {
        Ok(()) => Exit::Held,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

fn load_one(request: &Request) -> Result<Scenario, String> {
    let mut found = select::select(std::slice::from_ref(&request.scenario));
    let source = match (found.pop(), found.len()) {
        (Some(Ok(source)), 0) => source,
        (Some(Err(nothing)), 0) => return Err(nothing.to_string()),
        _ => {
            return Err(
                "error: a still shows one scenario\n\nname a file instead of a folder".to_owned(),
            );
        }
    };
    let paint = paint_for(&std::io::stderr());
    load(source, &request.overrides).map_err(|problems| problems.render(paint))
}

/// One frame, and what it shows.
#[derive(Debug)]
pub struct Still {
    /// The cells.
    buffer: Buffer,
    /// What it shows, for those who cannot see it.
    title: String,
}

impl Still {
    /// Lets the scenario run to the moment and draws.
    pub fn take(scenario: Scenario, request: &Request) -> Self {
        let name = scenario.name.clone();
        let session = Session::new(Arc::new(scenario));
        let mut run = Run::new(session, request.theme, Speed::REAL, Origin::CommandLine);
        if let Some(pane) = request.pane {
            run.model.focus = pane;
            run.model.detail = Detail::Expanded;
        }
        let area = Rect::new(0, 0, request.size.0, request.size.1);
        run.measure(area);
        let end = run.session.end();
        let at = request.at.map_or(end, |at| (SimTime::ZERO + at).min(end));
        run.go_to(at);
        run.measure(area);
        let mut buffer = Buffer::empty(area);
        let _cursor = run.draw(&mut buffer);
        let title = format!("kdrill: {name} at {at}");
        Self { buffer, title }
    }

    /// The frame as it is written.
    pub fn render(&self, format: StillFormat) -> String {
        match format {
            StillFormat::Text => text::render(&self.buffer),
            StillFormat::Ansi => ansi::render(&self.buffer),
            StillFormat::Svg(background) => svg::render(&self.buffer, &self.title, background),
        }
    }
}

/// Cells of one line, without those that a wide character to their left covers: the column and
/// the cell.
fn cells(buffer: &Buffer, y: u16) -> impl Iterator<Item = (u16, &ratatui::buffer::Cell)> {
    let mut next = buffer.area.left();
    (buffer.area.left()..buffer.area.right()).filter_map(move |x| {
        let cell = &buffer[(x, y)];
        if x < next {
            return None;
        }
        next = x + crate::tui::text::width(cell.symbol()).max(1);
        Some((x, cell))
    })
}
