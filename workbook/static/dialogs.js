// The dialogs of one play, each staying where it is after its answer, and the ledger beneath them.

function render({ model, el }) {
  const root = controlRoot();
  const list = make("div", "cedar-dialogs");
  const status = liveRegion();
  const ledger = make("div");
  root.append(make("p", "cedar-title", model.get("title")), list, status, ledger);
  el.append(root);

  const drawn = new Map();
  let drawnGrid = null;
  return follow(model, (gone) => {
    for (const data of model.get("dialogs")) {
      if (!drawn.has(data.id)) {
        drawn.set(data.id, dialogView(model, data));
        list.append(drawn.get(data.id).node);
      }
      drawn.get(data.id).update(data, gone);
    }
    const grid = model.get("ledger");
    if (grid !== drawnGrid) {
      drawnGrid = grid;
      ledger.replaceChildren(table(grid));
    }
    setText(status, gone ? GONE : model.get("status"));
  });
}

export default { render };
