//! The macros: `bisect_watch!`, and the hidden interface to the procedural macros, which their expansions call.
//!
//! The switch for `--cfg bisect_off` is on the definitions, so it is resolved in this crate and not in the user's.
//! Names in the expansions are paths through `$crate`, because the user's crate may have no prelude. A user's
//! expression is never in a block with an item of ours, which it could name by accident.

mod build_time;

/// Marks a moment at which a condition should hold: `cargo bisect-opt watch NAME` finds the first moment at which it
/// does not.
///
/// ```
/// use bisect_rt::bisect_watch;
///
/// struct Graph {
///     edges: Vec<(u32, u32)>,
/// }
///
/// impl Graph {
///     fn is_acyclic(&self) -> bool {
///         // A check that takes much longer than the step before it.
///         self.edges.iter().all(|(from, to)| from < to)
///     }
///
///     fn add(&mut self, from: u32, to: u32) {
///         self.edges.push((from, to));
///         bisect_watch!("acyclic", self.is_acyclic(), "{from} -> {to}");
///     }
/// }
///
/// let mut graph = Graph { edges: Vec::new() };
/// graph.add(1, 2);
/// ```
///
/// A *moment* is one execution of this macro. The condition is evaluated only in a search, at about 2·log2 N of N
/// moments. Otherwise a moment costs one relaxed load and one branch.
///
/// - The name is a string literal. Moments of all places with the same name are counted together, from 1, in the whole
///   process.
/// - The condition is an expression of type `bool`, in a closure: it cannot contain `return`, `?` or `.await` that
///   leave it. A panic in it counts as false. It should not change the program: moments within it do not count.
/// - The values, in the syntax of [`format!`], are optional. They are formatted at the last good and the first bad
///   moment.
///
/// The program must pass the same moments in the same order in each run: random numbers need a fixed seed.
///
/// # How moments are evaluated
/// On Linux, the program goes forward once, and evaluates at moments 1, 2, 4, 8, … At good ones it forks a copy of
/// itself, which waits. It stops at the first bad moment after a good one, with exit status 113. Then copies of the
/// last good copy repeat the moments in between, and their output is discarded. This requires that the process has only
/// one thread at its moments; a main thread that only waits for this thread, as in tests, is allowed. With more
/// threads, and on other systems, the whole program is run again for each evaluation.
///
/// A copy repeats the external effects of the program: it opens files, connects and sends as the program did. But it
/// discards what it writes to files that were open for writing only, and it reads open files from the positions that
/// they had at the good moment. Pipes and sockets cannot be read again.
#[macro_export]
macro_rules! bisect_watch {
    ($name:expr, $condition:expr $(,)?) => {
        $crate::__watch! { $name, $condition, ("") }
    };
    ($name:expr, $condition:expr, $($values:tt)+) => {
        $crate::__watch! { $name, $condition, ($($values)+) }
    };
}

/// Evaluates to true if the change at this place is on.
///
/// `key` is `site`, `caller` or `stack`; `depth` bounds a stack; `value` is `()` or a parenthesised reference to a
/// value that implements [`Hash`] and becomes part of the ID. `variable` is the name of the variable that fixes
/// toggles, and `fixed` is the state that it gives to this one: `no`, `on` or `off`. `default` is evaluated only when
/// this toggle is neither bisected nor fixed; it is `true`, or a gate's whole body.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __decide {
    (
        name: $name:expr, key: $key:ident, depth: $depth:expr, value: $value:tt,
        variable: $variable:literal, fixed: $fixed:ident, default: true $(,)?
    ) => {
        $crate::__decide! { @$fixed ($name, $variable), ($key $depth), $value, On, true }
    };
    (
        name: $name:expr, key: $key:ident, depth: $depth:expr, value: $value:tt,
        variable: $variable:literal, fixed: $fixed:ident, default: $default:expr $(,)?
    ) => {
        $crate::__decide! { @$fixed ($name, $variable), ($key $depth), $value, Body, $default }
    };
    (@on $name:tt, $key:tt, $value:tt, $listed:ident, $default:expr) => {
        $crate::__fixed! { { $crate::__decide! { @toggle $name, $key, $listed } true }, $value, $default }
    };
    (@off $name:tt, $key:tt, $value:tt, $listed:ident, $default:expr) => {
        $crate::__fixed! { { $crate::__decide! { @toggle $name, $key, $listed } false }, $value, $default }
    };
    (@no $name:tt, $key:tt, $value:tt, $listed:ident, $default:expr) => {
        match if $crate::__private0::use_bisect_build_in_a_constant::inactive() {
            $crate::__private0::core::option::Option::None
        } else {
            // Bound to a name, so that temporaries of the value do not live on into the default (or across its awaits).
            let decision = $crate::__decide! { @ask $key, {
                $crate::__decide! { @toggle $name, $key, $listed }
                &TOGGLE
            }, $value };
            decision
        } {
            $crate::__private0::core::option::Option::Some(decision) => decision,
            $crate::__private0::core::option::Option::None => $default,
        }
    };
    (@toggle ($name:expr, $variable:literal), $key:tt, $listed:ident) => {
        static TOGGLE: $crate::__private0::Toggle = $crate::__private0::Toggle::new(
            $name,
            $crate::__place!(),
            $crate::__decide! { @key $key },
            $crate::__private0::Default::$listed,
            $crate::__private0::core::option_env!($variable),
        );
        $crate::__register! { TOGGLE }
    };
    (@key (site $depth:expr)) => {
        $crate::__private0::Key::Site
    };
    (@key (caller $depth:expr)) => {
        $crate::__private0::Key::Caller
    };
    (@key (stack $depth:expr)) => {
        $crate::__private0::Key::stack($depth)
    };
    (@ask (site $depth:expr), $toggle:expr, ()) => {
        $crate::__private0::Toggle::site($toggle)
    };
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
    (@ask (stack $depth:expr), $toggle:expr, $value:tt) => {
        $crate::__ask_stack! { $toggle, $value }
    };
    (@hash ()) => {
        $crate::__private0::core::option::Option::None
    };
    (@hash ($value:expr)) => {
        $crate::__private0::core::option::Option::Some($crate::__private0::hash($value))
    };
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

/// Evaluates to the state in which a toggle is fixed, a constant. The value and the default are still type-checked.
#[doc(hidden)]
#[macro_export]
macro_rules! __fixed {
    ($state:expr, (), $default:expr) => {
        if true { $state } else { $default }
    };
    ($state:expr, ($value:expr), $default:expr) => {{
        if false {
            $crate::__private0::check_value($value);
        }
        $crate::__fixed! { $state, (), $default }
    }};
}

/// Evaluates to the default, or to the state in which the toggle is fixed, because nothing can be bisected. The value
/// is still type-checked.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __decide {
    (
        name: $name:expr, key: $key:ident, depth: $depth:expr, value: $value:tt,
        variable: $variable:literal, fixed: $fixed:ident, default: $default:expr $(,)?
    ) => {
        match {
            $crate::__track! { $variable };
        } {
            () => $crate::__decide! { @$fixed $value, $default },
        }
    };
    (@on $value:tt, $default:expr) => {
        $crate::__fixed! { true, $value, $default }
    };
    (@off $value:tt, $default:expr) => {
        $crate::__fixed! { false, $value, $default }
    };
    (@no (), $default:expr) => {
        $default
    };
    (@no ($value:expr), $default:expr) => {{
        if false {
            $crate::__private0::check_value($value);
        }
        $default
    }};
}

/// Expands to an item that makes cargo watch a variable.
#[doc(hidden)]
#[macro_export]
macro_rules! __track {
    ($variable:literal) => {
        const _: $crate::__private0::core::option::Option<&$crate::__private0::core::primitive::str> =
            $crate::__private0::core::option_env!($variable);
    };
}

/// Counts a moment, if the condition is watched. The condition and the values are evaluated only if this process is
/// asked for this moment.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __watch {
    ($name:expr, $condition:expr, ($($values:tt)*)) => {
        match if $crate::__private0::unwatched() {
            $crate::__private0::core::option::Option::None
        } else {
            static WATCH: $crate::__private0::Watch = $crate::__private0::Watch::new($name, $crate::__place!());
            $crate::__start_watching! {}
            $crate::__private0::Watch::reached(&WATCH)
        } {
            $crate::__private0::core::option::Option::None => {}
            $crate::__private0::core::option::Option::Some(probe) => {
                if probe.is_described() {
                    probe.describe($crate::__private0::core::format_args!($($values)*));
                }
                let probed = probe.evaluate(|| $condition);
                if let $crate::__private0::core::option::Option::Some(probe) = probed.described() {
                    probe.describe($crate::__private0::core::format_args!($($values)*));
                }
                probed.go_on();
            }
        }
    };
}

/// Makes the loader call the start of watching before `main`, after the start of the runtime.
///
/// This is not an expansion of `ctor!`, which contains `allow(unsafe_code)`: that is an error in a crate with
/// `forbid(unsafe_code)`.
#[cfg(not(bisect_off))]
#[doc(hidden)]
#[macro_export]
macro_rules! __start_watching {
    () => {
        #[used]
        #[cfg_attr(all(unix, not(target_vendor = "apple")), unsafe(link_section = ".init_array.102"))]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs"))]
        #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
        static START: extern "C" fn() = $crate::__private0::start_watching;
    };
}

/// Evaluates nothing. The condition and the values are still type-checked.
#[cfg(bisect_off)]
#[doc(hidden)]
#[macro_export]
macro_rules! __watch {
    ($name:expr, $condition:expr, ($($values:tt)*)) => {
        if false {
            let _: &$crate::__private0::core::primitive::str = $name;
            let _: $crate::__private0::core::primitive::bool = (|| $condition)();
            let _ = $crate::__private0::core::format_args!($($values)*);
        }
    };
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

/// Adds a toggle to the list that the linker makes: puts a pointer to the toggle into a separate section, which
/// `registry` reads.
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
