// Several fields of one checkpoint, each a question of its own: a group of values to choose from, or a number.

function valueView(name, field, one, changed) {
  const label = make("label", "cedar-option");
  const input = focusable(make("input"));
  Object.assign(input, { type: "radio", name });
  const mark = make("span", "cedar-mark");
  label.append(input, make("span", "", one.text), mark);
  return {
    node: label,
    input,
    listen(isLocked) {
      // Arrow keys and the mouse both come through here; a locked answer stays where it is.
      input.addEventListener("click", (event) => {
        if (isLocked()) event.preventDefault();
      });
      input.addEventListener("change", () => changed(field.id, one.value));
    },
    update(locked, answer, marks) {
      const chosen = answer[field.id] === one.value;
      if (input.checked !== chosen) input.checked = chosen;
      setDisabled(input, locked);
      const said = marks.filter((made) => made.answer[field.id] === one.value).map((made) => made.says);
      setText(mark, said.join("; "));
      mark.hidden = said.length === 0;
      label.classList.toggle("cedar-chosen", locked && chosen);
    },
  };
}

function numberView(field, changed) {
  const label = make("label", "cedar-option cedar-asked");
  const input = focusable(make("input", "cedar-field cedar-count"));
  Object.assign(input, { type: "text", inputMode: "numeric", autocomplete: "off" });
  // A number goes out as one; anything else as it was typed, for the kernel to say what is wrong with it.
  input.addEventListener("input", () => {
    const typed = input.value.trim();
    changed(field.id, /^\d{1,9}$/.test(typed) ? Number(typed) : typed);
  });
  ownKeys(input);
  const mark = make("span", "cedar-mark");
  label.append(make("span", "", field.text), input, mark);
  return {
    node: label,
    listen() {},
    update(locked, answer, marks) {
      const shown = answer[field.id] === undefined ? "" : String(answer[field.id]);
      if (input.value.trim() !== shown && (locked || document.activeElement !== input)) input.value = shown;
      input.readOnly = locked;
      const said = marks
        .filter((made) => made.answer[field.id] !== undefined)
        .map((made) => (marks.length > 1 ? `${made.answer[field.id]}: ${made.says}` : made.says));
      setText(mark, said.join("; "));
      mark.hidden = said.length === 0;
    },
  };
}

// All fields. `isLocked` is asked at each click; `changed` gets the whole answer, with the one value that is new.
function fieldsView(model, isLocked, changed) {
  const set = (id, value) => changed({ ...(model.get("picked") || {}), [id]: value });
  const box = make("div");
  const views = model.get("options").flatMap((field) => {
    if (field.values.length === 0) {
      const view = numberView(field, set);
      box.append(view.node);
      return [view];
    }
    const group = make("fieldset", "cedar-part");
    const name = uniqueName("values");
    const parts = field.values.map((one) => valueView(name, field, one, set));
    group.append(make("legend", "", field.text), ...parts.map((part) => part.node));
    box.append(group);
    return parts;
  });
  for (const view of views) view.listen(isLocked);
  return {
    node: box,
    update(locked, answer, marks) {
      for (const view of views) view.update(locked, answer || {}, marks);
    },
  };
}
