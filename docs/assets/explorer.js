// The charts of docs/explorer.md: each picture of a published sweep gets a chart with a slider.
// Without this script the picture stays. scripts/explorer.py writes the data, HTML among them.
"use strict";

const SHAPES = {
  "holds": "M-6,0A6,6 0 1 0 6,0A6,6 0 1 0 -6,0Z",
  "fails": "M-6,-3L-3,-6L0,-3L3,-6L6,-3L3,0L6,3L3,6L0,3L-3,6L-6,3L-3,0Z",
  "undecided": "M0,-7L7,0L0,7L-7,0Z",
  "outside premises": "M-5,-5H5V5H-5Z",
  "not shown at this scale": "M-6,-5H6L0,6Z",
};
const CROSS = "M-5,-5L5,5M5,-5L-5,5";
const HEIGHT = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 12, 26];

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function rich(name, html, attributes = {}) {
  const element = make(name, attributes);
  element.innerHTML = html;
  return element;
}

function add(parent, name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

/** Draw a claim of a sweep into an empty svg of this width; the value `chosen` has a ring. */
function draw(svg, sweep, claim, width, chosen) {
  const x = (share) => LEFT + share * (width - LEFT - RIGHT);
  const y = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
  const box = (kind, from, to, low, high) => add(svg, "rect", {
    class: kind, x: x(from), width: x(to) - x(from), y: y(high), height: y(low) - y(high),
  });
  const line = (kind, places) => add(svg, "polyline", {
    class: kind,
    points: places.filter(([, up]) => up !== null).map(([at, up]) => `${x(at)},${y(up)}`).join(" "),
  });
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  for (const { edges, inside } of claim.points) box("band", ...edges, ...inside);
  for (const [from, to] of claim.violated) {
    box("outside", from, to, 0, 1);
    for (const end of [from, to]) {
      if (end > 0 && end < 1) line("limit", [[end, 0], [end, 1]]);
    }
  }
  box("frame", 0, 1, 0, 1);
  for (const [up, text] of claim.ticks) {
    add(svg, "text", { x: LEFT - 6, y: y(up) + 4, "text-anchor": "end" }, text);
  }
  let free = -Infinity;  // labels that would touch the one before are left out
  sweep.values.forEach((text, n) => {
    const half = 4 * text.length;
    if (x(sweep.at[n]) - half < free) return;
    free = x(sweep.at[n]) + half + 6;
    add(svg, "text", { x: x(sweep.at[n]), y: HEIGHT - 8, "text-anchor": "middle" }, text);
  });
  for (const ups of claim.baselines) line("baseline", ups.map((up, n) => [sweep.at[n], up]));
  line("chosen", [[sweep.at[chosen], 0], [sweep.at[chosen], 1]]);
  line("course", claim.points.map(({ up }, n) => [sweep.at[n], up[0]]));
  claim.points.forEach(({ up: [mean, low, high], verdict }, n) => {
    if (low !== null) line("interval", [[sweep.at[n], low], [sweep.at[n], high]]);
    const group = add(svg, "g", {
      transform: `translate(${x(sweep.at[n])},${y(mean ?? 0.05)})`, "data-verdict": verdict,
    });
    if (n === chosen) add(group, "circle", { r: 11, class: "ring" });
    add(group, "path", { class: "mark", d: SHAPES[verdict] ?? CROSS });
  });
}

/** What is known of a claim at a value, as rows of a list. */
function readout(sweep, name, chosen) {
  const { points, quantity } = sweep.claims[name];
  const point = points[chosen];
  const rows = [
    ["Measured", rich("span", `${point.told || "not measured"} <small>(${quantity})</small>`)],
    ["Verdict", make("strong", { "data-verdict": point.verdict }, point.verdict)],
    ["Holds within", point.band],
    ...point.premises.map((html) =>
      [/(met|violated)$/.test(html) ? "Premise" : "Not measured", rich("span", html)]),
  ];
  const baselines = Object.entries(point.baselines).map(([who, mean]) => `${who} ${mean}`);
  if (baselines.length) rows.push(["Baselines", baselines.join("; ")]);
  return listed(rows);
}

function beside(sweep, name, chosen) {
  const others = Object.entries(sweep.claims).filter(([other]) => other !== name);
  return listed(others.map(([, { quantity, points }]) => {
    const { told, verdict } = points[chosen];
    return [rich("span", quantity), told ? `${told}: ${verdict}` : verdict];
  }));
}

function listed(rows) {
  return rows.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]);
}

function folded(words, content) {
  return make("details", {}, make("summary", {}, words), content);
}

function show(picture, sweep, name, number) {
  const claim = sweep.claims[name];
  const told = sweep.values.map((value, n) =>
    `${value}: ${claim.points[n].verdict} ${claim.points[n].told}`);
  const spoken = `${claim.spoken} against ${sweep.key}. ${told.join("; ")}`;
  const svg = add(document.createDocumentFragment(), "svg", { role: "img", "aria-label": spoken });
  const value = make("b");
  const [list, others] = [make("dl"), make("dl")];
  const slider = make("input", {
    type: "range", id: `sweep-${number}`, min: 0, max: sweep.values.length - 1, step: 1,
    value: sweep.setting ?? 0,
  });
  const update = () => {
    const chosen = Number(slider.value);
    const setting = chosen === sweep.setting ? ` (setting of the run ${sweep.run})` : "";
    value.textContent = sweep.values[chosen] + setting;
    slider.setAttribute("aria-valuetext", told[chosen]);
    list.replaceChildren(...readout(sweep, name, chosen));
    others.replaceChildren(...beside(sweep, name, chosen));
    draw(svg, sweep, claim, svg.clientWidth || 600, chosen);
  };
  const paragraph = picture.closest("p");
  const label = rich("label", `${sweep.means} <code></code> = `, { for: slider.id });
  label.querySelector("code").textContent = sweep.key;
  const about = `${claim.statement} <small>${claim.source}; replicates: ${claim.replicates}</small>`;
  const figure = make("div", { class: "sweep" }, rich("p", about), svg, label, value, slider, list);
  if (Object.keys(sweep.claims).length > 1) figure.append(folded("Other claims here", others));
  figure.append(folded("As a picture", picture.cloneNode()));
  paragraph.replaceWith(figure);
  slider.addEventListener("input", update);
  new ResizeObserver(update).observe(figure);
}

const sweeps = JSON.parse(document.getElementById("sweeps").textContent);
document.querySelectorAll("img[src*='/sweeps/']").forEach((picture, number) => {
  const [, folder, name] = /\/sweeps\/([^/]+)\/(.+)\.\w+$/.exec(decodeURI(picture.src));
  if (sweeps[folder]?.claims[name]) show(picture, sweeps[folder], name, number);
});
