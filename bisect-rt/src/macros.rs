//! The hidden interface to the procedural macros: the macros that their expansions call.
//!
//! The switch for `--cfg bisect_off` is on the definitions, so it is resolved in this crate and not in the user's.
//! Names in the expansions are paths through `$crate`, because the user's crate may have no prelude. A user's
//! expression is never in a block with an item of ours, which it could name by accident.

/// Evaluates to true if the change at this place is on.
///
/// `key` is `site`, `caller` or `stack`; `depth` bounds a stack; `value` is `()` or a parenthesised reference to
/// something [`Hash`] that becomes part of the ID. `default` is evaluated only when this toggle is not bisected; it is
/// `true`, or a gate's whole body.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __decide {
    (name: $name:expr, key: $key:ident, depth: $depth:expr, value: $value:tt, default: true $(,)?) => {
        $crate::__decide! { @decide $name, ($key $depth), $value, On, true }
    };
    (name: $name:expr, key: $key:ident, depth: $depth:expr, value: $value:tt, default: $default:expr $(,)?) => {
        $crate::__decide! { @decide $name, ($key $depth), $value, Body, $default }
    };
    (@decide $name:expr, $key:tt, $value:tt, $listed:ident, $default:expr) => {
        match if $crate::__private0::use_bisect_build_in_a_constant::inactive() {
            $crate::__private0::core::option::Option::None
        } else {
            // Bound to a name, so that temporaries of the value do not live on into the default (or across its awaits).
            let decision = $crate::__decide! { @ask $key, {
                static TOGGLE: $crate::__private0::Toggle =
                    $crate::__private0::Toggle::new($name, $crate::__place!(), $crate::__decide! { @key $key }, $crate::__private0::Default::$listed);
                $crate::__register! { TOGGLE }
                &TOGGLE
            }, $value };
            decision
        } {
            $crate::__private0::core::option::Option::Some(decision) => decision,
            $crate::__private0::core::option::Option::None => $default,
        }
    };
    (@key (site $depth:expr)) => { $crate::__private0::Key::Site };
    (@key (caller $depth:expr)) => { $crate::__private0::Key::Caller };
    (@key (stack $depth:expr)) => { $crate::__private0::Key::stack($depth) };
    (@ask (site $depth:expr), $toggle:expr, ()) => { $crate::__private0::Toggle::site($toggle) };
    (@ask (site $depth:expr), $toggle:expr, ($value:expr)) => {
        $crate::__private0::Toggle::keyed_site($toggle, $crate::__private0::hash($value))
    };
    (@ask (caller $depth:expr), $toggle:expr, $value:tt) => {
        $crate::__private0::Toggle::caller(
            $toggle,
            $crate::__private0::core::panic::Location::caller(),
            $crate::__decide! { @hash $value },
        )
    };
    (@ask (stack $depth:expr), $toggle:expr, $value:tt) => { $crate::__ask_stack! { $toggle, $value } };
    (@hash ()) => { $crate::__private0::core::option::Option::None };
    (@hash ($value:expr)) => { $crate::__private0::core::option::Option::Some($crate::__private0::hash($value)) };
}

/// Decides by call stack.
#[cfg(all(not(bisect_off), feature = "stacks"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __ask_stack {
    ($toggle:expr, $value:tt) => {
        $crate::__private0::Toggle::stack($toggle, $crate::__decide! { @hash $value })
    };
}

/// Refuses decisions by call stack with a compile error.
#[cfg(all(not(bisect_off), not(feature = "stacks")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __ask_stack {
    ($toggle:expr, $value:tt) => {
        $crate::__private0::core::compile_error!(
            "a toggle by call stack needs the feature `stacks` of bisect-rt, which `default-features = false` leaves out: \
             enable it, or choose `by = \"caller\"` or `by = \"site\"`"
        )
    };
}

/// Evaluates to the default, because nothing can be bisected. The value is still type-checked.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __decide {
    (name: $name:expr, key: $key:ident, depth: $depth:expr, value: (), default: $default:expr $(,)?) => {
        $default
    };
    (name: $name:expr, key: $key:ident, depth: $depth:expr, value: ($value:expr), default: $default:expr $(,)?) => {{
        if false {
            $crate::__private0::check_value($value);
        }
        $default
    }};
}

/// Evaluates to true if the build-time change at this place is compiled in: a constant.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    (variable: $variable:literal, name: $name:expr $(,)?) => {{
        const ENABLED: $crate::__private0::core::primitive::bool =
            $crate::__private0::is_enabled($crate::__private0::core::option_env!($variable), $name, $crate::__place!());
        static TOGGLE: $crate::__private0::Toggle = $crate::__private0::Toggle::new(
            $name,
            $crate::__place!(),
            $crate::__private0::Key::Build($crate::__build_package!(), ENABLED),
            $crate::__private0::Default::On,
        );
        $crate::__register! { TOGGLE }
        ENABLED
    }};
}

/// Evaluates to true, because nothing can be bisected.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    (variable: $variable:literal, name: $name:expr $(,)?) => {
        true
    };
}

/// Expands to items that register the decision of `#[bisect_attr]`, and make cargo watch the variable.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __build_attr {
    (
        variable: $variable:literal,
        name: $name:expr, file: $file:expr, line: $line:expr, column: $column:expr, enabled: $enabled:expr $(,)?
    ) => {
        const _: () = {
            const _: $crate::__private0::core::option::Option<&$crate::__private0::core::primitive::str> =
                $crate::__private0::core::option_env!($variable);
            static TOGGLE: $crate::__private0::Toggle = $crate::__private0::Toggle::new(
                $name,
                $crate::__private0::Place::new($file, $line, $column),
                $crate::__private0::Key::Build($crate::__build_package!(), $enabled),
                $crate::__private0::Default::On,
            );
            $crate::__register! { TOGGLE }
        };
    };
}

/// Expands to nothing, because nothing can be bisected.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __build_attr {
    ($($ignored:tt)*) => {};
}

/// Expands to the place of the outermost macro call.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __place {
    () => {
        $crate::__private0::Place::new(
            $crate::__private0::core::file!(),
            $crate::__private0::core::line!(),
            $crate::__private0::core::column!(),
        )
    };
}

/// Expands to the user's package.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __build_package {
    () => {
        $crate::__private0::Package {
            name: $crate::__private0::core::env!("CARGO_PKG_NAME"),
            version: $crate::__private0::core::env!("CARGO_PKG_VERSION"),
        }
    };
}

/// Puts a toggle on the list that the linker makes: a pointer in a section of its own. `registry` reads it.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($toggle:ident) => {
        #[used]
        #[cfg_attr(all(unix, not(target_vendor = "apple")), unsafe(link_section = "bisect_rt_0_1_0"))]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,bisect_rt_0_1_0"))]
        #[cfg_attr(windows, unsafe(link_section = ".bisect$b"))]
        static REGISTERED: &$crate::__private0::Toggle = &$toggle;
    };
}
