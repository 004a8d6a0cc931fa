// One dialog: its text, its buttons or its field, and how it ended. It stays where it is after its answer.

const EDITOR_HINT = "Enter starts a new line. Ctrl+Q or Ctrl+Enter submits, Escape cancels."; // as the host words it

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
  const hints = [];
  let field = null;
  if (data.options.length) {
    data.options.forEach((text, option) => buttons.push(button(text, () => send({ type: "reply", option }))));
  } else {
    const isEditor = data.kind === "editor";
    field = textField(isEditor ? "textarea" : "input", "Your text");
    field.value = data.prefill;
    field.placeholder = data.placeholder;
    if (isEditor) {
      field.rows = Math.min(12, Math.max(3, data.prefill.split("\n").length));
      const hint = make("p", "cedar-label", EDITOR_HINT);
      hint.id = uniqueName("hint");
      field.setAttribute("aria-describedby", hint.id);
      hints.push(hint);
    }
    field.addEventListener("keydown", (event) => {
      // In an editor Enter starts a new line, so it takes a chord to submit.
      const chord = event.ctrlKey && !event.altKey && ["Enter", "q"].includes(event.key);
      if (isEditor ? !chord : event.key !== "Enter") return;
      event.preventDefault();
      send({ type: "reply", text: field.value });
    });
    buttons.push(button("OK", () => send({ type: "reply", text: field.value })));
  }
  buttons.push(button("Dismiss", () => send({ type: "dismiss" }), "cedar-quiet"));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !open) return; // once it is over, Escape has no meaning here, and leads out
    event.preventDefault();
    event.stopPropagation();
    send({ type: "dismiss" });
  });

  actions.append(...buttons);
  group.append(legend, ...(field ? [field] : []), ...hints, actions, ended);
  return {
    node: group,
    update(now, gone) {
      open = (now.open || now.late === true) && !gone; // a late answer can be sent; the kernel says what it is worth
      buttons.forEach((node) => setDisabled(node, !open));
      if (field) field.readOnly = !open;
      setText(ended, now.ended ? `${now.ended[0].toUpperCase()}${now.ended.slice(1)}.` : "");
    },
  };
}
