"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // The ranking is sorted by a click or key on a heading, the best first; what is missing or not ranked stands last

  function sortValue(row, column) {
    const text = row.cells[column].textContent.trim();
    const value = Number.parseFloat(text.replaceAll("−", "-").replace(/^[<>]\s*/, "").replaceAll(",", ""));
    return text === "" || text === "–" ? null : Number.isNaN(value) ? text : value;
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  }

  const last = (row) => Number(row.dataset.last ?? 0);

  function sort(head, order) {
    const table = head.closest("table");
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const [column, sign] = [Number(head.dataset.column), order === "ascending" ? 1 : -1];
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => last(a) - last(b) || compare(sortValue(a, column), sortValue(b, column), sign));
    table.tBodies[0].append(...rows);
  }

  for (const head of all("table.sortable thead th[data-column]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.better === "larger" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") !== first ? first : first === "ascending" ? "descending" : "ascending";
      sort(head, order);
    });
  }
})();
