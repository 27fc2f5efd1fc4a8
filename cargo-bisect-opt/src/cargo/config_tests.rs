//! Cargo's precedence of flags, runners and variables, and the driver's additions.

use super::*;
use crate::cargo::Subcommand;

/// A directory with a configuration, for the host unless the configuration sets a target.
struct Case {
    dir: tempfile::TempDir,
}

impl Case {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join(".cargo")).unwrap();
        fs_err::write(dir.path().join(".cargo/config.toml"), config).unwrap();
        Self { dir }
    }

    fn load(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, CargoError> {
        let mut words: Vec<OsString> = vec!["-C".into(), self.dir.path().into()];
        words.extend(arguments.iter().map(Into::into));
        let arguments = Arguments::parse(Subcommand::Test, &words);
        let own = std::env::vars_os().filter(|(name, _)| ["CARGO", "RUSTC"].iter().any(|kept| name == *kept));
        let given = environment.iter().map(|(name, value)| (name.into(), value.into()));
        Config::load(&arguments, &own.chain(given).collect::<Vec<_>>())
    }

    fn flags(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
        self.load(arguments, environment).unwrap().rustflags
    }
}

const TARGET: &str = "x86_64-unknown-linux-gnu";

#[test]
fn flags_come_from_the_first_source_that_has_any() {
    let config = format!("build.target = '{TARGET}'\nbuild.rustflags = ['-Dbuild']\n");
    let both =
        Case::new(&format!("{config}target.{TARGET}.rustflags = '-Dtarget'\ntarget.'cfg(unix)'.rustflags = ['-Dcfg']"));
    let build = Case::new(&config);
    for (case, environment, expected) in [
        (&build, &[] as &[_], &["-Dbuild"] as &[_]),
        (&both, &[], &["-Dtarget", "-Dcfg"]),
        (&both, &[("RUSTFLAGS", "-Da -Db")], &["-Da", "-Db"]),
        (&both, &[("RUSTFLAGS", "-Da"), ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fx=\"a b\"")], &["--cfg", "x=\"a b\""]),
        (&build, &[("CARGO_BUILD_RUSTFLAGS", "-Denv")], &["-Dbuild", "-Denv"]),
        (&build, &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Denv")], &["-Denv"]),
    ] {
        assert_eq!(case.flags(&[], environment), expected, "{environment:?}");
    }
}

#[test]
fn flags_given_with_config_are_added_where_they_belong() {
    let case = Case::new(&format!("build.target = '{TARGET}'\nbuild.rustflags = ['-Dbuild']"));
    let build = "build.rustflags=['-Dmore']";
    let cfg = "target.'cfg(unix)'.rustflags=['-Dcfg']";
    assert_eq!(case.flags(&["--config", build], &[]), ["-Dbuild", "-Dmore"]);
    assert_eq!(case.flags(&["--config", build, "--config", cfg], &[]), ["-Dcfg"]);
    assert_eq!(case.flags(&["--config", "target.'cfg(windows)'.rustflags=['-Dcfg']"], &[]), ["-Dbuild"]);
    assert_eq!(case.flags(&["--config", build], &[("RUSTFLAGS", "-Denv")]), ["-Denv"]);
}

#[test]
fn our_flags_come_behind_the_users() {
    let config = Case::new("build.rustflags = ['--cfg', 'user']").load(&[], &[]).unwrap();
    let mut command = Command::new("cargo");
    config.set_flags(&mut command, &["-Zpass=x y".into()]);
    let variables: Vec<_> = command.get_envs().collect();
    let flags = "--cfg\x1fuser\x1f-Cforce-frame-pointers=yes\x1f--cfg\x1fbisect_frame_pointers\x1f-Zpass=x y";
    let expected = [
        ("CARGO_ENCODED_RUSTFLAGS".as_ref(), Some(flags.as_ref())),
        ("CARGO_PROFILE_RELEASE_DEBUG".as_ref(), Some("limited".as_ref())),
        ("CARGO_PROFILE_RELEASE_STRIP".as_ref(), Some("none".as_ref())),
        ("RUSTFLAGS".as_ref(), None),
    ];
    assert_eq!(variables, expected);
}

#[test]
fn runners_and_variables_are_found() {
    let case = Case::new(&format!(
        "target.{TARGET}.runner = ['./run.sh', '-x']\n\
         [env]\nPLAIN = 'a'\nFORCED = {{ value = 'b', force = true }}\nHERE = {{ value = 'data', relative = true }}"
    ));
    let config = case.load(&["--target", TARGET], &[]).unwrap();
    assert_eq!(config.runner, [case.dir.path().join("./run.sh").into_os_string(), "-x".into()]);
    assert_eq!(config.env["PLAIN"], ("a".into(), false));
    assert_eq!(config.env["FORCED"], ("b".into(), true));
    assert_eq!(config.env["HERE"].0, case.dir.path().join("data"));

    let runner = format!("target.{TARGET}.runner='./other.sh'");
    let env = "env.PLAIN={value='c', relative=true}";
    let config = case.load(&["--target", TARGET, "--config", &runner, "--config", env], &[]).unwrap();
    assert_eq!(config.runner, [case.dir.path().join("./other.sh")]);
    assert_eq!(config.env["PLAIN"].0, case.dir.path().join("c"));

    let environment = [("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "wine -q")];
    assert_eq!(case.load(&["--target", TARGET], &environment).unwrap().runner, ["wine", "-q"]);
}

#[test]
fn a_file_given_with_config_counts() {
    let case = Case::new("");
    fs_err::create_dir(case.dir.path().join("more")).unwrap();
    fs_err::write(case.dir.path().join("more/x.toml"), "build.rustflags = ['-Dfile']\nbuild.target = 'wasm32-wasip1'")
        .unwrap();
    let config = case.load(&["--config", "more/x.toml"], &[]).unwrap();
    assert_eq!((config.rustflags, config.triple.as_str()), (vec!["-Dfile".to_owned()], "wasm32-wasip1"));
}

#[test]
fn the_target_comes_from_the_arguments_first() {
    let case = Case::new("build.target = 'a-b-c'");
    let triple = |arguments: &[&str], environment: &[_]| {
        let config = case.load(arguments, environment).unwrap();
        assert!(config.is_cross);
        config.triple
    };
    assert_eq!(triple(&[], &[]), "a-b-c");
    assert_eq!(triple(&[], &[("CARGO_BUILD_TARGET", "d-e-f")]), "d-e-f");
    assert_eq!(triple(&["--config", "build.target='g-h-i'"], &[("CARGO_BUILD_TARGET", "d-e-f")]), "g-h-i");
    assert_eq!(triple(&["--target", "j-k-l", "--config", "build.target='g-h-i'"], &[]), "j-k-l");
    let host = Case::new("").load(&[], &[]).unwrap();
    assert!(!host.is_cross);
    assert_eq!(Case::new("").load(&["--target=host-tuple"], &[]).unwrap().triple, host.triple);
}

#[test]
fn several_targets_and_wrong_values_are_refused() {
    let error = Case::new("build.target = ['a-b-c', 'd-e-f']").load(&[], &[]).unwrap_err();
    assert_eq!(error.to_string(), "cannot run executables for several targets (a-b-c, d-e-f)");
    assert!(error.is_usage());
    let error = Case::new("").load(&["--config", "no file and no = value"], &[]).unwrap_err();
    assert!(error.to_string().starts_with("--config no file and no = value: "), "{error}");
    assert!(Case::new("build.rustflags = 3").load(&[], &[]).is_err());
}

#[test]
fn the_wrapper_of_rustc_is_the_first_that_is_named() {
    let case = Case::new("build.rustc-wrapper = 'of-file'");
    let given = ["--config", "build.rustc-wrapper='given'"];
    let relative = ["--config", "build.rustc-wrapper='tools/given'"];
    let beside = case.dir.path().join("tools/given");
    for (arguments, environment, expected) in [
        (&[] as &[_], &[] as &[_], Some(Path::new("of-file"))),
        (&[], &[("CARGO_BUILD_RUSTC_WRAPPER", "of-env")], Some(Path::new("of-env"))),
        (&given, &[("CARGO_BUILD_RUSTC_WRAPPER", "of-env")], Some(Path::new("given"))),
        (&given, &[("RUSTC_WRAPPER", "first")], Some(Path::new("first"))),
        (&relative, &[], Some(&*beside)),
        (&given, &[("RUSTC_WRAPPER", "")], None),
        (&[], &[("RUSTC_WRAPPER", "")], None),
    ] {
        let config = case.load(arguments, environment).unwrap();
        assert_eq!(config.rustc_wrapper.as_deref(), expected, "{arguments:?} {environment:?}");
    }
}
