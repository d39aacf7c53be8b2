// Keys for the whole page, and the list of all of them.
const KEYS = [
  ["/", "filter the findings"],
  ["↑ ↓", "the finding before, the next"],
  ["Tab", "go on to expressions and the heat map"],
  ["← → ↑ ↓", "in the heat map: step and gradient (Shift: ten steps)"],
  ["n, p", "in the heat map: the next change of state, the one before"],
  ["Enter", "open; in the heat map: hold the step"],
  ["v", "in the heat map: draw the norms of the gradient, or hide them"],
  ["+ − 0", "in the heat map: fewer steps, more, all"],
  ["Escape", "close, let go"],
  ["?", "these keys"],
];

const showKeys = () => {
  let keys = document.getElementById("keys");
  if (!keys) {
    const rows = KEYS.flatMap(([key, words]) => [
      make("dt", {}, make("kbd", {}, key)),
      make("dd", {}, words),
    ]);
    keys = make(
      "dialog",
      { id: "keys", class: "lesson", "aria-label": "Keys" },
      button("Close", "Escape", () => keys.close(), { class: "close" }),
      make("h2", {}, "Keys"),
      make("dl", {}, ...rows),
    );
    document.body.append(keys);
  }
  if (!keys.open) keys.showModal();
};

const mindKeys = () => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.getElementById("filter");
    const writing = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      closePanel();
      if (event.target === field) field.blur();
      else if (pointed) pointed.clear();
    } else if (event.key === "/" && field && !writing) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "?" && !writing) {
      event.preventDefault();
      showKeys();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".spot, #panel")) closePanel();
  });
};
