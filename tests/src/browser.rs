//! A real browser without a window: Chromium, driven by `WebDriver` (<https://www.w3.org/TR/webdriver2/>).

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

/// A session of a browser, which ends when this is dropped.
#[derive(Debug)]
pub struct Browser {
    chromedriver: Child,
    /// The address of the session.
    session: String,
    agent: ureq::Agent,
}

impl Browser {
    /// Starts a browser. Prints a notice and returns `None` if there is no `chromedriver`.
    ///
    /// # Panics
    /// If it does not start, or is absent where `CI` is set.
    #[must_use]
    pub fn start() -> Option<Self> {
        let mut command = Command::new("chromedriver");
        let mut chromedriver = match command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(std::env::var_os("CI").is_none(), "CI has chromedriver");
                // Not `eprintln!`: the harness would capture it.
                writeln!(std::io::stderr(), "*** SKIPPED: no chromedriver ***").expect("standard error is there");
                return None;
            }
            child => child.expect("chromedriver can be started"),
        };
        let output = BufReader::new(chromedriver.stdout.take().expect("it is piped"));
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let port = port.expect("chromedriver prints its port");
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut browser = Self { chromedriver, session: format!("http://127.0.0.1:{port}/session"), agent };
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1600"];
        let session = browser.post(
            "",
            &json!({ "capabilities": { "alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": { "args": arguments },
                "goog:loggingPrefs": { "browser": "ALL" },
            } } }),
        );
        browser.session.push('/');
        browser.session.push_str(session["sessionId"].as_str().expect("a session has an ID"));
        Some(browser)
    }

    /// Opens a file, and returns when it has been loaded.
    pub fn open(&self, page: &Path) {
        self.post("/url", &json!({ "url": format!("file://{}", page.display()) }));
    }

    /// Runs a script, the body of a function, and returns its result.
    #[must_use]
    pub fn script(&self, body: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// Moves the mouse over the first element that a selector of CSS finds.
    pub fn hover(&self, selector: &str) {
        let element = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        self.act(&json!({
            "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" },
            "actions": [{ "type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": element }],
        }));
    }

    /// Presses and releases a key, one that `WebDriver` names by this character.
    pub fn press(&self, key: char) {
        self.act(&json!({
            "type": "key", "id": "keyboard",
            "actions": [{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }],
        }));
    }

    fn act(&self, actions: &Value) {
        self.post("/actions", &json!({ "actions": [actions] }));
    }

    /// Returns what the console of the page has been sent since the last call, errors of the browser included.
    #[must_use]
    pub fn console(&self) -> Vec<Value> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        entries.as_array().expect("the log is a list").clone()
    }

    /// Returns the screen as base64 of a PNG.
    #[must_use]
    pub fn screenshot(&self) -> String {
        let answer = self.agent.get(format!("{}/screenshot", self.session)).call();
        value(answer).as_str().expect("the screen is a text").to_owned()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        value(self.agent.post(format!("{}{command}", self.session)).send_json(body))
    }
}

/// Returns the value of an answer.
fn value(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let mut answer = answer.expect("chromedriver answers");
    let body: Value = answer.body_mut().read_json().expect("its answers are JSON");
    assert!(answer.status().is_success(), "{body}");
    body["value"].clone()
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This ends the browser; chromedriver alone would leave it.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.chromedriver.kill();
        let _ = self.chromedriver.wait();
    }
}
