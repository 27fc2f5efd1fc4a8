// Links to files of the repository that are not pages of the book. They work where the book was built, in `target/book/`;
// elsewhere the path is shown instead.
"use strict";

for (const link of document.querySelectorAll("main a[href^='../']")) {
    const path = link.getAttribute("href").replace(/\.html(#|$)/, ".md$1");
    if (location.protocol === "file:") {
        link.setAttribute("href", path);
    } else {
        const text = document.createElement("span");
        text.textContent = link.textContent;
        text.title = `${path.replace(/^(\.\.\/)+/, "")} in the repository`;
        link.replaceWith(text);
    }
}
