//! Whole searches as text files: `tests/searches/*.txt`. How to add one: `tests/searches/README.md`.

use std::{collections::BTreeSet, env, fs, num::NonZeroUsize, path::Path};

use bisect_core::{
    ChangeId,
    search::{Noise, Observation, Options, Outcome, Rank, Selection},
};

use crate::{
    SEARCHES,
    behaviour::{Behaviour, Moment, Settings},
    transcript::transcript,
};

/// The line between the settings and the transcript of the search.
const SEPARATOR: &str = "----\n";

/// The settings of one file.
pub(crate) struct Scenario {
    pub(crate) options: Options,
    pub(crate) behaviour: Behaviour,
    reports: Reports,
}

enum Reports {
    Honest,
    Everything,
    Nothing,
}

impl Scenario {
    fn parse(text: &str) -> Self {
        let mut settings = Settings::parse(text);
        let behaviour = Behaviour::parse(&mut settings);
        let reports = match settings.take("reports") {
            None => Reports::Honest,
            Some("everything") => Reports::Everything,
            Some("nothing") => Reports::Nothing,
            Some(other) => panic!("reports: {other}"),
        };
        let noise = match settings.take("noise").map(|noise| noise.split_once(' ').expect("`suspected 0.99`")) {
            None => Noise::Refused,
            Some(("suspected", confidence)) => Noise::Suspected(confidence.parse().unwrap()),
            Some(("expected", confidence)) => Noise::Expected(confidence.parse().unwrap()),
            Some((other, _)) => panic!("noise: {other}"),
        };
        let options = Options {
            runs_per_trial: settings.number("runs per trial").unwrap_or(NonZeroUsize::MIN),
            max_sets: settings.number("max sets"),
            max_set_size: settings.number("max set size"),
            max_runs: settings.number("max runs"),
            seed: behaviour.seed(),
            direction: settings.take("one way").map(|_| bisect_core::search::Mode::Enable),
            noise,
            ..Options::default()
        };
        settings.finish();
        Self { options, behaviour, reports }
    }

    /// Returns the result of a run for one of the tests, or for all of them together.
    pub(crate) fn observe(
        &self,
        test: Option<usize>,
        number: usize,
        run: &Selection,
        before: &Selection,
    ) -> Observation {
        let is_on = |id| run.enables(Rank::of(id));
        let was_on = |id| before.enables(Rank::of(id));
        let at = Moment { number, is_on: &is_on, was_on: &was_on };
        let all = self.behaviour.tests().len().max(1);
        let tests = test.map_or(0..all, |test| test..test + 1);
        let outcomes: Vec<_> = tests.clone().map(|test| self.behaviour.outcome(test, 0, &at)).collect();
        let outcome = match outcomes.iter().find(|&&outcome| outcome == Outcome::Fail) {
            Some(fail) => *fail,
            None => outcomes[0],
        };
        let reached = |&id: &ChangeId| tests.clone().any(|test| self.behaviour.reaches(test, id));
        let ids = self.behaviour.ids().filter(reached);
        let changes = ids.map(Rank::of);
        let reported = match self.reports {
            Reports::Honest => changes.filter(|&change| run.contains(change)).collect(),
            Reports::Everything => changes.collect(),
            Reports::Nothing => Vec::new(),
        };
        Observation { outcome, reported }
    }
}

#[test]
fn searches_are_as_written() {
    let folder = Path::new(SEARCHES);
    let update = env::var_os("UPDATE_SEARCHES").is_some();
    let mut differing = BTreeSet::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        count += 1;
        let file = fs::read_to_string(&path).unwrap();
        let (settings, expected) = file.split_once(SEPARATOR).unwrap_or((&file, ""));
        let actual = transcript(&Scenario::parse(settings));
        if actual == expected {
            continue;
        }
        if update {
            fs::write(&path, format!("{settings}{SEPARATOR}{actual}")).unwrap();
        } else {
            println!("{}:\n{actual}", path.display());
            differing.insert(path.file_name().unwrap().to_owned());
        }
    }
    assert!(differing.is_empty(), "{differing:?} differ; see tests/searches/README.md");
    assert!(count >= 12, "only {count} searches were found");
}
