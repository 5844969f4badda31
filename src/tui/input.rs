//! The one place that waits: keys, the terminal's size, signals, and the next frame's time.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyEvent, KeyEventKind};
use futures_util::StreamExt;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// Time between two frames: at most 20 of them in a second.
pub const FRAME: Duration = Duration::from_millis(50);
/// Unreadable input in a row after which the terminal counts as gone.
const ERRORS_MAX: u32 = 16;

/// Something that happened outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text came from the clipboard.
    Paste(String),
    /// The terminal has another size.
    Resized,
    /// The next frame's time has come.
    Frame,
    /// The process shall end, as this signal says.
    Ended(i32),
    /// The process shall stop until it is continued.
    Suspended,
    /// The process was continued after somebody stopped it.
    Continued,
    /// The terminal is gone.
    Lost,
}

/// Everything that is waited for.
#[derive(Debug)]
pub struct Inputs {
    events: EventStream,
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    stop: Signal,
    proceed: Signal,
    errors: u32,
}

impl Inputs {
    /// Starts to listen.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            events: EventStream::new(),
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            proceed: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            errors: 0,
        })
    }

    /// The next thing that happens; a frame at `frame` when nothing does, and never when there is
    /// no frame to come.
    pub async fn next(&mut self, frame: Option<Instant>) -> Input {
        loop {
            let frame_due = async {
                match frame {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                biased;
                _ = self.terminate.recv() => return Input::Ended(signal_hook::consts::SIGTERM),
                _ = self.hang_up.recv() => return Input::Ended(signal_hook::consts::SIGHUP),
                _ = self.interrupt.recv() => return Input::Ended(signal_hook::consts::SIGINT),
                _ = self.stop.recv() => return Input::Suspended,
                _ = self.proceed.recv() => return Input::Continued,
                event = self.events.next() => event,
                () = frame_due => return Input::Frame,
            };
            if let Some(input) = self.read(event) {
                return input;
            }
        }
    }

    fn read(&mut self, event: Option<io::Result<Event>>) -> Option<Input> {
        match event {
            Some(Ok(event)) => {
                self.errors = 0;
                translate(event)
            }
            Some(Err(_)) if self.errors < ERRORS_MAX => {
                self.errors += 1;
                None
            }
            Some(Err(_)) | None => Some(Input::Lost),
        }
    }
}

fn translate(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(..) => Some(Input::Resized),
        Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
