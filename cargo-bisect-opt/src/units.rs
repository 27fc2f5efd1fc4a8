//! Formatting of numbers, times and lists, and similar names.

use std::time::Duration;

/// Formats a number with a noun: `1 change`, `2 changes`, `2 passes`.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    let ending = match noun {
        _ if n == 1 => "",
        noun if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

/// Formats a number of a series: `1st`, `22nd`, `48,213th`.
pub(crate) fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (1, not) if not != 11 => "st",
        (2, not) if not != 12 => "nd",
        (3, not) if not != 13 => "rd",
        _ => "th",
    };
    format!("{}{ending}", grouped(n))
}

/// Formats a number in groups of three digits: `212,003`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Formats a number in groups of three digits, with a noun: `1,204 changes`.
pub(crate) fn grouped_plural(n: usize, noun: &str) -> String {
    plural(n, noun).replacen(&n.to_string(), &grouped(n as u64), 1)
}

/// Returns the name most similar to `word`, if at most a third of its characters differ.
pub(crate) fn nearest(word: &str, all: impl IntoIterator<Item = String>) -> Option<String> {
    let distances = all.into_iter().map(|other| (strsim::levenshtein(word, &other), other));
    let (distance, other) = distances.min()?;
    (distance <= word.chars().count().div_ceil(3)).then_some(other)
}

/// Returns the path most similar to `word`, or whose last segment is most similar to that of `word`.
pub(crate) fn nearest_path<'a>(word: &str, paths: &(impl Iterator<Item = &'a str> + Clone)) -> Option<String> {
    let last = |path: &'a str| path.rsplit("::").next().unwrap_or(path);
    let by_last = || {
        let wanted =
            nearest(word.rsplit("::").next().unwrap_or(word), paths.clone().map(|path| last(path).to_owned()))?;
        paths.clone().find(|path| last(path) == wanted).map(str::to_owned)
    };
    nearest(word, paths.clone().map(str::to_owned)).or_else(by_last)
}

/// Returns the text `, did you mean ...?` for the end of a message; nothing if there is no suggestion.
pub(crate) fn suggestion(meant: Option<&str>) -> String {
    meant.map_or(String::new(), |meant| format!(", did you mean `{meant}`?"))
}

/// Formats a share: `31%`; below 1% with one digit that is not 0: `0.4%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", percentage(share))
}

/// Formats a share like [`percent`], without the sign.
pub(crate) fn percentage(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        usual if usual >= 0.95 || usual <= 0.0 => format!("{usual:.0}"),
        small => {
            (1..9).map(|digits| format!("{small:.digits$}")).find(|text| text.contains(|c| c > '0')).unwrap_or_default()
        }
    }
}

/// Joins items: `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Formats a duration: `0.8s`, `2m08s`.
pub(crate) fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64() {
        short if short < 0.0995 => format!("{:.0}ms", short * 1000.0),
        long if long < 99.5 => format!("{long:.1}s"),
        minutes => format!("{:.0}m{:02.0}s", (minutes / 60.0).floor(), (minutes % 60.0).floor()),
    }
}

/// Formats an age in its largest unit: `3 weeks`, `1 hour`, `a moment`.
pub(crate) fn age_in_words(age: Duration) -> String {
    const UNITS: [(u64, &str); 6] = [
        (365 * 24 * 3600, "year"),
        (30 * 24 * 3600, "month"),
        (7 * 24 * 3600, "week"),
        (24 * 3600, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    let unit = UNITS.iter().find(|(seconds, _)| age.as_secs() >= *seconds);
    unit.map_or_else(
        || "a moment".to_owned(),
        |(seconds, unit)| plural(usize::try_from(age.as_secs() / seconds).unwrap_or(usize::MAX), unit),
    )
}

/// Formats the whole seconds of a duration: `0s`, `2m08s`.
pub(crate) fn whole_seconds(duration: Duration) -> String {
    match duration.as_secs() {
        short @ 0..100 => format!("{short}s"),
        long => format!("{}m{:02}s", long / 60, long % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_have_a_digit() {
        let shares = [0.31, 0.0149, 0.009_6, 0.004, 0.000_32, 0.0];
        assert_eq!(shares.map(percent), ["31%", "1%", "1%", "0.4%", "0.03%", "0%"]);
    }

    #[test]
    fn large_numbers_with_a_noun() {
        assert_eq!([1, 1_204].map(|n| grouped_plural(n, "pass")), ["1 pass", "1,204 passes"]);
    }

    #[test]
    fn a_path_is_suggested_if_it_or_its_end_is_similar() {
        let paths = ["tests::sorted", "tests::empty", "deep::tests::sorted_twice"];
        let nearest = |word| nearest_path(word, &paths.into_iter());
        for (word, meant) in [
            ("test::sorted", Some("tests::sorted")),
            ("sorted", Some("tests::sorted")),
            ("emtpy", Some("tests::empty")),
            ("other::sorted_twcie", Some("deep::tests::sorted_twice")),
            ("unrelated", None),
        ] {
            assert_eq!(nearest(word).as_deref(), meant, "{word}");
        }
        assert_eq!(suggestion(Some("a")), ", did you mean `a`?");
        assert_eq!(suggestion(None), "");
    }

    #[test]
    fn numbers_of_a_series() {
        let numbers = [0, 1, 2, 3, 4, 11, 12, 13, 21, 102, 113, 1_000, 48_213, 1_234_567].map(ordinal);
        let expected = [
            "0th",
            "1st",
            "2nd",
            "3rd",
            "4th",
            "11th",
            "12th",
            "13th",
            "21st",
            "102nd",
            "113th",
            "1,000th",
            "48,213th",
            "1,234,567th",
        ];
        assert_eq!(numbers, expected);
    }
}
