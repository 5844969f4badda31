//! Looks, by meaning: one tree of semantic styles, four palettes, the glyph table.
//!
//! Foreground and background stay the terminal's own. Colour never carries a meaning alone: what
//! red or yellow says is also said by a word, a glyph or a modifier.

use ratatui::style::{Color, Modifier, Style};

use crate::tui::glyph::{self, Glyphs};

/// What a pane needs to know about looks.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// Styles by meaning.
    pub styles: &'static Styles,
    /// Glyphs by meaning.
    pub glyphs: &'static Glyphs,
}

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// None: modifiers only.
    None,
    /// The sixteen of the terminal's own palette.
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    /// 24 bits.
    True,
}

/// Which character set the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Theme {
    /// The theme for these colours and glyphs.
    pub const fn new(colors: Colors, charset: Charset) -> Self {
        let styles = match colors {
            Colors::None => &MONO,
            Colors::Sixteen => &SIXTEEN,
            Colors::Indexed => &INDEXED,
            Colors::True => &TRUE,
        };
        let glyphs = match charset {
            Charset::Unicode => &glyph::UNICODE,
            Charset::Ascii => &glyph::ASCII,
        };
        Self { styles, glyphs }
    }

    /// The theme that fits an environment.
    pub fn detect(environment: &Environment, charset: Option<Charset>) -> Self {
        Self::new(
            environment.colors(),
            charset.unwrap_or(environment.charset()),
        )
    }
}

/// The variables that say what a terminal can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `NO_COLOR`: any non-empty value means no colour.
    pub no_color: Option<String>,
    /// `COLORTERM`: `truecolor` or `24bit`.
    pub colorterm: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set and not empty.
    pub locale: Option<String>,
}

impl Environment {
    /// What this process was given.
    pub fn of_process() -> Self {
        let get = |name: &str| std::env::var(name).ok();
        let set = |name: &&&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
        Self {
            no_color: get("NO_COLOR"),
            colorterm: get("COLORTERM"),
            term: get("TERM"),
            locale: ["LC_ALL", "LC_CTYPE", "LANG"]
                .iter()
                .find(set)
                .and_then(|name| get(name)),
        }
    }

    /// How many colours may be used.
    pub fn colors(&self) -> Colors {
        let term = self.term.as_deref().unwrap_or("");
        let colorterm = self.colorterm.as_deref().unwrap_or("");
        let forbidden = self
            .no_color
            .as_deref()
            .is_some_and(|value| !value.is_empty());
        let monochrome = term == "dumb" || term.starts_with("vt1") || term.starts_with("vt2");
        if forbidden || monochrome {
            Colors::None
        } else if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
            Colors::True
        } else if term.contains("256") {
            Colors::Indexed
        } else {
            Colors::Sixteen
        }
    }

    /// Which characters may be used: Unicode unless the locale is known to be something else.
    pub fn charset(&self) -> Charset {
        let locale = self.locale.as_deref().unwrap_or("").to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Charset::Unicode
        } else {
            Charset::Ascii
        }
    }
}

/// Styles by meaning.
#[derive(Debug, PartialEq, Eq)]
pub struct Styles {
    /// Running text.
    pub text: TextStyles,
    /// Lines and titles around panes.
    pub frame: FrameStyles,
    /// Judgements.
    pub tone: ToneStyles,
    /// What `buffer.memory` holds.
    pub buffer: BufferStyles,
    /// Charts.
    pub chart: ChartStyles,
}

/// Running text.
#[derive(Debug, PartialEq, Eq)]
pub struct TextStyles {
    /// As the terminal writes.
    pub plain: Style,
    /// Secondary: units, labels, what is not now.
    pub dim: Style,
    /// A figure or name that matters.
    pub strong: Style,
    /// Column headings.
    pub heading: Style,
    /// The product's one accent: keys, current values.
    pub accent: Style,
    /// The selected line.
    pub selected: Style,
}

/// Lines and titles around panes.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameStyles {
    /// Lines.
    pub line: Style,
    /// Lines around the focused pane.
    pub line_focused: Style,
    /// A pane's name.
    pub title: Style,
    /// The focused pane's name.
    pub title_focused: Style,
    /// A pane's current value.
    pub value: Style,
}

/// Judgements.
#[derive(Debug, PartialEq, Eq)]
pub struct ToneStyles {
    /// As it should be.
    pub good: Style,
    /// Trouble ahead.
    pub warn: Style,
    /// Trouble.
    pub bad: Style,
}

/// What `buffer.memory` holds.
#[derive(Debug, PartialEq, Eq)]
pub struct BufferStyles {
    /// Batches on the wire or at the broker.
    pub in_flight: Style,
    /// Batches waiting to be drained.
    pub ready: Style,
    /// Batches that still take records.
    pub open: Style,
    /// Batches waiting to be sent again.
    pub retrying: Style,
    /// Free memory.
    pub free: Style,
}

/// Charts.
#[derive(Debug, PartialEq, Eq)]
pub struct ChartStyles {
    /// Axes and their labels.
    pub axis: Style,
    /// The reading that a real dashboard would show.
    pub reading: Style,
    /// The truth behind it.
    pub truth: Style,
    /// Faults.
    pub fault: Style,
    /// Thresholds.
    pub threshold: Style,
}

/// The few colours that a palette decides on.
struct Palette {
    accent: Color,
    good: Color,
    warn: Color,
    bad: Color,
    cool: Color,
    soft: Color,
}

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

const fn styles(palette: &Palette) -> Styles {
    let accent = PLAIN.fg(palette.accent);
    Styles {
        text: TextStyles {
            plain: PLAIN,
            dim: DIM,
            strong: BOLD,
            heading: DIM,
            accent,
            selected: BOLD.fg(palette.accent),
        },
        frame: FrameStyles {
            line: DIM,
            line_focused: accent,
            title: BOLD,
            title_focused: BOLD.fg(palette.accent),
            value: PLAIN,
        },
        tone: ToneStyles {
            good: PLAIN.fg(palette.good),
            warn: PLAIN.fg(palette.warn),
            bad: BOLD.fg(palette.bad),
        },
        buffer: BufferStyles {
            in_flight: PLAIN.fg(palette.accent),
            ready: PLAIN.fg(palette.cool),
            open: PLAIN.fg(palette.soft),
            retrying: PLAIN.fg(palette.bad),
            free: DIM,
        },
        chart: ChartStyles {
            axis: DIM,
            reading: PLAIN.fg(palette.accent),
            truth: PLAIN.fg(palette.soft),
            fault: PLAIN.fg(palette.bad),
            threshold: PLAIN.fg(palette.warn),
        },
    }
}

const SIXTEEN: Styles = styles(&Palette {
    accent: Color::Cyan,
    good: Color::Green,
    warn: Color::Yellow,
    bad: Color::Red,
    cool: Color::Blue,
    soft: Color::Magenta,
});

const INDEXED: Styles = styles(&Palette {
    accent: Color::Indexed(38),
    good: Color::Indexed(71),
    warn: Color::Indexed(172),
    bad: Color::Indexed(167),
    cool: Color::Indexed(68),
    soft: Color::Indexed(103),
});

const TRUE: Styles = styles(&Palette {
    accent: Color::Rgb(38, 166, 196),
    good: Color::Rgb(82, 168, 92),
    warn: Color::Rgb(207, 138, 32),
    bad: Color::Rgb(217, 87, 87),
    cool: Color::Rgb(88, 134, 205),
    soft: Color::Rgb(133, 133, 178),
});

const MONO: Styles = Styles {
    text: TextStyles {
        plain: PLAIN,
        dim: DIM,
        strong: BOLD,
        heading: DIM,
        accent: BOLD,
        selected: REVERSED,
    },
    frame: FrameStyles {
        line: DIM,
        line_focused: PLAIN,
        title: BOLD,
        title_focused: REVERSED,
        value: PLAIN,
    },
    tone: ToneStyles {
        good: PLAIN,
        warn: BOLD,
        bad: BOLD,
    },
    buffer: BufferStyles {
        in_flight: PLAIN,
        ready: PLAIN,
        open: PLAIN,
        retrying: PLAIN,
        free: DIM,
    },
    chart: ChartStyles {
        axis: DIM,
        reading: BOLD,
        truth: DIM,
        fault: PLAIN,
        threshold: DIM,
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(no_color: &str, colorterm: &str, term: &str, locale: &str) -> Environment {
        let some = |text: &str| Some(text.to_owned());
        Environment {
            no_color: some(no_color),
            colorterm: some(colorterm),
            term: some(term),
            locale: some(locale),
        }
    }

    #[test]
    fn an_empty_no_color_changes_nothing_and_any_other_forbids_colour() {
        assert_eq!(
            environment("", "", "xterm-256color", "C").colors(),
            Colors::Indexed
        );
        assert_eq!(
            environment("0", "truecolor", "xterm", "C").colors(),
            Colors::None
        );
    }

    #[test]
    fn colours_follow_the_terminal() {
        assert_eq!(
            environment("", "truecolor", "xterm", "").colors(),
            Colors::True
        );
        assert_eq!(environment("", "", "xterm", "").colors(), Colors::Sixteen);
        assert_eq!(environment("", "", "dumb", "").colors(), Colors::None);
    }

    #[test]
    fn glyphs_follow_the_locale() {
        assert_eq!(
            environment("", "", "xterm", "en_GB.UTF-8").charset(),
            Charset::Unicode
        );
        assert_eq!(environment("", "", "xterm", "C").charset(), Charset::Ascii);
        assert_eq!(Environment::default().charset(), Charset::Ascii);
    }

    #[test]
    fn without_colour_no_style_has_one() {
        let mono = &MONO;
        for style in [
            mono.text.accent,
            mono.frame.line_focused,
            mono.tone.bad,
            mono.buffer.retrying,
            mono.chart.reading,
        ] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
