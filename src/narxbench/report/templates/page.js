"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const PLACE = ["system", "snr_db", "method", "criterion"];
  const TITLES = { system: "System", snr_db: "SNR", method: "Method", criterion: "Criterion", target_name: "Target" };

  // All text enters the page as text nodes, so that no name can be taken for markup.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  // Plotly reads some tags in its texts.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const number = (value, digits = 4) => value === null || value === undefined || !Number.isFinite(value) ? "–"
    : String(Number(value.toPrecision(digits))).replace("-", "−");
  // Half up, as the tables round; the small number makes up for the binary form of decimals such as 0.725.
  const fixed = (value, digits = 2) => value === null ? "–"
    : (Math.round(value * 10 ** digits + 1e-7) / 10 ** digits).toFixed(digits).replace("-", "−");
  const range = ([value, low, high]) => `${fixed(value)} (${fixed(low)} to ${fixed(high)})`;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shown = (key, value) => key === "snr_db" ? `${value} dB` : data.names[key]?.[value] ?? value;

  function term(name) {
    const made = element("span", { class: "term" });
    for (const part of name.replaceAll("*", "\u2009").replaceAll("-", "−").split(/(\^\d+)/)) {
      made.append(part[0] === "^" ? element("sup", {}, part.slice(1)) : part);
    }
    return made;
  }

  const symbols = (text) => text.split(/(ν_max)/).flatMap((part) => part === "ν_max" ? ["ν", element("sub", {}, "max")] : [part]);

  // Tables

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

  function makeTable(id, caption, heads, rows) {
    const table = element("table", { class: "sortable" }, element("caption", { id: `${id}-caption` }, caption));
    const head = element("tr");
    heads.forEach((text, index) => head.append(element("th", { scope: "col", "data-column": index }, text)));
    const body = element("tbody");
    for (const values of rows) {
      const row = element("tr");
      values.forEach((value, index) => row.append(element(index ? "td" : "th", index ? {} : { scope: "row" }, value)));
      body.append(row);
    }
    table.append(element("thead", {}, head), body);
    makeSortable(table);
    const box = element("div", { class: "scroll", role: "group", "aria-labelledby": `${id}-caption`, tabindex: "0" }, table);
    $(id).replaceChildren(box);
  }

  // A table is one stop of the Tab key; arrow keys move between its compared values, as in a grid.
  function makeReadout(table) {
    const cells = () => [...table.querySelectorAll("td[data-published]")];
    if (!cells().length) return;
    const line = table.closest(".scroll").nextElementSibling;
    line.textContent = "Choose a value for its interval and test.";
    const headings = {};
    table.querySelectorAll("thead th[data-column]").forEach((head) => { headings[head.dataset.column] = head.textContent; });
    const show = (cell) => {
      const stubs = [...cell.parentNode.querySelectorAll("th")].map((head) => head.textContent);
      const { value, published, interval, test } = cell.dataset;
      line.textContent = `${[...stubs, headings[cell.cellIndex]].join(", ")}: published ${published}, reproduced ${value} `
        + `(${interval})${test ? `, Fisher’s exact test ${test}` : ""}: ${cell.className}.`;
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

  // Rows of conditions lead to the explorer.
  function makeLinks(table) {
    for (const row of table.querySelectorAll("tr[data-place]")) {
      const head = row.querySelector("th:last-of-type");
      const link = element("a", { href: `#explorer/${row.dataset.place}`, title: "show in the explorer" });
      link.append(...head.childNodes);
      head.append(link);
    }
  }

  // Choices: a select for each key; what no row offers under the choices before it cannot be chosen.
  function makeChoices(form, keys, rows, changed) {
    const selects = keys.map((key) => {
      const select = element("select", { id: `${form.id}-${key}` });
      for (const value of new Set(rows.map((row) => String(row[key])))) {
        select.append(element("option", { value }, shown(key, value)));
      }
      form.append(element("label", {}, TITLES[key], select));
      return select;
    });
    function update() {
      let left = rows;
      keys.forEach((key, index) => {
        const possible = new Set(left.map((row) => String(row[key])));
        for (const option of selects[index].options) option.disabled = !possible.has(option.value);
        if (!possible.has(selects[index].value)) selects[index].value = [...possible][0];
        left = left.filter((row) => String(row[key]) === selects[index].value);
      });
      changed(left);
    }
    form.addEventListener("change", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    return {
      set(values) {
        values.forEach((value, index) => { if (value !== undefined) selects[index].value = value; });
        update();
      },
      update,
    };
  }

  // Charts

  function draw(id, traces, layout, text) {
    const axis = { gridcolor: colour("--grid"), zerolinecolor: colour("--line"), linecolor: colour("--line") };
    const title = (given) => given && { text: given, standoff: 8 };
    Plotly.react(id, traces, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--text"), size: 12, family: getComputedStyle(document.body).fontFamily },
      margin: { l: 70, r: 15, t: 40, b: 50 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      hoverlabel: { bgcolor: colour("--box"), font: { color: colour("--text") } },
      showlegend: true,
      dragmode: false,
      ...layout,
      xaxis: { ...axis, ...layout.xaxis, title: title(layout.xaxis?.title) },
      yaxis: { ...axis, ...layout.yaxis, title: title(layout.yaxis?.title) },
    }, { displayModeBar: false, responsive: true, scrollZoom: false });
    $(`${id}-text`).textContent = text;
  }

  const band = (x, low, high, fill, name) => [
    { x, y: high, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: name },
    { x, y: low, mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: `${fill}33`, hoverinfo: "skip", showlegend: false, legendgroup: name },
  ];
  const DASHES = ["solid", "dash", "dashdot", "dot"];
  const dashOf = (method) => DASHES[Object.keys(data.colours.method).indexOf(method) % DASHES.length];

  // The steep fall from random structures would flatten all the rest.
  function settled(evaluations, ...lines) {
    const last = evaluations.at(-1);
    const values = lines.flat().filter((v, i) => v !== null && (i >= lines.length * evaluations.length || evaluations[i % evaluations.length] >= 0.05 * last));
    if (!values.length) return undefined;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = 0.06 * (high - low) || 1;
    return [low - margin, high + margin];
  }

  // Some points of a curve, for its table.
  const sampled = (length) => [...new Set([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1].map((share) => Math.max(0, Math.ceil(share * length) - 1)))];

  function drawFrequency(condition, system) {
    const names = system.terms;
    const nu = condition.count.map((count) => count / condition.runs);
    const known = names.map((name) => name in system.true);
    const label = (name) => system.labels[name] ? `${system.labels[name]} ` : "";
    const bars = (wanted, name, fill, pattern) => ({
      type: "bar", name,
      x: names.map((_, i) => i).filter((i) => known[i] === wanted),
      y: nu.filter((_, i) => known[i] === wanted),
      text: names.filter((_, i) => known[i] === wanted).map((n) => plain(system.labels[n] ?? "")),
      hovertext: names.filter((_, i) => known[i] === wanted).map((n) => plain(label(n) + n)),
      width: 0.8,
      customdata: names.map((_, i) => [condition.count[i], condition.low[i], condition.high[i]]).filter((_, i) => known[i] === wanted),
      textposition: "outside", constraintext: "none", textangle: -90, cliponaxis: false, textfont: { size: 10 },
      hovertemplate: `%{hovertext}<br>ν = %{y:.3f} (%{customdata[0]} of ${condition.runs} runs)<br>${100 * data.statistics.confidence} % interval %{customdata[1]:.2f} to %{customdata[2]:.2f}<extra>${name}</extra>`,
      marker: { color: fill, pattern: { shape: pattern, bgcolor: fill, fgcolor: colour("--page"), size: 5, solidity: 0.25 } },
    });
    const above = names.filter((name, i) => nu[i] >= data.statistics.threshold);
    draw("frequency", [
      bars(true, "system term", data.colours.system, ""),
      bars(false, "spurious term", data.colours.spurious, "/"),
      { x: [-0.6, names.length - 0.4], y: [data.statistics.threshold, data.statistics.threshold], mode: "lines", name: `threshold ${data.statistics.threshold}`, line: { color: colour("--text"), dash: "dash", width: 1.2 }, hoverinfo: "skip" },
    ], {
      barmode: "overlay",
      // Room for the longest name: automatic margins draw again and again where names are long.
      margin: { l: 70, r: 15, t: 40, b: 15 + 6 * Math.max(...names.map((name) => name.length)) },
      xaxis: { tickvals: names.map((_, i) => i), ticktext: names.map(plain), tickangle: -90, tickfont: { size: 10 }, range: [-0.7, names.length - 0.3], showgrid: false },
      yaxis: { range: [0, 1.12], tickvals: [0, 0.25, 0.5, 0.75, 1], title: "ν" },
    }, `${above.length} of ${names.length} candidate terms lie at or above the threshold ${data.statistics.threshold}: ${above.join(", ") || "none"}. `
      + `Most frequent spurious term: ${condition.worst ?? "none"}${condition.worst ? `, ν = ${fixed(condition.nu_max[0])}` : ""}.`);
    makeTable("frequency-table", "Selection frequencies", ["Term", "Label", "Kind", "Runs", "ν", "from", "to"],
      names.map((name, i) => [term(name), system.labels[name] ?? "–", known[i] ? "system" : "spurious", String(condition.count[i]), fixed(nu[i], 3), fixed(condition.low[i]), fixed(condition.high[i])]));
  }

  function drawStructure(condition, system) {
    const { terms, coefficients } = condition.model;
    const estimated = Object.fromEntries(terms.map((name, i) => [name, coefficients[i]]));
    const parts = ["y(k) = "];
    terms.forEach((name, i) => {
      const value = coefficients[i];
      const sign = i ? (value < 0 ? "− " : "+ ") : value < 0 ? "−" : "";
      const summand = element("span", { class: "term" }, `${sign}${number(Math.abs(value))}`);
      if (name !== "1") summand.append("\u2009", term(name));
      parts.push(summand, " ");
    });
    if (!terms.length) parts.push("0 (no term reaches the threshold)");
    $("equation").replaceChildren(...parts);
    const missing = Object.keys(system.true).filter((name) => !(name in estimated));
    const spurious = terms.filter((name) => !(name in system.true));
    $("equation-text").textContent = `Terms with ν ≥ ${data.statistics.threshold}, weights by least squares. `
      + (missing.length || spurious.length ? `Missing: ${missing.join(", ") || "none"}. Spurious: ${spurious.join(", ") || "none"}.`
        : "Exactly the terms of the system.");
    const rows = [...new Set([...Object.keys(system.true), ...terms])];
    makeTable("coefficients", "Coefficients of the final structure beside the true ones", ["Term", "Label", "Kind", "True", "Estimated", "Difference"], rows.map((name) => {
      const [real, found] = [system.true[name], estimated[name]];
      const kind = found === undefined ? "missing" : real === undefined ? "spurious" : "system";
      const difference = real === undefined || found === undefined ? null : found - real;
      return [term(name), system.labels[name] ?? "–", kind, number(real, 6), number(found, 5), number(difference, 2)];
    }));
  }

  function drawPrediction(condition) {
    const measured = data.measured[`${condition.system}/${condition.snr_db}`];
    const found = condition.model.prediction;
    const x = measured.map((_, i) => i + 1);
    const errors = found?.map((value, i) => value - measured[i]);
    const squares = (values) => values.reduce((sum, value) => sum + value * value, 0);
    const mean = measured.reduce((sum, value) => sum + value, 0) / measured.length;
    const text = found
      ? `Free run over ${x.length} samples, started from the measured outputs before them: root mean square error ${number(Math.sqrt(squares(errors) / x.length), 3)}, `
        + `largest error ${number(Math.max(...errors.map(Math.abs)), 3)}, share of variance explained ${fixed(100 * (1 - squares(errors) / squares(measured.map((v) => v - mean))), 2)} %.`
      : "No prediction: the final structure is empty, singular or diverges in its free run.";
    draw("prediction", [
      { x, y: measured, mode: "lines", name: "measured", line: { color: colour("--text"), width: 1 } },
      ...(found ? [{ x, y: found, mode: "lines", name: "predicted", line: { color: data.colours.spurious, width: 1.2, dash: "dot" } },
        { x, y: errors, mode: "lines", name: "error", line: { color: data.colours.system, width: 1 } }] : []),
    ], { hovermode: "x unified", xaxis: { title: "sample of the validation part" }, yaxis: { title: "y" } }, text);
  }

  function drawCurve(condition) {
    const { evaluations, mean, low, high } = condition.curve;
    const fill = data.colours.method[condition.method];
    const name = shown("method", condition.method);
    const extra = condition.true_fitness === null ? [] : [condition.true_fitness];
    draw("curve", [
      ...band(evaluations, low, high, fill, name),
      { x: evaluations, y: mean, mode: "lines", name: plain(name), line: { color: fill, width: 2, dash: dashOf(condition.method) } },
      ...(extra.length ? [{ x: [0, evaluations.at(-1)], y: [extra[0], extra[0]], mode: "lines", name: "true structure", line: { color: colour("--text"), width: 1, dash: "dash" } }] : []),
    ], {
      xaxis: { title: "fitness evaluations", range: [0, evaluations.at(-1)] },
      yaxis: { title: "J", range: settled(evaluations, mean, low, high, extra) },
    }, `Mean of J after ${evaluations.at(-1)} evaluations: ${number(mean.at(-1), 6)} (quartiles ${number(low.at(-1), 6)} to ${number(high.at(-1), 6)}); J of the true structure: ${number(condition.true_fitness, 6)}. The steep fall in the first 5 % is cut off.`);
    makeTable("curve-table", "Best J so far", ["Evaluations", "Mean", "Lower quartile", "Upper quartile"],
      sampled(evaluations.length).map((i) => [String(evaluations[i]), number(mean[i], 6), number(low[i], 6), number(high[i], 6)]));
  }

  function drawCardinality(condition, system) {
    const counts = new Map();
    for (const size of condition.cardinality) counts.set(size, (counts.get(size) ?? 0) + 1);
    const sizes = [...counts.keys()].sort((a, b) => a - b);
    const real = Object.keys(system.true).length;
    const ordered = [...condition.cardinality].sort((a, b) => a - b);
    const most = Math.max(...counts.values());
    draw("cardinality", [
      { type: "bar", x: sizes, y: sizes.map((size) => counts.get(size)), name: "runs", marker: { color: data.colours.method[condition.method] } },
      { x: [real, real], y: [0, most * 1.05], mode: "lines", name: `system: ${real} terms`, line: { color: colour("--text"), dash: "dash", width: 1.2 }, hoverinfo: "skip" },
    ], {
      bargap: 0.1,
      xaxis: { title: "number of terms", tickformat: "d", range: [Math.min(real, sizes[0]) - 1.5, Math.max(real, sizes.at(-1)) + 1.5] },
      yaxis: { title: "runs", tickformat: "d", rangemode: "tozero" },
    }, `From ${ordered[0]} to ${ordered.at(-1)} terms, median ${number((ordered[(ordered.length - 1) >> 1] + ordered[ordered.length >> 1]) / 2)}; the system has ${real}.`);
    makeTable("cardinality-table", "Number of terms of the runs’ structures", ["Terms", "Runs"], sizes.map((size) => [String(size), String(counts.get(size))]));
  }

  let condition;
  function drawCondition() {
    const system = data.systems[condition.system];
    drawFrequency(condition, system);
    drawStructure(condition, system);
    drawPrediction(condition);
    drawCurve(condition);
    drawCardinality(condition, system);
    $("explorer-summary").replaceChildren(...symbols(`${PLACE.map((key) => shown(key, condition[key])).join(", ")}: ${condition.runs} runs of ${condition.evaluations} evaluations. `
      + `${condition.exact_runs} ${condition.exact_runs === 1 ? "run ends" : "runs end"} at exactly the system’s terms. Share of candidates ever chosen wrongly r = ${range(condition.r)}, `
      + `largest frequency of a spurious term ν_max = ${range(condition.nu_max)}. Final structure: ${condition.model.terms.length} terms, J = ${number(condition.model.fitness, 6)}.`));
  }

  // Curves of the statistics, one line for each method

  let lengths = [];
  function drawLengths() {
    const end = Math.max(...lengths.flatMap((row) => row.evaluations), ...data.conditions.map((each) => each.evaluations));
    const hits = lengths.map((row) => row.evaluations.filter((value) => value !== null).sort((a, b) => a - b));
    draw("run-length", lengths.map((row, i) => ({
      x: [0, ...hits[i], end], y: [0, ...hits[i].map((_, n) => (n + 1) / row.runs), hits[i].length / row.runs],
      mode: "lines", name: plain(shown("method", row.method)), line: { shape: "hv", color: data.colours.method[row.method], dash: dashOf(row.method), width: 2 },
    })), { xaxis: { title: "fitness evaluations", range: [0, end] }, yaxis: { title: "share of runs", range: [0, 1.03] } },
    lengths.map((row, i) => `${shown("method", row.method)}: ${hits[i].length} of ${row.runs} runs reach J = ${number(row.target, 6)}.`).join(" "));
    const at = (found, row, share) => found.length >= share * row.runs ? String(found[Math.ceil(share * row.runs) - 1]) : "not reached";
    makeTable("run-length-table", "Evaluations until a share of the runs has reached the target", ["Method", "Reached", "Runs", "25 %", "50 %", "75 %"],
      lengths.map((row, i) => [shown("method", row.method), String(hits[i].length), String(row.runs), ...[0.25, 0.5, 0.75].map((share) => at(hits[i], row, share))]));
  }

  let budgets = [];
  function drawBudgets() {
    const traces = budgets.flatMap((row) => {
      const fill = data.colours.method[row.method];
      const name = plain(shown("method", row.method));
      return [...band(row.evaluations, row.low, row.high, fill, name),
        { x: row.evaluations, y: row.median, mode: "lines+markers", name, legendgroup: name, marker: { size: 4 }, line: { color: fill, dash: dashOf(row.method), width: 2 } }];
    });
    const ranges = budgets.map((row) => settled(row.evaluations, row.median, row.low, row.high)).filter(Boolean);
    draw("budget", traces, {
      xaxis: { title: "fitness evaluations" },
      yaxis: { title: "J", range: ranges.length ? [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))] : undefined },
    }, `${budgets.map((row) => `${shown("method", row.method)}: median J ${number(row.median.at(-1), 6)} after ${row.evaluations.at(-1)} evaluations.`).join(" ")} The steep fall in the first 5 % is cut off.`);
    makeTable("budget-table", "Best J after a number of evaluations", ["Method", "Evaluations", "Median", "Lower quartile", "Upper quartile"],
      budgets.flatMap((row) => sampled(row.evaluations.length).map((i) => [shown("method", row.method), String(row.evaluations[i]), number(row.median[i], 6), number(row.low[i], 6), number(row.high[i], 6)])));
  }

  // The page

  document.querySelectorAll("table.sortable").forEach((table) => {
    makeSortable(table);
    makeReadout(table);
    makeLinks(table);
  });
  document.querySelector(".switch").hidden = false;
  $("more").addEventListener("change", (event) => document.body.classList.toggle("with-more", event.target.checked));

  const drawn = [];
  if (data.conditions.length) {
    const choices = makeChoices($("explorer-choices"), PLACE, data.conditions, ([found]) => {
      condition = found;
      drawCondition();
    });
    const follow = (jump) => {
      const [section, ...values] = location.hash.slice(1).split("/");
      if (section !== "explorer" || !values.length) return false;
      choices.set(values.map(decodeURIComponent));
      if (jump) $("explorer").scrollIntoView();
      return true;
    };
    addEventListener("hashchange", () => follow(true));
    $("explorer-choices").addEventListener("change", () => {
      history.replaceState(null, "", `#explorer/${PLACE.map((key) => encodeURIComponent(condition[key])).join("/")}`);
    });
    if (!follow(true)) choices.update();
    drawn.push(drawCondition);
  }
  for (const [id, keys, rows, take] of [
    ["run-length-choices", ["system", "snr_db", "criterion", "target_name"], data.run_length, (found) => { lengths = found; drawLengths(); }],
    ["budget-choices", ["system", "snr_db", "criterion"], data.budget, (found) => { budgets = found; drawBudgets(); }],
  ]) {
    if (!rows.length) continue;
    makeChoices($(id), keys, rows, take).update();
    drawn.push(() => take(id === "budget-choices" ? budgets : lengths));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((each) => each()));

  // Paper has one width and no closed parts; what was closed for reading is closed again.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#verdict details:not([open])")];
    opened.forEach((each) => { each.open = true; });
    document.querySelectorAll(".chart").forEach((chart) => Plotly.relayout(chart, { autosize: false, width: 690 }));
  });
  addEventListener("afterprint", () => {
    opened.forEach((each) => { each.open = false; });
    document.querySelectorAll(".chart").forEach((chart) => Plotly.relayout(chart, { autosize: true, width: null }));
  });
})();
