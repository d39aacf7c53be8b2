// The heat map: a row for each gradient, a column for each step or several, the worst state in front.
const FACES = {
  // of states: what they are called, and a texture for those who see no colours
  ok: ["sound", null],
  none: ["None", "diagonal"],
  zero: ["zero", "lines"],
  nan: ["NaN", "cross"],
  inf: ["infinite", "bars"],
  vanishing: ["vanishing", "dots"],
  exploding: ["exploding", "peaks"],
  wrong: ["wrong", "back"],
  error: ["error", "cross"],
  unseen: ["not known", "sparse"],
};
const TILE = 8;
const STROKES = {
  diagonal: [
    [0, 8, 8, 0],
    [-2, 2, 2, -2],
    [6, 10, 10, 6],
  ],
  back: [
    [0, 0, 8, 8],
    [-2, 6, 2, 10],
    [6, -2, 10, 2],
  ],
  cross: [
    [0, 8, 8, 0],
    [0, 0, 8, 8],
  ],
  lines: [
    [0, 2, 8, 2],
    [0, 6, 8, 6],
  ],
  bars: [
    [2, 0, 2, 8],
    [6, 0, 6, 8],
  ],
  peaks: [
    [0, 6, 4, 2],
    [4, 2, 8, 6],
  ],
  dots: [],
  sparse: [],
};

const inkOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

// A colour for a share from 0 to 1 of the way through some hues.
const ramp = (names) => {
  const stops = names.map((name) => channels(inkOf(name)));
  const made = new Map();
  return (share) => {
    const level = Math.round(Math.max(0, Math.min(1, share)) * 47);
    if (!made.has(level)) {
      const at = (level / 47) * (stops.length - 1);
      const k = Math.min(Math.floor(at), stops.length - 2);
      made.set(
        level,
        "rgb(" + stops[k].map((c, n) => Math.round(c + (stops[k + 1][n] - c) * (at - k))) + ")",
      );
    }
    return made.get(level);
  };
};

const texture = (context, state, scale) => {
  const kind = FACES[state][1];
  if (kind === null) return null;
  const tile = make("canvas", { width: TILE * scale, height: TILE * scale });
  const brush = tile.getContext("2d");
  brush.scale(scale, scale);
  brush.strokeStyle = brush.fillStyle = inkOf(`--on-${state}`);
  brush.lineWidth = 1.1;
  for (const [x, y, toX, toY] of STROKES[kind]) {
    brush.beginPath();
    brush.moveTo(x, y);
    brush.lineTo(toX, toY);
    brush.stroke();
  }
  if (kind === "dots")
    for (const [x, y] of [
      [1, 1],
      [5, 5],
    ])
      brush.fillRect(x, y, 1.6, 1.6);
  if (kind === "sparse") brush.fillRect(3, 3, 1.4, 1.4);
  return context.createPattern(tile, "repeat");
};

// The ends of the logarithms in each kind of state, over all lines.
const extents = (record) => {
  const ends = {
    ok: [Infinity, -Infinity],
    vanishing: [Infinity, -Infinity],
    exploding: [Infinity, -Infinity],
  };
  for (const line of record.lines) {
    let at = 0;
    for (let k = 0; k < line.logs.length; k++) {
      while (at < line.spells.length - 1 && line.steps[k] >= line.spells[at].to) at += 1;
      const end = ends[line.spells.length ? line.spells[at].state : "ok"];
      if (end && Number.isFinite(line.logs[k])) {
        end[0] = Math.min(end[0], line.logs[k]);
        end[1] = Math.max(end[1], line.logs[k]);
      }
    }
  }
  for (const end of Object.values(ends)) {
    if (end[1] - end[0] < 1) {
      const middle = (end[0] + end[1]) / 2 || 0;
      end[0] = middle - 0.5;
      end[1] = middle + 0.5;
    }
  }
  return ends;
};

const paints = () => ({
  ok: ramp(["--heat-0", "--heat-1", "--heat-2", "--heat-3"]),
  vanishing: ramp(["--vanishing-0", "--vanishing-1"]),
  exploding: ramp(["--exploding-0", "--exploding-1"]),
});

// Of each column, the worst state and the mean of the logarithms.
const columns = (line, range, width) => {
  const wide = (range[1] - range[0]) / width;
  const found = [];
  let at = 0,
    k = Math.max(0, before(line.steps, range[0]));
  for (let x = 0; x < width; x++) {
    const from = range[0] + x * wide,
      to = Math.max(from + wide, Math.floor(from) + 1);
    while (at < line.spells.length && line.spells[at].to <= from) at += 1;
    let worst = null;
    for (let n = at; n < line.spells.length && line.spells[n].from < to; n++) {
      if (worst === null || line.spells[n].rank < worst.rank) worst = line.spells[n];
    }
    while (k + 1 < line.steps.length && line.steps[k + 1] <= from) k += 1;
    let sum = 0,
      count = 0;
    for (let n = k; n < line.steps.length && (n === k || line.steps[n] < to); n++) {
      if (Number.isFinite(line.logs[n])) {
        sum += line.logs[n];
        count += 1;
      }
    }
    found.push({ state: worst ? worst.state : "unseen", log: count ? sum / count : null });
  }
  return found;
};

const drawHeat = (canvas, record, range, height, scale) => {
  const width = Math.max(1, Math.round(canvas.clientWidth * scale));
  const tall = Math.round(height * scale),
    gap = height >= 8 ? Math.round(scale) : 0;
  canvas.width = width;
  canvas.height = tall * record.lines.length;
  const context = canvas.getContext("2d");
  const ends = extents(record),
    paint = paints(),
    textures = {};
  const fill = (state, log) => {
    if (!paint[state]) return inkOf(`--${state}`);
    const [low, high] = ends[state];
    return paint[state](log === null ? 0.5 : (log - low) / (high - low));
  };
  record.lines.forEach((line, row) => {
    const cells = columns(line, range, width);
    const top = row * tall;
    const run = (same, draw) => {
      for (let x = 0; x < width;) {
        let end = x + 1;
        while (end < width && same(cells[x], cells[end])) end += 1;
        draw(cells[x], x, end);
        x = end;
      }
    };
    const colour = new Map();
    for (const cell of cells) {
      if (!colour.has(cell.state) && !paint[cell.state])
        colour.set(cell.state, fill(cell.state, null));
      cell.colour = colour.get(cell.state) || fill(cell.state, cell.log);
    }
    run(
      (a, b) => a.colour === b.colour,
      (cell, x, end) => {
        context.fillStyle = cell.colour;
        context.fillRect(x, top, end - x, tall - gap);
      },
    );
    run(
      (a, b) => a.state === b.state,
      (cell, x, end) => {
        if (cell.state === "ok") return;
        if (!(cell.state in textures)) textures[cell.state] = texture(context, cell.state, scale);
        // One step among thousands is less than a pixel wide, and must be seen.
        const wide = Math.max(end - x, Math.round(2 * scale));
        context.fillStyle = cell.colour;
        if (wide > end - x) context.fillRect(x, top, wide, tall - gap);
        if (wide >= 5 * scale) {
          context.fillStyle = textures[cell.state];
          context.fillRect(x, top, wide, tall - gap);
        }
      },
    );
  });
};

// What the colours mean, of those that occur.
const heatKey = (record) => {
  const found = new Set(record.lines.flatMap((line) => line.spells.map((spell) => spell.state)));
  const items = [];
  const ends = extents(record);
  if (found.has("ok")) {
    const bar = make("canvas", { width: 96, height: 12, class: "bar", "aria-hidden": "true" });
    bar.dataset.ramp = "ok";
    items.push(
      make("li", {}, `norm ${digits(10 ** ends.ok[0])} `, bar, ` ${digits(10 ** ends.ok[1])}`),
    );
  }
  for (const state of record.states) {
    if (state === "ok" || !found.has(state)) continue;
    const swatch = make("canvas", {
      width: 44,
      height: 24,
      class: "swatch",
      "aria-hidden": "true",
    });
    swatch.dataset.state = state;
    items.push(make("li", {}, swatch, " ", FACES[state][0]));
  }
  return make("ul", { class: "heat-key", "aria-label": "What the colours mean" }, ...items);
};

const paintKey = (key) => {
  const paint = paints();
  for (const bar of all(".bar", key)) {
    const context = bar.getContext("2d");
    for (let x = 0; x < bar.width; x++) {
      context.fillStyle = paint.ok(x / bar.width);
      context.fillRect(x, 0, 1, bar.height);
    }
  }
  for (const swatch of all(".swatch", key)) {
    const context = swatch.getContext("2d"),
      state = swatch.dataset.state;
    context.fillStyle = paint[state] ? paint[state](0.5) : inkOf(`--${state}`);
    context.fillRect(0, 0, swatch.width, swatch.height);
    context.fillStyle = texture(context, state, 2);
    context.fillRect(0, 0, swatch.width, swatch.height);
  }
};
