// Curves of the statistics, one line for each method.

let lengths = [];
function drawLengths() {
  const end = Math.max(...lengths.map((row) => row.budget));
  const hits = lengths.map((row) => [...row.evaluations].sort((a, b) => a - b));
  draw("run-length", {
    x: { title: "fitness evaluations", range: [0, end] },
    y: { title: "share of runs (%)", range: [0, 103] },
    lines: lengths.map((row, i) => ({
      x: [0, ...hits[i], end], y: [0, ...hits[i].map((_, n) => 100 * (n + 1) / row.runs), 100 * hits[i].length / row.runs],
      steps: true, name: shown("method", row.method), colour: data.colours.method[row.method], dash: dashOf(row.method),
    })),
  }, lengths.map((row, i) => `${shown("method", row.method)}: ${hits[i].length} of ${row.runs} runs reach ${row.target === null ? "it" : `J = ${number(row.target, 6)}`}.`).join(" "));
  const at = (found, row, share) => found.length >= share * row.runs ? String(found[Math.ceil(share * row.runs) - 1]) : "not reached";
  // What is spent until a run succeeds, if failed runs are followed by others.
  const expected = (found, row) => found.length
    ? String(Math.round((found.reduce((sum, value) => sum + value, 0) + (row.runs - found.length) * row.budget) / found.length)) : "not reached";
  makeTable("run-length-table", "Evaluations until a share of the runs has reached the target, and those expected until one success",
    ["Method", "Reached", "Runs", "25 %", "50 %", "75 %", "Expected"],
    lengths.map((row, i) => [shown("method", row.method), String(hits[i].length), String(row.runs), ...[0.25, 0.5, 0.75].map((share) => at(hits[i], row, share)), expected(hits[i], row)]));
}

let budgets = [];
function drawBudgets() {
  const ranges = budgets.map((row) => settled(row.evaluations, row.median, row.low, row.high));
  draw("budget", {
    x: { title: "fitness evaluations", range: [0, Math.max(...budgets.map((row) => row.evaluations.at(-1)))] },
    y: { title: "J", range: [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))] },
    bands: budgets.map((row) => ({ x: row.evaluations, low: row.low, high: row.high, colour: data.colours.method[row.method] })),
    lines: budgets.map((row) => ({ x: row.evaluations, y: row.median, name: shown("method", row.method), colour: data.colours.method[row.method], dash: dashOf(row.method) })),
  }, `${budgets.map((row) => `${shown("method", row.method)}: median J ${number(row.median.at(-1), 6)} after ${row.evaluations.at(-1)} evaluations.`).join(" ")} The steep fall in the first 5 % is cut off.`);
  makeTable("budget-table", "Best J after a number of evaluations", ["Method", "Evaluations", "Median", "Lower quartile", "Upper quartile"],
    budgets.flatMap((row) => sampled(row.evaluations.length).map((i) => [shown("method", row.method), String(row.evaluations[i]), number(row.median[i], 6), number(row.low[i], 6), number(row.high[i], 6)])));
}

const charts = [
  ["run-length-choices", ["system", "snr_db", "criterion", "target_name"], data.run_length, (found) => { lengths = found; drawLengths(); }, drawLengths],
  ["budget-choices", ["system", "snr_db", "criterion"], data.budget, (found) => { budgets = found; drawBudgets(); }, drawBudgets],
].filter(([, , rows]) => rows.length);
for (const [id, keys, rows, take] of charts) makeChoices($(id), keys, rows, take).update();
keepDrawn(...charts.map((chart) => chart.at(-1)));
