//! The value of `BISECT_WATCH`: which condition is watched, and at which moments it is evaluated.

use std::fmt;

/// A request: `NAME`, `NAME@MOMENT`, and options after semicolons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchRequest {
    /// The name of the condition.
    pub(super) name: String,
    /// The only moment to evaluate; `None`: search.
    pub(super) at: Option<u64>,
    /// `rerun`: no copies of the process are made.
    pub(super) reruns: bool,
    /// `describe`: this moment and the one before are described.
    pub(super) describes: bool,
    /// `stop`: the process traps at the moment, for a debugger, and evaluates nothing.
    pub(super) stops: bool,
}

/// A reason why a value is malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    NotUnicode,
    NoName,
    Moment(String),
    Option(String),
    StopsNowhere,
}

impl WatchRequest {
    /// Parses the value of the variable.
    pub(super) fn parse(value: &[u8]) -> Result<Self, Malformed> {
        let value = str::from_utf8(value).map_err(|_| Malformed::NotUnicode)?;
        let mut parts = value.split(';');
        let what = parts.next().unwrap_or_default();
        let (name, at) = match what.rsplit_once('@') {
            Some((name, at)) => {
                let moment = at.parse().ok().filter(|&moment| moment > 0 && moment < u64::MAX);
                (name, Some(moment.ok_or_else(|| Malformed::Moment(at.to_owned()))?))
            }
            None => (what, None),
        };
        if name.is_empty() {
            return Err(Malformed::NoName);
        }
        let mut request = Self { name: name.to_owned(), at, reruns: false, describes: false, stops: false };
        for option in parts {
            match option {
                "rerun" => request.reruns = true,
                "stop" | "describe" if at.is_none() => return Err(Malformed::StopsNowhere),
                "describe" => request.describes = true,
                "stop" => request.stops = true,
                _ => return Err(Malformed::Option(option.to_owned())),
            }
        }
        Ok(request)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnicode => f.write_str("it is not UTF-8"),
            Self::NoName => f.write_str("a name is missing"),
            Self::Moment(text) => write!(f, "{text:?} is not the number of a moment, which counts from 1"),
            Self::Option(text) => write!(f, "{text:?} is not an option (`rerun`, `describe`, `stop`)"),
            Self::StopsNowhere => f.write_str("`describe` and `stop` need a moment"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_moments_and_options() {
        let request = |name: &str, at, reruns, stops| {
            Ok(WatchRequest { name: name.to_owned(), at, reruns, describes: false, stops })
        };
        for (value, expected) in [
            ("acyclic", request("acyclic", None, false, false)),
            ("acyclic@7", request("acyclic", Some(7), false, false)),
            ("a@b@7;stop", request("a@b", Some(7), false, true)),
            ("acyclic;rerun", request("acyclic", None, true, false)),
        ] {
            assert_eq!(WatchRequest::parse(value.as_bytes()), expected, "{value}");
        }
        for (value, expected) in [
            ("a;describe", "`describe` and `stop` need a moment"),
            ("a;stop", "`describe` and `stop` need a moment"),
            ("", "a name is missing"),
            ("@7", "a name is missing"),
            ("a@", "\"\" is not the number of a moment, which counts from 1"),
            ("a@0", "\"0\" is not the number of a moment, which counts from 1"),
            ("a@18446744073709551615", "\"18446744073709551615\" is not the number of a moment, which counts from 1"),
            ("a;go", "\"go\" is not an option (`rerun`, `describe`, `stop`)"),
            ("a;", "\"\" is not an option (`rerun`, `describe`, `stop`)"),
        ] {
            assert_eq!(WatchRequest::parse(value.as_bytes()).unwrap_err().to_string(), expected, "{value}");
        }
        assert_eq!(WatchRequest::parse(b"\xff").unwrap_err().to_string(), "it is not UTF-8");
    }
}
