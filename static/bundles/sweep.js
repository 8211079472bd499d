"use strict";
(() => {
  function h(tag, props, ...children) {
    const [name, ...classes] = tag.split(".");
    const element = document.createElement(name);
    if (classes.length) element.className = classes.join(" ");
    for (const [key, value] of Object.entries(props || {})) setProperty(element, key, value);
    append(element, children);
    return element;
  }
  function setProperty(element, key, value) {
    if (value === null || value === void 0 || value === false) return;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "style") for (const [name, text] of Object.entries(value)) element.style.setProperty(name, text);
    else element.setAttribute(key, value === true ? "" : value);
  }
  function append(element, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === void 0 || child === false) continue;
      element.append(child instanceof Node ? child : String(child));
    }
  }
  function fill(element, ...children) {
    element.replaceChildren();
    append(element, children);
    return element;
  }
  function svg(tag, props, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(props)) element.setAttribute(key, String(value));
    element.append(...children);
    return element;
  }
  var VirtualList = class {
    constructor({ rowHeight, row, props, narrow = null }) {
      this.range = void 0;
      this.heights = { wide: rowHeight, narrow };
      this.rowHeight = rowHeight;
      this.row = row;
      this.rows = /* @__PURE__ */ new Map();
      this.count = 0;
      this.body = h("div.fv-virtual-body", { role: "presentation" });
      this.element = h("div.fv-virtual", { tabindex: "0", ...props }, this.body);
      this.element.addEventListener("scroll", () => this.paint(), { passive: true });
      this.observer = new ResizeObserver(() => this.fit());
      this.observer.observe(this.element);
    }
    fit() {
      const { wide, narrow } = this.heights;
      const rowHeight = narrow && this.element.offsetWidth && this.element.offsetWidth < narrow.below ? narrow.rowHeight : wide;
      if (rowHeight === this.rowHeight) return this.paint();
      const first = this.element.scrollTop / this.rowHeight;
      this.rowHeight = rowHeight;
      this.update(this.count, first * rowHeight);
    }
    update(count2, top = null) {
      this.count = count2;
      this.range = null;
      this.body.style.height = `${count2 * this.rowHeight}px`;
      if (top !== null) this.element.scrollTop = top;
      this.paint();
    }
    paint() {
      const { scrollTop, clientHeight } = this.element;
      const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - 10);
      const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + 10);
      const range = `${first}:${last}`;
      if (range === this.range) return;
      const known = this.range === null ? /* @__PURE__ */ new Map() : this.rows;
      this.range = range;
      this.rows = /* @__PURE__ */ new Map();
      const kept = [];
      for (let index = first; index < last; index += 1) {
        const row = known.get(index) ?? this.row(index);
        row.style.top = `${index * this.rowHeight}px`;
        this.rows.set(index, row);
        kept.push(row);
      }
      const stays = new Set(kept);
      for (const child of [...this.body.children]) if (!stays.has(child)) child.remove();
      let next = null;
      for (const row of kept.reverse()) {
        if (row.parentNode !== this.body || row.nextSibling !== next) this.body.insertBefore(row, next);
        next = row;
      }
    }
    destroy() {
      this.observer.disconnect();
    }
    refresh() {
      this.range = null;
      this.paint();
    }
    reveal(index, { middle = false } = {}) {
      const { scrollTop, clientHeight } = this.element;
      const top = index * this.rowHeight;
      const hidden = top < scrollTop || top + this.rowHeight > scrollTop + clientHeight;
      if (!hidden) return;
      const centred = top - (clientHeight - this.rowHeight) / 2;
      const nearest = top < scrollTop ? top : top + this.rowHeight - clientHeight;
      this.element.scrollTop = middle ? centred : nearest;
      this.paint();
    }
  };
  var BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
  var TIME_UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  function bytesText(nbytes) {
    let [size, unit] = [nbytes, 0];
    while (size >= 999.5 && unit < BYTE_UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
    return `${unit ? threeDigits(size) : nbytes} ${BYTE_UNITS[unit]}`;
  }
  function durationText(ns) {
    const [unit, scale] = TIME_UNITS.find(([, least]) => ns >= least) ?? ["ns", 1];
    return `${threeDigits(ns / scale)} ${unit}`;
  }
  function threeDigits(number2) {
    return number2.toFixed(number2 >= 99.95 ? 0 : number2 >= 9.995 ? 1 : 2);
  }
  var TICK = 70;
  var NOT_FINITE = 17e307;
  function errorText(error) {
    if (error === null) return "";
    return error === 0 ? "0" : isFinite(error) ? error.toExponential(1) : "not finite";
  }
  function isFinite(value) {
    return Number.isFinite(value) && value < NOT_FINITE;
  }
  function isMeasured(row) {
    return [row.latency_ratio, row.latency_ratio_low, row.latency_ratio_high].every(isFinite);
  }
  function ratioText(row) {
    if (!isFinite(row.latency_ratio)) return "";
    if (!isMeasured(row)) return `${row.latency_ratio.toFixed(2)}×`;
    return `${row.latency_ratio.toFixed(2)}× (${row.latency_ratio_low.toFixed(2)}–${row.latency_ratio_high.toFixed(2)})`;
  }
  function number(key, title, text = (row) => row[key] === null ? "" : String(row[key])) {
    return { key, title, text, number: true, value: (row) => row[key] };
  }
  function amount(key, title, text) {
    return number(key, title, (row) => isFinite(row[key]) ? text(row[key]) : "");
  }
  function word(key, title) {
    return { key, title, text: (row) => String(row[key] ?? ""), value: (row) => row[key] };
  }
  function statusText(row) {
    return statusName(row.status);
  }
  function statusName(status) {
    return status.replace("_", " ");
  }
  var COLUMNS = [word("model", "Model"), word("options", "Options"), word("backend", "Backend"), word("environment", "Environment"), word("torch", "torch"), { key: "status", title: "Status", text: statusText, value: (row) => row.status }, number("latency_ratio", "Time after / before", ratioText), amount("latency_ns", "Time per call", durationText), number("max_abs_error", "Largest error", (row) => errorText(row.max_abs_error)), amount("bytes_before", "Bytes before", bytesText), amount("bytes_after", "Bytes after", bytesText), number("frozen", "Frozen"), number("preserved", "Preserved"), number("near_misses", "Near misses"), number("graph_breaks", "Graph breaks"), number("notices", "Notices"), amount("time_s", "Recorded in", (seconds) => `${seconds.toFixed(1)} s`)];
  var METRICS = ["latency_ratio", "max_abs_error", "bytes_after", "preserved", "near_misses", "notices", "time_s"];
  var RARE = ["graph_breaks", "notices"];
  var GROUPS = ["model", "options", "backend", "environment", "status"];
  function usedColumns(rows) {
    const shared = sharedFacts(rows).map(({ key }) => key);
    return COLUMNS.filter(({ key, value }) => {
      if (key === "model" || key === "time_s") return true;
      if (RARE.includes(key)) return rows.some((row) => row[key] > 0);
      return !shared.includes(key) && rows.some((row) => value(row) !== null && value(row) !== "");
    });
  }
  function sharedFacts(rows) {
    if (!rows.length) return [];
    return COLUMNS.filter(({ key, number: number2 }) => key !== "model" && !number2).filter(({ key }) => valuesOf(rows, key).length === 1 && rows[0][key] && (key !== "status" || isRecorded(rows[0]))).map((column) => ({ key: column.key, title: column.title, text: column.text(rows[0]) }));
  }
  function isRecorded(row) {
    return row.status === "recorded";
  }
  function valuesOf(rows, key) {
    return [...new Set(rows.map((row) => String(row[key] ?? "")))].sort();
  }
  function filterRows(rows, text, chosen) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) => {
      if (Object.entries(chosen).some(([key, value]) => String(row[key] ?? "") !== value)) return false;
      if (!words.length) return true;
      const all = [row.model, row.options, row.backend, row.environment, row.torch, statusText(row), row.reason].concat(row.notice_codes, row.preserved_names).join(" ").toLowerCase();
      return words.every((one) => all.includes(one));
    });
  }
  function sortRows(rows, key, descending) {
    const turn = descending ? -1 : 1;
    return rows.toSorted((one, other) => {
      const [first, second] = [one[key], other[key]];
      const [isFirstEmpty, isSecondEmpty] = [first === null || first === "", second === null || second === ""];
      if (isFirstEmpty || isSecondEmpty) return Number(isFirstEmpty) - Number(isSecondEmpty);
      if (typeof first === "number" && typeof second === "number") return turn * (first - second);
      return turn * String(first).localeCompare(String(second), "en", { numeric: true });
    });
  }
  function tableLines(rows, by) {
    if (!by) return rows.map((row) => ({ row }));
    return valuesOf(rows, by).flatMap((value) => {
      const members = rows.filter((row) => String(row[by] ?? "") === value);
      return [{ group: value, rows: members }, ...members.map((row) => ({ row }))];
    });
  }
  function fileAddress(path) {
    const address = path.split("/").map(encodeURIComponent).join("/");
    return address.startsWith("/") ? address.replace(/^\/+/, "/") : `./${address}`;
  }
  function variantOf(row) {
    return [row.options, row.backend, row.environment].filter(Boolean).join(" · ");
  }
  function chartData(rows, metric) {
    const shown = rows.filter((row) => isFinite(row[metric]));
    const variants = [...new Set(shown.map(variantOf))].sort();
    const models = /* @__PURE__ */ new Map();
    for (const row of shown) {
      const point = { row, value: row[metric], variant: variants.indexOf(variantOf(row)) };
      models.set(row.model, [...models.get(row.model) ?? [], point]);
    }
    const most = (points) => Math.max(...points.map(({ value }) => value));
    const lines = [...models].map(([model, points]) => ({ model, points }));
    lines.sort((one, other) => most(other.points) - most(one.points) || one.model.localeCompare(other.model));
    return { variants, lines };
  }
  function scaleOf(values, metric, start, end) {
    const positive = values.filter((value) => value > 0);
    const [smallest, most] = [Math.min(...positive), Math.max(...positive)];
    const mostTicks = Math.max(2, Math.min(6, Math.floor((end - start) / TICK)));
    const isLog = ["max_abs_error", "bytes_after", "time_s"].includes(metric) && most / smallest > 20;
    if (isLog) {
      const [low, high2] = [Math.floor(Math.log10(smallest)), Math.ceil(Math.log10(most))];
      const at = (value) => value > 0 ? start + (Math.log10(value) - low) / Math.max(1, high2 - low) * (end - start) : start;
      const step2 = Math.max(1, Math.ceil((high2 - low) / mostTicks));
      const ticks2 = [];
      for (let power = low; power <= high2; power += step2) ticks2.push(10 ** power);
      return { at, ticks: ticks2, isLog };
    }
    const least = { latency_ratio: 1.1, max_abs_error: 0 }[metric] ?? 1;
    const high = Math.max(least, ...values) || 1;
    const size = 10 ** Math.floor(Math.log10(high / 4));
    const step = [1, 2, 5, 10, 20, 50].map((one) => one * size).find((one) => high / one <= mostTicks);
    const ticks = [];
    for (let index = 0; index * step <= high; index += 1) ticks.push(Number((index * step).toPrecision(6)));
    return { at: (value) => start + Math.max(0, value) / high * (end - start), ticks, isLog };
  }
  function count(number2, noun, several = `${noun}s`) {
    return `${number2} ${number2 === 1 ? noun : several}`;
  }
  var LINE = 22;
  var MOST = 60;
  var LEFT = 190;
  var RIGHT = 24;
  var TOP = 26;
  function drawChart(place, rows, metric, onopen) {
    const { variants, lines } = chartData(rows, metric);
    const column = COLUMNS.find(({ key }) => key === metric);
    if (!lines.length) {
      fill(place, h("p.fv-muted", null, `Nothing to draw: ${column.title.toLowerCase()} is not known of any recording.`));
      return;
    }
    const shown = lines.slice(0, MOST);
    const width2 = Math.max(320, place.clientWidth || 800);
    const left = Math.min(LEFT, width2 * 0.4);
    const values = shown.flatMap(({ points }) => points.map(({ value }) => value));
    const scale = scaleOf(values, metric, left, width2 - RIGHT);
    const height = TOP + shown.length * LINE + 6;
    const picture = svg("svg", { width: width2, height, viewBox: `0 0 ${width2} ${height}`, role: "img" });
    picture.setAttribute("aria-label", `${column.title} by model; the table has the figures`);
    picture.append(...gridLines(scale, metric, height));
    shown.forEach(({ model, points }, index) => {
      const y = TOP + index * LINE + LINE / 2;
      picture.append(svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "fs-name" }, shortened(model, left)));
      points.forEach((point) => picture.append(dot(point, y, variants.length, scale, metric, column, onopen)));
    });
    const more = lines.length - shown.length;
    fill(place, h("p.fs-legend", null, variants.map((variant, index) => h("span", null, h("i", { class: `fs-dot-${index % 6}` }), variant || "all")), scale.isLog ? h("span.fv-muted", null, "logarithmic") : null), h("div.fs-picture", null, picture), more > 0 ? h("p.fv-muted.fv-small", null, `The ${MOST} models with the largest figures; filter to see the other ${more}.`) : null);
  }
  function gridLines(scale, metric, height) {
    return scale.ticks.flatMap((tick) => {
      const x = scale.at(tick);
      const isOne = metric === "latency_ratio" && tick === 1;
      return [svg("path", { d: `M${x} ${TOP - 4}V${height}`, class: isOne ? "fs-one" : "fs-grid" }), svg("text", { x, y: 14, "text-anchor": "middle", class: "fs-tick" }, tickText(tick, metric))];
    });
  }
  function dot({ row, value, variant }, y, count2, scale, metric, column, onopen) {
    const off = count2 > 1 ? (variant / (count2 - 1) - 0.5) * Math.min(10, 3 * count2) : 0;
    const group = svg("g", { class: `fs-dot fs-dot-${variant % 6}` });
    if (metric === "latency_ratio" && isMeasured(row)) {
      const [low, high] = [scale.at(row.latency_ratio_low), scale.at(row.latency_ratio_high)];
      group.append(svg("path", { d: `M${low} ${y + off}H${high}` }));
    }
    const name = [row.model, row.options, row.backend, row.environment].filter(Boolean).join(" · ");
    group.append(svg("circle", { cx: scale.at(value), cy: y + off, r: 4 }), svg("title", {}, `${name}: ${column.text(row)}`));
    group.addEventListener("click", () => onopen(row));
    return group;
  }
  function tickText(value, metric) {
    const column = COLUMNS.find(({ key }) => key === metric);
    if (metric === "latency_ratio") return `${value}×`;
    if (metric === "time_s") return `${value} s`;
    return column.text({ [metric]: value });
  }
  function shortened(text, width2) {
    const most = Math.max(8, Math.floor((width2 - 16) / 7));
    if (text.length <= most) return text;
    const end = Math.floor((most - 1) / 2);
    return `${text.slice(0, most - 1 - end)}…${text.slice(-end)}`;
  }
  var ROW = 30;
  var SHOWN = 200;
  var CHOICES = ["status", "backend", "options", "environment"];
  var SweepView = class {
    constructor(root, data, { link, open }) {
      this.root = root;
      this.link = link;
      this.open = open;
      this.text = "";
      this.group = "";
      this.order = { key: "", descending: false };
      this.chosen = {};
      this.data = data;
      this.metric = METRICS.find((key) => data.rows.some((row) => row[key] !== null)) ?? "time_s";
      this.lines = [];
      this.heading = h("h1", { tabindex: "-1" });
      this.outcome = h("p.fs-outcome");
      this.facts = h("p.fv-muted.fv-small");
      this.summary = h("p.fv-muted", { role: "status" });
      this.controls = h("div.fs-controls");
      this.changes = h("div");
      this.chart = h("div.fs-chart");
      this.head = h("div.fs-row.fs-head", { role: "row" });
      this.list = new VirtualList({ rowHeight: ROW, row: (index) => this.line(index), props: { role: "rowgroup", "aria-label": "Recordings" } });
      this.table = h("div.fs-table", { role: "table", "aria-label": "Recordings" }, this.head, this.list.element);
      this.reason = h("dialog.fv-sheet.fs-told", { "aria-label": "Why the recording failed" });
      this.observer = new ResizeObserver(() => {
        this.fitColumns();
        this.draw();
      });
      this.observer.observe(this.chart);
      fill(root, this.heading, this.outcome, this.facts, this.changes, this.controls, this.summary, h("div.fs-scroll", null, this.table), h("section", { "aria-label": "Chart" }, this.chartHead(), this.chart), this.reason);
      this.update(data);
    }
    destroy() {
      this.observer.disconnect();
      this.list.destroy();
    }
    update(data) {
      this.data = data;
      this.columns = usedColumns(data.rows);
      fill(this.heading, data.name);
      fill(this.outcome, data.sentences.join(" "));
      fill(this.facts, sharedFacts(data.rows).map(({ title, text }) => h("span.fs-fact", null, `${title}: ${text}`)));
      this.showControls();
      this.showChanges();
      this.show();
    }
    rows() {
      const rows = filterRows(this.data.rows, this.text, this.chosen);
      return this.order.key ? sortRows(rows, this.order.key, this.order.descending) : rows;
    }
    show() {
      const rows = this.rows();
      this.lines = tableLines(rows, this.group);
      const all = this.data.rows.length;
      const failed = this.data.rows.filter((row) => row.status !== "recorded").length;
      const parts = [rows.length === all ? recordings(all) : `${rows.length} of ${recordings(all)}`, failed ? `${failed} not recorded` : "", this.data.waiting ? `${this.data.waiting} ${this.data.running ? "to come" : "not made yet"}` : "", this.data.running ? "running now" : ""];
      fill(this.summary, parts.filter(Boolean).join(", "));
      this.showHead();
      this.list.update(this.lines.length);
      this.list.element.style.height = `${Math.min(Math.max(this.lines.length, 1) * ROW + 2, Math.max(240, innerHeight * 0.6))}px`;
      this.head.style.paddingRight = `${this.list.element.offsetWidth - this.list.element.clientWidth}px`;
      this.draw();
    }
    draw() {
      drawChart(this.chart, this.rows(), this.metric, this.open);
    }
    showControls() {
      if (this.controls.contains(this.focused())) return;
      const search = h("input.fv-input.fs-search", { type: "search", placeholder: "Model, reason, notice …", "aria-label": "Filter the recordings", value: this.text, oninput: (event) => {
        this.text = event.target.value;
        this.show();
      } });
      const choices = CHOICES.filter((key) => valuesOf(this.data.rows, key).length > 1).map((key) => this.select(titleOf(key), key in this.chosen ? `=${this.chosen[key]}` : "", [["", `any ${titleOf(key).toLowerCase()}`], ...valuesOf(this.data.rows, key).map((value) => [`=${value}`, nameOf(key, value)])], (value) => this.choose(key, value)));
      const groups = GROUPS.filter((key) => valuesOf(this.data.rows, key).length > 1);
      const group = this.select("Group", this.group, [["", "no groups"], ...groups.map((key) => [key, `by ${titleOf(key).toLowerCase()}`])], (value) => {
        this.group = value;
        this.show();
      });
      fill(this.controls, search, choices, group);
    }
    choose(key, value) {
      const { [key]: _, ...others } = this.chosen;
      this.chosen = value ? { ...others, [key]: value.slice(1) } : others;
      this.show();
    }
    focused() {
      return this.root.getRootNode().activeElement;
    }
    select(label, value, options, onchange) {
      return h("select.fv-input", { "aria-label": label, onchange: (event) => onchange(event.target.value) }, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
    }
    chartHead() {
      return h("div.fs-chart-head", null, h("h2", null, "By model and options"), this.select("Figure", this.metric, METRICS.map((key) => [key, titleOf(key)]), (value) => {
        this.metric = value;
        this.draw();
      }));
    }
    fitColumns() {
      const longest = Math.max(0, ...this.data.rows.map((row) => row.model.length));
      const most = Math.max(120, Math.min(380, this.root.clientWidth * 0.5));
      const widths = (this.columns ?? []).map(({ key, number: number2, title }) => key === "model" ? [Math.min(Math.max(120, longest * 7.5 + 24), most), 1] : width(key, number2, title));
      this.table.style.setProperty("--fs-columns", widths.map(([least, share]) => `minmax(${least}px, ${share}fr)`).join(" "));
      this.table.style.setProperty("--fs-least", `${widths.reduce((sum, [least]) => sum + least, 0)}px`);
    }
    showHead() {
      this.fitColumns();
      const cells = this.columns?.map((column) => {
        const isOrder = this.order.key === column.key;
        const direction = isOrder ? this.order.descending ? "descending" : "ascending" : "none";
        return h("div", { role: "columnheader", "aria-sort": direction, class: column.number ? "fs-number" : "" }, h("button.fs-sort", { type: "button", onclick: () => this.sort(column.key), title: `Sort by ${column.title.toLowerCase()}` }, column.title, isOrder ? this.order.descending ? " ↓" : " ↑" : ""));
      });
      const at = [...this.head.children].findIndex((cell) => cell.contains(this.focused()));
      fill(this.head, cells);
      this.head.children[at]?.querySelector("button")?.focus();
    }
    sort(key) {
      const descending = this.order.key === key && !this.order.descending;
      this.order = this.order.key === key && this.order.descending ? { key: "", descending: false } : { key, descending };
      this.show();
    }
    line(index) {
      const line = this.lines[index];
      if ("group" in line) {
        const text = `${nameOf(this.group, line.group)}: ${recordings(line.rows.length)}`;
        return h("div.fs-row.fs-group", { role: "row" }, h("div", { role: "cell" }, text));
      }
      const { row } = line;
      const cells = this.columns?.map((column) => h("div", { role: "cell", class: cellClass(column, row), title: titleText(column, row) }, this.cell(column, row)));
      return h("div.fs-row", { role: "row" }, cells);
    }
    cell(column, row) {
      if (column.key === "model") return row.trace ? this.link(row) : row.model;
      if (column.key !== "status" || row.status === "recorded") return column.text(row);
      const text = `${statusText(row)}: ${row.reason}`;
      return h("button.fv-linklike.fs-reason", { type: "button", onclick: () => this.tell(row, text) }, text);
    }
    tell(row, text) {
      const close = h("button.fv-button", { type: "button", onclick: () => this.reason.close() }, "Close");
      fill(this.reason, h("h2", null, row.model), h("pre.fv-log", { tabindex: "0" }, text), close);
      this.reason.showModal();
    }
    showChanges() {
      const { diff } = this.data;
      if (!diff) return;
      fill(this.changes, changeList("Worse", "Nothing became worse.", diff.worse, this.link), diff.better.length ? changeList("Better", "", diff.better, this.link) : null, only(`Only in ${diff.before}`, diff.gone), only(`Only in ${diff.after}`, diff.new));
    }
  };
  function changeList(title, empty, changes, link) {
    return h("section", { "aria-label": title }, h("h2", null, changes.length ? `${title}: ${changes.length}` : title), changes.length ? null : h("p.fv-muted", null, empty), h("ul.fs-changes", null, changes.slice(0, SHOWN).map((change) => h("li", { class: title === "Worse" ? "fs-worse" : "fs-better" }, h("span.fs-kind", null, change.title), h("span", null, change.row.trace ? link({ ...change.row, model: change.label }) : change.label), h("span.fv-muted", null, change.message)))), changes.length > SHOWN ? h("p.fv-muted", null, `and ${changes.length - SHOWN} more: freezer-ui diff lists all`) : null);
  }
  function only(title, labels) {
    if (!labels.length) return null;
    return h("details", null, h("summary", null, `${title}: ${labels.length}`), h("ul.fs-changes", null, labels.map((label) => h("li", null, label))));
  }
  function recordings(number2) {
    return count(number2, "recording");
  }
  function nameOf(key, value) {
    return (key === "status" ? statusName(value) : value) || "none";
  }
  function titleOf(key) {
    return COLUMNS.find((column) => column.key === key).title;
  }
  function cellClass(column, row) {
    const classes = column.number ? ["fs-number"] : [];
    if (column.key === "status" && row.status !== "recorded") classes.push("fs-bad");
    if (column.key === "max_abs_error" && row.is_close === false) classes.push("fs-bad");
    if (column.key === "latency_ratio" && row.latency_claim === "slower") classes.push("fs-bad");
    if (column.key === "latency_ratio" && row.latency_claim === "faster") classes.push("fs-good");
    return classes.join(" ");
  }
  function titleText(column, row) {
    if (column.key === "status") return row.reason || null;
    if (column.key === "preserved") return row.preserved_names.join(", ") || null;
    if (column.key === "notices") return row.notice_codes.join(", ") || null;
    if (column.key === "latency_ratio") {
      return row.latency_claim ? `${row.latency_claim}, against ${row.latency_against}` : null;
    }
    if (column.key === "max_abs_error") return row.is_close === false ? "past torch's tolerances" : null;
    return column.key === "model" ? row.command || row.model : null;
  }
  function width(key, isNumber, title) {
    const wide = { status: [180, 2.4], latency_ratio: [150, 1] };
    return wide[key] ?? (isNumber ? [Math.max(84, title.length * 7 + 24), 0.7] : [110, 1]);
  }
  function mount(root, data) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const paint = () => root.dataset.scheme = dark.matches ? "dark" : "light";
    dark.addEventListener("change", paint);
    paint();
    root.classList.add("fv", "fs-page");
    const content = h("main.fs");
    fill(root, content);
    const link = (row) => h("a.fv-link", { href: fileAddress(row.trace), title: `freezer-ui ${row.trace}`, download: "" }, row.model);
    return new SweepView(content, data, { link, open: (row) => row.trace && location.assign(fileAddress(row.trace)) });
  }
  globalThis.FreezerSweep = { mount };
})();
