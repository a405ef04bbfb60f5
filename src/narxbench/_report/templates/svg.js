// What the charts of all pages are drawn with.

const $ = (id) => document.getElementById(id);

function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const short = (value) => value === null || value === undefined ? "–" : String(Number(value.toPrecision(5))).replace("-", "−");

function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + 1e-9 * step; at += 1) found.push(at * step);
  return found;
}
