// What the reader has chosen, which stays when the page follows a run; and how elements are made.
const view = {
  finding: null, // the key of the card that is open
  words: "", // the filter
  states: new Set(),
  rule: "",
  timelines: new Map(), // by the key of a figure: zoom, step, what is drawn
};

const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

// Text is text: nothing here is ever parsed as markup.
const make = (name, attributes = {}, ...parts) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...parts.filter((part) => part !== null));
  return made;
};

const button = (words, title, click, more = {}) =>
  make("button", { type: "button", title, click, ...more }, words);

// "0:flow 2:break" and 2: "break"
const told = (words, finding) => {
  const found = (words || "").split(" ").find((word) => word.startsWith(finding + ":"));
  return found === undefined ? null : found.slice(found.indexOf(":") + 1);
};

const several = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

// Four digits, with a minus sign that can be seen.
const digits = (x) => {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const short =
    Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5
      ? Number(x.toPrecision(4)).toString()
      : x === 0
        ? "0"
        : x.toExponential(2).replace("e+", "e");
  return short.replace(/-/g, "−");
};
