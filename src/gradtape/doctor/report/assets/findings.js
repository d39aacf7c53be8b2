// The findings: one at a time is drawn, a filter chooses among them, a lesson opens beside them.
const cards = () => all(".card");
const visible = () => cards().filter((card) => !card.hidden);

const select = (finding, scroll) => {
  closePanel();
  document.body.dataset.finding = finding;
  for (const piece of all("[data-for]")) {
    const role = told(piece.dataset.for, finding);
    if (role === null) delete piece.dataset.now;
    else piece.dataset.now = role;
    if (piece.classList.contains("spot")) piece.tabIndex = role === null ? -1 : 0;
  }
  for (const card of cards()) {
    card.querySelector("h2 button").setAttribute("aria-expanded", String("now" in card.dataset));
    if ("now" in card.dataset) view.finding = card.dataset.key;
  }
  showSource(scroll);
  refreshStep();
};

// Scroll sideways no farther than it takes to see the culprit.
const aside = (sheet, row) => {
  sheet.scrollLeft = 0;
  const culprit = row.querySelector(".culprit[data-now]");
  if (culprit === null) return;
  const frame = sheet.getBoundingClientRect();
  const here = culprit.getClientRects()[0];
  // Its beginning will do: the start of the other lines is worth more than its end.
  const needed = Math.min(here.right, here.left + 240) + 24 - frame.right;
  const most = here.left - 8 - row.querySelector(".number").getBoundingClientRect().right;
  sheet.scrollLeft = Math.max(0, Math.min(needed, most));
};

const showSource = (scroll) => {
  const row = document.querySelector('.row[data-now="here"]');
  if (row === null) return;
  const sheet = row.closest(".sheet");
  const high = row.offsetTop + 4 * row.offsetHeight <= sheet.clientHeight;
  sheet.scrollTop = high ? 0 : row.offsetTop - sheet.clientHeight / 2;
  aside(sheet, row);
  if (!scroll) return;
  const box = sheet.getBoundingClientRect();
  if (box.top < 0 || box.top > window.innerHeight / 2) {
    sheet.closest(".file").scrollIntoView({ block: "start" });
  }
  row.classList.remove("flash");
  void row.offsetWidth; // so that the flash begins anew
  row.classList.add("flash");
};

const readFindings = () => {
  for (const card of cards()) {
    card.addEventListener("click", (event) => {
      if (event.target.closest(".teach, .onset") || String(window.getSelection()) !== "") return;
      if (!("now" in card.dataset)) select(card.dataset.finding, true);
      else if (event.target.closest("h2")) showSource(true);
    });
    card.querySelector("h2 button").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = step && visible()[visible().indexOf(card) + step];
      if (!next) return;
      event.preventDefault();
      next.querySelector("h2 button").focus();
      select(next.dataset.finding, true);
    });
  }
  for (const teach of all(".teach")) {
    teach.addEventListener("click", () => openLesson(teach));
  }
  for (const lesson of all("dialog.lesson")) {
    lesson.querySelector(".close").addEventListener("click", () => lesson.close());
    lesson.addEventListener("click", (event) => event.target === lesson && lesson.close());
  }
  makeFilter();
};

const openLesson = (teach) => {
  const lesson = document.getElementById("lesson-" + teach.dataset.lesson);
  lesson.showModal();
  // A frame is as high as its page, so its middle may be far away.
  if ("framed" in document.body.dataset) {
    lesson.style.margin = "0 auto";
    lesson.style.top = Math.max(8, teach.getBoundingClientRect().top - 120) + "px";
  }
};

// --- the filter ---
const makeFilter = () => {
  if (cards().length < 2) return;
  const count = (of) => {
    const found = new Map();
    for (const card of cards()) found.set(card.dataset[of], (found.get(card.dataset[of]) || 0) + 1);
    return found;
  };
  const field = make("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter findings",
    autocomplete: "off",
    "aria-label": "Filter findings by their words",
    title: "Press / to come here",
    input: () => {
      view.words = field.value;
      filter();
    },
  });
  field.value = view.words;
  const chips = Array.from(count("state"), ([state, times]) =>
    button(
      `${state} ${times}`,
      `Show findings whose state is ${state}`,
      (event) => {
        if (!view.states.delete(state)) view.states.add(state);
        event.currentTarget.setAttribute("aria-pressed", String(view.states.has(state)));
        filter();
      },
      { class: "chip", "data-state": state, "aria-pressed": String(view.states.has(state)) },
    ),
  );
  const rules = count("rule");
  const choice = make(
    "select",
    {
      "aria-label": "Show findings of one rule",
      change: () => {
        view.rule = choice.value;
        filter();
      },
    },
    make("option", { value: "" }, "All rules"),
    ...Array.from(rules, ([rule, times]) =>
      make("option", { value: rule }, times > 1 ? `${rule} (${times})` : rule),
    ),
  );
  choice.value = rules.has(view.rule) ? view.rule : "";
  const clear = button(
    "Clear",
    "Show all findings",
    () => {
      Object.assign(view, { words: "", rule: "", states: new Set() });
      field.value = choice.value = "";
      for (const chip of chips) chip.setAttribute("aria-pressed", "false");
      filter();
      field.focus();
    },
    { class: "clear" },
  );
  const bar = make(
    "div",
    { class: "filter controls", role: "search" },
    field,
    chips.length > 1 ? make("div", { class: "chips" }, ...chips) : null,
    rules.size > 1 ? choice : null,
    make("p", { class: "count", role: "status" }),
    clear,
  );
  document.querySelector(".findings").prepend(bar);
  filter();
};

const filter = () => {
  const words = view.words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards()) {
    const { state, rule } = card.dataset;
    const text = card.textContent.toLowerCase();
    card.hidden =
      (view.states.size > 0 && !view.states.has(state)) ||
      (view.rule !== "" && rule !== view.rule) ||
      !words.every((word) => text.includes(word));
  }
  const shown = visible();
  const some = shown.length < cards().length;
  document.querySelector(".filter .count").textContent = some
    ? `${shown.length} of ${several(cards().length, "finding")}`
    : "";
  document.querySelector(".filter .clear").hidden =
    !some && view.words === "" && view.rule === "" && view.states.size === 0;
  if (shown.length > 0 && !shown.some((card) => "now" in card.dataset)) {
    select(shown[0].dataset.finding, false);
  }
};
