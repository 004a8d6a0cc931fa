// What is asked after the reveal and before the explanations: which row differed, or which points a text had.

function rowView(model) {
  const group = make("fieldset", "cedar-question cedar-after");
  const legend = make("legend", "cedar-prompt", "Which row differed from your prediction?");
  const label = make("label", "cedar-option cedar-asked");
  const field = focusable(make("input", "cedar-field cedar-count"));
  Object.assign(field, { type: "text", inputMode: "numeric", autocomplete: "off" });
  const named = () => {
    const typed = field.value.trim();
    model.send({ type: "row", row: /^\d{1,9}$/.test(typed) ? Number(typed) : typed });
  };
  ownKeys(field);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !field.readOnly) named();
  });
  label.append(make("span", "", "Row number"), field);
  const buttons = [
    button("Name this row", named, "cedar-primary"),
    button("None differed", () => model.send({ type: "row", row: "none" })),
    button("What I predicted never happened", () => model.send({ type: "row", row: "never" })),
    button("Skip", () => model.send({ type: "skip" }), "cedar-quiet"),
  ];
  const actions = make("div", "cedar-actions");
  actions.append(...buttons);
  group.append(legend, label, actions);
  return {
    node: group,
    update(gone) {
      const stage = model.get("stage");
      group.hidden = model.get("rows") === 0 || (stage !== "naming" && stage !== "done");
      const open = stage === "naming" && !gone;
      field.readOnly = !open;
      for (const one of buttons) setDisabled(one, !open); // hidden, a pressed button would lose the focus
    },
  };
}

function pointsView(model) {
  const group = make("fieldset", "cedar-question cedar-after");
  group.append(make("legend", "cedar-prompt", "Which points of the worked answer did yours have?"));
  const rows = make("div");
  const actions = make("div", "cedar-actions");
  group.append(rows, actions);
  let boxes = [];
  const buttons = [
    button(
      "Keep these",
      () => model.send({ type: "points", points: boxes.filter((box) => box.checked).map((box) => box.value) }),
      "cedar-primary",
    ),
    button("Skip", () => model.send({ type: "skip" }), "cedar-quiet"),
  ];
  actions.append(...buttons);
  return {
    node: group,
    update(gone) {
      const [stage, points] = [model.get("stage"), model.get("points")];
      group.hidden = points.length === 0;
      const open = stage === "checking" && !gone;
      if (boxes.length !== points.length) {
        boxes = points.map((point) => {
          const box = focusable(make("input"));
          Object.assign(box, { type: "checkbox", value: point.id });
          box.addEventListener("click", (event) => {
            if (box.getAttribute("aria-disabled") === "true") event.preventDefault();
          });
          const label = make("label", "cedar-option");
          label.append(box, make("span", "", point.text));
          rows.append(label);
          return box;
        });
      }
      for (const box of boxes) {
        setDisabled(box, !open);
        if (stage === "done") box.checked = model.get("ticked").includes(box.value);
      }
      for (const one of buttons) setDisabled(one, !open);
    },
  };
}
