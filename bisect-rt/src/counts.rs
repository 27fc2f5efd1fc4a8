//! Counters of the decisions in which a setting replaced the default of a toggle, for the metrics of a program.
//!
//! A toggle is counted only if a setting (`name=off`, or `name=on` for a gate) has replaced its default, like the
//! counters of non-default behaviour in Go's `runtime/metrics`. So a toggle at its default costs what it would cost
//! without counters, a search is not slowed down, and counting needs no activation before the first decision. A
//! decision adds 1 to an atomic number in the toggle's static, in relaxed order: no lock, no allocation, no
//! thread-local variable, so it works in signal handlers and in the children of a `fork`. One number is enough, because
//! a setting does not change while the program runs.

/// The number of decisions that a setting made at one toggle, instead of the toggle's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The name of the toggle.
    pub name: &'static str,
    /// The file of the toggle, as the compiler names it.
    pub file: &'static str,
    /// The line of the toggle, from 1.
    pub line: u32,
    /// The column of the toggle, from 1.
    pub column: u32,
    /// The number of decisions that enabled the toggle. It is 0 except for a gate with the setting `name=on`: other
    /// toggles are on by default.
    pub enabled: u64,
    /// The number of decisions that disabled the toggle, because of the setting `name=off`: the old behaviour was used.
    pub disabled: u64,
}

/// Returns, for each run-time toggle of the program, the number of decisions that a setting has made instead of its
/// default. The order is that of names and places.
///
/// A program that exports metrics can answer "how often is the old behaviour used?" while `BISECT_PATTERN=newsort=off`
/// is in force:
/// ```
/// use bisect_rt::bisect_toggle;
///
/// #[bisect_toggle("newtimer")]
/// fn use_new_timer() -> bool {
///     true
/// }
///
/// fn export_metrics() {
///     for count in bisect_rt::counts() {
///         println!("old_behaviour_total{{toggle={:?}, line={}}} {}", count.name, count.line, count.disabled);
///     }
/// }
///
/// use_new_timer();
/// export_metrics();
/// // Without a setting, nothing is counted.
/// assert!(bisect_rt::counts().all(|count| (count.enabled, count.disabled) == (0, 0)));
/// ```
///
/// - Only settings are counted, `name=off` and `name=on`. A toggle without a setting, one whose setting is its default,
///   and one with a pattern (`name=x3f`) stay at 0.
/// - A counted decision is an atomic addition, about 6 ns. Each decision counts, also those on the same change, in any
///   thread. A call may miss decisions that other threads make during it; the next call includes them.
/// - Toggles that are fixed by `BISECT_FIX`, and build-time changes, decide nothing at run time and are not listed.
///   With `--cfg bisect_off`, and on systems where `BISECT_TOGGLES` is not supported, the list is empty.
/// - The names of a library's toggles are stored in the library. Do not use them after it was unloaded.
/// - Decisions can be made in signal handlers, but this function cannot be called there: it allocates. On Linux it
///   reads the headers of all loaded libraries, so call it once for each export of metrics, not for each request.
pub fn counts() -> impl Iterator<Item = Count> {
    all()
}

#[cfg(bisect_off)]
fn all() -> impl Iterator<Item = Count> {
    core::iter::empty()
}

#[cfg(not(bisect_off))]
fn all() -> impl Iterator<Item = Count> {
    crate::active::count::all().into_iter().map(|((name, place), (enabled, disabled))| Count {
        name,
        file: place.file,
        line: place.line,
        column: place.column,
        enabled,
        disabled,
    })
}
