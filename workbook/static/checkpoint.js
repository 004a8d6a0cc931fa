// One checkpoint: choose or write, commit, and then the reveal in the same place.

function optionView(model, name, data, isLocked) {
  const label = make("label", "cedar-option");
  const input = focusable(make("input"));
  Object.assign(input, { type: "radio", name, value: data.id });
  // Arrow keys and the mouse both come through here; a locked answer stays where it is.
  input.addEventListener("click", (event) => {
    if (isLocked()) event.preventDefault();
  });
  input.addEventListener("change", () => {
    model.set("picked", data.id);
    model.save_changes();
  });
  const mark = make("span", "cedar-mark", "your answer, locked");
  const text = make("span", "", data.text);
  label.append(input, text, mark);
  return {
    node: label,
    update(locked, answer, picked) {
      const chosen = data.id === (locked ? answer : picked);
      if (input.checked !== chosen) input.checked = chosen;
      if (locked) input.setAttribute("aria-disabled", "true");
      else input.removeAttribute("aria-disabled");
      mark.hidden = !(locked && chosen);
      label.classList.toggle("cedar-chosen", locked && chosen);
    },
  };
}

function textView(model) {
  const field = textField("textarea", "Your answer");
  field.rows = 5;
  field.addEventListener("input", () => {
    model.set("picked", field.value);
    model.save_changes();
  });
  return {
    node: field,
    update(locked, answer, picked) {
      const shown = locked ? answer : picked;
      if (field.value !== shown && (locked || document.activeElement !== field)) field.value = shown;
      field.readOnly = locked;
    },
  };
}

function render({ model, el }) {
  const root = make("div", "cedar-control");
  const group = make("fieldset", "cedar-question");
  group.append(make("legend", "cedar-prompt", model.get("prompt")));
  const isChoice = model.get("kind") === "choice";
  const name = uniqueName("options");
  const isLocked = () => model.get("locked");
  const views = isChoice
    ? model.get("options").map((option) => optionView(model, name, option, isLocked))
    : [textView(model)];
  group.append(...views.map((view) => view.node));

  const commit = button("Commit", () => model.send({ type: "commit", answer: model.get("picked") }), "cedar-primary");
  const reveal = button("Reveal", () => model.send({ type: "reveal" }));
  const hint = button("Hint", () => model.send({ type: "hint" }), "cedar-quiet");
  const actions = make("div", "cedar-actions");
  actions.append(commit, reveal, hint);
  const status = liveRegion();
  const hints = make("ul", "cedar-hints");
  hints.setAttribute("aria-label", "Hints");
  const shown = make("div", "cedar-reveal");
  root.append(make("p", "cedar-title", model.get("title")), group, actions, status, hints, shown);
  el.append(root);

  let drawn = "[]";
  return follow(model, (gone) => {
    const locked = isLocked();
    for (const view of views) view.update(locked, model.get("answer"), model.get("picked"));

    setDisabled(commit, locked || gone);
    setText(commit, locked ? "Committed" : "Commit");
    reveal.hidden = !locked;
    setDisabled(reveal, gone);
    const [given, left] = [model.get("hints"), model.get("hints_left")];
    hint.hidden = given.length + left === 0;
    setDisabled(hint, left === 0 || gone);
    setText(hint, left === 0 ? "No more hints" : `Hint ${given.length + 1} of ${given.length + left}`);
    hints.hidden = given.length === 0;
    hints.append(...given.slice(hints.children.length).map((text) => make("li", "", text)));

    const blocks = model.get("reveal");
    if (JSON.stringify(blocks) !== drawn) {
      drawn = JSON.stringify(blocks);
      shown.replaceChildren(...blocks.map(block));
    }
    shown.hidden = blocks.length === 0;
    setText(status, gone ? GONE : model.get("status"));
  });
}

export default { render };
