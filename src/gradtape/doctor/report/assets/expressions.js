// The expressions on the path: each opens a panel with the numbers that it held.
const panel = document.getElementById("panel");
let opened = null; // the expression whose panel is shown
let pinned = false; // it was clicked, so it stays

const openPanel = (spot) => {
  const name = told(spot.dataset.panel, document.body.dataset.finding);
  const content = name && document.getElementById(name);
  if (!content) return;
  closePanel();
  opened = spot;
  spot.classList.add("open");
  panel.replaceChildren(...Array.from(content.cloneNode(true).childNodes), ...ofStep(content));
  panel.hidden = false;
  const at = spot.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(at.left, room - panel.offsetWidth - 8));
  const below =
    at.bottom + 8 + panel.offsetHeight <= window.innerHeight || at.top < panel.offsetHeight;
  const top = below ? at.bottom + 8 : at.top - 8 - panel.offsetHeight;
  panel.style.left = left + window.scrollX + "px";
  panel.style.top = top + window.scrollY + "px";
};

const closePanel = () => {
  if (opened !== null) opened.classList.remove("open");
  opened = null;
  pinned = false;
  panel.hidden = true;
};

const readExpressions = () => {
  for (const spot of all(".spot")) {
    spot.addEventListener("mouseenter", () => pinned || openPanel(spot));
    spot.addEventListener("mouseleave", () => pinned || closePanel());
    spot.addEventListener("focus", () => openPanel(spot));
    spot.addEventListener("blur", () => pinned || closePanel());
    spot.addEventListener("click", () => {
      const again = opened === spot && pinned;
      if (again) closePanel();
      else {
        openPanel(spot);
        pinned = opened !== null;
      }
    });
    spot.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      spot.click();
    });
  }
  for (const sheet of all(".sheet")) sheet.addEventListener("scroll", closePanel);
};
