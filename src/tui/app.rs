//! The loop behind the screen. One line waits; everything after it is synchronous: input becomes a
//! message, the message changes the model, effects go to the session, a frame is drawn.

use std::fmt;
use std::io;
use std::sync::Arc;

use crossterm::event::KeyEvent;
use tokio::time::Instant;

use crate::rehearsal::debrief::Debrief;
use crate::session::Session;
use crate::tui::input::{FRAME, Input, Inputs};
use crate::tui::model::Origin;
use crate::tui::msg::{Effect, Msg};
use crate::tui::pace::Speed;
use crate::tui::picker::{self, Choice, Picker};
use crate::tui::run::{Load, Run};
use crate::tui::terminal::Screen;
use crate::tui::theme::Theme;

/// How the screen looks and runs.
pub struct Options {
    /// Looks.
    pub theme: Theme,
    /// The speed at the start.
    pub speed: Speed,
    /// Where scenarios come from: for starting over, and for the list.
    pub load: Load,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("theme", &self.theme)
            .field("speed", &self.speed)
            .finish_non_exhaustive()
    }
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A person left.
    Quit,
    /// A signal asked for it.
    Signal(i32),
}

impl Exit {
    /// The exit code of the process: 0, or 128 and the signal.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(255),
        }
    }
}

/// Runs a session on the screen until somebody leaves.
pub fn run(session: Session, options: Options) -> io::Result<Exit> {
    rehearse(session, options).map(|(exit, _)| exit)
}

/// The same, and what the rehearsal came to by then, where the run is one.
pub fn rehearse(session: Session, options: Options) -> io::Result<(Exit, Option<Debrief>)> {
    let stage = Stage::Run(Box::new(
        Run::new(session, options.theme, options.speed, Origin::CommandLine).briefed(),
    ));
    block_on(stage, options)
}

/// Runs two sessions beside each other on the screen until somebody leaves.
pub fn run_pair(a: Session, b: Session, options: Options) -> io::Result<Exit> {
    let mut run = Run::new(a, options.theme, options.speed, Origin::CommandLine);
    run.set_beside(b);
    block_on(Stage::Run(Box::new(run)), options).map(|(exit, _)| exit)
}

/// Shows the library and runs what is picked, until somebody leaves.
pub fn run_picker(options: Options) -> io::Result<Exit> {
    let picker = Picker::new(options.theme);
    block_on(Stage::Pick(Box::new(picker)), options).map(|(exit, _)| exit)
}

fn block_on(stage: Stage, options: Options) -> io::Result<(Exit, Option<Debrief>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // Signals must find their handlers before there is a terminal to give back.
        let inputs = Inputs::open()?;
        let screen = Screen::enter()?;
        App {
            screen,
            stage,
            options,
            clock: None,
            drawn: None,
        }
        .go(inputs)
        .await
    })
}

/// What is on the screen.
enum Stage {
    /// The list of scenarios.
    Pick(Box<Picker>),
    /// A run.
    Run(Box<Run>),
}

/// When the screen was drawn last, and whether anything changed since.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    at: Instant,
    is_stale: bool,
}

struct App {
    screen: Screen,
    stage: Stage,
    options: Options,
    /// When the last frame began, while simulated time passes.
    clock: Option<Instant>,
    drawn: Option<Drawn>,
}

impl App {
    async fn go(mut self, mut inputs: Inputs) -> io::Result<(Exit, Option<Debrief>)> {
        // People see something before anything else takes time.
        self.draw()?;
        loop {
            let input = inputs.next(self.next_frame()).await;
            if let Some(exit) = self.take(input)? {
                return Ok((exit, self.debrief()));
            }
            self.draw_if_due()?;
        }
    }

    /// What the rehearsal came to, where the run is one.
    fn debrief(&self) -> Option<Debrief> {
        match &self.stage {
            Stage::Run(run) => run.session.debrief(),
            Stage::Pick(_) => None,
        }
    }

    /// When the next frame is due; never when nothing moves and nothing changed.
    fn next_frame(&self) -> Option<Instant> {
        let drawn = self.drawn?;
        let wanted = drawn.is_stale || self.is_moving();
        wanted.then(|| drawn.at + FRAME)
    }

    fn is_moving(&self) -> bool {
        matches!(&self.stage, Stage::Run(run) if run.is_moving())
    }

    fn take(&mut self, input: Input) -> io::Result<Option<Exit>> {
        match input {
            Input::Key(key) => match self.meaning(&key) {
                Some(msg) => self.apply(msg),
                None => Ok(None),
            },
            Input::Paste(text) => self.apply(Msg::Paste(text)),
            Input::Resized => self.apply(Msg::Resized),
            Input::Frame => self.frame(),
            Input::Suspended => self.apply(Msg::Suspend),
            Input::Continued => {
                self.clock = None;
                self.screen.retake()?;
                self.changed();
                Ok(None)
            }
            Input::Ended(signal) => Ok(Some(Exit::Signal(signal))),
            Input::Lost => Ok(Some(Exit::Signal(signal_hook::consts::SIGHUP))),
        }
    }

    fn meaning(&self, key: &KeyEvent) -> Option<Msg> {
        match &self.stage {
            Stage::Pick(picker) => picker.meaning(key),
            Stage::Run(run) => run.meaning(key),
        }
    }

    /// A frame's time has come: simulated time follows.
    fn frame(&mut self) -> io::Result<Option<Exit>> {
        if !self.is_moving() {
            self.clock = None;
            return Ok(None);
        }
        let now = Instant::now();
        let elapsed = self.clock.map_or(FRAME, |before| now - before);
        self.clock = Some(now);
        self.apply(Msg::Frame(elapsed))
    }

    fn apply(&mut self, msg: Msg) -> io::Result<Option<Exit>> {
        self.changed();
        match &mut self.stage {
            Stage::Pick(picker) => {
                let choice = picker::update(picker, msg);
                self.choose(choice)
            }
            Stage::Run(run) => {
                let effects = run.apply(msg, &self.options.load);
                self.perform(effects)
            }
        }
    }

    fn changed(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.is_stale = true;
        }
    }

    fn choose(&mut self, choice: Choice) -> io::Result<Option<Exit>> {
        match choice {
            Choice::None => Ok(None),
            Choice::Quit => Ok(Some(Exit::Quit)),
            Choice::Suspend => self.suspend(),
            Choice::Clear => self.screen.clear().map(|()| None),
            Choice::Run(name) => {
                match (self.options.load)(&name) {
                    Ok(scenario) => {
                        let session = Session::new(Arc::new(scenario));
                        let run = Run::new(
                            session,
                            self.options.theme,
                            self.options.speed,
                            Origin::Picker,
                        )
                        .briefed();
                        self.clock = None;
                        self.stage = Stage::Run(Box::new(run));
                    }
                    Err(text) => {
                        if let Stage::Pick(picker) = &mut self.stage {
                            picker.trouble = Some(text);
                        }
                    }
                }
                Ok(None)
            }
        }
    }

    fn suspend(&mut self) -> io::Result<Option<Exit>> {
        self.screen.suspend()?;
        self.clock = None;
        Ok(None)
    }

    /// Performs in order what a run leaves to the terminal.
    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<Option<Exit>> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(Some(Exit::Quit)),
                Effect::Clear => self.screen.clear()?,
                Effect::Suspend => {
                    self.suspend()?;
                }
                Effect::ToPicker => self.back_to_picker(),
                // The run has performed all others.
                _ => {}
            }
        }
        Ok(None)
    }

    fn back_to_picker(&mut self) {
        let mut picker = Picker::new(self.options.theme);
        if let Stage::Run(run) = &self.stage {
            picker.select(&run.session.scenario().name);
        }
        self.stage = Stage::Pick(Box::new(picker));
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let due = self
            .drawn
            .is_none_or(|drawn| drawn.is_stale && drawn.at.elapsed() >= FRAME);
        if due { self.draw() } else { Ok(()) }
    }

    fn draw(&mut self) -> io::Result<()> {
        if let Stage::Run(run) = &mut self.stage {
            run.measure(self.screen.area());
        }
        let stage = &self.stage;
        self.screen.draw(|buffer| match stage {
            Stage::Pick(picker) => picker::draw(buffer, picker),
            Stage::Run(run) => run.draw(buffer),
        })?;
        self.drawn = Some(Drawn {
            at: Instant::now(),
            is_stale: false,
        });
        Ok(())
    }
}
