// Shared by both controls: small parts, and the blocks of workbook/page.py drawn as elements.
//
// Every text is set as text. Nothing here parses markup, loads anything, or keeps a rule of its own.

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// JupyterLab's one-key shortcuts act on whatever has the focus (d d deletes the cell) unless that very element says no.
function focusable(node) {
  node.setAttribute("data-lm-suppress-shortcuts", "true");
  return node;
}

function button(text, onPress, className = "") {
  const node = focusable(make("button", `cedar-button ${className}`.trim(), text));
  node.type = "button";
  node.addEventListener("click", () => {
    if (node.getAttribute("aria-disabled") !== "true") onPress();
  });
  return node;
}

// A disabled button loses the focus; one that only says that it is disabled keeps it.
function setDisabled(node, disabled) {
  if (disabled) node.setAttribute("aria-disabled", "true");
  else node.removeAttribute("aria-disabled");
}

// One region for the life of the view, whose text changes: screen readers announce changes, not newcomers.
function liveRegion() {
  const node = make("p", "cedar-status");
  node.setAttribute("role", "status");
  return node;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function uniqueName(what) {
  return `cedar-${what}-${Math.random().toString(36).slice(2)}`;
}

// Calls `changed` at once, with each change of the model, and when the kernel goes away; returns how to stop.
function follow(model, el, changed) {
  const gone = () => el.classList.contains("jupyter-widgets-disconnected");
  const tell = () => changed(gone());
  model.on("change", tell);
  model.on("comm_live_update", tell);
  tell();
  return () => {
    model.off("change", tell);
    model.off("comm_live_update", tell);
  };
}

const GONE = "The kernel that this belongs to is gone, so its buttons do nothing. Run the cell again.";

// A workbook.grid.Grid; a run of rows with the same group cell is one body, named once.
function table(grid) {
  const node = make("table", "cedar-table");
  const side = (column) => (grid.numbers.includes(column) ? "cedar-number" : "");
  const heading = (scope, text, className) => Object.assign(make("th", className, text), { scope });
  const head = make("tr");
  head.append(...grid.columns.map((name, column) => heading("col", name, side(column))));
  const thead = make("thead");
  thead.append(head);
  node.append(make("caption", "", grid.caption), thead);
  let body = null;
  let first = null;
  grid.rows.forEach((cells, place) => {
    const line = make("tr", grid.marked.includes(place) ? "cedar-differs" : "");
    const grouped = grid.group !== null;
    if (body === null || (grouped && cells[grid.group] !== first.textContent)) {
      body = make("tbody");
      node.append(body);
      first = grouped ? heading("rowgroup", cells[grid.group], "cedar-short") : null;
      if (grouped) line.append(first);
    } else if (grouped) {
      first.rowSpan += 1;
    }
    cells.forEach((text, column) => {
      if (column === grid.group) return;
      line.append(column === grid.header ? heading("row", text, side(column)) : make("td", side(column), text));
    });
    body.append(line);
  });
  return node;
}

function block(data) {
  switch (data.block) {
    case "heading":
      return make("h4", "", data.text);
    case "paragraph": {
      const node = make("p");
      if (data.lead) node.append(make("strong", "", data.lead), " ");
      node.append(data.text);
      return node;
    }
    case "items": {
      const node = make("ul");
      node.append(...data.items.map((item) => make("li", "", item)));
      return node;
    }
    case "table":
      return table(data.grid);
    case "literal": {
      const node = make("figure");
      if (data.label) node.append(make("figcaption", "", data.label));
      node.append(make("pre", "", data.text));
      return node;
    }
    case "group": {
      const node = make("section", "cedar-group");
      const title = make("h5", "", data.title);
      for (const mark of data.marks) title.append(" ", make("span", "cedar-mark", mark));
      node.append(title, ...data.blocks.map(block));
      return node;
    }
    case "fold": {
      const node = make("details");
      node.append(focusable(make("summary", "", data.title)), ...data.blocks.map(block));
      return node;
    }
    default:
      throw new Error(`no such block: ${data.block}`);
  }
}
