// One checkpoint: answer, say how sure you are, commit, and then the reveal in the same place, stage by stage.

function optionView(name, data, isLocked, changed) {
  const label = make("label", "cedar-option");
  const input = focusable(make("input"));
  Object.assign(input, { type: "radio", name, value: data.id });
  // Arrow keys and the mouse both come through here; a locked answer stays where it is.
  input.addEventListener("click", (event) => {
    if (isLocked()) event.preventDefault();
  });
  input.addEventListener("change", () => changed(data.id));
  const mark = make("span", "cedar-mark");
  label.append(input, make("span", "", data.text), mark);
  return {
    node: label,
    update(locked, answer, marks) {
      const chosen = data.id === answer;
      if (input.checked !== chosen) input.checked = chosen;
      setDisabled(input, locked);
      const said = marks.filter((made) => made.answer === data.id).map((made) => made.says);
      setText(mark, said.join("; "));
      mark.hidden = said.length === 0;
      label.classList.toggle("cedar-chosen", locked && chosen);
    },
  };
}

function choiceView(model, isLocked, changed) {
  const name = uniqueName("options");
  const views = model.get("options").map((option) => optionView(name, option, isLocked, changed));
  const box = make("div");
  box.append(...views.map((view) => view.node));
  return {
    node: box,
    update(locked, answer, marks) {
      for (const view of views) view.update(locked, answer, marks);
    },
  };
}

function textView(changed) {
  const field = textField("textarea", "Your answer");
  field.rows = 5;
  field.addEventListener("input", () => changed(field.value));
  return {
    node: field,
    update(locked, answer) {
      const shown = answer || "";
      if (field.value !== shown && (locked || document.activeElement !== field)) field.value = shown;
      field.readOnly = locked;
    },
  };
}

// How sure: a group of its own, of the same make as the options.
function sureView(model, isLocked) {
  const group = make("fieldset", "cedar-question cedar-sure");
  group.append(make("legend", "cedar-prompt", "How sure are you?"));
  const changed = (level) => {
    model.set("sure", level);
    model.save_changes();
  };
  const name = uniqueName("sure");
  const views = model.get("levels").map((level) => optionView(name, { id: level, text: level }, isLocked, changed));
  group.append(...views.map((view) => view.node));
  return {
    node: group,
    update(locked, committed) {
      // Said in code, an answer may come without it; then there is nothing to show once it is locked.
      group.hidden = views.length === 0 || (locked && !committed);
      const level = locked ? committed : model.get("sure");
      for (const view of views) view.update(locked, level, []);
    },
  };
}

const BLANKS = { choice: () => "", fields: () => ({}), order: () => [], text: () => "" };

function render({ model, el }) {
  const root = controlRoot();
  const group = make("fieldset", "cedar-question");
  group.append(make("legend", "cedar-prompt", model.get("prompt")));
  const kind = model.get("kind");
  const isLocked = () => model.get("locked") && model.get("stage") !== "voting";
  const status = liveRegion();
  let announced = "";
  const announce = (text) => {
    announced = text;
    setText(status, text);
  };
  const changed = (picked) => {
    model.set("picked", picked);
    model.save_changes();
  };
  const answers = {
    choice: () => choiceView(model, isLocked, changed),
    fields: () => fieldsView(model, isLocked, changed),
    order: () => orderView(model, isLocked, changed, announce),
    text: () => textView(changed),
  }[kind]();
  group.append(answers.node);
  const sure = sureView(model, isLocked);

  const send = (message) => {
    announced = "";
    model.send(message);
  };
  const blank = () => {
    model.set("picked", BLANKS[kind]());
    model.set("sure", "");
    model.save_changes();
  };
  const commit = button(
    "Commit",
    () => {
      const picked = model.get("picked");
      const answer = picked === "" ? BLANKS[kind]() : picked;
      send({ type: "commit", answer, confidence: model.get("sure") });
    },
    "cedar-primary",
  );
  const again = button("Discussed it? Vote again", () => {
    blank();
    send({ type: "again" });
  });
  const reveal = button("Reveal", () => send({ type: "reveal" }));
  const hint = button("Hint", () => send({ type: "hint" }), "cedar-quiet");
  const actions = make("div", "cedar-actions");
  actions.append(commit, reveal, again, hint);
  const hints = make("ul", "cedar-hints");
  hints.setAttribute("aria-label", "Hints");
  const shown = make("div", "cedar-reveal");
  const row = rowView(model);
  const points = pointsView(model);
  const explained = make("div", "cedar-reveal");
  root.append(make("p", "cedar-title", model.get("title")), group, sure.node, actions, status, hints);
  root.append(shown, row.node, points.node, explained);
  el.append(root);

  const drawn = new Map();
  const draw = (node, blocks) => {
    const text = JSON.stringify(blocks);
    if (drawn.get(node) !== text) {
      drawn.set(node, text);
      node.replaceChildren(...blocks.map(block));
    }
    node.hidden = blocks.length === 0;
  };
  model.on("change:status", () => {
    announced = "";
  });
  return follow(model, (gone) => {
    const [stage, committed, voted] = [model.get("stage"), model.get("locked"), model.get("voted")];
    const [locked, voting] = [isLocked(), stage === "voting"];
    const marks = [];
    if (committed) marks.push({ answer: model.get("answer"), says: voting ? "your first answer" : "your answer, locked" });
    if (voted) marks.push({ answer: model.get("second"), says: "your second vote", second: true });
    answers.update(locked, locked ? model.get("answer") : model.get("picked"), marks);
    sure.update(locked, model.get("confidence"));

    setDisabled(commit, locked || gone);
    setText(commit, voting ? "Commit the second vote" : locked ? "Committed" : "Commit");
    reveal.hidden = !committed;
    setDisabled(reveal, gone);
    again.hidden = !committed || (!model.get("can_vote") && !voted);
    setDisabled(again, voting || !model.get("can_vote") || gone);
    setText(again, voted ? "Voted again" : "Discussed it? Vote again");
    const [given, left] = [model.get("hints"), model.get("hints_left")];
    hint.hidden = given.length + left === 0;
    setDisabled(hint, left === 0 || gone);
    setText(hint, left === 0 ? "No more hints" : `Hint ${given.length + 1} of ${given.length + left}`);
    hints.hidden = given.length === 0;
    hints.append(...given.slice(hints.children.length).map((text) => make("li", "", text)));

    draw(shown, model.get("reveal"));
    row.update(gone);
    points.update(gone);
    draw(explained, model.get("explained"));
    setText(status, gone ? GONE : announced || model.get("status"));
  });
}

export default { render };
