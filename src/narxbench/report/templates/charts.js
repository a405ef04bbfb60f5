// Charts of the explorer and of the statistics; beside them stand tables.js and svg.js.

const data = JSON.parse(document.getElementById("data").textContent);
const TITLES = { system: "System", snr_db: "SNR", method: "Method", criterion: "Criterion", target_name: "Target" };
const ALL = "all";

const number = (value, digits = 4) => value === null || value === undefined || !Number.isFinite(value) ? "–"
  : String(Number(value.toPrecision(digits))).replace("-", "−");
// Half up, as the tables round; the small number makes up for the binary form of decimals such as 0.725.
const fixed = (value, digits = 2) => value === null ? "–"
  : (Math.round(value * 10 ** digits + 1e-7) / 10 ** digits).toFixed(digits).replace("-", "−");
const range = ([value, low, high]) => `${fixed(value)} (${fixed(low)} to ${fixed(high)})`;
const shown = (key, value) => value === ALL ? "all together" : key === "snr_db" ? `${value} dB` : data.names[key]?.[value] ?? value;

// A term as text: y(k−1) u(k−2)².
const raised = (exponent) => [...String(exponent)].map((sign) => sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]).join("");
const written = (name) => name.replace(/\^(\d+)/g, (_, power) => raised(power)).replaceAll("*", "\u2009").replaceAll("-", "−");
const term = (name) => element("span", { class: "term" }, written(name));

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

// Charts: on a plot of their own stand bands, lines, bars and points; of a few lines each has its name at its end.

const [LINE, TOP, BOTTOM, LEFT] = [16, 44, 44, 58];
const CHARACTER = 6.4; // pixels of a label

/* Draw a chart into the element of an id, and tell it in words. An axis has a title, a range and, where they are not
   numbers at even distances, its ticks as pairs of value and label; `log` makes the values powers of ten. */
function draw(id, { x, y, bands = [], lines = [], bars = [], points = [], legend = [] }, text) {
  const box = $(id);
  const [width, height] = [Math.max(300, box.clientWidth), Math.max(200, box.clientHeight)];
  const named = lines.filter((line) => line.name);
  const right = width - Math.max(12, ...named.map((line) => Math.min(22, line.name.length) * CHARACTER + 16));
  const [low, high] = y.range.map((value) => y.log ? Math.log10(value) : value);
  const bottom = height - (x.turned ? CHARACTER * Math.max(...x.ticks.map(([, label]) => label.length)) : BOTTOM);
  const across = (value) => LEFT + (right - LEFT) * (value - x.range[0]) / (x.range[1] - x.range[0]);
  const down = (value) => TOP + (bottom - TOP) * (high - (y.log ? Math.log10(value) : value)) / (high - low);
  const place = (value, i, of) => `${across(of.x[i]).toFixed(1)} ${down(value).toFixed(1)}`;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const [value, label] of y.ticks ?? ticks(low, high, 5).map((at) => [at, number(at, 6)])) {
    const at = down(value);
    if (at > TOP - 1 && at < bottom + 1) svg.append(drawn("line", { class: "grid", x1: LEFT, x2: right, y1: at, y2: at }), drawn("text", { class: "y-tick", x: LEFT - 6, y: at + 4, "text-anchor": "end" }, label));
  }
  for (const [value, label] of x.ticks ?? ticks(...x.range, Math.max(2, Math.floor(width / 110))).map((at) => [at, number(at, 6)])) {
    const at = across(value);
    svg.append(drawn("text", x.turned ? { class: "x-tick", transform: `translate(${at + 4} ${bottom + 6}) rotate(-90)`, "text-anchor": "end" }
      : { class: "x-tick", x: at, y: bottom + 17, "text-anchor": "middle" }, label));
  }
  if (!x.turned) svg.append(drawn("text", { class: "x-title", x: (LEFT + right) / 2, y: bottom + 36, "text-anchor": "middle" }, x.title));
  svg.append(drawn("text", { class: "y-title", x: 0, y: TOP - 10 }, y.title), drawn("line", { class: "axis", x1: LEFT, x2: right, y1: bottom, y2: bottom }));
  // What lies outside of the axes is cut off by a drawing within the drawing.
  const plot = drawn("svg", { x: LEFT, y: TOP, width: right - LEFT, height: bottom - TOP, viewBox: `${LEFT} ${TOP} ${right - LEFT} ${bottom - TOP}` });
  for (const band of bands) {
    const known = band.x.map((_, i) => i).filter((i) => band.low[i] !== null && band.high[i] !== null);
    const edge = [...known.map((i) => place(band.high[i], i, band)), ...known.reverse().map((i) => place(band.low[i], i, band))];
    if (edge.length) plot.append(drawn("path", { class: "band", d: `M${edge.join("L")}Z`, fill: band.colour }));
  }
  for (const { at, value, size, colour, hint } of bars) {
    plot.append(drawn("rect", { class: "bar", x: across(at - size / 2), width: across(size) - across(0), y: down(value), height: bottom - down(value), fill: colour }, drawn("title", {}, hint)));
  }
  for (const { at, value, size } of points) plot.append(drawn("line", { class: "point", x1: across(at - size / 2), x2: across(at + size / 2), y1: down(value), y2: down(value) }));
  const ends = [];
  for (const line of lines) {
    let [path, end] = ["", null];
    line.y.forEach((value, i) => {
      if (value !== null && value !== undefined) path += end !== null && i && line.y[i - 1] !== null ? (line.steps ? `H${across(line.x[i]).toFixed(1)}V${down(value).toFixed(1)}` : `L${place(value, i, line)}`) : `M${place(value, i, line)}`;
      if (value !== null && value !== undefined) end = i;
    });
    plot.append(drawn("path", { class: "line", d: path, stroke: line.colour, "stroke-width": line.width ?? 2, "stroke-dasharray": line.dash ?? "" }));
    if (line.name && end !== null) ends.push({ y: Math.max(TOP, Math.min(bottom, down(line.y[end]))), line });
  }
  // Names keep their distance: moved down where they crowd, and up again at the bottom.
  let after = TOP - LINE;
  for (const end of ends.sort((a, b) => a.y - b.y)) after = end.at = Math.max(end.y, after + LINE);
  after = bottom + LINE;
  for (const end of ends.toReversed()) after = end.at = Math.min(end.at, after - LINE);
  for (const { y: from, at, line } of ends) {
    svg.append(drawn("path", { class: "leader", d: `M${right} ${from.toFixed(1)}L${right + 9} ${at.toFixed(1)}`, stroke: line.colour }),
      drawn("text", { class: "name", x: right + 12, y: at + 4 }, line.name.length > 22 ? `${line.name.slice(0, 21)}…` : line.name));
  }
  let beside = LEFT + CHARACTER * y.title.length;
  for (const [colour, label] of legend) {
    svg.append(drawn("rect", { x: beside, y: TOP - 20, width: 12, height: 12, fill: colour }), drawn("text", { x: beside + 17, y: TOP - 10 }, label));
    beside += 36 + CHARACTER * label.length;
  }
  const told = drawn("text", { class: "told", x: 0, y: 12 });
  const guide = drawn("line", { class: "guide", y1: TOP, y2: bottom, visibility: "hidden" });
  svg.append(plot, guide, told);
  svg.addEventListener("pointermove", (event) => {
    const shape = svg.getBoundingClientRect();
    const at = x.range[0] + (x.range[1] - x.range[0]) * ((event.clientX - shape.left) * width / shape.width - LEFT) / (right - LEFT);
    told.textContent = at < x.range[0] || at > x.range[1] ? "" : bars.length ? bars.find((bar) => Math.abs(bar.at - at) <= 0.5)?.hint ?? "" : read(lines, at, x.title);
    guide.setAttribute("x1", across(at));
    guide.setAttribute("x2", across(at));
    guide.setAttribute("visibility", told.textContent ? "visible" : "hidden");
  });
  box.replaceChildren(svg);
  $(`${id}-text`).textContent = text;
}

// The values of lines at a place, those of their points that are not behind it.
function read(lines, at, title) {
  const values = lines.filter((line) => line.name && line.x.length > 2).map((line) => {
    const i = line.x.findLastIndex((value) => value <= at);
    return i < 0 ? null : `${line.name} ${number(line.y[i], 5)}`;
  });
  return values.some(Boolean) ? `${number(at, 3)} ${title}: ${values.filter(Boolean).join(", ")}` : "";
}

const DASHES = ["", "7 4", "7 3 2 3", "2 3"];
const dashOf = (method) => DASHES[Object.keys(data.colours.method).indexOf(method) % DASHES.length];

// The steep fall from random structures would flatten all the rest.
function settled(evaluations, ...lines) {
  const last = evaluations.at(-1);
  const values = lines.flat().filter((v, i) => v !== null && (i >= lines.length * evaluations.length || evaluations[i % evaluations.length] >= 0.05 * last));
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = 0.06 * (high - low) || 1;
  return [low - margin, high + margin];
}

// Some points of a curve, for its table.
const sampled = (length) => [...new Set([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1].map((share) => Math.max(0, Math.ceil(share * length) - 1)))];

// A chart is as wide as its place when it is drawn.
function keepDrawn(...redraw) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) redraw.forEach((each) => each());
    width = innerWidth;
  });
}
