// The numbers of a place that asks for gradients, unpacked as timeline.py packs them.
const ZERO = 65533,
  INFINITE = 65534,
  NOT_A_NUMBER = 65535,
  CODES = 65532;
const SILENT = new Set(["none", "error", "unseen"]); // states without a norm
const SOUND = new Set(["ok", "vanishing", "exploding", "wrong"]); // states whose norm says more

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

const unpack = (element) => {
  const data = JSON.parse(element.textContent);
  data.lines = data.lines.map((line) => unpackLine(line, data));
  data.loss = data.loss && unpackLoss(data.loss);
  for (const found of data.findings) {
    if (found.state !== "wrong") continue;
    for (const k of found.lines)
      for (const [first, last] of found.steps) {
        const rank = data.states.indexOf("wrong");
        data.lines[k].spells = disproved(data.lines[k].spells, {
          from: first,
          to: last + 1,
          rank,
          state: "wrong",
        });
      }
  }
  return data;
};

const unpackLoss = ({ every, numbers }) => {
  const values = new Float64Array(bytes(numbers));
  return { values, steps: Float64Array.from(values, (_, k) => 1 + k * every) };
};

const unpackLine = (line, data) => {
  const codes = new Uint16Array(bytes(line.norms));
  const log = (code) =>
    code === ZERO
      ? -Infinity
      : code === INFINITE
        ? Infinity
        : code === NOT_A_NUMBER
          ? NaN
          : line.low + ((line.high - line.low) * code) / CODES;
  const spells = [];
  for (let k = 0; k < line.turns.length; k += 2) {
    const to = Math.min(line.turns[k + 2] || Infinity, data.steps + 1);
    if (line.turns[k] < to) {
      const rank = line.turns[k + 1]; // the worst state first
      spells.push({ from: line.turns[k], to, rank, state: data.states[rank] });
    }
  }
  const logs = Float64Array.from(codes, log);
  return { ...line, spells, logs, steps: stepsOf(line, spells, logs.length) };
};

// The steps that the norms belong to: those whose state has one, every so many.
const stepsOf = (line, spells, length) => {
  const told = spells.filter((spell) => !SILENT.has(spell.state));
  const counted = told.reduce((sum, spell) => sum + spell.to - spell.from, 0);
  const scale = line.count > 0 ? counted / line.count : 1; // 1, unless spells have been merged
  const steps = new Float64Array(length);
  let at = 0,
    before = 0;
  for (let k = 0; k < length; k++) {
    const place = Math.floor(k * line.every * scale);
    while (at < told.length - 1 && place >= before + told[at].to - told[at].from) {
      before += told[at].to - told[at].from;
      at += 1;
    }
    steps[k] = told.length ? told[at].from + place - before : 1 + place;
  }
  return steps;
};

// What looked well was not.
const disproved = (spells, wrong) =>
  spells.flatMap((spell) => {
    const from = Math.max(spell.from, wrong.from),
      to = Math.min(spell.to, wrong.to);
    if (spell.state !== "ok" || from >= to) return [spell];
    return [
      { ...spell, to: from },
      { ...wrong, from, to },
      { ...spell, from: to },
    ].filter((part) => part.from < part.to);
  });

// The last index whose number is not above x, or -1.
const before = (numbers, x) => {
  let low = 0,
    high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

const stateAt = (line, step) =>
  (line.spells.find((spell) => spell.from <= step && step < spell.to) || { state: "unseen" }).state;

// What is known of a gradient in a step: its state, and its norm where that says more.
const known = (line, step) => {
  const state = stateAt(line, step);
  const k = before(line.steps, step);
  const norm =
    SOUND.has(state) && k >= 0 && Number.isFinite(line.logs[k]) ? 10 ** line.logs[k] : null;
  return { state, norm };
};

const lossAt = (record, step) => {
  const k = record.loss ? before(record.loss.steps, step) : -1;
  return k < 0 ? null : record.loss.values[k];
};

// Of how many steps one is kept.
const grain = (record) =>
  Math.max(
    1,
    ...record.lines.map((line) => line.every),
    record.loss ? record.loss.steps[1] - 1 || 1 : 1,
  );
