// The overlay panel: rows of text that take the keys while they have the focus, and say their own width in columns.
//
// It decides nothing. A key goes to the kernel under the browser's name for it; Tab and every chord are left alone.

const PROBE = 20; // columns of the text that is measured; short, since what is not seen takes up width all the same
const PANEL_KEYS = ["ArrowUp", "ArrowDown", "a", "r", "Escape"];

function panelView(model) {
  const box = focusable(make("div", "cedar-panel"));
  box.setAttribute("role", "application"); // the keys are its own, and a screen reader has to let them through
  const text = make("pre");
  const probe = make("span", "cedar-probe", "0".repeat(PROBE));
  probe.setAttribute("aria-hidden", "true");
  box.append(text, probe);
  let open = false;
  let told = 0;

  box.addEventListener("keydown", (event) => {
    if (!open || event.ctrlKey || event.altKey || event.metaKey || event.key === "Tab") return;
    event.stopPropagation(); // a page shortcut must not hear what is meant for the panel
    if (!PANEL_KEYS.includes(event.key)) return;
    event.preventDefault();
    model.send({ type: "key", key: event.key });
  });

  const measure = () => {
    const columns = Math.floor((text.clientWidth * PROBE) / (probe.getBoundingClientRect().width || 1));
    if (!open || columns < 1 || columns === told) return;
    told = columns;
    model.send({ type: "resize", columns });
  };
  const sizes = new ResizeObserver(measure);
  sizes.observe(box);

  return {
    node: box,
    stop: () => sizes.disconnect(),
    // Returns whether the panel has just closed. `mayTake`: whether it may take the focus when it opens.
    update(now, gone, mayTake) {
      const shows = now.open === true && !gone;
      box.hidden = !shows;
      if (shows) {
        box.setAttribute("aria-label", now.label);
        setText(text, now.rows.join("\n"));
        box.tabIndex = 0;
        if (!open && mayTake) box.focus();
      }
      const closed = open && !shows;
      open = shows;
      if (shows) measure();
      else told = 0;
      return closed;
    },
  };
}
