//! Colour. What is painted here is stripped by [`crate::output`] where nobody wants it: on a stream that is no terminal, with
//! `NO_COLOR`, on a dumb terminal.

use anstyle::{AnsiColor, Style};

/// As it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// It failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Somebody should know about it.
pub(crate) const NOTABLE: Style = AnsiColor::Yellow.on_default();
/// It goes on.
pub(crate) const LIVE: Style = AnsiColor::Cyan.on_default();
/// A title.
pub(crate) const TITLE: Style = Style::new().bold();
/// Less important than what stands around it.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// `text` in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}
