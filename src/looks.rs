//! Looks that do not depend on the terminal: what a file shows is the same everywhere.

use kdrill::cli::ThemeName;
use kdrill::tui::theme::{Charset, Colors, Theme};

/// The theme that was named.
pub fn fixed(name: ThemeName, is_ascii: bool) -> Theme {
    let colors = match name {
        ThemeName::Auto | ThemeName::Truecolor => Colors::True,
        ThemeName::Mono => Colors::None,
        ThemeName::Sixteen => Colors::Sixteen,
        ThemeName::Indexed => Colors::Indexed,
    };
    let charset = if is_ascii {
        Charset::Ascii
    } else {
        Charset::Unicode
    };
    Theme::new(colors, charset)
}
