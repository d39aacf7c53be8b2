// Lines over the steps: the loss, and the norms of the gradients that are chosen.
const LOGARITHMIC = 50; // largest over smallest, from which on powers of ten tell more

// From values to heights, by powers of ten or plainly; `logs` tells that values are logarithms.
const axisOf = (series, range, powers, logs) => {
  let low = Infinity,
    high = -Infinity;
  for (const one of series) {
    const last = before(one.steps, range[1]);
    for (let k = Math.max(0, before(one.steps, range[0])); k <= last; k++) {
      const x = plain(one.values[k], powers, logs);
      if (!Number.isFinite(x)) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  }
  if (low > high) [low, high] = powers ? [-1, 0] : [0, 1];
  if (!powers && low > 0 && low < 0.5 * high) low = 0;
  if (high - low <= 1e-9 * Math.abs(high)) {
    // a constant, in the middle
    const room = powers ? 1 : Math.abs(high) / 2 || 1;
    [low, high] = [low - room, high + room];
  }
  return { low, high, powers, logs, share: (x) => (plain(x, powers, logs) - low) / (high - low) };
};

const plain = (x, powers, logs) => {
  if (powers === logs) return x;
  return powers ? Math.log10(x) : 10 ** x;
};

const ticksOf = (axis) => {
  if (axis.powers) {
    const first = Math.ceil(axis.low - 1e-9),
      last = Math.floor(axis.high + 1e-9);
    const step = Math.max(1, Math.ceil((last - first) / 4));
    const found = [];
    for (let p = first; p <= last; p += step) found.push([p, `1e${p}`.replace("-", "−")]);
    if (found.length > 1)
      return found.map(([p, words]) => [(p - axis.low) / (axis.high - axis.low), words]);
    return [
      [0, digits(10 ** axis.low)],
      [1, digits(10 ** axis.high)],
    ];
  }
  const step = niceStep((axis.high - axis.low) / 3);
  const found = [];
  for (let x = Math.ceil(axis.low / step - 1e-9) * step; x <= axis.high + 1e-9 * step; x += step) {
    found.push([(x - axis.low) / (axis.high - axis.low), digits(Number(x.toPrecision(12)))]);
  }
  return found;
};

const niceStep = (x) => {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].find((n) => n * power >= x * (1 - 1e-9)) * power;
};

// Do powers of ten tell more?
const spread = (series, logs) => {
  let low = Infinity,
    high = -Infinity;
  for (const one of series)
    for (const x of one.values) {
      if (!logs && x <= 0) return false;
      const log = logs ? x : Math.log10(x);
      if (!Number.isFinite(log)) continue;
      low = Math.min(low, log);
      high = Math.max(high, log);
    }
  return high - low > Math.log10(LOGARITHMIC);
};

const drawCurves = (canvas, series, range, axis, scale) => {
  const width = (canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale)));
  const height = (canvas.height = Math.round(canvas.clientHeight * scale));
  const context = canvas.getContext("2d");
  const pad = 3 * scale;
  const x = (step) => ((step - range[0]) / (range[1] - range[0])) * width;
  const y = (share) => pad + (1 - Math.max(0, Math.min(1, share))) * (height - 2 * pad);
  context.strokeStyle = inkOf("--line");
  context.lineWidth = scale;
  for (const [share] of ticksOf(axis)) {
    context.beginPath();
    context.moveTo(0, y(share));
    context.lineTo(width, y(share));
    context.stroke();
  }
  for (const one of series) {
    context.strokeStyle = context.fillStyle = inkOf(one.colour);
    context.globalAlpha = one.faint ? 0.2 : 1;
    context.lineWidth = (one.strong ? 2.6 : 1.7) * scale;
    context.lineJoin = "round";
    trace(context, one, range, axis, { x, y, width, height, scale });
  }
  context.globalAlpha = 1;
};

// Of every column the lowest and the highest number, so that spikes stay; gaps where none is finite.
const trace = (context, one, range, axis, { x, y, width, height, scale }) => {
  const first = Math.max(0, before(one.steps, range[0]));
  const last = Math.min(one.steps.length - 1, before(one.steps, range[1]) + 1);
  const size = Math.max(1, Math.floor((last - first + 1) / ((2 * width) / scale)));
  const broken = [];
  let drawing = false,
    points = 0,
    alone = null;
  context.beginPath();
  for (let k = first; k <= last; k += size) {
    let low = -1,
      high = -1;
    for (let n = k; n < Math.min(k + size, last + 1); n++) {
      const value = plain(one.values[n], axis.powers, axis.logs);
      if (!Number.isFinite(value)) {
        if (!(one.values[n] === -Infinity)) broken.push(one.steps[n]);
        continue;
      }
      if (low < 0 || one.values[n] < one.values[low]) low = n;
      if (high < 0 || one.values[n] > one.values[high]) high = n;
    }
    if (low < 0) {
      drawing = false;
      continue;
    }
    for (const n of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
      const place = [x(one.steps[n] + 0.5), y(axis.share(one.values[n]))];
      if (drawing) context.lineTo(...place);
      else context.moveTo(...place);
      drawing = true;
      alone = place;
      points += 1;
    }
  }
  context.stroke();
  for (const [left, top] of points === 1 ? [alone] : []) {
    // a line of one point is not seen
    context.fillRect(left - 1.5 * scale, top - 1.5 * scale, 3 * scale, 3 * scale);
  }
  context.strokeStyle = inkOf("--break");
  const some = Math.ceil(broken.length / 200);
  for (const step of broken.filter((_, k) => k % some === 0)) {
    context.beginPath();
    context.moveTo(x(step + 0.5), 0);
    context.lineTo(x(step + 0.5), 6 * scale);
    context.stroke();
  }
};
