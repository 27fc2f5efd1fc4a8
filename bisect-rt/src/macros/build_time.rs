//! The hidden macros of build-time changes, which the expansions of `bisect_build!` and `#[bisect_attr]` call.

/// Evaluates to true if the build-time change at this place is compiled in: a constant.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    (variable: $variable:literal, name: $name:expr, fix: $fix:literal, fixed: $fixed:ident $(,)?) => {{
        const ENABLED: $crate::__private0::core::primitive::bool = $crate::__build! { @$fixed $variable, $name };
        static TOGGLE: $crate::__private0::Toggle = $crate::__private0::Toggle::new(
            $name,
            $crate::__place!(),
            $crate::__private0::Key::Build($crate::__build_package!(), ENABLED),
            $crate::__private0::Default::On,
            $crate::__private0::core::option_env!($fix),
        );
        $crate::__register! { TOGGLE }
        ENABLED
    }};
    (@no $variable:literal, $name:expr) => {
        $crate::__private0::is_enabled($crate::__private0::core::option_env!($variable), $name, $crate::__place!())
    };
    (@on $variable:literal, $name:expr) => {
        true
    };
    (@off $variable:literal, $name:expr) => {
        false
    };
}

/// Evaluates to true, or to the state in which the change is fixed, because nothing can be bisected.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    (variable: $variable:literal, name: $name:expr, fix: $fix:literal, fixed: $fixed:ident $(,)?) => {{
        $crate::__track! { $fix }
        $crate::__build! { @$fixed }
    }};
    (@no) => {
        true
    };
    (@on) => {
        true
    };
    (@off) => {
        false
    };
}

/// Expands to items that register the decision of `#[bisect_attr]`, and make cargo watch the variable.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __build_attr {
    (
        variable: $variable:literal,
        name: $name:expr, file: $file:expr, line: $line:expr, column: $column:expr, enabled: $enabled:expr,
        fix: $fix:literal $(,)?
    ) => {
        const _: () = {
            $crate::__track! { $variable }
            static TOGGLE: $crate::__private0::Toggle = $crate::__private0::Toggle::new(
                $name,
                $crate::__private0::Place::new($file, $line, $column),
                $crate::__private0::Key::Build($crate::__build_package!(), $enabled),
                $crate::__private0::Default::On,
                $crate::__private0::core::option_env!($fix),
            );
            $crate::__register! { TOGGLE }
        };
    };
}

/// Expands to items that make cargo watch the variables, because nothing can be bisected.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __build_attr {
    (
        variable: $variable:literal,
        name: $name:expr, file: $file:expr, line: $line:expr, column: $column:expr, enabled: $enabled:expr,
        fix: $fix:literal $(,)?
    ) => {
        $crate::__track! { $variable }
        $crate::__track! { $fix }
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
