//! The shapes and patterns of outcomes, which are legible without colour.

use maud::{Markup, html};

/// The outcomes: class, sign, and meaning.
const OUTCOMES: [(&str, &str, &str); 3] = [
    ("fail", "the target fails", "solid"),
    ("pass", "the target passes", "outlined"),
    ("unresolved", "the run does not count", "hatched"),
];

/// Defines the shapes, once for all charts.
pub(super) fn definitions() -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern #hatch width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.paper width="6" height="6" {}
                    rect.ink width="2.5" height="6" {}
                }
                // A square, a circle and a triangle, each 10 wide.
                path #mark-fail d="M0 1h10v10h-10z" {}
                circle #mark-pass cx="5" cy="6" r="4.5" {}
                path #mark-unresolved d="M5 1l5 10h-10z" {}
            }
        }
    }
}

/// Shows the shape of an outcome at a place.
pub(super) fn mark(class: &str, x: usize, y: usize) -> Markup {
    html! { use.mark href={ "#mark-" (class) } x=(x) y=(y) {} }
}

/// Explains the charts.
pub(super) fn legend() -> Markup {
    html! {
        p {
            "Each row is a trial. The bars are the changes that it enabled, by their position among the changes known \
            at that time; thin rows are repeated runs. Vertical lines are the changes of culprits."
        }
        ul.legend {
            @for (class, meaning, shape) in OUTCOMES {
                li {
                    svg width="44" height="12" aria-hidden="true" {
                        g class=(class) {
                            (mark(class, 0, 0))
                            path.on d="M16 1.5h27v9h-27z" {}
                        }
                    }
                    " " b { (class) } " (" (shape) "): " (meaning)
                }
            }
        }
    }
}
