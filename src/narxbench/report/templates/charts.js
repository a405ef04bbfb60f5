// Charts of the explorer and of the statistics; beside them stand tables.js and Plotly.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const TITLES = { system: "System", snr_db: "SNR", method: "Method", criterion: "Criterion", target_name: "Target" };
const ALL = "all";

// Plotly reads some tags in its texts.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const number = (value, digits = 4) => value === null || value === undefined || !Number.isFinite(value) ? "–"
  : String(Number(value.toPrecision(digits))).replace("-", "−");
// Half up, as the tables round; the small number makes up for the binary form of decimals such as 0.725.
const fixed = (value, digits = 2) => value === null ? "–"
  : (Math.round(value * 10 ** digits + 1e-7) / 10 ** digits).toFixed(digits).replace("-", "−");
const range = ([value, low, high]) => `${fixed(value)} (${fixed(low)} to ${fixed(high)})`;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const shown = (key, value) => value === ALL ? "all together" : key === "snr_db" ? `${value} dB` : data.names[key]?.[value] ?? value;

function term(name) {
  const made = element("span", { class: "term" });
  for (const part of name.replaceAll("*", "\u2009").replaceAll("-", "−").split(/(\^\d+)/)) {
    made.append(part[0] === "^" ? element("sup", {}, part.slice(1)) : part);
  }
  return made;
}

const symbols = (text) => text.split(/(ν_max)/).flatMap((part) => part === "ν_max" ? ["ν", element("sub", {}, "max")] : [part]);

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

// A chart takes its colours when it is drawn. Paper has one width.
function keepDrawn(...redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw.forEach((each) => each()));
  const all = (layout) => document.querySelectorAll(".js-plotly-plot").forEach((chart) => Plotly.relayout(chart, layout));
  addEventListener("beforeprint", () => all({ autosize: false, width: 690 }));
  addEventListener("afterprint", () => all({ autosize: true, width: null }));
}
