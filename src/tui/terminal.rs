//! The terminal, taken and given back. Whatever ends the program (return, error, panic, a signal)
//! ends with the terminal as it was: cooked mode, main screen, visible cursor.

use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::Once;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The screen in use; dropping it gives the terminal back.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal: raw mode, alternate screen, hidden cursor.
    pub fn enter() -> io::Result<Self> {
        restore_on_panic();
        take()?;
        // From here on, failing must give it back.
        match Terminal::new(CrosstermBackend::new(io::stdout())) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws one frame with `draw`, which returns where the cursor belongs, if anywhere.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> io::Result<()> {
        self.terminal.draw(|frame| {
            if let Some(cursor) = draw(frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        Ok(())
    }

    /// The size of the screen; nothing where it cannot be asked.
    pub fn area(&self) -> Rect {
        self.terminal
            .size()
            .map_or(Rect::ZERO, |size| Rect::new(0, 0, size.width, size.height))
    }

    /// Forgets what is on the screen, so that the next frame draws all of it.
    pub fn clear(&mut self) -> io::Result<()> {
        // Not `Terminal::clear`: that asks the terminal where its cursor is, and some never answer.
        let size = self.terminal.size()?;
        self.terminal
            .resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Gives the terminal back, stops the process as Ctrl+Z does, and takes the terminal again
    /// when the process is continued.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        self.retake()
    }

    /// Takes the terminal again after somebody else had it.
    pub fn retake(&mut self) -> io::Result<()> {
        take()?;
        self.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    let entered = execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    );
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Undoes everything, as far as the terminal still listens; harmless when repeated.
fn give_back() {
    // Nothing helps when the terminal is gone, so errors are of no use here.
    let mut out = io::stdout();
    let _left = execute!(
        out,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _flushed = out.flush();
    let _cooked = disable_raw_mode();
}

/// Lets a panic give the terminal back before it prints its message.
fn restore_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}
