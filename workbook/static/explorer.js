// The what-if panel: groups of controls, what is wrong with them, and what follows from them.
//
// It decides nothing. Nodes stay where they are for the life of the view, so that a control keeps the focus while
// its own change comes back.

// One control. `sent` counts the changes of this view; what the kernel says of older ones is left out of account.
function fieldView(data, onChange) {
  const row = make("div", "cedar-set");
  const label = make("label", "cedar-label");
  const isNumber = data.kind === "number";
  const input = focusable(make(isNumber ? "input" : "select", "cedar-field"));
  input.id = label.htmlFor = uniqueName("set");
  if (isNumber) Object.assign(input, { type: "number", step: 1 });
  ownKeys(input);
  const mark = make("span", "cedar-mark", "contradiction");
  row.append(label, input, mark);
  let awaited = 0;
  let options = "";
  input.addEventListener(isNumber ? "input" : "change", () => {
    if (input.value !== "") awaited = onChange(data.name, input.value);
    else if (!isNumber) awaited = onChange(data.name, "");
  });
  if (isNumber) {
    input.addEventListener("blur", () => {
      if (input.value === "") input.value = input.dataset.told;
    });
  }
  return {
    node: row,
    input,
    update(now, heard, gone, described) {
      setText(label, now.label);
      const wanted = JSON.stringify(now.options);
      if (!isNumber && wanted !== options) {
        options = wanted;
        input.replaceChildren(
          ...now.options.map(({ word, text }) => Object.assign(make("option", "", text), { value: word })),
        );
        input.value = now.value;
      }
      input.dataset.told = now.value;
      if (heard >= awaited && input.value !== now.value) input.value = now.value;
      mark.hidden = !now.wrong;
      row.classList.toggle("cedar-wrong", now.wrong);
      if (now.wrong) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", described);
      } else {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
      input.disabled = gone;
    },
  };
}

function groupView(legend, onChange) {
  const node = make("fieldset", "cedar-settings");
  const rows = make("div", "cedar-sets");
  node.append(make("legend", "", legend), rows);
  const views = new Map();
  return {
    node,
    find: (name) => views.get(name),
    update(fields, heard, gone, described) {
      for (const data of fields) {
        if (!views.has(data.name)) views.set(data.name, fieldView(data, onChange));
        views.get(data.name).update(data, heard, gone, described);
      }
      const wanted = fields.map((data) => data.name);
      for (const [name, view] of views) {
        if (wanted.includes(name)) continue;
        if (view.node.contains(document.activeElement)) nearest(views, wanted)?.focus();
        view.node.remove();
        views.delete(name);
      }
      fields.forEach((data, place) => {
        const row = views.get(data.name).node;
        if (rows.children[place] !== row) rows.insertBefore(row, rows.children[place] ?? null);
      });
    },
  };
}

// Where the focus goes when its control is taken away: the last one that stays.
function nearest(views, wanted) {
  return views.get(wanted[wanted.length - 1])?.input;
}

// The case as text, to be taken away or brought along.
function shareView(model, say) {
  const node = make("div", "cedar-share");
  const actions = make("div", "cedar-actions");
  const label = make("label", "cedar-label");
  const field = textField("textarea", "");
  field.removeAttribute("aria-label");
  field.id = label.htmlFor = uniqueName("case");
  field.rows = 12;
  field.spellcheck = false;
  const trouble = make("p", "cedar-trouble");
  trouble.id = uniqueName("trouble");
  field.setAttribute("aria-describedby", trouble.id);
  const place = make("div", "cedar-share-field");
  let mode = "";

  const show = (next) => {
    mode = next;
    place.hidden = mode === "";
    setText(label, mode === "copy" ? "The case as JSON" : "A case as JSON, to be opened");
    field.readOnly = mode === "copy";
    open.hidden = mode !== "paste";
    close.hidden = mode === "";
    copy.setAttribute("aria-expanded", String(mode === "copy"));
    paste.setAttribute("aria-expanded", String(mode === "paste"));
  };
  const shut = () => {
    const from = mode === "copy" ? copy : paste;
    show("");
    from.focus();
  };
  const copy = button("Copy as JSON", async () => {
    const text = model.get("case");
    if (!text) {
      say("There is no case to copy while the controls contradict each other.");
      return;
    }
    show("copy");
    field.value = text;
    try {
      await navigator.clipboard.writeText(text);
      say("Copied. The text is below as well.");
    } catch {
      field.focus();
      field.select();
      say("The browser does not allow copying. The text is below and marked: press Ctrl+C, or Command+C.");
    }
  });
  const paste = button("Paste a case", () => {
    show("paste");
    field.value = "";
    field.focus();
  });
  const restart = button("Start again", () => model.send({ type: "restart" }), "cedar-quiet");
  const open = button("Open this case", () => model.send({ type: "paste", text: field.value }), "cedar-primary");
  const close = button("Close", shut, "cedar-quiet");
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    shut();
  });
  const below = make("div", "cedar-actions");
  below.append(open, close);
  actions.append(copy, paste, restart);
  place.append(label, field, trouble, below);
  node.append(actions, place);
  show("");
  let drawn = "";
  let opened = model.get("pastes");
  return {
    node,
    update(gone) {
      for (const each of [copy, paste, restart, open]) setDisabled(each, gone);
      setText(trouble, model.get("paste_problem"));
      trouble.hidden = trouble.textContent === "";
      const text = model.get("case");
      if (mode === "copy" && text && text !== drawn) field.value = text; // what is shown is what is set
      drawn = text;
      if (mode === "paste" && model.get("pastes") !== opened) shut();
      opened = model.get("pastes");
    },
  };
}

// Blocks, redrawn only where they changed; what was folded out stays so.
function blocksView() {
  const node = make("div", "cedar-reveal");
  let drawn = "[]";
  return {
    node,
    update(blocks) {
      const wanted = JSON.stringify(blocks);
      node.hidden = blocks.length === 0;
      if (wanted === drawn) return;
      drawn = wanted;
      const wasOpen = [...node.querySelectorAll("details")].map((each) => each.open);
      node.replaceChildren(...blocks.map(block));
      node.querySelectorAll("details").forEach((each, place) => {
        each.open = wasOpen[place] === true;
      });
    },
  };
}

function render({ model, el }) {
  const root = controlRoot("cedar-explorer");
  const view = uniqueName("view");
  let sent = 0;
  const onChange = (control, word) => {
    sent += 1;
    model.send({ type: "set", control, word, view, n: sent });
    return sent;
  };
  const status = liveRegion();
  let own = ""; // what this view has to say itself; the next word of the kernel replaces it
  const say = (text) => {
    own = text;
    setText(status, text);
  };
  const panel = make("div", "cedar-groups");
  const groups = model.get("groups").map(({ legend }) => groupView(legend, onChange));
  panel.append(...groups.map((group) => group.node));
  const find = (name) => groups.map((group) => group.find(name)).find((found) => found !== undefined);
  const remedies = make("div", "cedar-actions");
  remedies.setAttribute("role", "group");
  remedies.setAttribute("aria-label", "What would do");
  status.id = uniqueName("status");
  const remarks = make("ul", "cedar-remarks");
  remarks.setAttribute("aria-label", "Worth knowing");
  const share = shareView(model, say);
  const above = blocksView();
  const scene = make("div");
  const below = blocksView();
  root.append(make("p", "cedar-title", model.get("title")), panel, status, remedies, remarks, share.node);
  root.append(above.node, scene, below.node);
  el.append(root);

  let told = "";
  let heard = 0; // the newest change of this view that the kernel knows of
  let drawnPicture = null;
  let drawnProblems = "[]";
  return follow(model, (gone) => {
    const [whose, n] = model.get("seen");
    if (whose === view) heard = n;
    model.get("groups").forEach((data, place) => groups[place].update(data.fields, heard, gone, status.id));

    const wrong = model.get("problems");
    if (JSON.stringify(wrong) !== drawnProblems) {
      const hadFocus = remedies.contains(document.activeElement);
      const before = JSON.parse(drawnProblems)[0];
      drawnProblems = JSON.stringify(wrong);
      remedies.replaceChildren(
        ...wrong.map(({ button: says }, place) => button(says, () => model.send({ type: "fix", problem: place }))),
      );
      if (hadFocus) (remedies.querySelector("button") ?? find(before.control)?.input)?.focus();
    }
    remedies.hidden = wrong.length === 0;
    remedies.querySelectorAll("button").forEach((each) => setDisabled(each, gone));

    const said = model.get("remarks");
    remarks.hidden = said.length === 0;
    if (said.join("\n") !== [...remarks.children].map((item) => item.textContent).join("\n")) {
      remarks.replaceChildren(...said.map((text) => make("li", "", text)));
    }
    share.update(gone);
    above.update(model.get("above"));
    below.update(model.get("below"));
    const drawn = model.get("picture");
    scene.hidden = drawn.svg === undefined;
    if (drawn.svg !== undefined && drawn.svg !== drawnPicture) {
      drawnPicture = drawn.svg;
      scene.replaceChildren(picture(drawn));
    }
    const now = gone ? GONE : model.get("status");
    if (now !== told) own = "";
    told = now;
    setText(status, own || now);
  });
}

export default { render };
