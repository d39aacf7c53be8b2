// Reads the page: all of what it holds, anew whenever that is exchanged.
const read = (key) => {
  closePanel();
  readExpressions();
  readTimelines();
  readFindings();
  const found = cards();
  if (found.length === 0) return;
  const card = found.find((one) => one.dataset.key === key) || found[0];
  select(card.hidden && visible()[0] ? visible()[0].dataset.finding : card.dataset.finding, false);
};

if (window.parent !== window) {
  // In a notebook's frame, which shall be as high as the page.
  document.body.dataset.framed = "";
  const tell = () =>
    window.parent.postMessage(
      { gradtape: "height", height: Math.ceil(document.body.getBoundingClientRect().height) },
      "*",
    );
  new ResizeObserver(tell).observe(document.body);
}

mindKeys();
const wanted = document.querySelector(window.location.hash.replace(/^#(?!f\d+$).*/, "") || ".card");
read(wanted ? wanted.dataset.key : null);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("beforeprint", redraw);
window.addEventListener("afterprint", redraw);
document.getElementById("help").addEventListener("click", showKeys);
if ("follow" in document.body.dataset) follow();
