//! Lines of any input, one at a time, with constant memory.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of one line at most: what `max.request.size` lets through by default.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that are asked for at once.
const READ_BYTES: usize = 256 * 1024;
/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why there is no next line.
#[derive(Debug)]
pub enum LineError {
    /// It could not be read.
    Unread(io::Error),
    /// It is longer than [`LINE_BYTES_MAX`].
    TooLong,
    /// Somebody pressed Ctrl+C.
    Interrupted,
}

/// A reader cut into lines. A line ends with `\n` or `\r\n`, the last one also without; a byte
/// order mark before the first is no part of it.
pub struct Lines<'a, R> {
    input: R,
    interrupted: &'a AtomicBool,
    buffer: Vec<u8>,
    /// What of `buffer` is read and not yet handed out.
    start: usize,
    end: usize,
    bytes_read: u64,
    number: u64,
    is_at_end: bool,
}

impl<'a, R: Read> Lines<'a, R> {
    /// The lines of `input`, until `interrupted`.
    pub fn new(input: R, interrupted: &'a AtomicBool) -> Self {
        Self {
            input,
            interrupted,
            buffer: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            bytes_read: 0,
            number: 0,
            is_at_end: false,
        }
    }

    /// Bytes that were handed out.
    pub fn bytes_done(&self) -> u64 {
        self.bytes_read - (self.end - self.start) as u64
    }

    /// The number of the line that was handed out last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line, without its end.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineError> {
        let mut searched = self.start;
        let line = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + at;
                self.start = line.end + 1;
                break line;
            }
            if LINE_BYTES_MAX < self.end - self.start {
                self.number += 1;
                return Err(LineError::TooLong);
            }
            if self.is_at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                let line = self.start..self.end;
                self.start = self.end;
                break line;
            }
            let kept = self.end - self.start;
            self.fill()?;
            searched = self.start + kept;
        };
        self.number += 1;
        let mut line = &self.buffer[line];
        if self.number == 1 {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads on behind what is kept, which moves to the front.
    fn fill(&mut self) -> Result<(), LineError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(LineError::Interrupted);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < self.end + READ_BYTES {
            self.buffer.resize(self.end + READ_BYTES, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    if self.interrupted.load(Ordering::Relaxed) {
                        return Err(LineError::Interrupted);
                    }
                }
                result => break result.map_err(LineError::Unread)?,
            }
        };
        self.end += read;
        self.bytes_read += read as u64;
        self.is_at_end = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &[u8], at_once: usize) -> Vec<Vec<u8>> {
        let never = AtomicBool::new(false);
        let mut lines = Lines::new(Drops(text, at_once), &never);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(line.to_vec());
        }
        assert_eq!(lines.bytes_done(), text.len() as u64);
        all
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = b"\xef\xbb\xbfone\n\ntwo\r\nthree \n\n4";
        let expected = [&b"one"[..], b"", b"two", b"three ", b"", b"4"];
        for at_once in [1, 2, 3, 7, 100] {
            assert_eq!(lines(text, at_once), expected, "{at_once} bytes at once");
        }
        assert_eq!(lines(b"", 1), Vec::<Vec<u8>>::new());
        assert_eq!(lines(b"\n", 1), [b""]);
    }

    #[test]
    fn a_file_without_ends_of_lines_does_not_fill_the_memory() {
        let never = AtomicBool::new(false);
        let mut lines = Lines::new(io::repeat(b'x'), &never);
        assert!(matches!(lines.next_line(), Err(LineError::TooLong)));
        assert!(lines.buffer.len() < LINE_BYTES_MAX + 2 * READ_BYTES);
    }
}
