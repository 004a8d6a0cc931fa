// The dialogs of one play, each staying where it is after its answer, and the ledger beneath them.

function dialogView(model, data) {
  const group = make("fieldset", "cedar-dialog");
  const legend = make("legend");
  legend.append(make("span", "cedar-label", data.label), make("span", "cedar-dialog-text", data.text));
  const ended = make("p", "cedar-ended");
  const actions = make("div", "cedar-actions");
  let open = true;

  const send = (message) => {
    if (!open) return; // the second click of a double click
    open = false;
    buttons.forEach((node) => setDisabled(node, true));
    model.send({ dialog: data.id, ...message });
  };

  const buttons = [];
  let field = null;
  if (data.options.length) {
    data.options.forEach((text, option) => buttons.push(button(text, () => send({ type: "reply", option }))));
  } else {
    const isEditor = data.kind === "editor";
    field = textField(isEditor ? "textarea" : "input", "Your text");
    field.value = data.prefill;
    field.placeholder = data.placeholder;
    if (!isEditor) {
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter") send({ type: "reply", text: field.value });
      });
    }
    buttons.push(button("OK", () => send({ type: "reply", text: field.value })));
  }
  buttons.push(button("Dismiss", () => send({ type: "dismiss" }), "cedar-quiet"));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    send({ type: "dismiss" });
  });

  actions.append(...buttons);
  group.append(legend, ...(field ? [field] : []), actions, ended);
  return {
    node: group,
    update(now, gone) {
      open = now.open && !gone;
      buttons.forEach((node) => setDisabled(node, !open));
      if (field) field.readOnly = !open;
      setText(ended, now.ended ? `${now.ended[0].toUpperCase()}${now.ended.slice(1)}.` : "");
    },
  };
}

function render({ model, el }) {
  const root = make("div", "cedar-control");
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
