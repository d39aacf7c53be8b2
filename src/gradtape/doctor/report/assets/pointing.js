// How a timeline is pointed at, held and zoomed: by mouse, by finger and by keys.
const mindPointer = (one, box) => {
  box.append(
    make("i", { class: "cross", hidden: true }),
    make("i", { class: "brush", hidden: true }),
  );
  one.plots.push(box);
  const heat = box.contains(one.heat);
  let from = null;
  const place = (event) => {
    const frame = box.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width));
    const row = heat ? Math.floor((event.clientY - frame.top) / one.high) : one.chosen.row;
    return { share, row: Math.max(0, Math.min(one.record.lines.length - 1, row)) };
  };
  const move = (event) => {
    const { share, row } = place(event);
    if (from !== null && event.pointerType !== "touch" && Math.abs(event.clientX - from.x) > 4) {
      one.brush(from.share, share);
    } else if (!one.chosen.pinned || event.pointerType === "touch") {
      one.choose(one.stepAt(share, row), row);
    }
  };
  box.addEventListener("pointermove", move);
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = { x: event.clientX, ...place(event) };
    box.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") one.choose(one.stepAt(from.share, from.row), from.row);
  });
  box.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const { share, row } = place(event),
      was = from;
    from = null;
    one.brush(null);
    if (event.pointerType !== "touch" && Math.abs(event.clientX - was.x) > 4)
      one.cut(was.share, share);
    else one.hold(one.stepAt(share, row), row, event.pointerType === "touch");
  });
  box.addEventListener("pointercancel", () => {
    from = null;
    one.brush(null);
  });
  box.addEventListener("pointerleave", () => {
    if (from === null && !one.chosen.pinned && document.activeElement !== one.heat)
      one.clear();
  });
  box.addEventListener("dblclick", () => one.zoom(null));
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      one.scale(event.deltaY > 0 ? 1.25 : 0.8, place(event).share);
    },
    { passive: false },
  );
};

const pressKey = (one, event) => {
  const { chosen, record } = one,
    [from, to] = one.range;
  const far = Math.max(
    1,
    grain(record),
    Math.round((to - from) / Math.max(1, one.heat.clientWidth)),
  );
  const step = chosen.step || from,
    line = record.lines[chosen.row];
  const much = event.shiftKey ? 10 * far : far;
  const next = line.spells.find((spell) => spell.from > step);
  const past = line.spells.filter((spell) => spell.from < step).pop();
  const does = {
    ArrowLeft: () => one.choose(step - much, chosen.row),
    ArrowRight: () => one.choose(step + much, chosen.row),
    ArrowUp: () => one.choose(step, Math.max(0, chosen.row - 1)),
    ArrowDown: () => one.choose(step, Math.min(record.lines.length - 1, chosen.row + 1)),
    Home: () => one.choose(1, chosen.row),
    End: () => one.choose(record.steps, chosen.row),
    n: () => next && one.choose(next.from, chosen.row),
    p: () => past && one.choose(past.from, chosen.row),
    Enter: () => one.hold(step, chosen.row, false),
    " ": () => one.hold(step, chosen.row, false),
    v: () => one.toggle(chosen.row),
    "+": () => one.scale(0.5),
    "=": () => one.scale(0.5),
    "-": () => one.scale(2),
    0: () => one.zoom(null),
    Escape: () => one.clear(),
  }[event.key];
  if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  does();
};
