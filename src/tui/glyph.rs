//! Every glyph with its ASCII twin. A pane asks for a glyph by its meaning, never by its shape.

use ratatui::buffer::Buffer;

/// The glyphs of one character set.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Lines between panes, by which neighbours they join: bit 0 up, 1 right, 2 down, 3 left.
    pub joints: [&'static str; 16],
    /// Bytes of `buffer.memory` on the wire or at the broker.
    pub in_flight: &'static str,
    /// Bytes waiting to be drained.
    pub ready: &'static str,
    /// Bytes of batches that still take records.
    pub open: &'static str,
    /// Bytes waiting to be sent again.
    pub retrying: &'static str,
    /// Free bytes.
    pub free: &'static str,
    /// A cell of a horizontal bar.
    pub bar: &'static str,
    /// Half a cell at its end.
    pub bar_half: &'static str,
    /// Eight levels of a vertical bar.
    pub levels: [&'static str; 8],
    /// The part of a timeline that has passed.
    pub passed: &'static str,
    /// The part ahead that the run has been through, before somebody went back.
    pub known: &'static str,
    /// The part that is still to come.
    pub ahead: &'static str,
    /// The present on a timeline.
    pub now: &'static str,
    /// A fault, or another command, on a time axis.
    pub fault: &'static str,
    /// The vertical line through a chart at a fault.
    pub fault_line: &'static str,
    /// A horizontal threshold in a chart.
    pub threshold: &'static str,
    /// Lower left corner of a chart's axes.
    pub axis_corner: &'static str,
    /// Vertical axis.
    pub axis_y: &'static str,
    /// Vertical axis beside a label.
    pub axis_y_tick: &'static str,
    /// Horizontal axis.
    pub axis_x: &'static str,
    /// A chart's area where charts are not made of braille.
    pub area: &'static str,
    /// Something holds.
    pub held: &'static str,
    /// Something failed.
    pub failed: &'static str,
    /// Something is still open.
    pub pending: &'static str,
    /// Something needs attention.
    pub alert: &'static str,
    /// The selected line of a list.
    pub selected: &'static str,
    /// Between two facts on one line.
    pub dot: &'static str,
    /// At the end of a cut text.
    pub ellipsis: &'static str,
    /// From one thing to another.
    pub arrow: &'static str,
    /// From an effect to its cause, on the line below.
    pub because: &'static str,
    /// There is more above.
    pub more_above: &'static str,
    /// There is more below.
    pub more_below: &'static str,
    /// Before a factor: `×4`.
    pub times: &'static str,
    /// A link that passes everything.
    pub link_up: &'static str,
    /// A link that swallows everything.
    pub link_cut: &'static str,
    /// A link that refuses connections.
    pub link_refusing: &'static str,
    /// A link that is slower than configured.
    pub link_degraded: &'static str,
    /// Where the last stable offset is.
    pub stable: &'static str,
    /// Where the high watermark is.
    pub watermark: &'static str,
    /// Nothing to show.
    pub none: &'static str,
    /// Whether charts may use braille.
    pub braille: bool,
}

/// For terminals that show Unicode.
pub const UNICODE: Glyphs = Glyphs {
    joints: [
        " ", "╵", "╶", "╰", "╷", "│", "╭", "├", "╴", "╯", "─", "┴", "╮", "┤", "┬", "┼",
    ],
    in_flight: "█",
    ready: "▓",
    open: "▒",
    retrying: "▞",
    free: "·",
    bar: "━",
    bar_half: "╸",
    levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    passed: "━",
    known: "┅",
    ahead: "─",
    now: "●",
    fault: "▼",
    fault_line: "┊",
    threshold: "╌",
    axis_corner: "└",
    axis_y: "│",
    axis_y_tick: "┤",
    axis_x: "─",
    area: "░",
    held: "✓",
    failed: "✗",
    pending: "○",
    alert: "▲",
    selected: "▸",
    dot: "·",
    ellipsis: "…",
    arrow: "→",
    because: "←",
    more_above: "↑",
    more_below: "↓",
    times: "×",
    link_up: "━━",
    link_cut: "━╳",
    link_refusing: "━┫",
    link_degraded: "┅┅",
    stable: "▲",
    watermark: "△",
    none: "–",
    braille: true,
};

/// The twins for terminals that do not.
pub const ASCII: Glyphs = Glyphs {
    joints: [
        " ", "|", "-", "+", "|", "|", "+", "+", "-", "+", "-", "+", "+", "+", "+", "+",
    ],
    in_flight: "#",
    ready: "=",
    open: "-",
    retrying: "%",
    free: ".",
    bar: "=",
    bar_half: "-",
    levels: ["_", "_", ".", ".", "-", "-", "=", "#"],
    passed: "=",
    known: "~",
    ahead: "-",
    now: "O",
    fault: "v",
    fault_line: ":",
    threshold: "-",
    axis_corner: "+",
    axis_y: "|",
    axis_y_tick: "+",
    axis_x: "-",
    area: ":",
    held: "+",
    failed: "x",
    pending: "o",
    alert: "!",
    selected: ">",
    dot: "-",
    ellipsis: "~",
    arrow: ">",
    because: "<",
    more_above: "^",
    more_below: "v",
    times: "x",
    link_up: "==",
    link_cut: "=X",
    link_refusing: "=|",
    link_degraded: "--",
    stable: "^",
    watermark: "|",
    none: "-",
    braille: false,
};

/// Replaces whatever is left beyond ASCII (titles, keys, sentences of a scenario) by a twin, so
/// that a terminal without UTF-8 never gets a byte that it cannot show.
pub fn asciify(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let twin = twin_of(cell.symbol().chars().next().unwrap_or('?'));
            cell.set_char(twin);
        }
    }
}

/// The nearest ASCII character to one beyond it.
fn twin_of(c: char) -> char {
    match c {
        '·' | '–' | '—' | '‑' | '−' => '-',
        '…' => '~',
        '×' | '✗' => 'x',
        '→' | '▸' | '≥' => '>',
        '←' | '≤' => '<',
        '↑' => '^',
        '↓' => 'v',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '█' => '#',
        '\u{a0}' => ' ',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    #[test]
    fn the_twins_are_ascii_and_as_wide() {
        let pairs = UNICODE.joints.iter().zip(&ASCII.joints);
        for (unicode, ascii) in pairs.chain(UNICODE.levels.iter().zip(&ASCII.levels)) {
            assert!(ascii.is_ascii());
            assert_eq!(
                crate::tui::text::width(unicode),
                crate::tui::text::width(ascii)
            );
        }
    }

    #[test]
    fn nothing_beyond_ascii_survives() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        buffer.set_string(0, 0, "né → 日", ratatui::style::Style::new());
        asciify(&mut buffer);
        assert!(buffer.content.iter().all(|cell| cell.symbol().is_ascii()));
    }
}
