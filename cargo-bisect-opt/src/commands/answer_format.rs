//! The values of `--format` and `--message-format`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::output::formats::{self, AnswerFormat, FORMATS};

/// Returns the parser of `--format`.
pub(super) fn format_parser() -> impl TypedValueParser<Value = &'static AnswerFormat> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(values).map(|name| formats::by_name(&name).expect("only names of formats are possible"))
}

/// Parses the value of cargo's option for the format of messages.
pub(super) fn cargo_format(text: &str) -> Result<&'static AnswerFormat, String> {
    let is_json = |part: &str| part == "json" || part.starts_with("json-");
    let name = match text {
        "human" | "short" => formats::TEXT,
        _ if text.split(',').all(is_json) => formats::DIAGNOSTICS,
        _ => return Err("it is json, human or short".to_owned()),
    };
    formats::by_name(name).ok_or_else(|| "there is no such format".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_formats_are_ours() {
        for (text, name) in [
            ("json", Some("diagnostics")),
            ("json-diagnostic-short,json-render-diagnostics", Some("diagnostics")),
            ("human", Some("text")),
            ("short", Some("text")),
            ("json,short", None),
            ("xml", None),
        ] {
            assert_eq!(cargo_format(text).ok().map(|format| format.name), name, "{text}");
        }
    }
}
