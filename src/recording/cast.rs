//! The file format of asciinema: a header, then an event a line.
//!
//! Source: <https://docs.asciinema.org/manual/asciicast/v2/> and `/v3/`. No time of day is written,
//! so that recordings made twice are the same.

use std::fmt::Write;

use serde_json::json;

/// A version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asciicast {
    /// What every player reads: moments from the start.
    #[default]
    V2,
    /// Since asciinema 3.0: moments from the event before.
    V3,
}

/// A recording while it grows.
#[derive(Debug)]
pub(super) struct Cast {
    format: Asciicast,
    text: String,
    last_micros: u64,
}

impl Cast {
    /// A recording without events.
    pub(super) fn new(format: Asciicast, (columns, lines): (u16, u16), title: &str) -> Self {
        let env = json!({ "TERM": "xterm-256color" });
        let header = match format {
            Asciicast::V2 => json!({
                "version": 2, "width": columns, "height": lines, "title": title, "env": env,
            }),
            Asciicast::V3 => json!({
                "version": 3,
                "term": { "cols": columns, "rows": lines, "type": "xterm-256color" },
                "title": title,
            }),
        };
        Self {
            format,
            text: format!("{header}\n"),
            last_micros: 0,
        }
    }

    /// What the terminal is sent; nothing is said where there is nothing.
    pub(super) fn output(&mut self, at_micros: u64, bytes: &str) {
        if !bytes.is_empty() {
            self.event(at_micros, "o", bytes);
        }
    }

    /// The same, to make the recording last until then.
    pub(super) fn output_even_if_empty(&mut self, at_micros: u64, bytes: &str) {
        self.event(at_micros, "o", bytes);
    }

    /// A place to jump to.
    pub(super) fn marker(&mut self, at_micros: u64, label: &str) {
        self.event(at_micros, "m", label);
    }

    /// The whole recording.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn event(&mut self, at_micros: u64, kind: &str, data: &str) {
        let micros = match self.format {
            Asciicast::V2 => at_micros,
            Asciicast::V3 => at_micros.saturating_sub(self.last_micros),
        };
        self.last_micros = at_micros;
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        let data = json!(data);
        let _always = writeln!(self.text, "[{seconds}.{rest:06}, \"{kind}\", {data}]");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(format: Asciicast) -> String {
        let mut cast = Cast::new(format, (80, 24), "a \"title\"");
        cast.output(0, "\x1b[2J");
        cast.output(500_000, "");
        cast.marker(1_500_000, "broker 2 dies");
        cast.output(1_500_000, "x");
        cast.finish()
    }

    #[test]
    fn moments_count_from_the_start_in_version_2() {
        insta::assert_snapshot!(cast(Asciicast::V2), @r#"
        {"env":{"TERM":"xterm-256color"},"height":24,"title":"a \"title\"","version":2,"width":80}
        [0.000000, "o", "\u001b[2J"]
        [1.500000, "m", "broker 2 dies"]
        [1.500000, "o", "x"]
        "#);
    }

    #[test]
    fn moments_count_from_the_event_before_in_version_3() {
        insta::assert_snapshot!(cast(Asciicast::V3), @r#"
        {"term":{"cols":80,"rows":24,"type":"xterm-256color"},"title":"a \"title\"","version":3}
        [0.000000, "o", "\u001b[2J"]
        [1.500000, "m", "broker 2 dies"]
        [0.000000, "o", "x"]
        "#);
    }
}
