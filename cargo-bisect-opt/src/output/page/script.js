// Shows the details of the row below the pointer or with the focus, and moves the focus with the arrow keys.
(() => {
  "use strict";
  const PAGE = 10;
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const rows = [...chart.querySelectorAll("[data-row]")];
    const details = chart.querySelector(".details");
    let shown = null;
    const show = (row) => {
      if (shown) shown.classList.remove("shown");
      shown = row;
      row.classList.add("shown");
      details.textContent = row.querySelector("title").textContent;
    };
    // One row of a chart is in the order of the Tab key; arrow keys reach the others.
    const enter = (row) => {
      for (const other of rows) other.setAttribute("tabindex", other === row ? "0" : "-1");
    };
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: PAGE, PageUp: -PAGE };
    const target = (index, key) => {
      if (key === "Home") return 0;
      if (key === "End") return rows.length - 1;
      const step = steps[key];
      return step === undefined ? undefined : Math.min(Math.max(index + step, 0), rows.length - 1);
    };
    rows.forEach((row, index) => {
      row.addEventListener("mouseenter", () => show(row));
      row.addEventListener("click", () => row.focus());
      row.addEventListener("focus", () => {
        enter(row);
        show(row);
      });
      row.addEventListener("keydown", (event) => {
        const next = event.ctrlKey || event.altKey || event.metaKey ? undefined : target(index, event.key);
        if (next === undefined) return;
        event.preventDefault();
        rows[next].focus();
      });
    });
    if (rows.length > 0) enter(rows[0]);
  }
  document.documentElement.dataset.ready = "true";
})();
