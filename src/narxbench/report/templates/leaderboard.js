"use strict";
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");

  // All text enters the page as text nodes, so that no name can be taken for markup.
  function element(tag, attributes = {}, ...children) {
    const svg = ["svg", "path", "line", "text", "g", "rect"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const chosen = (select) => select.selectedOptions[0]?.textContent ?? "";

  // Tables: sorted by a click or key on a heading, what is missing last

  function sortValue(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.sort ?? cell.textContent.trim();
    const value = Number(text.replace("−", "-").replace(/^[<>]\s*/, "").replace(/\s(%|dB)$/, "").replaceAll(",", ""));
    return text === "" || text === "–" ? null : Number.isNaN(value) ? text : value;
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table) {
    const head = table.querySelector("th[aria-sort]");
    const rows = [...table.tBodies[0].rows].sort((a, b) => a.dataset.first - b.dataset.first);
    if (head) {
      const [column, sign] = [Number(head.dataset.column), head.getAttribute("aria-sort") === "ascending" ? 1 : -1];
      rows.sort((a, b) => compare(sortValue(a, column), sortValue(b, column), sign));
    }
    table.tBodies[0].append(...rows);
  }

  const number = (table) => [...table.tBodies[0].rows].forEach((row, index) => { row.dataset.first = index; });

  function makeSortable(table) {
    number(table);
    const heads = [...table.querySelectorAll("thead th[data-column]")];
    for (const head of heads) {
      const button = element("button", { type: "button" });
      button.append(...[...head.childNodes].filter((node) => node.nodeName !== "SMALL"));
      head.prepend(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order !== null) head.setAttribute("aria-sort", order ?? "ascending");
        sort(table);
      });
    }
  }
  document.querySelectorAll("table.sortable").forEach(makeSortable);

  // The leaderboard of one scenario

  $("board-group").addEventListener("change", ({ target }) => {
    for (const row of $("board").tBodies[0].rows) row.hidden = row.dataset.group !== target.value;
    $("board-of").textContent = chosen(target);
  });

  // Tables whose rows are chosen: a row that is there shows how the others look

  for (const form of document.querySelectorAll("form[data-rows]")) {
    const rows = data.rows[form.dataset.rows];
    const table = $(form.dataset.rows);
    const [model] = table.tBodies[0].rows;
    const selects = [...form.querySelectorAll("select")];
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", () => {
      const wanted = selects.map((select) => [select.value, select.dataset.columns.split(" ")]);
      const found = rows.filter((row) => wanted.every(([value, columns]) => !value || columns.some((column) => row[column] === value)));
      table.tBodies[0].replaceChildren(...found.map((texts) => {
        const row = model.cloneNode(true);
        texts.forEach((text, index) => { row.cells[index].textContent = text; });
        return row;
      }));
      if (!found.length) table.tBodies[0].append(element("tr", {}, element("td", { colspan: 99, class: "left" }, "No rows.")));
      number(table);
      sort(table);
    });
  }

  // Methods by system

  function showHeat() {
    const cells = data.heat[$("heat-measure").value][$("heat-group").value];
    [...$("heat").tBodies[0].rows].forEach((row, method) => cells[method].forEach((text, system) => {
      const cell = row.cells[system + 1];
      cell.textContent = text.slice(1);
      cell.style.setProperty("--shade", text[0]);
    }));
    const [measure, group] = [$("heat-measure").selectedOptions[0], $("heat-group")];
    const of = group.value === "0" ? `${measure.dataset.middle} of the scenarios` : chosen(group);
    $("heat-of").textContent = `${measure.textContent}, ${of}`;
  }
  $("heat-measure").addEventListener("change", showHeat);
  $("heat-group").addEventListener("change", showHeat);

  // Curves

  const DASHES = ["", "7 4", "2 4", "9 3 2 3"];
  const { evaluations, steps, systems } = data.curves;
  const colour = (method) => data.colours[method % data.colours.length];
  const dash = (method) => DASHES[Math.floor(method / data.colours.length) % DASHES.length];
  const swatch = (method) => element("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" },
    element("path", { d: "M0 5H28", stroke: colour(method), "stroke-width": 3, "stroke-dasharray": dash(method) }));
  const short = (value) => value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  let lines = [];
  let at = null;

  const boxes = data.methods.map((name, method) => {
    const box = element("input", { type: "checkbox", value: method });
    box.checked = method < 6;
    $("curves-methods").append(element("label", {}, box, swatch(method), name));
    return box;
  });

  // Points of each curve: where it rises to which share; without a measured pace there is none over seconds.
  function curve(method, scenarios, inSystems, pace) {
    let total = 0;
    const more = evaluations.map(() => 0);
    for (const scenario of scenarios) {
      for (const system of inSystems) {
        const [targets, ...found] = steps[scenario][system][method] ?? [0];
        total += targets;
        found.forEach((count, index) => { more[index] += count; });
      }
    }
    if (!total || (pace !== undefined && !pace)) return null;
    let reached = 0;
    const shares = more.map((count) => { reached += count; return reached / total; });
    if (!pace) return evaluations.map((value, index) => [value, shares[index]]);
    const [seconds, spent] = pace;
    if (spent <= 1) return [[seconds, shares.at(-1)]];
    // Where nothing more is reached the curve ends, so that the axis fits what there is to see.
    const end = Math.max(1, shares.indexOf(shares.at(-1)) + 1);
    return evaluations.slice(0, end).map((value, index) => [value * seconds / spent, shares[index]]);
  }

  function ticks(low, high) {
    const found = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += 1) found.push(10 ** power);
    return found;
  }

  function drawCurves() {
    const group = Number($("curves-scenario").value);
    const byTime = $("curves-x").value === "seconds";
    const scenarios = group ? [group - 1] : data.curves.scenarios.map((_, index) => index);
    const inSystems = $("curves-system").value === "" ? systems.map((_, index) => index) : [Number($("curves-system").value)];
    lines = boxes.flatMap((box, method) => {
      const points = box.checked && curve(method, scenarios, inSystems, byTime ? data.pace[group][method] : undefined);
      return points ? [{ method, points }] : [];
    });
    const all = lines.flatMap(({ points }) => points.map(([x]) => x)).filter((x) => x > 0);
    const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [1, 10];
    const [width, height, left, top, bottom] = [Math.max(280, $("curves").clientWidth), 384, 44, 8, 40];
    const right = width - 12;
    const span = Math.log10(high / low) || 1;
    const x = (value) => left + (right - left) * Math.min(1, Math.max(0, Math.log10(value / low) / span));
    const y = (share) => top + (height - top - bottom) * (1 - share);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: "0", "aria-labelledby": "curves-title", "aria-describedby": "curves-now" });
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(element("line", { class: "grid", x1: left, x2: right, y1: y(share), y2: y(share) }),
        element("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
    }
    for (const value of ticks(low, high)) {
      svg.append(element("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom }),
        element("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, value < 1 ? String(Number(value.toPrecision(1))) : value.toLocaleString("en")));
    }
    svg.append(element("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, byTime ? "CPU seconds" : "evaluations of J"));
    for (const { method, points } of [...lines].reverse()) {
      const path = points.map(([value, share], index) => `${index ? "L" : "M"}${x(value).toFixed(1)} ${y(share).toFixed(1)}`);
      svg.append(element("path", { d: `${path.join("")}H${right}`, stroke: colour(method), "stroke-dasharray": dash(method) }));
    }
    const guide = element("line", { class: "guide", y1: top, y2: height - bottom });
    svg.append(guide);
    const show = () => {
      const value = low * 10 ** (at * span);
      guide.setAttribute("x1", x(value));
      guide.setAttribute("x2", x(value));
      const found = lines.map(({ method, points }) => [points.findLast(([start]) => start <= value * (1 + 1e-9))?.[1] ?? 0, data.methods[method]]);
      found.sort((a, b) => b[0] - a[0]);
      const within = `${short(value)} ${byTime ? "CPU second" : "evaluation"}${short(value) === "1" ? "" : "s"}`;
      $("curves-now").textContent = found.length ? `Within ${within}: ${found.map(([share, name]) => `${name} ${percent(share)}`).join(", ")}.` : "Nothing to show.";
    };
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      at = Math.min(1, Math.max(0, ((event.clientX - box.left) * width / box.width - left) / (right - left)));
      show();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      at = Math.min(1, Math.max(0, at + step));
      show();
    });
    $("curves").replaceChildren(svg);
    at ??= 1;
    show();
    const timed = data.methods.filter((_, method) => byTime && boxes[method].checked && !data.pace[group][method]);
    $("curves-text").textContent = `${chosen($("curves-scenario"))}, ${chosen($("curves-system"))}. `
      + (byTime ? "CPU seconds: evaluations times the measured time of one; a method without evaluations stands at the time of its run. " : "A method without evaluations is a level line. ")
      + (timed.length ? `Not measured: ${timed.join(", ")}. ` : "")
      + "Move over the chart, or use the arrow keys on it, for values.";
    curveTable(byTime, low, high);
  }

  function curveTable(byTime, low, high) {
    const places = [...new Set([...ticks(low, high), high])];
    const head = element("tr", {}, element("th", { scope: "col" }, byTime ? "Within CPU seconds" : "Within evaluations"));
    places.forEach((place) => head.append(element("th", { scope: "col" }, short(place))));
    const body = element("tbody");
    for (const { method, points } of lines) {
      const row = element("tr", {}, element("th", { scope: "row" }, data.methods[method]));
      for (const place of places) row.append(element("td", {}, percent(points.findLast(([start]) => start <= place * (1 + 1e-9))?.[1] ?? 0)));
      body.append(row);
    }
    const table = element("table", {}, element("caption", { id: "curves-table-caption" }, "Share of the targets reached"), element("thead", {}, head), body);
    $("curves-table").replaceChildren(element("div", { class: "scroll", role: "group", "aria-labelledby": "curves-table-caption", tabindex: "0" }, table));
  }

  document.querySelectorAll("[data-show]").forEach((button) => button.addEventListener("click", () => {
    boxes.forEach((box, method) => { box.checked = method < Number(button.dataset.show); });
    drawCurves();
  }));
  $("curves-choices").addEventListener("change", drawCurves);
  $("curves-methods").addEventListener("change", drawCurves);
  let width = 0;
  new ResizeObserver(() => {
    if ($("curves").clientWidth === width) return;
    width = $("curves").clientWidth;
    drawCurves();
  }).observe($("curves"));
  document.querySelectorAll(".choices").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
})();
