// A Review Desk to try things at: a row of buttons, the panel, the dialogs, and the ledger beneath them.

function render({ model, el }) {
  const root = controlRoot();
  const actions = make("div", "cedar-actions");
  actions.setAttribute("role", "group");
  actions.setAttribute("aria-label", "What you can do at the desk");
  const list = make("div", "cedar-dialogs");
  const panel = panelView(model);
  const status = liveRegion();
  const ledger = make("div");
  let pressed = null;
  const buttons = model.get("buttons").map(({ id, text }) => {
    const node = button(text, () => {
      pressed = node;
      model.send({ type: "press", button: id });
    });
    return node;
  });
  actions.append(...buttons);
  root.append(make("p", "cedar-title", model.get("title")), actions, panel.node, list, status, ledger);
  el.append(root);

  const drawn = new Map();
  let drawnGrid = null;
  const stop = follow(model, (gone) => {
    buttons.forEach((node) => setDisabled(node, gone));
    for (const data of model.get("dialogs")) {
      if (!drawn.has(data.id)) {
        drawn.set(data.id, dialogView(model, data));
        list.append(drawn.get(data.id).node);
      }
      drawn.get(data.id).update(data, gone);
    }
    const hadFocus = panel.node.contains(document.activeElement);
    const closed = panel.update(model.get("panel"), gone, pressed !== null && pressed.contains(document.activeElement));
    if (closed && hadFocus) (pressed ?? buttons[0]).focus();
    const grid = model.get("ledger");
    if (grid !== drawnGrid) {
      drawnGrid = grid;
      ledger.replaceChildren(table(grid));
    }
    setText(status, gone ? GONE : model.get("status"));
  });
  return () => {
    panel.stop();
    stop();
  };
}

export default { render };
