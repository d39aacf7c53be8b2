// A page that was served asks every two seconds what is new, and shows it where the reader is.
const OFTEN = 2000;

const follow = () => {
  const badge = document.getElementById("run");
  let version = null;
  const say = (state, words) => {
    badge.dataset.run = state;
    badge.textContent = words;
  };
  const steps = () => Math.max(0, ...timelines.map((one) => one.record.steps));
  const ask = async () => {
    try {
      const [number, state] = (await text("version")).trim().split(/\s+/);
      const busy = document.querySelector("dialog[open]") || String(window.getSelection()) !== "";
      if (number !== version && !busy) {
        swap(new DOMParser().parseFromString(await text("page"), "text/html"));
        version = number;
      }
      if (state === "ended" && number === version) return say("ended", "ended");
      say("running", steps() > 0 ? `running, step ${steps().toLocaleString("en")}` : "running");
    } catch {
      say("lost", "connection lost");
    }
    setTimeout(ask, OFTEN);
  };
  ask();
};

const text = async (name) => {
  const answer = await fetch(name, { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
};

// Scripts of the new document do not run: those of this one take its elements.
const swap = (fresh) => {
  const places = all(".sheet, .findings, .table").map((box) => [box.scrollTop, box.scrollLeft]);
  const scroll = [window.scrollX, window.scrollY];
  const held = pinned && opened && opened.dataset.panel;
  const focus = document.activeElement && path(document.activeElement);
  const moved = pointed && pointed.figure.dataset.key;
  const finding = view.finding;
  for (const name of ["header", "main"]) {
    document.querySelector(name).replaceWith(document.adoptNode(fresh.querySelector(name)));
  }
  document.title = fresh.title;
  pointed = null;
  read(finding);
  all(".sheet, .findings, .table").forEach(
    (box, k) => places[k] && box.scrollTo(places[k][1], places[k][0]),
  );
  window.scrollTo(...scroll);
  const again = timelines.find((one) => one.figure.dataset.key === moved);
  if (again) showStep(again);
  const target = focus && document.querySelector(focus);
  if (target) target.focus({ preventScroll: true });
  const spot = held && all(".spot").find((one) => one.dataset.panel === held);
  if (spot) {
    openPanel(spot);
    pinned = opened !== null;
  }
};

// A way to find the same element among the new ones.
const path = (element) => {
  if (element.id) return "#" + element.id;
  const card = element.closest(".card");
  if (card) return `#${card.id} h2 button`;
  const figure = element.closest(".timeline");
  return figure ? `.timeline[data-record="${figure.dataset.record}"] .heat` : null;
};
