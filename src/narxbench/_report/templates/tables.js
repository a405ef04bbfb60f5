// Tables of every page, sorted by their headings.

// All text enters the page as text nodes, so that no name can be taken for markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function sortValue(row, column) {
  const cell = row.cells[column];
  const text = cell.textContent.trim();
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

document.querySelectorAll("table.sortable").forEach(makeSortable);
