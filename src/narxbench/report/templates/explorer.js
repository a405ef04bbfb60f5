// Every condition: what was selected, the final structure, its prediction, convergence and sizes.

// A published value as the paper prints it.
const printed = (value) => value === undefined ? "–" : Number.isInteger(value) ? String(value) : fixed(value);
const PLACE = ["system", "snr_db", "method", "criterion"];

function drawFrequency(condition, system) {
  const names = system.terms;
  const nu = condition.count.map((count) => count / condition.runs);
  const known = names.map((name) => name in system.true);
  const above = names.filter((_, i) => nu[i] >= data.statistics.threshold);
  const limits = condition.count.map((count) => data.intervals[`${count}/${condition.runs}`]);
  const colours = names.map((_, i) => known[i] ? data.colours.system : data.colours.spurious);
  const published = names.map((name) => condition.published[system.labels[name]]);
  draw("frequency", {
    x: { range: [-0.7, names.length - 0.3], turned: true, ticks: names.map((name, i) => [i, [written(name), system.labels[name]].filter(Boolean).join(" ")]) },
    y: { title: "ν", range: [0, 1.02], ticks: [0, 0.25, 0.5, 0.75, 1].map((value) => [value, String(value)]) },
    bars: names.map((name, i) => ({
      at: i, value: nu[i], size: 0.8, colour: colours[i],
      hint: `${written(name)}: ν = ${fixed(nu[i], 3)}, ${condition.count[i]} of ${condition.runs} runs, ${100 * data.statistics.confidence} % interval ${fixed(limits[i][0])} to ${fixed(limits[i][1])}`,
    })),
    points: published.map((value, at) => ({ at, value, size: 1 })).filter(({ value }) => value !== undefined),
    lines: [{ x: [-0.7, names.length - 0.3], y: [data.statistics.threshold, data.statistics.threshold], name: `threshold ${data.statistics.threshold}`, colour: "var(--text)", dash: "7 4", width: 1.2 }],
    legend: [[data.colours.system, "system term"], [data.colours.spurious, "spurious term"], ...(published.some((value) => value !== undefined) ? [["var(--text)", "line: published"]] : [])],
  }, `${above.length} of ${names.length} candidate terms lie at or above the threshold ${data.statistics.threshold}: ${above.map(written).join(", ") || "none"}. `
    + `Most frequent spurious term: ${condition.worst ? written(condition.worst) : "none"}${condition.worst ? `, ν = ${fixed(condition.nu_max[0])}` : ""}.`);
  makeTable("frequency-table", "Selection frequencies", ["Term", "Label", "Kind", "Runs", "ν", "from", "to", "Published ν"],
    names.map((name, i) => [term(name), system.labels[name] ?? "–", known[i] ? "system" : "spurious", String(condition.count[i]), fixed(nu[i], 3),
      fixed(limits[i][0]), fixed(limits[i][1]), printed(published[i])]));
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
    + (missing.length || spurious.length ? `Missing: ${missing.map(written).join(", ") || "none"}. Spurious: ${spurious.map(written).join(", ") || "none"}.`
      : "Exactly the terms of the system.");
  const rows = [...new Set([...Object.keys(system.true), ...terms])];
  makeTable("coefficients", "Coefficients of the final structure beside the true ones", ["Term", "Label", "Kind", "True", "Estimated", "Difference"], rows.map((name) => {
    const [real, found] = [system.true[name], estimated[name]];
    const kind = found === undefined ? "missing" : real === undefined ? "spurious" : "system";
    const difference = real === undefined || found === undefined ? null : found - real;
    return [term(name), system.labels[name] ?? "–", kind, number(real, 6), number(found, 6), number(difference, 2)];
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
  const lines = [{ y: measured, name: "measured", colour: "var(--text)", width: 1 },
    ...(found ? [{ y: found, name: "predicted", colour: "var(--accent)", width: 1.5, dash: "2 3" }, { y: errors, name: "error", colour: data.colours.system, width: 1 }] : [])];
  const values = lines.flatMap((line) => line.y);
  const margin = 0.05 * (Math.max(...values) - Math.min(...values)) || 1;
  draw("prediction", {
    x: { title: "sample of the validation part", range: [1, x.length] },
    y: { title: "y", range: [Math.min(...values) - margin, Math.max(...values) + margin] },
    lines: lines.map((line) => ({ x, ...line })),
  }, text);
}

const POWERS = Array.from({ length: 41 }, (_, i) => [10 ** (i - 20), i === 20 ? "1" : i === 21 ? "10" : `10${raised(i - 20)}`]);

// J itself, or on a logarithmic axis how far it lies above the best known J.
function drawCurve(condition) {
  const { evaluations } = condition.curve;
  const gap = $("scale").value === "gap" && condition.best_known !== null;
  const scaled = (value) => value === null ? null : gap ? Math.max(value - condition.best_known, 0) : value;
  const [median, low, high] = ["median", "low", "high"].map((key) => condition.curve[key].map(scaled));
  // A logarithmic axis has no zero: runs that have reached the best known J leave the chart.
  const positive = (values) => gap ? values.map((value) => value > 0 ? value : null) : values;
  const levels = [[condition.true_fitness, "true structure", "7 4"], [condition.best_known, "best known", "2 3"]]
    .map(([value, name, dash]) => ({ x: [0, evaluations.at(-1)], y: positive([scaled(value), scaled(value)]), name, colour: "var(--text)", width: 1, dash }))
    .filter((line) => line.y[0] !== null);
  const gaps = [...positive(median), ...positive(low), ...positive(high), ...levels.map((line) => line.y[0])].filter((value) => value !== null);
  const colour = data.colours.method[condition.method];
  draw("curve", {
    x: { title: "fitness evaluations", range: [0, evaluations.at(-1)] },
    y: gap ? { title: "J above the best known J", log: true, range: gaps.length ? [Math.min(...gaps) / 2, Math.max(...gaps) * 2] : [0.1, 10], ticks: POWERS }
      : { title: "J", range: settled(evaluations, median, low, high, levels.map((line) => line.y[0])) },
    bands: [{ x: evaluations, low: positive(low), high: positive(high), colour }],
    lines: [{ x: evaluations, y: positive(median), name: shown("method", condition.method), colour, dash: dashOf(condition.method) }, ...levels],
  }, `Median of J after ${evaluations.at(-1)} evaluations: ${number(condition.curve.median.at(-1), 6)} (quartiles ${number(condition.curve.low.at(-1), 6)} to `
    + `${number(condition.curve.high.at(-1), 6)}); J of the true structure: ${number(condition.true_fitness, 6)}; best known J, `
    + `the true structure included: ${number(condition.best_known, 6)}.${gap ? "" : " The steep fall in the first 5 % is cut off."}`);
  makeTable("curve-table", gap ? "J above the best known J" : "Best J so far", ["Evaluations", "Median", "Lower quartile", "Upper quartile"],
    sampled(evaluations.length).map((i) => [String(evaluations[i]), number(median[i], 6), number(low[i], 6), number(high[i], 6)]));
}

function drawCardinality(condition, system) {
  const counts = new Map();
  for (const size of condition.cardinality) counts.set(size, (counts.get(size) ?? 0) + 1);
  const sizes = [...counts.keys()].sort((a, b) => a - b);
  const real = Object.keys(system.true).length;
  const ordered = [...condition.cardinality].sort((a, b) => a - b);
  const most = Math.max(...counts.values());
  const ends = [Math.min(real, sizes[0]) - 1, Math.max(real, sizes.at(-1)) + 1];
  draw("cardinality", {
    x: { title: "number of terms", range: ends, ticks: ticks(ends[0] + 1, ends[1] - 1, 8).filter(Number.isInteger).map((value) => [value, String(value)]) },
    y: { title: "runs", range: [0, 1.05 * most] },
    bars: sizes.map((size) => ({ at: size, value: counts.get(size), size: 0.9, colour: data.colours.method[condition.method], hint: `${size} terms: ${counts.get(size)} runs` })),
    lines: [{ x: [real, real], y: [0, most * 1.05], colour: "var(--text)", dash: "7 4", width: 1.2 }],
    legend: [["var(--text)", `line: the system’s ${real} terms`]],
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
