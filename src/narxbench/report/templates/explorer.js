// Every condition: what was selected, the final structure, its prediction, convergence and sizes.

// A published value as the paper prints it.
const printed = (value) => value === undefined ? "–" : Number.isInteger(value) ? String(value) : fixed(value);
const PLACE = ["system", "snr_db", "method", "criterion"];

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
  const compared = names.map((_, i) => i).filter((i) => condition.published[system.labels[names[i]]] !== undefined);
  const above = names.filter((name, i) => nu[i] >= data.statistics.threshold);
  draw("frequency", [
    bars(true, "system term", data.colours.system, ""),
    bars(false, "spurious term", data.colours.spurious, "/"),
    ...(compared.length ? [{
      x: compared, y: compared.map((i) => condition.published[system.labels[names[i]]]), mode: "markers", name: "published",
      marker: { symbol: "line-ew-open", size: 11, color: colour("--text"), line: { width: 3 } },
      hovertemplate: "published ν = %{y}<extra></extra>",
    }] : []),
    { x: [-0.6, names.length - 0.4], y: [data.statistics.threshold, data.statistics.threshold], mode: "lines", name: `threshold ${data.statistics.threshold}`, line: { color: colour("--text"), dash: "dash", width: 1.2 }, hoverinfo: "skip" },
  ], {
    barmode: "overlay",
    // Room for the longest name: automatic margins draw again and again where names are long.
    margin: { l: 70, r: 15, t: 40, b: 15 + 6 * Math.max(...names.map((name) => name.length)) },
    xaxis: { tickvals: names.map((_, i) => i), ticktext: names.map(plain), tickangle: -90, tickfont: { size: 10 }, range: [-0.7, names.length - 0.3], showgrid: false },
    yaxis: { range: [0, 1.12], tickvals: [0, 0.25, 0.5, 0.75, 1], title: "ν" },
  }, `${above.length} of ${names.length} candidate terms lie at or above the threshold ${data.statistics.threshold}: ${above.join(", ") || "none"}. `
    + `Most frequent spurious term: ${condition.worst ?? "none"}${condition.worst ? `, ν = ${fixed(condition.nu_max[0])}` : ""}.`);
  makeTable("frequency-table", "Selection frequencies", ["Term", "Label", "Kind", "Runs", "ν", "from", "to", "Published ν"],
    names.map((name, i) => [term(name), system.labels[name] ?? "–", known[i] ? "system" : "spurious", String(condition.count[i]), fixed(nu[i], 3),
      fixed(condition.low[i]), fixed(condition.high[i]), printed(condition.published[system.labels[name]])]));
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
      + `largest error ${number(Math.max(...errors.map(Math.abs)), 3)}, share of variance that it leaves ${number(100 * squares(errors) / squares(measured.map((v) => v - mean)), 2)} %.`
    : "No prediction: the final structure is empty, singular or diverges in its free run.";
  draw("prediction", [
    { x, y: measured, mode: "lines", name: "measured", line: { color: colour("--text"), width: 1 } },
    ...(found ? [{ x, y: found, mode: "lines", name: "predicted", line: { color: colour("--accent"), width: 1.4, dash: "dot" } },
      { x, y: errors, mode: "lines", name: "error", line: { color: data.colours.system, width: 1 } }] : []),
  ], { hovermode: "x unified", xaxis: { title: "sample of the validation part" }, yaxis: { title: "y" } }, text);
}

// Plotly's own superscripts are style attributes, which the policy of the page forbids.
const raised = (exponent) => [...String(exponent)].map((sign) => sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]).join("");
const EXPONENTS = Array.from({ length: 41 }, (_, i) => i - 20);
const POWERS = { tickvals: EXPONENTS.map((n) => 10 ** n), ticktext: EXPONENTS.map((n) => n === 0 ? "1" : n === 1 ? "10" : `10${raised(n)}`) };

// J itself, or on a logarithmic axis how far it lies above the best known J.
function drawCurve(condition) {
  const { evaluations } = condition.curve;
  const gap = $("scale").value === "gap" && condition.best_known !== null;
  const scaled = (value) => value === null ? null : gap ? Math.max(value - condition.best_known, 0) : value;
  const [mean, low, high] = ["mean", "low", "high"].map((key) => condition.curve[key].map(scaled));
  const fill = data.colours.method[condition.method];
  const name = shown("method", condition.method);
  const line = (value, label, dash) => value === null || (gap && value <= 0) ? []
    : [{ x: [0, evaluations.at(-1)], y: [value, value], mode: "lines", name: label, line: { color: colour("--text"), width: 1, dash } }];
  const marks = [scaled(condition.true_fitness), scaled(condition.best_known)];
  // A logarithmic axis has no zero: runs that have reached the best known J leave the chart.
  const positive = (values) => gap ? values.map((value) => value > 0 ? value : null) : values;
  draw("curve", [
    ...band(evaluations, positive(low), positive(high), fill, name),
    { x: evaluations, y: positive(mean), mode: "lines", name: plain(name), line: { color: fill, width: 2, dash: dashOf(condition.method) } },
    ...line(marks[0], "true structure", "dash"),
    ...line(marks[1], "best known", "dot"),
  ], {
    xaxis: { title: "fitness evaluations", range: [0, evaluations.at(-1)] },
    yaxis: gap ? { title: "J above the best known J", type: "log", exponentformat: "e", tickfont: { size: 15 }, ...POWERS }
      : { title: "J", range: settled(evaluations, mean, low, high, marks.filter((value) => value !== null)) },
  }, `Mean of J after ${evaluations.at(-1)} evaluations: ${number(condition.curve.mean.at(-1), 6)} (quartiles ${number(condition.curve.low.at(-1), 6)} to `
    + `${number(condition.curve.high.at(-1), 6)}); J of the true structure: ${number(condition.true_fitness, 6)}; best known J, `
    + `the true structure included: ${number(condition.best_known, 6)}.${gap ? "" : " The steep fall in the first 5 % is cut off."}`);
  makeTable("curve-table", gap ? "J above the best known J" : "Best J so far", ["Evaluations", "Mean", "Lower quartile", "Upper quartile"],
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
  const published = (key, value) => `${range(value)}${condition.published[key] === undefined ? "" : `, published ${printed(condition.published[key])}`}`;
  $("summary").replaceChildren(...symbols(`${PLACE.map((key) => shown(key, condition[key])).join(", ")}: ${condition.runs} runs of ${condition.evaluations} evaluations. `
    + `${condition.exact_runs} ${condition.exact_runs === 1 ? "run ends" : "runs end"} at exactly the system’s terms. Share of candidates ever chosen wrongly r = ${published("r", condition.r)}; `
    + `largest frequency of a spurious term ν_max = ${published("nu_max", condition.nu_max)}. Final structure: ${condition.model.terms.length} terms, J = ${number(condition.model.fitness, 6)}.`));
}

// The address of the page keeps the choice; other fragments lead to parts of the page.
if (data.conditions.length) {
  const choices = makeChoices($("choices"), PLACE, data.conditions, ([found]) => {
    condition = found;
    drawCondition();
  });
  const follow = () => {
    const values = location.hash.slice(1).split("/");
    if (values.length !== PLACE.length) return false;
    choices.set(values.map(decodeURIComponent));
    return true;
  };
  addEventListener("hashchange", follow);
  $("choices").addEventListener("change", () => {
    history.replaceState(null, "", `#${PLACE.map((key) => encodeURIComponent(condition[key])).join("/")}`);
  });
  if (!follow()) choices.update();
  $("scale").addEventListener("change", () => drawCurve(condition));
  keepDrawn(drawCondition);
}
