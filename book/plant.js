// Lets readers plant culprits, and has the engine search them: WebAssembly, which `engine.js` holds as base64.
"use strict";

(async () => {
    const place = document.getElementById("plant");
    if (!place) return;
    if (!globalThis.bookEngine || !globalThis.WebAssembly) {
        place.textContent = "The engine is not part of this copy of the book: `.ci/run book` builds it.";
        return;
    }
    const bytes = Uint8Array.from(atob(globalThis.bookEngine), (char) => char.charCodeAt(0));
    const engine = (await WebAssembly.instantiate(bytes)).instance.exports;
    const count = 48;
    const names = [...Array(count).keys()].map((change) => `change ${change + 1}`);
    const questions = ["all-on", "all-off", "prefix", "found-alone", "all-but-found", "baseline"];
    const planted = new Map([[30, 0]]);
    let seed = 1;

    const intro = element("p", "Click changes: once for a culprit of its own, twice and three times for part of culprit A or "
        + "B, which fail only together.");
    const changes = element("div", "", "stepper-changes");
    const rate = element("select", "");
    for (const [value, text] of [[100, "fails always"], [90, "fails in 9 of 10 runs"], [50, "fails in half of the runs"]]) {
        const option = element("option", text);
        option.value = value;
        rate.append(option);
    }
    const search = element("button", "Search");
    const line = element("div", "", "stepper-bar");
    line.append(rate, search);
    const answer = element("p", "");
    answer.setAttribute("aria-live", "polite");
    const steps = element("div", "");
    place.append(intro, changes, line, answer, steps);

    function draw() {
        changes.replaceChildren(...names.map((name, change) => {
            const set = planted.get(change);
            const made = element("button", name + ["", " (A)", " (B)"][set || 0], set === undefined ? "" : "suspects culprits");
            made.addEventListener("click", () => {
                const next = set === undefined ? 0 : set + 1;
                if (next > 2) planted.delete(change); else planted.set(change, next);
                draw();
            });
            return made;
        }));
    }

    // Runs the whole search, and returns its trials as trials.jsonl has them.
    function trials() {
        engine.start(count, Number(rate.value), seed++);
        let singles = 2;
        for (const [change, set] of planted) engine.plant(set === 0 ? singles++ : set - 1, change);
        const all = [];
        let number = 0;
        while (all.length < 2000 && engine.step()) {
            const repeat = Boolean(engine.repeats());
            const numbers = [...names.keys()];
            all.push({
                n: repeat ? 0 : ++number,
                repeat,
                question: questions[engine.question()],
                outcome: engine.failed() ? "fail" : "pass",
                selected: numbers.filter((change) => engine.enabled(change)).map((change) => [change, change + 1]),
                likely: engine.noisy() ? numbers.map((change) => engine.likelihood(change)) : undefined,
                culprits: engine.noisy() ? numbers.filter((change) => engine.culprit(change)) : undefined,
            });
        }
        return all;
    }

    search.addEventListener("click", () => {
        const made = trials();
        const sets = new Map();
        names.forEach((name, change) => {
            const set = engine.culprit(change);
            if (set) sets.set(set, [...(sets.get(set) || []), name]);
        });
        const words = [...sets.values()].map((set) => set.join(" with "));
        const end = engine.verdict() === 1 ? `${made.length} runs found: ${words.join("; ")}.`
            : `After ${made.length} runs there is nothing to find.`;
        answer.textContent = end;
        drawSearch(steps, names, made);
    });
    draw();
})();
