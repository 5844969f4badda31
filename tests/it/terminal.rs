//! A real terminal, given back byte for byte: whatever ends the program, the pseudo-terminal is in
//! the mode that it was in before, on its main screen, with a visible cursor.

use std::env;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use kdrill::scenario::{Overrides, Source, load};
use kdrill::session::Session;
use kdrill::tui::pace::Speed;
use kdrill::tui::theme::{Charset, Colors, Theme};
use kdrill::tui::{self, Options};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longest time that anything is waited for; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Set for a test that is run as the program in the pseudo-terminal.
const HOLDS_TERMINAL: &str = "KDRILL_TEST_HOLDS_TERMINAL";
/// The exit code of a test that panicked, which is that of any program that did.
const PANICKED: u32 = 101;

const ENTER_SCREEN: &str = "\x1b[?1049h";
const LEAVE_SCREEN: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const HIDE_CURSOR: &str = "\x1b[?25l";

/// kdrill in a pseudo-terminal.
struct Pty {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    seen: String,
    /// The terminal's mode before anything ran in it.
    mode: String,
}

impl Pty {
    /// kdrill with these arguments.
    fn run(arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_kdrill"));
        command.args(arguments);
        Self::spawn(command)
    }

    /// This very test once more, as the program that holds the terminal.
    fn run_test(name: &str) -> Self {
        let itself = env::current_exe().expect("a test has a file");
        let mut command = CommandBuilder::new(itself);
        command.args(["--exact", name, "--nocapture"]);
        command.env(HOLDS_TERMINAL, "1");
        Self::spawn(command)
    }

    fn spawn(mut command: CommandBuilder) -> Self {
        let size = PtySize {
            rows: 36,
            cols: 120,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system()
            .openpty(size)
            .expect("a pseudo-terminal");
        let mode = mode_of(pair.master.as_ref());
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        let child = pair.slave.spawn_command(command).expect("it starts");
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let keyboard = pair.master.take_writer().expect("its keyboard");
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut chunk = [0; 4_096];
            while let Ok(count @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            master: pair.master,
            child,
            keyboard,
            output,
            seen: String::new(),
            mode,
        }
    }

    /// Waits until `text` has come since the last wait.
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout) => panic!("no {text:?} in {:?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("kdrill ended before {text:?}: {:?}", self.seen)
                }
            }
        }
        let end = self.seen.find(text).expect("found above") + text.len();
        self.seen.drain(..end);
    }

    fn wait_for_dashboard(&mut self) {
        self.wait_for(ENTER_SCREEN);
        self.wait_for("Ledger");
        assert_ne!(
            mode_of(self.master.as_ref()),
            self.mode,
            "raw mode while it runs"
        );
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("it reads");
        self.keyboard.flush().expect("it reads");
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let status = Command::new("kill")
            .args([name, &id])
            .status()
            .expect("kill");
        assert!(status.success());
    }

    /// Waits until the process has stopped: to continue one that is yet to stop is lost on it.
    fn wait_until_stopped(&mut self) {
        const LOOKS: u32 = 1_000;
        let id = self.child.process_id().expect("it runs").to_string();
        for _ in 0..LOOKS {
            let ps = Command::new("ps").args(["-o", "stat=", "-p", &id]).output();
            let state = String::from_utf8(ps.expect("ps").stdout).expect("letters");
            if state.starts_with('T') {
                return;
            }
            if let Ok(bytes) = self.output.recv_timeout(PATIENCE / LOOKS) {
                self.seen.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        panic!("it goes on");
    }

    /// Waits for the end; everything must be as it was.
    fn assert_given_back(mut self, code: u32) {
        self.wait_for(LEAVE_SCREEN);
        self.wait_for(SHOW_CURSOR);
        let status = self.child.wait().expect("it ends");
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        assert_eq!(status.exit_code(), code, "after it left: {:?}", self.seen);
        for again in [ENTER_SCREEN, HIDE_CURSOR] {
            assert!(!self.seen.contains(again), "{:?}", self.seen);
        }
        assert_eq!(mode_of(self.master.as_ref()), self.mode);
    }
}

/// The mode of a terminal, in full.
fn mode_of(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has a mode"))
}

#[test]
fn q_gives_the_terminal_back() {
    let mut pty = Pty::run(&["full-buffer"]);
    pty.wait_for_dashboard();
    pty.press(b"q");
    pty.assert_given_back(0);
}

#[test]
fn ctrl_c_gives_the_terminal_back_in_the_middle_of_typing() {
    let mut pty = Pty::run(&["full-buffer"]);
    pty.wait_for_dashboard();
    pty.press(b":broker kill");
    pty.wait_for("kill");
    pty.press(b"\x03");
    pty.assert_given_back(0);
}

#[test]
fn signals_give_the_terminal_back_and_tell_in_the_exit_code() {
    for (name, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let mut pty = Pty::run(&["full-buffer", "--speed", "max"]);
        pty.wait_for_dashboard();
        pty.signal(name);
        pty.assert_given_back(code);
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_says_why() {
    if env::var_os(HOLDS_TERMINAL).is_some() {
        return start_over_with_a_panic();
    }
    let mut pty = Pty::run_test("terminal::a_panic_gives_the_terminal_back_before_it_says_why");
    pty.wait_for_dashboard();
    pty.press(b"\x12");
    pty.wait_for(LEAVE_SCREEN);
    pty.wait_for(SHOW_CURSOR);
    // Only a terminal that is out of raw mode again puts a carriage return before a line feed.
    pty.wait_for("nobody reads this scenario twice\r\n");
    pty.assert_given_back(PANICKED);
}

/// The whole screen, in a program that panics when it shall start over. kdrill itself has no way
/// to panic on demand, and should have none.
fn start_over_with_a_panic() {
    let scenario = load(
        Source::Embedded("full-buffer".to_owned()),
        &Overrides::default(),
    );
    let session = Session::new(Arc::new(scenario.expect("the library loads")));
    let options = Options {
        theme: Theme::new(Colors::Sixteen, Charset::Unicode),
        speed: Speed::REAL,
        load: Box::new(|_| panic!("nobody reads this scenario twice")),
    };
    let _exit = tui::run(session, options).expect("there is a terminal");
}

#[test]
fn a_key_that_comes_with_a_resize_is_not_lost() {
    let mut pty = Pty::run(&["full-buffer"]);
    pty.wait_for_dashboard();
    for (rows, cols) in [(0, 0), (24, 80), (1, 1), (60, 200), (36, 120)] {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        pty.master.resize(size).expect("a terminal can be resized");
    }
    pty.press(b"q");
    pty.assert_given_back(0);
}

#[test]
fn ctrl_z_lends_the_terminal_until_the_process_is_continued() {
    let mut pty = Pty::run(&["full-buffer"]);
    pty.wait_for_dashboard();
    pty.press(b"\x1a");
    pty.wait_for(LEAVE_SCREEN);
    pty.wait_for(SHOW_CURSOR);
    pty.wait_until_stopped();
    pty.signal("-CONT");
    pty.wait_for_dashboard();
    pty.press(b"q");
    pty.assert_given_back(0);
}

#[test]
fn the_list_of_scenarios_is_left_by_escape() {
    let mut pty = Pty::run(&[]);
    pty.wait_for(ENTER_SCREEN);
    pty.wait_for("full-buffer");
    pty.press(b"\x1b");
    pty.assert_given_back(0);
}

#[test]
fn a_run_from_the_list_goes_back_to_it() {
    let mut pty = Pty::run(&[]);
    pty.wait_for("Scenarios");
    pty.press(b"dead-leader\r");
    pty.wait_for("Ledger");
    pty.press(b"\x1b");
    pty.wait_for("leave this run");
    pty.press(b"\r");
    pty.wait_for("Scenarios");
    pty.press(b"\x03");
    pty.assert_given_back(0);
}

#[test]
fn a_scenario_that_cannot_run_never_takes_the_terminal() {
    let mut pty = Pty::run(&["no-such-scenario"]);
    let status = pty.child.wait().expect("it ends");
    while let Ok(bytes) = pty.output.recv_timeout(Duration::from_millis(200)) {
        pty.seen.push_str(&String::from_utf8_lossy(&bytes));
    }
    assert_eq!(status.exit_code(), 2);
    assert!(!pty.seen.contains(ENTER_SCREEN), "{:?}", pty.seen);
    assert_eq!(mode_of(pty.master.as_ref()), pty.mode);
}
