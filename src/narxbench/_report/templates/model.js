// The prediction of each record next to the measured output, as far into its details as one likes. Next to it stand tables.js and svg.js.

const data = JSON.parse(document.getElementById("page-data").textContent);
// Of many samples the extremes of each column of pixels.
function line(values, from, to, x, y, columns) {
  const points = [];
  const size = Math.max(1, Math.floor((to - from) / columns));
  for (let start = from; start < to; start += size) {
    const end = Math.min(start + size, to);
    let [low, high] = [start, start];
    for (let k = start; k < end; k += 1) {
      if (values[k] < values[low]) low = k;
      if (values[k] > values[high]) high = k;
    }
    for (const k of low === high ? [low] : low < high ? [low, high] : [high, low]) points.push(`${x(k).toFixed(1)} ${y(values[k]).toFixed(1)}`);
  }
  return points.length ? `M${points.join("L")}` : "";
}

function extent(lists, from, to) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of lists) {
    for (let k = from; k < to; k += 1) {
      low = Math.min(low, values[k]);
      high = Math.max(high, values[k]);
    }
  }
  const margin = 0.05 * (high - low) || 1;
  return [low - margin, high + margin];
}

if (data.records.length) {
  const FEWEST = 12;
  const [HEIGHT, LEFT, TOP, BOTTOM, STRIP] = [320, 56, 26, 38, 46];
  let record = data.records[0];
  let [from, to] = [0, record.measured.length];
  document.body.classList.add("charted");
  $("chart").hidden = false;

  function show(start, end) {
    const all = record.measured.length;
    const size = Math.min(all, Math.max(Math.min(FEWEST, all), Math.round(end - start)));
    from = Math.max(0, Math.min(all - size, Math.round(start)));
    to = from + size;
    draw();
  }

  function worst() {
    const { measured, predicted, initial } = record;
    if (!predicted) return show(0, measured.length);
    const size = Math.max(40, Math.round(0.12 * measured.length));
    let [sum, most, at] = [0, -1, 0];
    for (let k = initial; k < measured.length; k += 1) {
      sum += (measured[k] - predicted[k]) ** 2;
      if (k >= initial + size) sum -= (measured[k - size] - predicted[k - size]) ** 2;
      if (sum > most) [most, at] = [sum, k];
    }
    return show(at - size + 1, at + 1);
  }

  function draw() {
    const { measured, predicted, step, initial } = record;
    const lists = predicted ? [measured, predicted] : [measured];
    const width = Math.max(280, $("chart-drawn").clientWidth);
    const right = width - 10;
    const [low, high] = extent(lists, from, to);
    const x = (k) => LEFT + (right - LEFT) * (k - from) / Math.max(1, to - 1 - from);
    const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low);
    const bottom = HEIGHT - BOTTOM;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT + STRIP}`, role: "img", tabindex: "0", "aria-labelledby": "fit-caption", "aria-describedby": "chart-now" });
    if (initial > from) svg.append(drawn("rect", { class: "given", x: x(from), y: TOP, width: Math.max(0, x(Math.min(initial, to - 1)) - x(from)), height: bottom - TOP }));
    for (const value of ticks(low, high, 5)) {
      svg.append(drawn("line", { class: "grid", x1: LEFT, x2: right, y1: y(value), y2: y(value) }), drawn("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    for (const value of ticks(data.begin + from * step, data.begin + (to - 1) * step, Math.max(2, Math.floor(width / 130)))) {
      svg.append(drawn("text", { x: x((value - data.begin) / step), y: bottom + 16, "text-anchor": "middle" }, short(value)));
    }
    svg.append(drawn("text", { x: right, y: bottom + 32, "text-anchor": "end" }, data.axis), drawn("text", { x: 4, y: 14 }, data.output));
    const legend = predicted ? [["measured", "measured"], ["model", "model"]] : [["measured", "measured"]];
    legend.forEach(([name, text], index) => {
      const at = right - 92 * (legend.length - index) + 8;
      svg.append(drawn("path", { class: name, d: `M${at} 10h18` }), drawn("text", { x: at + 22, y: 14 }, text));
    });
    svg.append(drawn("path", { class: "measured", d: line(measured, from, to, x, y, width) }));
    if (predicted) svg.append(drawn("path", { class: "model", d: line(predicted, from, to, x, y, width) }));
    // The whole record below, with the stretch that is shown above.
    const [least, most] = extent(lists, 0, measured.length);
    const wholeX = (k) => LEFT + (right - LEFT) * k / Math.max(1, measured.length - 1);
    const wholeY = (value) => HEIGHT + 2 + (STRIP - 4) * (most - value) / (most - least);
    svg.append(drawn("path", { class: "measured", d: line(measured, 0, measured.length, wholeX, wholeY, width) }),
      drawn("rect", { class: "part strip", x: wholeX(from), y: HEIGHT, width: Math.max(4, wholeX(to - 1) - wholeX(from)), height: STRIP }));
    const guide = drawn("line", { class: "guide", y1: TOP, y2: bottom, visibility: "hidden" });
    const chosen = drawn("rect", { class: "part", y: TOP, height: bottom - TOP, width: 0 });
    svg.append(guide, chosen);
    point(svg, { x, wholeX, guide, chosen, bottom, right });
    $("chart-drawn").replaceChildren(svg);
    $("chart-now").textContent = `Samples ${from + 1} to ${to} of ${measured.length}. Drag to enlarge; drag the band to move.`;
  }

  // Pointers: a drag above chooses a stretch, a drag below moves it, and else the values are shown.
  function point(svg, { x, guide, chosen, right }) {
    let start = null;
    let strip = false;
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return [(event.clientX - box.left) * svg.viewBox.baseVal.width / box.width, (event.clientY - box.top) * svg.viewBox.baseVal.height / box.height];
    };
    const sample = (at) => Math.max(from, Math.min(to - 1, Math.round(from + (at - LEFT) / (right - LEFT) * (to - 1 - from))));
    const whole = (at) => (at - LEFT) / (right - LEFT) * (record.measured.length - 1);
    svg.addEventListener("pointerdown", (event) => {
      const [at, above] = place(event);
      strip = above > HEIGHT - 8;
      start = at;
      if (strip) {
        const half = (to - from) / 2;
        show(whole(at) - half, whole(at) + half);
      } else {
        svg.setPointerCapture(event.pointerId);
      }
    });
    svg.addEventListener("pointermove", (event) => {
      const [at, above] = place(event);
      if (start === null && event.buttons && above > HEIGHT - 8) {
        const half = (to - from) / 2;
        show(whole(at) - half, whole(at) + half);
      } else if (start !== null && !strip) {
        chosen.setAttribute("x", Math.min(start, at));
        chosen.setAttribute("width", Math.abs(at - start));
      } else if (start === null) {
        const k = sample(at);
        guide.setAttribute("x1", x(k));
        guide.setAttribute("x2", x(k));
        guide.setAttribute("visibility", "visible");
        tell(k);
      }
    });
    svg.addEventListener("pointerup", (event) => {
      const [at] = place(event);
      if (start !== null && !strip && Math.abs(at - start) > 6) show(sample(Math.min(start, at)), sample(Math.max(start, at)) + 1);
      start = null;
    });
    svg.addEventListener("keydown", (event) => {
      const action = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "-": "out", Home: "all" }[event.key];
      if (!action) return;
      event.preventDefault();
      zoom(action);
      $("chart-drawn").firstChild.focus();
    });
  }

  function tell(k) {
    const { measured, predicted, step, initial } = record;
    const error = predicted && k >= initial ? `, model ${short(predicted[k])}, error ${short(measured[k] - predicted[k])}` : "";
    $("chart-now").textContent = `${data.axis} ${short(data.begin + k * step)}: measured ${short(measured[k])}${error}`;
  }

  function zoom(action) {
    const [middle, size] = [(from + to) / 2, to - from];
    if (action === "in") show(middle - size / 4, middle + size / 4);
    if (action === "out") show(middle - size, middle + size);
    if (action === "left") show(from - size / 2, to - size / 2);
    if (action === "right") show(from + size / 2, to + size / 2);
    if (action === "all") show(0, record.measured.length);
    if (action === "worst") worst();
  }

  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => zoom(button.dataset.zoom)));
  $("chart").querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  $("chart-record")?.addEventListener("change", ({ target }) => {
    record = data.records[Number(target.value)];
    $("fit-caption").textContent = record.caption;
    show(0, record.measured.length);
  });
  addEventListener("resize", draw);
  draw();
}
