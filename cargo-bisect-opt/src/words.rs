//! Numbers and times in words.

use std::time::Duration;

/// `1 change`, `2 changes`, `2 passes`.
pub fn plural(n: usize, noun: &str) -> String {
    let ending = match noun {
        _ if n == 1 => "",
        noun if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

/// `0.8s`, `2m08s`.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64() {
        short if short < 0.0995 => format!("{:.0}ms", short * 1000.0),
        long if long < 99.5 => format!("{long:.1}s"),
        minutes => format!("{:.0}m{:02.0}s", (minutes / 60.0).floor(), (minutes % 60.0).floor()),
    }
}
