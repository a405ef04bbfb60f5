"use strict";
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  // All text enters the page as text nodes, so that no name can be taken for markup.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // Tables: sorted by a click or key on a heading, the best first; what is missing or not ranked stands last

  function sortValue(row, column) {
    const text = row.cells[column].firstChild?.textContent.trim() ?? "";
    const value = Number(text.replaceAll("−", "-").replace(/^[<>×+]\s*/, "").replace(/\s(%|dB|points)$/, "").replaceAll(",", ""));
    return text === "" || text === "–" ? null : Number.isNaN(value) ? text : value;
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  }

  const last = (row) => Number(row.dataset.last ?? 0);

  function makeSortable(table) {
    const heads = all("thead th[data-column]", table);
    for (const head of heads) {
      const button = element("button", { type: "button" });
      button.append(...[...head.childNodes].filter((node) => node.nodeName !== "SMALL"));
      head.prepend(button);
      button.addEventListener("click", () => {
        const first = head.dataset.better === "larger" ? "descending" : "ascending";
        const order = head.getAttribute("aria-sort") !== first ? first : first === "ascending" ? "descending" : "ascending";
        sort(head, order);
        if (table.id.endsWith("-board")) {
          sorted = [table.id, head.dataset.column, order].join(",");
          keepAddress();
        }
      });
    }
  }

  function sort(head, order) {
    const table = head.closest("table");
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const [column, sign] = [Number(head.dataset.column), order === "ascending" ? 1 : -1];
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => last(a) - last(b) || compare(sortValue(a, column), sortValue(b, column), sign));
    table.tBodies[0].append(...rows);
  }

  // Views: what is wanted, of which data, answered by which data sets; the address holds them, and how boards are sorted

  let sorted = "";
  const choices = { want: $("view-want"), data: $("view-data"), set: $("view-set") };
  const words = (select) => select.selectedOptions[0].textContent;
  const facets = all("select[data-facet]");
  const slots = all("[data-slot]");
  const shown = {};
  const first = [choices.set.value, `${choices.set.value}/${choices.data.value}`];
  all("template[data-view]").forEach((each) => { shown[each.dataset.view] = each.content; });
  for (const slot of slots) {
    const kept = document.createDocumentFragment();
    kept.append(...[...slot.childNodes].map((node) => node.cloneNode(true)));
    first.forEach((view) => { shown[`${slot.dataset.slot} ${view}`] = kept; });
  }

  function show() {
    const set = choices.set.value;
    for (const option of choices.data.options) option.disabled = !(`${set}/${option.value}` in data.orders);
    if (choices.data.selectedOptions[0].disabled) choices.data.value = "all";
    const [want, view] = [choices.want.value, `${set}/${choices.data.value}`];
    for (const slot of slots) {
      const name = slot.dataset.slot;
      slot.replaceChildren((shown[`${name} ${view}`] ?? shown[`${name} ${set}`]).cloneNode(true));
      all("table.sortable", slot).forEach(makeSortable);
      all("[data-want]", slot).forEach((each) => { each.hidden = !each.dataset.want.split(" ").includes(want); });
    }
    const rows = [...$("identify-board").tBodies[0].rows];
    const option = choices.want.options[want === "lowest-j" ? 0 : choices.want.selectedIndex];
    $("identify-board").tBodies[0].append(...data.orders[view][option.value].map((place) => rows[place]));
    $("wanted").textContent = option.textContent;
    all(".board th[aria-sort]").forEach((head) => head.removeAttribute("aria-sort"));
    $("contests").prepend($(want === "lowest-j" ? "search" : "identify"));
    const name = choices.data.value === "all" ? "all data" : choices.data.value;
    all(".of").forEach((each) => { each.textContent = `${name}, ${words(choices.set)}`; });
    all(".set").forEach((each) => { each.textContent = words(choices.set); });
    const values = data.facets[choices.data.value] ?? {};
    facets.forEach((facet) => { facet.value = values[facet.dataset.facet] ?? ""; });
    showHeat(view);
  }

  // Facets: a choice leads to the scenario that has it and otherwise differs least from what is chosen

  function nearest(changed) {
    const set = choices.set.value;
    const wanted = facets.filter((facet) => facet.value);
    $("nearest").hidden = true;
    if (!changed.value) {
      choices.data.value = "all";
      return;
    }
    const scenarios = Object.keys(data.facets).filter((name) => data.facets[name][changed.dataset.facet] === changed.value && `${set}/${name}` in data.orders);
    const missing = (name) => wanted.filter((facet) => data.facets[name][facet.dataset.facet] !== facet.value);
    const usual = data.facets[Object.keys(data.facets)[0]];
    const unusual = (name) => Object.keys(usual).filter((facet) => data.facets[name][facet] !== usual[facet]).length;
    scenarios.sort((a, b) => missing(a).length - missing(b).length || unusual(a) - unusual(b));
    const [name] = scenarios;
    const label = (facet) => `${facet.parentNode.firstChild.textContent.trim()} ${facet.value}`;
    if (!name) {
      $("nearest").textContent = `No ${words(choices.set)} have ${label(changed)}.`;
      $("nearest").hidden = false;
      return;
    }
    const absent = missing(name);
    if (absent.length) {
      $("nearest").textContent = `No data sets have all of this together. Shown is ${name}, which has ${label(changed)}, but not ${absent.map(label).join(", ")}.`;
      $("nearest").hidden = false;
    }
    choices.data.value = name;
  }

  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [name, select] of Object.entries(choices)) {
      if ([...select.options].some((option) => option.value === given.get(name))) select.value = given.get(name);
    }
    show();
    sorted = given.get("sort") ?? "";
    const [table, column, order] = sorted.split(",");
    const head = all(".board th[data-column]").find((each) => each.closest("table").id === table && each.dataset.column === column);
    if (head) sort(head, order);
  }

  function keepAddress() {
    const address = Object.entries(choices).map(([name, select]) => `${name}=${encodeURIComponent(select.value)}`);
    history.replaceState(null, "", `#${[...address, ...(sorted ? [`sort=${sorted}`] : [])].join("&")}`);
  }

  // Methods by system

  function showHeat(view) {
    const cells = data.heat.cells[$("heat-measure").value][view];
    const head = element("tr", {}, element("th", { scope: "col", class: "stub" }, "Method"));
    data.heat.systems[view].forEach((name) => head.append(element("th", { scope: "col" }, element("span", {}, name))));
    $("heat").tHead.replaceChildren(head);
    $("heat").tBodies[0].replaceChildren(...data.heat.methods.map((name, place) => {
      const row = element("tr", {}, element("th", { scope: "row", class: "stub" }, name));
      for (const text of cells[place]) {
        const cell = element("td", {}, text.slice(1));
        cell.style.setProperty("--shade", text[0]);
        row.append(cell);
      }
      return row;
    }));
    $("heat-of").textContent = words($("heat-measure"));
  }

  all("table.sortable").filter((table) => !table.closest("[data-slot]")).forEach(makeSortable);
  $("view").addEventListener("change", (event) => {
    sorted = "";
    if (event.target.dataset.facet) nearest(event.target);
    else $("nearest").hidden = true;
    show();
    keepAddress();
  });
  $("heat-measure").addEventListener("change", show);
  all("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  window.addEventListener("hashchange", () => { if (location.hash.includes("=")) fromAddress(); });
  fromAddress();
})();
