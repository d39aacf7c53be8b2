// The timeline of a place that asks for gradients: loss, heat map and norms on one axis of steps.
const SHOWN = 8; // curves drawn at first, and colours there are
let timelines = [];

class Timeline {
  constructor(figure) {
    this.figure = figure;
    this.record = unpack(figure.querySelector(".numbers"));
    if (!view.timelines.has(figure.dataset.key)) {
      view.timelines.set(figure.dataset.key, {
        range: null,
        step: null,
        row: 0,
        pinned: false,
        shown: this.first(),
        loss: null,
        norms: null,
      });
    }
    this.chosen = view.timelines.get(figure.dataset.key);
    if (this.chosen.range && this.chosen.range[1] > this.record.steps + 1) this.chosen.range = null;
    this.chosen.row = Math.min(this.chosen.row, this.record.lines.length - 1);
    this.build();
  }

  get range() {
    return this.chosen.range || [1, this.record.steps + 1];
  }

  // Those that are drawn at first: all, or some from the first layer to the last.
  first() {
    const drawn = this.record.lines
      .map((line, k) => k)
      .filter((k) => this.record.lines[k].logs.length > 0);
    const far = (drawn.length - 1) / (SHOWN - 1);
    const some =
      drawn.length <= SHOWN
        ? drawn
        : Array.from({ length: SHOWN }, (_, k) => drawn[Math.round(k * far)]);
    return new Map(some.map((k, colour) => [k, colour]));
  }

  // --- elements ---
  build() {
    const { record, figure } = this;
    const still = figure.querySelector(".still");
    if (still) still.remove();
    const rows = record.lines.length;
    this.high = rows <= 12 ? 20 : rows <= 24 ? 15 : rows <= 64 ? 11 : 5;
    this.readout = make("p", { class: "readout" });
    this.all = button("All steps", "Show all steps (0)", () => this.zoom(null));
    this.free = button("Let go", "Follow the mouse again (Escape)", () => this.clear());
    const tools = make(
      "div",
      { class: "tools controls" },
      button("−", "Show more steps (−)", () => this.scale(2)),
      button("+", "Show fewer steps (+)", () => this.scale(0.5)),
      this.all,
      this.free,
    );
    this.board = make("div", { class: "board" });
    this.plots = [];
    if (record.loss) {
      this.loss = this.plot("loss", record.target, "loss");
    }
    this.names = make(
      "div",
      { class: "names" },
      ...record.lines.map((line, row) => this.name(line, row)),
    );
    this.heat = make("canvas", {
      class: "heat",
      tabindex: 0,
      role: "slider",
      "aria-label":
        `Gradients of ${record.target} by step; ` +
        "arrow keys move, Enter holds the step, plus and minus zoom",
      "aria-valuemin": 1,
      "aria-valuemax": record.steps,
    });
    const box = make("div", { class: "plot-box" }, this.heat);
    box.style.height = this.high * record.lines.length + "px";
    this.board.append(this.names, box);
    mindPointer(this, box);
    this.axis = make("div", { class: "axis", "aria-hidden": "true" });
    this.board.append(make("span"), this.axis);
    if (record.lines.some((line) => line.logs.length > 0))
      this.norms = this.plot("norms", "norms", "norms");
    this.legend = make("div", { class: "legend" });
    this.key = heatKey(record);
    figure.append(
      make("div", { class: "over" }, this.readout, tools),
      this.board,
      this.legend,
      this.key,
    );
    const rest = (words) => figure.append(make("p", { class: "rest" }, words));
    const every = grain(record);
    if (record.left) rest(`… and ${several(record.left, "more gradient")}`);
    if (every > 1) rest(`States are those of every step; numbers are kept of one in ${every}.`);
    this.heat.addEventListener("keydown", (event) => pressKey(this, event));
    this.heat.addEventListener(
      "focus",
      () => this.chosen.step === null && this.choose(this.range[0], this.chosen.row),
    );
    this.seen = new ResizeObserver(() => this.draw());
    this.seen.observe(this.board);
    this.tell();
  }

  plot(kind, words, scale) {
    const canvas = make("canvas", {
      class: "curve",
      role: "img",
      "aria-label": `${words} over the steps`,
    });
    const box = make("div", { class: `plot-box ${kind}` }, canvas);
    const toggle = button(
      "",
      "Powers of ten, or plain numbers",
      () => {
        this.chosen[scale] = !this.powers(scale);
        this.draw();
      },
      { class: "toggle controls" },
    );
    const ticks = make("div", { class: "ticks", "aria-hidden": "true" });
    this.board.append(
      make("div", { class: `label ${kind}` }, make("span", { title: words }, words), toggle, ticks),
      box,
    );
    mindPointer(this, box);
    return { canvas, toggle, ticks, box };
  }

  name(line, row) {
    return button(line.name, "", () => this.toggle(row), {
      tabindex: -1,
      "data-row": row,
      style: `height:${this.high}px`,
      ...this.nearing(row),
    });
  }

  // --- what is pointed at ---
  // The step at a share of the width: of the many that a column stands for, the worst.
  stepAt(share, row) {
    const [from, to] = this.range,
      line = this.record.lines[row];
    const wide = (to - from) / Math.max(1, this.heat.clientWidth);
    const step = Math.min(Math.floor(from + share * (to - from)), to - 1);
    if (wide <= 1) return step;
    const near = line.spells.filter((spell) => spell.from < step + wide && spell.to > step);
    const worst = near.reduce((a, b) => (b.rank < a.rank ? b : a), near[0]);
    return worst && worst.state !== "ok" ? Math.max(worst.from, step) : this.kept(step);
  }

  kept(step) {
    const every = grain(this.record);
    return Math.max(this.range[0], 1 + Math.floor((step - 1) / every) * every);
  }

  brush(from, to) {
    for (const box of this.plots) {
      const brush = box.querySelector(".brush");
      brush.hidden = from === null;
      if (from === null) continue;
      brush.style.left = 100 * Math.min(from, to) + "%";
      brush.style.width = 100 * Math.abs(to - from) + "%";
    }
  }

  cut(from, to) {
    const [start, end] = this.range;
    const at = (share) => start + share * (end - start);
    this.zoom([Math.floor(at(Math.min(from, to))), Math.ceil(at(Math.max(from, to)))]);
  }

  // Show so many times as many steps, around a share of the width or the chosen step.
  scale(times, share = null) {
    const [from, to] = this.range;
    const at = share !== null ? from + share * (to - from) : this.chosen.step || (from + to) / 2;
    this.zoom([at - (at - from) * times, at + (to - at) * times]);
  }

  zoom(range) {
    if (range !== null) {
      let [from, to] = range.map(Math.round);
      const end = this.record.steps + 1;
      if (to - from < 4) [from, to] = [from - 1, from + 3];
      [from, to] = [Math.max(1, from), Math.min(end, to)];
      range = from <= 1 && to >= end ? null : [from, to]; // null: all, also of a run that goes on
    }
    this.chosen.range = range;
    this.draw();
    this.tell();
  }

  // --- a step ---
  choose(step, row) {
    const { chosen, record } = this;
    chosen.step = Math.max(1, Math.min(record.steps, step));
    chosen.row = row;
    const [from, to] = this.range;
    if (chosen.step < from || chosen.step >= to) {
      const shift = chosen.step < from ? chosen.step - from : chosen.step + 1 - to;
      chosen.range = [from + shift, to + shift];
      this.draw();
    }
    this.tell();
    showStep(this);
  }

  hold(step, row, always) {
    const again =
      this.chosen.pinned && this.chosen.step === step && this.chosen.row === row && !always;
    this.chosen.pinned = !again;
    this.choose(step, row);
    if (again) return;
    const found = this.record.findings.find((one) => one.lines.includes(row) && isIn(one, step));
    const card = found && document.getElementById("f" + found.finding);
    if (card && !card.hidden && !("now" in card.dataset)) select(String(found.finding), false);
  }

  clear() {
    this.chosen.step = null;
    this.chosen.pinned = false;
    this.tell();
    showStep(null);
  }

  toggle(row) {
    const { shown } = this.chosen;
    if (!shown.delete(row)) {
      const used = new Set(shown.values());
      let colour = 0;
      while (used.has(colour) && colour < SHOWN) colour += 1;
      shown.set(row, colour);
    }
    this.drawNorms();
    this.tell();
  }

  // --- drawing ---
  powers(scale) {
    if (this.chosen[scale] !== null) return this.chosen[scale];
    if (scale === "loss") return spread([this.curve()], false);
    return spread(
      this.record.lines.map((line) => ({ values: line.logs })),
      true,
    );
  }

  curve() {
    return { steps: this.record.loss.steps, values: this.record.loss.values, colour: "--ink" };
  }

  draw() {
    if (this.board.clientWidth === 0) return;
    const scale = Math.max(1, Math.min(2, window.devicePixelRatio || 1));
    drawHeat(this.heat, this.record, this.range, this.high, scale);
    paintKey(this.key);
    if (this.loss) this.drawPlot(this.loss, [this.curve()], this.powers("loss"), false);
    this.drawNorms();
    this.drawAxis();
    this.tell();
  }

  drawNorms() {
    if (!this.norms || this.board.clientWidth === 0) return;
    const series = Array.from(this.chosen.shown, ([row, colour]) => ({
      steps: this.record.lines[row].steps,
      values: this.record.lines[row].logs,
      colour: colour < SHOWN ? `--s${colour}` : "--lost",
      strong: row === this.near,
      faint: row !== this.near && this.chosen.shown.has(this.near),
    }));
    series.sort((a, b) => a.strong - b.strong);
    this.drawPlot(this.norms, series, this.powers("norms"), true);
  }

  drawPlot(plot, series, powers, logs) {
    const axis = axisOf(series, this.range, powers, logs);
    drawCurves(
      plot.canvas,
      series,
      this.range,
      axis,
      Math.max(1, Math.min(2, window.devicePixelRatio || 1)),
    );
    plot.toggle.textContent = powers ? "log" : "linear";
    plot.toggle.setAttribute(
      "aria-label",
      powers ? "Powers of ten: change to plain numbers" : "Plain numbers: change to powers of ten",
    );
    plot.ticks.replaceChildren(
      ...ticksOf(axis).map(([share, words]) =>
        make("span", { style: `bottom:${100 * share}%` }, words),
      ),
    );
  }

  drawAxis() {
    const [from, to] = this.range;
    const step = Math.max(
      1,
      niceStep((to - from) / Math.max(2, Math.floor(this.heat.clientWidth / 110))),
    );
    const steps = new Set([from]);
    for (let at = Math.ceil(from / step) * step; at < to; at += step) steps.add(at);
    const room = ((to - from) * 70) / Math.max(1, this.heat.clientWidth);
    this.axis.replaceChildren(
      ...Array.from(steps)
        .filter((at) => at === from || at - from > room)
        .map((at) => {
          const share = (at + 0.5 - from) / (to - from),
            last = at !== from && to - at < room / 2;
          return make(
            "span",
            { style: `left:${last ? 100 : 100 * share}%`, class: last ? "last" : null },
            (at === from ? "step " : "") + at.toLocaleString("en"),
          );
        }),
    );
  }

  // The words above the board, and what moves over it.
  tell() {
    const { chosen, record } = this,
      [from, to] = this.range,
      { step } = chosen;
    this.all.hidden = chosen.range === null;
    this.free.hidden = !chosen.pinned;
    this.figure.toggleAttribute("data-pinned", chosen.pinned);
    for (const box of this.plots) {
      const cross = box.querySelector(".cross");
      cross.hidden = step === null || step < from || step >= to;
      if (step !== null) cross.style.left = (100 * (step + 0.5 - from)) / (to - from) + "%";
    }
    all("button", this.names).forEach((name, row) => {
      name.toggleAttribute("data-here", step !== null && row === chosen.row);
      name.setAttribute("aria-pressed", String(chosen.shown.has(row)));
      name.style.setProperty("--c", this.colourOf(row));
      const state = stateAt(record.lines[row], step === null ? record.steps : step);
      const when = step === null ? "at the end" : `in step ${step}`;
      const does = chosen.shown.has(row) ? "hide" : "draw";
      name.title = `${record.lines[row].name}: ${FACES[state][0]} ${when}; click to ${does} its norms`;
    });
    if (step === null) {
      const seen = chosen.range
        ? `steps ${from.toLocaleString("en")} to ${(to - 1).toLocaleString("en")} of `
        : "";
      this.readout.replaceChildren(
        make(
          "span",
          { class: "soft" },
          `${seen}${several(record.steps, "step")}. Point at a step; drag to zoom.`,
        ),
      );
    } else {
      this.readout.replaceChildren(...this.words(step, chosen.row));
      this.heat.setAttribute("aria-valuenow", step);
      this.heat.setAttribute("aria-valuetext", this.readout.textContent);
    }
    this.tellNorms();
  }

  words(step, row) {
    const { record } = this,
      line = record.lines[row],
      loss = lossAt(record, step);
    const { state, norm } = known(line, step);
    const said = FACES[state][0];
    return [
      make("b", {}, `step ${step.toLocaleString("en")}`),
      " ",
      loss === null ? "" : make("span", {}, make("code", {}, record.target), ` ${digits(loss)} `),
      make(
        "span",
        { class: state === "ok" ? "well" : "bad" },
        make("code", {}, `d ${record.target}/d ${line.name}`),
        norm === null ? ` is ${said}` : ` ${state === "ok" ? "" : said + ", "}norm ${digits(norm)}`,
      ),
    ];
  }

  // The curves that are drawn, each with its number.
  tellNorms() {
    const { record, chosen } = this,
      step = chosen.step === null ? record.steps : chosen.step;
    const items = Array.from(chosen.shown.keys())
      .sort((a, b) => a - b)
      .map((row) => {
        const line = record.lines[row],
          { state, norm } = known(line, step);
        const item = button("", `Hide ${line.name}`, () => this.toggle(row), {
          class: "series",
          style: `--c:${this.colourOf(row)}`,
          ...this.nearing(row),
        });
        item.append(
          make("i", { class: "key" }),
          make("code", {}, line.name),
          " ",
          make("span", { class: "soft" }, norm === null ? FACES[state][0] : digits(norm)),
        );
        return item;
      });
    const more = (words, title, on) =>
      button(words, title, () => this.showAll(on), { class: "series controls" });
    this.legend.replaceChildren(
      ...items,
      record.lines.length > items.length ? more("all", "Draw the norms of all", true) : "",
      items.length > 0 ? more("none", "Draw no norms", false) : "",
    );
  }

  // What is pointed at stands out among the curves.
  nearing(row) {
    const near = (which) => () => {
      this.near = which;
      this.drawNorms();
    };
    return { pointerenter: near(row), pointerleave: near(undefined) };
  }

  showAll(on) {
    this.chosen.shown = on
      ? new Map(this.record.lines.map((_, k) => [k, k < SHOWN ? k : SHOWN]))
      : new Map();
    this.drawNorms();
    this.tell();
  }

  colourOf(row) {
    const colour = this.chosen.shown.get(row);
    return colour === undefined
      ? "transparent"
      : colour < SHOWN
        ? `var(--s${colour})`
        : "var(--lost)";
  }
}

const readTimelines = () => {
  for (const one of timelines) one.seen.disconnect();
  timelines = all("figure.timeline").map((figure) => new Timeline(figure));
};
const redraw = () => timelines.forEach((one) => one.draw());
