"use strict";
// One finding at a time is drawn: what it draws is told by `data-for`, see listing.py.
(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const cards = all(".card");
  const panel = document.getElementById("panel");
  let opened = null; // the expression whose panel is shown
  let pinned = false; // it was clicked, so it stays

  // "0:flow 2:break" and 2: "break"
  const told = (words, finding) => {
    const found = (words || "").split(" ").find((word) => word.startsWith(finding + ":"));
    return found === undefined ? null : found.slice(found.indexOf(":") + 1);
  };

  // --- findings ---
  const select = (finding, scroll) => {
    close();
    document.body.dataset.finding = finding;
    for (const piece of all("[data-for]")) {
      const role = told(piece.dataset.for, finding);
      if (role === null) delete piece.dataset.now;
      else piece.dataset.now = role;
      if (piece.classList.contains("spot")) piece.tabIndex = role === null ? -1 : 0;
    }
    for (const card of cards) {
      card.querySelector("button").setAttribute("aria-expanded", String("now" in card.dataset));
    }
    show(scroll);
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

  const show = (scroll) => {
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

  cards.forEach((card, k) => {
    card.addEventListener("click", () => {
      if (String(window.getSelection()) === "") select(card.dataset.finding, true);
    });
    card.querySelector("button").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = step && cards[k + step];
      if (!next) return;
      event.preventDefault();
      next.querySelector("button").focus();
      select(next.dataset.finding, true);
    });
  });

  // --- expressions ---
  const open = (spot) => {
    const name = told(spot.dataset.panel, document.body.dataset.finding);
    const content = name && document.getElementById(name);
    if (!content) return;
    close();
    opened = spot;
    spot.classList.add("open");
    panel.replaceChildren(...Array.from(content.cloneNode(true).childNodes));
    panel.hidden = false;
    const at = spot.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, room - panel.offsetWidth - 8));
    const below = at.bottom + 8 + panel.offsetHeight <= window.innerHeight || at.top < panel.offsetHeight;
    const top = below ? at.bottom + 8 : at.top - 8 - panel.offsetHeight;
    panel.style.left = left + window.scrollX + "px";
    panel.style.top = top + window.scrollY + "px";
  };

  const close = () => {
    if (opened !== null) opened.classList.remove("open");
    opened = null;
    pinned = false;
    panel.hidden = true;
  };

  for (const spot of all(".spot")) {
    spot.addEventListener("mouseenter", () => pinned || open(spot));
    spot.addEventListener("mouseleave", () => pinned || close());
    spot.addEventListener("focus", () => open(spot));
    spot.addEventListener("blur", () => pinned || close());
    spot.addEventListener("click", () => {
      const again = opened === spot && pinned;
      if (again) close();
      else {
        open(spot);
        pinned = opened !== null;
      }
    });
    spot.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      spot.click();
    });
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".spot, #panel")) close();
  });
  for (const code of all(".sheet")) code.addEventListener("scroll", close);

  if (cards.length > 0) {
    const wanted = /^#f(\d+)$/.exec(window.location.hash);
    const first = wanted !== null && cards[Number(wanted[1])] ? wanted[1] : "0";
    select(first, false);
  }
})();
