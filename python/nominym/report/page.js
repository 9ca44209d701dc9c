"use strict";
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const plots = [...document.querySelectorAll(".plot")];
  const paperWidth = 640;

  // Colours as the figures have them, and what they become on a dark page.
  const night = {
    "#1b2530": "#e8edf2", "#5a6672": "#a3afbb", "#e1e6eb": "#2b3540", "#ffffff": "#171e26",
    "#0072b2": "#56b4e9", "#d55e00": "#ff8a4c", "#8a94a0": "#75818d",
  };
  const isColour = /colou?r$/i;

  function recoloured(value, key) {
    if (typeof value === "string") return isColour.test(key) ? night[value.toLowerCase()] || value : value;
    if (Array.isArray(value)) return value.map((item) => recoloured(item, key));
    if (value === null || typeof value !== "object") return value;
    const copy = {};
    for (const name of Object.keys(value)) copy[name] = recoloured(value[name], name);
    // Much stands out: dark on light, light on dark. A scale with two sides has no such end.
    if (copy.colorscale && !(copy.zmin < 0)) copy.reversescale = !copy.reversescale;
    return copy;
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  }

  // On a phone, long names would leave no room for what they name.
  function shortened(layout, room) {
    const names = layout.yaxis && layout.yaxis.ticktext;
    if (!names || room >= 420) return;
    layout.yaxis.ticktext = names.map((name) => (name.length > 20 && !name.includes("&") ? `${name.slice(0, 19)}…` : name));
    layout.xaxis.nticks = 3;
  }

  function drawn(figure, onDark, width, room) {
    const { data, layout } = onDark ? recoloured(figure, "") : structuredClone(figure);
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    layout.hoverlabel = {
      ...layout.hoverlabel,
      bgcolor: onDark ? "#2b3540" : "#1b2530",
      bordercolor: "transparent",
      font: { ...(layout.hoverlabel || {}).font, color: "#ffffff" },
    };
    shortened(layout, room);
    if (width) { layout.width = width; layout.autosize = false; } else layout.autosize = true;
    return [data, layout, {
      responsive: !width,
      displaylogo: false,
      displayModeBar: "hover",
      modeBarButtons: [["toImage"]],
      scrollZoom: false,
      doubleClick: false,
    }];
  }

  function drawAll(onDark, width) {
    for (const plot of plots) {
      Plotly.react(plot, ...drawn(figures[plot.dataset.figure], onDark, width, width || plot.clientWidth));
    }
  }

  function show() {
    const onDark = isDark();
    button.setAttribute("aria-pressed", String(onDark));
    button.querySelector("span").textContent = onDark ? "Light" : "Dark";
    drawAll(onDark, 0);
  }

  for (const plot of plots) {
    // Cells with numbers in them need room; on a phone they are scrolled.
    if (figures[plot.dataset.figure].data.some((trace) => trace.type === "heatmap")) plot.classList.add("panels");
  }
  // A page opened from disk may have no storage; then the choice lasts as long as the page.
  try { if (["light", "dark"].includes(localStorage.nominymTheme)) root.dataset.theme = localStorage.nominymTheme; } catch { /* none */ }
  show();
  dark.addEventListener("change", show);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.nominymTheme = root.dataset.theme; } catch { /* none */ }
    show();
  });

  // Paper is light and narrower than a screen.
  window.addEventListener("beforeprint", () => drawAll(false, paperWidth));
  window.addEventListener("afterprint", show);

  const first = 20;
  for (const card of document.querySelectorAll(".searched")) {
    const table = card.querySelector("table");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const search = card.querySelector("input");
    const told = card.querySelector("output");
    const more = card.querySelector(".more");
    let all = false;

    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const row of body.rows) {
        const fits = words.every((word) => texts.get(row).includes(word));
        found += fits;
        row.hidden = !fits || (!all && !words.length && found > first);
      }
      const shown = [...body.rows].filter((row) => !row.hidden).length;
      told.textContent = `${shown} of ${rows.length} shown`;
      more.hidden = words.length > 0 || rows.length <= first;
      more.textContent = all ? `Show the first ${first}` : `Show all ${rows.length}`;
    };
    const sort = (header, place) => {
      const down = header.getAttribute("aria-sort") !== "descending" && header.classList.contains("number")
        || header.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[place];
        return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim().toLowerCase();
      };
      const sorted = rows.map((row) => [key(row), row]).sort(([a], [b]) => {
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return down ? -order : order;
      });
      body.append(...sorted.map(([, row]) => row));
      filter();
    };
    [...table.tHead.rows[0].cells].forEach((header, place) => {
      header.querySelector("button").addEventListener("click", () => sort(header, place));
    });
    search.addEventListener("input", filter);
    more.addEventListener("click", () => { all = !all; filter(); });
    filter();
  }
})();
