// Tables of every page: sorted by their headings, and with the tests behind their values.

// All text enters the page as text nodes, so that no name can be taken for markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function sortValue(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const value = Number(text.replace("−", "-").replace(/^<\s*/, "").replace(/ dB$/, "").replaceAll(",", ""));
  return text === "" || Number.isNaN(value) ? text : value;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.querySelectorAll("thead th[data-column]")];
  if (original.length < 2) return;
  for (const head of heads) {
    const button = element("button", { type: "button" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      const sorted = [...original];
      if (order) {
        head.setAttribute("aria-sort", order);
        const column = Number(head.dataset.column);
        sorted.sort((a, b) => compare(sortValue(a, column), sortValue(b, column)) * (order === "ascending" ? 1 : -1));
      }
      body.append(...sorted);
    });
  }
}

// A table is one stop of the Tab key; arrow keys move between its compared values, as in a grid.
function makeReadout(table) {
  const cells = () => [...table.querySelectorAll("td[data-published]")];
  if (!cells().length) return;
  const line = table.closest(".scroll").nextElementSibling;
  // One hint is enough for the tables of a tab.
  if (!table.closest(".panel")?.querySelector(".readout:not(:empty)")) line.textContent = "Choose a value for its interval and test.";
  const headings = {};
  table.querySelectorAll("thead th[data-column]").forEach((head) => { headings[head.dataset.column] = head.textContent; });
  const show = (cell) => {
    const stubs = [...cell.parentNode.querySelectorAll("th")].map((head) => head.textContent);
    const { value, published, interval, test, command } = cell.dataset;
    line.textContent = `${[...stubs, headings[cell.cellIndex]].join(", ")}: published ${published}, reproduced ${value} `
      + `(${interval}), Fisher’s exact test ${test}: ${cell.className === "differs" ? "clearly different" : "not clearly different"}.`
      + (command ? ` What is behind it: ${command}` : "");
  };
  const focus = (cell) => {
    table.querySelectorAll("td[tabindex]").forEach((other) => other.removeAttribute("tabindex"));
    cell.tabIndex = 0;
    cell.focus();
  };
  cells()[0].tabIndex = 0;
  table.addEventListener("focusin", (event) => { if (event.target.dataset.published) show(event.target); });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-published]");
    if (cell) focus(cell);
  });
  table.addEventListener("mouseover", (event) => {
    const cell = event.target.closest("td[data-published]");
    if (cell && !table.contains(document.activeElement)) show(cell);
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!cell.dataset.published || !step) return;
    event.preventDefault();
    const rows = [...cell.closest("tbody").rows];
    const next = rows[rows.indexOf(cell.parentNode) + step[0]]?.cells[cell.cellIndex + step[1]];
    if (next?.dataset.published) focus(next);
  });
}

document.querySelectorAll("table.sortable").forEach((table) => {
  makeSortable(table);
  makeReadout(table);
});
