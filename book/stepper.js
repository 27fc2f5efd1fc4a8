// Draws searches, one trial at a time.
"use strict";

// Follows a search: which changes are suspects after each trial, which are known to be needed, and which are culprits.
function explained(trials, count) {
    const all = [...Array(count).keys()];
    let suspects = new Set(all);
    let found = new Set();
    const culprits = new Set();
    return trials.map((trial) => {
        const enabled = new Set(trial.selected.flatMap(([from, to]) => all.slice(from, to)));
        const failed = trial.outcome === "fail";
        if (trial.likely) {
            // In a noisy search, each trial has the probability of each change, in percent.
            suspects = new Set(all.filter((change) => trial.likely[change] >= 100 / count));
            found = new Set();
            culprits.clear();
        } else if (!trial.repeat && trial.question === "prefix") {
            const asked = (change) => enabled.has(change) && !found.has(change);
            suspects = new Set([...suspects].filter((change) => asked(change) === failed));
        } else if (!trial.repeat && trial.question === "found-alone") {
            found = enabled;
            const first = Math.min(...enabled);
            suspects = new Set(failed ? [] : all.filter((change) => change < first && !culprits.has(change)));
        } else if (!trial.repeat && trial.question === "all-but-found") {
            all.filter((change) => !enabled.has(change)).forEach((change) => culprits.add(change));
            found = new Set();
            suspects = new Set(failed ? enabled : []);
        }
        return { trial, enabled, suspects, found, culprits: new Set(trial.culprits || culprits) };
    });
}

// Draws a search, one trial at a time. Arrow keys step through the last search that was drawn or stepped through.
let stepBy = () => false;

function drawSearch(place, names, trials) {
    const frames = explained(trials, names.length);
    let at = 0;

    function question({ trial, enabled }) {
        const named = [...enabled].map((change) => names[change]).join(" and ");
        const some = {
            "all-on": "every change is enabled",
            "all-off": "no change is enabled",
            "prefix": `${enabled.size} of ${names.length} changes are enabled`,
            "found-alone": `only ${named} ${enabled.size === 1 ? "is" : "are"} enabled`,
            "all-but-found": "everything else is enabled",
            "baseline": "the state that should pass",
        };
        return some[trial.question] + (trial.repeat ? ", once more as a check" : "");
    }

    function conclusion({ trial, suspects, culprits }) {
        if (trial.likely) {
            const likeliest = trial.likely.indexOf(Math.max(...trial.likely));
            return `The runs contradict each other, so each is only evidence: ${names[likeliest]} is the likeliest, `
                + `with ${trial.likely[likeliest].toFixed(1)}%.`;
        }
        if (trial.repeat) return "It ends as before: the target is not flaky.";
        if (trial.question === "all-on") return "So the changes make it fail.";
        if (trial.question === "all-off") return "So one of the changes is needed, or several.";
        if (trial.question === "prefix") {
            if (suspects.size !== 1) return `${suspects.size} suspects are left.`;
            return `One suspect is left: ${names[[...suspects][0]]} is needed.`;
        }
        if (trial.question === "found-alone") {
            return trial.outcome === "fail" ? "So this is a culprit." : "So it needs another change, before it in the order.";
        }
        return trial.outcome === "fail" ? "So there is another culprit."
            : `So there is no other culprit: ${culprits.size} of ${names.length} changes are to blame.`;
    }

    function button(text, label, target) {
        const made = element("button", text);
        made.title = label;
        made.setAttribute("aria-label", label);
        made.addEventListener("click", () => show(target()));
        return made;
    }

    const bar = element("div", "", "stepper-bar");
    const marks = element("span", "", "stepper-marks");
    trials.forEach((trial, index) => {
        marks.append(button("", `run ${index + 1}: ${trial.outcome}`, () => index));
    });
    bar.append(button("◀", "back", () => at - 1), button("▶", "forward", () => at + 1), marks);
    const text = element("p", "");
    text.setAttribute("aria-live", "polite");
    const changes = element("div", "", "stepper-changes");
    const legend = element("p", "filled: enabled · bold: suspect · underlined: needed · red: culprit", "stepper-legend");
    place.replaceChildren(bar, text, changes, legend);

    function show(index) {
        at = Math.max(0, Math.min(frames.length - 1, index));
        stepBy = (step) => {
            const moves = at + step >= 0 && at + step < frames.length;
            if (moves) show(at + step);
            return moves;
        };
        const frame = frames[at];
        const number = frame.trial.repeat ? "again" : `trial ${frame.trial.n}`;
        const outcome = element("strong", frame.trial.outcome === "fail" ? "FAIL" : "pass", frame.trial.outcome);
        text.replaceChildren(`${number}: ${question(frame)} → `, outcome, ` ${conclusion(frame)}`);
        changes.replaceChildren(...names.map((name, change) => {
            const states = ["enabled", "suspects", "found", "culprits"];
            return element("span", name, states.filter((state) => frame[state].has(change)).join(" "));
        }));
        [...marks.children].forEach((mark, other) => {
            mark.className = trials[other].outcome + (other === at ? " current" : "");
        });
    }

    show(0);
}

function element(kind, text, className) {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = className || "";
    return made;
}

// The book turns its pages by these keys; here they step, as long as there is a step.
document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || !stepBy(step)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
}, true);

// The recorded search of this page, if it has one: the lines of trials.jsonl, and the names of the changes.
if (document.getElementById("stepper")) {
    const lines = (id) => document.getElementById(id).textContent.split("\n").filter((line) => line.trim() !== "");
    const trials = lines("stepper-trials").map((line) => JSON.parse(line));
    drawSearch(document.getElementById("stepper"), lines("stepper-changes"), trials);
}
