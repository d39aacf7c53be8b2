// A step that is pointed at: what the findings, the source and its panels say of it.
let pointed = null; // the timeline that was pointed at last

const isIn = (found, step) => found.steps.some(([first, last]) => first <= step && step <= last);

const showStep = (timeline) => {
  pointed = timeline;
  const step = timeline && timeline.chosen.step;
  const here = timeline ? timeline.record.findings : [];
  for (const card of cards()) {
    const found = step && here.find((one) => String(one.finding) === card.dataset.finding);
    card.toggleAttribute("data-absent", Boolean(found) && !isIn(found, step));
    let tell = card.querySelector(".in-step");
    if (!found) {
      if (tell) tell.remove();
      continue;
    }
    if (!tell) card.querySelector("h2").after((tell = make("p", { class: "in-step" })));
    tell.textContent = `${isIn(found, step) ? "in" : "not in"} step ${step.toLocaleString("en")}`;
  }
  refreshStep();
};

// What the source can say of the step: that the gradient arrived, or as in which step it is drawn.
const refreshStep = () => {
  const step = pointed && pointed.chosen.step;
  const main = document.querySelector("main");
  const found =
    step &&
    pointed.record.findings.find((one) => String(one.finding) === document.body.dataset.finding);
  const key = document.querySelector(".key-line");
  let words = key && key.querySelector(".moment");
  if (!found || !key || found.lines.length === 0) {
    delete main.dataset.sound;
    if (words) words.remove();
    return;
  }
  const states = found.lines.map((k) => known(pointed.record.lines[k], step));
  const sound = states.every(({ state }) => state === "ok") && !isIn(found, step);
  main.toggleAttribute("data-sound", sound);
  if (!words) key.append((words = make("span", { class: "moment" })));
  const { state, norm } = states[0];
  const said = norm === null ? `the gradient is ${FACES[state][0]}` : `norm ${digits(norm)}`;
  words.textContent =
    `step ${step.toLocaleString("en")}: ` +
    (sound
      ? `the gradient arrives, ${said}`
      : said +
        (step === found.drawn ? "" : `; drawn as in step ${found.drawn.toLocaleString("en")}`));
};

// Rows for the panel of a source: its gradient in the step that is pointed at.
const ofStep = (content) => {
  const step = pointed && pointed.chosen.step,
    source = content.dataset.source;
  const line = step && source && pointed.record.lines.find((one) => one.name === source);
  if (!line) return [];
  const { state, norm } = known(line, step);
  return [
    make(
      "p",
      { class: "of-step" },
      `in step ${step.toLocaleString("en")}: `,
      make("b", {}, norm === null ? FACES[state][0] : `norm ${digits(norm)}`),
    ),
  ];
};
