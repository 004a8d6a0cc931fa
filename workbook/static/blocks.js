// Shared by all controls: small parts, and the blocks of workbook/show/page.py drawn as elements.
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

// The keys of the way out: Escape wherever nothing inside has a use for it, and Ctrl+M, the notebook's other key for
// command mode, everywhere. An open dialog takes Escape for an answer, so it takes another key to leave one open.
function leadsOut(event) {
  if (event.isComposing || event.altKey || event.metaKey || event.shiftKey) return false;
  return event.ctrlKey ? event.key.toLowerCase() === "m" : event.key === "Escape";
}

// A whole control, and with it the page: the way out puts the focus on the cell around it, where the notebook's own
// keys work again. Tab alone would lead through everything that is left, and then out of the notebook.
function controlRoot(className = "") {
  const root = make("div", `cedar-control ${className}`.trim());
  root.addEventListener("keydown", (event) => {
    const cell = root.closest(".jp-Cell"); // none in other front ends, which have ways of their own
    if (event.defaultPrevented || !leadsOut(event) || cell === null) return;
    event.preventDefault();
    event.stopPropagation();
    cell.focus({ preventScroll: true });
  });
  return root;
}

// JupyterLab takes arrows and the line break that Enter makes in a cell for its own, unless it never hears of them.
function ownKeys(node) {
  node.addEventListener("keydown", (event) => {
    if (!leadsOut(event)) event.stopPropagation();
  });
}

// A field to type in.
function textField(tag, label) {
  const node = focusable(make(tag, "cedar-field"));
  node.setAttribute("aria-label", label);
  ownKeys(node);
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
function follow(model, changed) {
  let gone = false;
  const tell = () => changed(gone);
  const lost = () => {
    gone = true; // a model is live from its first moment, so what this event can tell is that it no longer is
    tell();
  };
  model.on("change", tell);
  model.on("comm_live_update", lost);
  tell();
  return () => {
    model.off("change", tell);
    model.off("comm_live_update", lost);
  };
}

const GONE = "The kernel that this belongs to is gone, so its buttons do nothing. Run the cell again.";

const SHORT = 24; // characters; a column of cells this short stays in one piece, as in workbook/show/grid.py

// A workbook.show.grid.Grid; a run of rows with the same group cell is one body, named once.
function table(grid) {
  const node = make("table", "cedar-table");
  const looks = grid.columns.map((name, column) => {
    const short = grid.rows.every((cells) => cells[column].length <= SHORT && !cells[column].includes("\n"));
    return `${grid.numbers.includes(column) ? "cedar-number" : ""} ${short ? "cedar-short" : ""}`.trim();
  });
  const heading = (scope, text, column) => Object.assign(make("th", looks[column], text), { scope });
  const head = make("tr");
  head.append(...grid.columns.map((name, column) => heading("col", name, column)));
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
      first = grouped ? heading("rowgroup", cells[grid.group], grid.group) : null;
      if (grouped) line.append(first);
    } else if (grouped) {
      first.rowSpan += 1;
    }
    cells.forEach((text, column) => {
      if (column === grid.group) return;
      line.append(column === grid.header ? heading("row", text, column) : make("td", looks[column], text));
    });
    body.append(line);
  });
  return scroller(node, grid.caption);
}

// Where a table is wider than its place it scrolls, and then the keyboard has to reach it.
function scroller(node, name) {
  const box = focusable(make("div", "cedar-scroll"));
  box.append(node);
  new ResizeObserver(() => {
    const scrolls = box.scrollWidth > box.clientWidth;
    for (const [attribute, value] of Object.entries({ role: "region", "aria-label": name, tabindex: "0" })) {
      if (scrolls) box.setAttribute(attribute, value);
      else box.removeAttribute(attribute);
    }
  }).observe(box);
  return box;
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
