//! The enabled features of a package that can be switched, and the options for cargo that enable some of them.
//!
//! `cargo tree` says which features a command line enables: it selects packages and unifies features as a build does,
//! and compiles nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
    process::Command,
};

use cargo_metadata::{Package, Target, TargetKind};

use super::{
    Arguments, CargoError, Config, Project, Subcommand, Workspace,
    feature_options::{self, AskedFeatures},
    features::FeatureGraph,
    is_spec_of, manifest_lines, workspace,
};
use crate::units::listed;

/// The features of each package that is built itself, not only as a dependency.
type EnabledFeatures = BTreeMap<String, BTreeSet<String>>;

/// The maximum number of features that a message names.
const MAX_NAMES: usize = 12;

/// The features of a package that a command line enables, as changes.
#[derive(Clone, Debug)]
pub(crate) struct SearchedFeatures {
    /// The name of the package.
    pub(crate) package: String,
    /// Its manifest.
    pub(crate) manifest: PathBuf,
    /// The line of each feature in the manifest, where it is known.
    pub(crate) lines: BTreeMap<String, u32>,
    /// The changes: features, or several features that imply each other. A change follows those that it implies.
    pub(crate) changes: Vec<Vec<String>>,
    /// The features that are enabled in any case: by other packages, or because what is run requires them.
    pub(crate) fixed: BTreeSet<String>,
    /// The graph of all features of the package.
    pub(crate) graph: FeatureGraph,
    /// The features that the targets on the command line require.
    required: BTreeSet<String>,
    options: FeatureOptions,
}

impl SearchedFeatures {
    /// Returns the options for cargo that enable these features of the package, and the user's features of all other
    /// packages.
    pub(crate) fn options(&self, features: &BTreeSet<String>) -> Vec<OsString> {
        let features = features.union(&self.required).cloned().collect();
        self.options.with(&self.graph.generators(&features))
    }
}

/// Options that enable features of one package, besides fixed ones of others.
#[derive(Clone, Debug)]
struct FeatureOptions {
    package: String,
    /// The names in `--features` that are not about this package.
    others: Vec<String>,
    /// The package whose features are named without the name of the package: cargo's old resolver requires it for the
    /// package in the working directory.
    plain: Option<String>,
}

impl FeatureOptions {
    fn with(&self, features: &[String]) -> Vec<OsString> {
        let features = features.iter().map(|feature| self.name(&self.package, feature));
        let names: Vec<_> = features.chain(self.others.iter().cloned()).collect();
        let mut options: Vec<OsString> = vec!["--no-default-features".into()];
        if !names.is_empty() {
            options.extend(["--features".into(), names.join(",").into()]);
        }
        options
    }

    fn name(&self, package: &str, feature: &str) -> String {
        if self.plain.as_deref() == Some(package) { feature.to_owned() } else { format!("{package}/{feature}") }
    }

    /// Adds the features of other packages that a command line asks for.
    fn add_others(&mut self, asked: &AskedFeatures, selected: &[&Package]) {
        let is_selected = |name: &str| selected.iter().any(|package| package.name.as_str() == name);
        // A feature of a dependency, or of a package that is not selected.
        let of_dependency = |name: &&String| name.split_once('/').is_some_and(|(package, _)| !is_selected(package));
        self.others.extend(asked.named.iter().filter(of_dependency).cloned());
        for package in selected.iter().filter(|package| package.name.as_str() != self.package) {
            let graph = FeatureGraph::of(package);
            let is_asked = |feature: &&String| {
                let is_default = !asked.no_default && feature.as_str() == "default";
                // Without the new resolver, a plain name means the package in the working directory only.
                let is_named = self.plain.as_deref().is_none_or(|plain| plain == package.name.as_str())
                    && asked.named.contains(*feature);
                let prefixed = format!("{}/{feature}", package.name);
                asked.all || is_default || is_named || asked.named.contains(&prefixed)
            };
            let features = graph.generators(&graph.names().filter(is_asked).cloned().collect());
            let names: Vec<_> = features.iter().map(|feature| self.name(&package.name, feature)).collect();
            self.others.extend(names);
        }
    }
}

/// Returns the features of a package of a project that the command line enables.
///
/// # Errors
/// If the package is not built, if no feature can be switched, or if cargo fails.
pub(crate) fn features_of(project: &Project, package: &str) -> Result<SearchedFeatures, CargoError> {
    let Project { subcommand, ref arguments, ref config, ref workspace, ref program, .. } = *project;
    FeatureQuery { subcommand, arguments, config, workspace, program }.searched(package)
}

/// A project, with the command line that enables features.
#[derive(Clone, Copy, Debug)]
struct FeatureQuery<'a> {
    subcommand: Subcommand,
    arguments: &'a Arguments,
    config: &'a Config,
    workspace: &'a Workspace,
    /// The option that selects the program to run, if the user did not.
    program: &'a [OsString],
}

impl FeatureQuery<'_> {
    /// Returns the enabled features of a package that can be switched.
    ///
    /// # Errors
    /// If the package is not built by this command line, if it has no such features, or if cargo fails.
    fn searched(&self, spec: &str) -> Result<SearchedFeatures, CargoError> {
        let members = self.workspace.members();
        let member = members.iter().find(|package| is_spec_of(spec, package));
        let &package = member.ok_or_else(|| CargoError::Usage(not_a_member(spec, &members)))?;
        let asked = feature_options::asked(&self.arguments.options);
        let users = self.enabled(&users_options(&asked))?;
        let name = package.name.to_string();
        let Some(enabled) = users.get(&name) else {
            let built: Vec<_> = users.keys().cloned().collect();
            return Err(CargoError::Usage(format!(
                "this command line does not build `{name}`, only {}: select it with `-p {name}`",
                names(&built)
            )));
        };
        let graph = FeatureGraph::of(package);
        if enabled.is_empty() {
            return Err(CargoError::Nothing(nothing_enabled(&name, &graph)));
        }
        let selected: Vec<_> =
            members.iter().filter(|member| users.contains_key(member.name.as_str())).copied().collect();
        let (options, mut fixed) = self.switchable(&name, &asked, &selected, &users, &graph)?;
        let required = self.required(package, &graph);
        fixed.extend(required.iter().cloned());
        let changes = graph.changes(&enabled.difference(&fixed).cloned().collect());
        if changes.is_empty() {
            return Err(CargoError::Nothing(format!(
                "no enabled feature of `{name}` can be disabled: other packages, dependencies for tests, or the targets \
                 that are named require {}; build `{name}` alone with `build -p {name}`, or enable more features",
                names(&enabled.iter().cloned().collect::<Vec<_>>())
            )));
        }
        let manifest = PathBuf::from(package.manifest_path.clone());
        let lines = manifest_lines::of_features(&manifest);
        Ok(SearchedFeatures { package: name, manifest, lines, changes, fixed, graph, required, options })
    }

    /// Returns options that can enable each feature by itself, and the features that they cannot disable. They are
    /// checked: with all of the user's features, they must mean the same as the user's options.
    fn switchable(
        &self,
        package: &str,
        asked: &AskedFeatures,
        selected: &[&Package],
        users: &EnabledFeatures,
        graph: &FeatureGraph,
    ) -> Result<(FeatureOptions, BTreeSet<String>), CargoError> {
        let of_others = selected.iter().map(|other| other.name.as_str()).filter(|&name| name != package);
        let mut first_error = None;
        for plain in [None, Some(package)].into_iter().chain(of_others.map(Some)) {
            let plain = plain.map(str::to_owned);
            let mut options = FeatureOptions { package: package.to_owned(), others: Vec::new(), plain };
            options.add_others(asked, selected);
            let attempt = || {
                let fixed = self.enabled(&options.with(&[]))?.remove(package).unwrap_or_default();
                let switched = users[package].difference(&fixed).cloned().collect();
                Ok((self.enabled(&options.with(&graph.generators(&switched)))?, fixed))
            };
            match attempt() {
                Ok((all, fixed)) if all == *users => return Ok((options, fixed)),
                Ok(_) => {}
                Err(CargoError::Workspace(error)) => first_error = first_error.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        let why = first_error.map(|error| format!(": {error}")).unwrap_or_default();
        Err(CargoError::Usage(format!(
            "the features of `{package}` cannot be switched one by one with these options{why}; select only this \
             package with `-p {package}`, in its directory"
        )))
    }

    /// Returns the features that the targets on the command line require: without them, nothing can be run.
    fn required(&self, package: &Package, graph: &FeatureGraph) -> BTreeSet<String> {
        let named = feature_options::named_targets(&[&self.arguments.options, self.program].concat());
        let is_named = |target: &&Target| {
            let is_kind = |kind: &TargetKind| named.contains(&(kind.to_string(), target.name.clone()));
            target.kind.iter().any(is_kind)
        };
        let targets = package.targets.iter().filter(is_named);
        let required: Vec<_> = targets.flat_map(|target| &target.required_features).collect();
        let is_implied = |name: &&String| required.iter().any(|feature| graph.implies(feature, name));
        graph.names().filter(is_implied).cloned().collect()
    }

    /// Returns the features that a build of the same packages with these options enables.
    fn enabled(&self, features: &[OsString]) -> Result<EnabledFeatures, CargoError> {
        let Self { subcommand, arguments, config, workspace, .. } = self;
        let edges = if arguments.has_development(*subcommand) { "normal,build,dev" } else { "normal,build" };
        let mut command = Command::new(&config.cargo);
        command.args(["tree", "--quiet", "--color=never", "--depth=0", "--prefix=depth", "--format=|{f}|{p}"]);
        command.arg(format!("--edges={edges}")).args(feature_options::of_query(&arguments.options)).args(features);
        let default = [OsString::from(&config.triple)];
        let targets = if arguments.targets.is_empty() { &default[..] } else { &arguments.targets };
        command.args(targets.iter().flat_map(|target| ["--target".into(), target.clone()]));
        command.current_dir(&config.directory);
        // Cargo stores rustc's answers there.
        command.env("CARGO_TARGET_DIR", workspace.build_directory(config, arguments));
        Ok(parse(&workspace::answer(command)?))
    }
}

/// Parses lines of `cargo tree` with the format `|FEATURES|PACKAGE`.
fn parse(output: &str) -> EnabledFeatures {
    let line = |line: &str| {
        let (features, package) = line.strip_prefix("0|")?.split_once('|')?;
        let features = features.split(',').filter(|feature| !feature.is_empty()).map(str::to_owned).collect();
        Some((package.split(' ').next()?.to_owned(), features))
    };
    output.lines().filter_map(line).collect()
}

/// Returns the user's options for features.
fn users_options(asked: &AskedFeatures) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    options.extend(asked.all.then(|| "--all-features".into()));
    options.extend(asked.no_default.then(|| "--no-default-features".into()));
    options.extend(asked.named.iter().flat_map(|name| ["--features".into(), name.into()]));
    options
}

fn not_a_member(spec: &str, members: &[&Package]) -> String {
    let members: Vec<_> = members.iter().map(|package| package.name.to_string()).collect();
    format!(
        "--features-of: `{spec}` is no package of the workspace, which has {}\n\
         help: to search features of a dependency, declare a feature for each in one of these packages, such as \
         `NAME = [\"{spec}/NAME\"]`, and search that package",
        names(&members)
    )
}

fn nothing_enabled(package: &str, graph: &FeatureGraph) -> String {
    let all: Vec<_> = graph.names().cloned().collect();
    if all.is_empty() {
        return format!("`{package}` has no features");
    }
    format!(
        "this command line enables no feature of `{package}`: add `--all-features`, or `--features` with some of {}",
        names(&all)
    )
}

/// Returns names for people, as far as they are few.
fn names(all: &[String]) -> String {
    let shown = all.iter().take(MAX_NAMES).map(|name| format!("`{name}`"));
    let more = all.len().saturating_sub(MAX_NAMES);
    listed(shown.chain((more > 0).then(|| format!("{more} more"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_cargo_tree_are_read() {
        let text = "0|std,x|a v0.1.0 (/w/a b|c)\n\n0||b v0.2.0 (/w/b) (*)\n1|y|c v1.0.0\nnoise\n0|d\n";
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(parse(text), [("a".to_owned(), set(&["std", "x"])), ("b".to_owned(), set(&[]))].into());
    }

    #[test]
    fn long_lists_are_cut() {
        let all: Vec<_> = (0..15).map(|n| format!("f{n}")).collect();
        assert!(names(&all).ends_with("`f11` and 3 more"), "{}", names(&all));
        assert_eq!(names(&all[..2]), "`f0` and `f1`");
    }

    #[test]
    fn features_are_named_with_their_package() {
        let options = |plain: Option<&str>, others: &[&str], features: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
            let options =
                FeatureOptions { package: "a".to_owned(), others: owned(others), plain: plain.map(str::to_owned) };
            options.with(&owned(features)).join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(options(None, &[], &[]), "--no-default-features");
        assert_eq!(options(None, &["b/default"], &["x", "y"]), "--no-default-features --features a/x,a/y,b/default");
        assert_eq!(options(Some("a"), &["b/z"], &["x"]), "--no-default-features --features x,b/z");
        assert_eq!(options(Some("b"), &[], &["x"]), "--no-default-features --features a/x");
    }
}
