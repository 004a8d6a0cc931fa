// A ledger to step through. Every row is here already, so stepping, jumping and playing need no kernel.
//
// Arrow keys, Home and End work wherever the focus is inside, but in the field for a row, which has its own. Playing
// is nothing but Forward on a timer: it stops at the last row, at any step by hand, and where motion is not wanted.

const BEAT_MS = 2000;
const MOVES = {
  ArrowRight: (row) => row + 1,
  ArrowDown: (row) => row + 1,
  ArrowLeft: (row) => row - 1,
  ArrowUp: (row) => row - 1,
  Home: () => 0,
  End: () => Infinity,
};
const STILL = "Play is off, because this system asks for reduced motion. Forward goes on by hand.";

// Where a row stands on one list of steps: a strip of marks for the eye, and the same in words.
function stepView(step) {
  const node = make("div", "cedar-at-step");
  const strip = make("span", "cedar-strip");
  strip.setAttribute("aria-hidden", "true");
  for (let place = 1; place <= step.of; place += 1) {
    const state = place < step.place ? "cedar-past" : place === step.place ? "cedar-here" : "";
    strip.append(make("span", state));
  }
  const words = make("p");
  words.append(make("strong", "", `Step ${step.numbers} of ${step.order}`), ` (${step.place} of ${step.of}). `);
  words.append(step.does);
  node.append(strip, words);
  return node;
}

function stateView(pairs) {
  const list = make("dl", "cedar-state");
  for (const [label, text] of pairs) {
    const pair = make("div");
    pair.append(make("dt", "", label), make("dd", "", text));
    list.append(pair);
  }
  return list;
}

function stopList(stops) {
  const list = make("ul");
  for (const stop of stops) {
    const item = make("li", "", `${stop.text} `);
    const rules = make("span", "cedar-label");
    stop.rules.split(", ").forEach((rule, place, all) => {
      const last = place === all.length - 1;
      rules.append(place ? " " : "(", make("span", "cedar-rule", last ? `${rule})` : `${rule},`));
    });
    item.append(rules);
    if (stop.late) item.append(" ", make("span", "cedar-mark", "too late to prevent it"));
    list.append(item);
  }
  return list;
}

// How one thing stands, and what can still stop it: here first, then at the device that it may get to.
function underWayView(one, table) {
  const node = make("div", "cedar-under-way");
  const stops = one.stops.map((place) => table[place]);
  const [here, there] = [stops.filter((stop) => !stop.inner), stops.filter((stop) => stop.inner)];
  node.append(make("p", "", one.told));
  if (here.length) node.append(stopList(here));
  if (there.length) node.append(make("p", "", "At the device:"), stopList(there));
  return node;
}

function part(title, ...nodes) {
  const node = make("section");
  node.append(make("h5", "", title), ...nodes);
  return node;
}

function rowView(row, stops) {
  const node = make("div", "cedar-frame");
  const says = make("p", "cedar-says", row.says);
  const idle = row.under_way.length === 0;
  node.append(
    part(row.kind, says),
    part("Where this is", ...(row.steps.length ? row.steps.map(stepView) : [make("p", "", "On none of the lists of steps.")])),
    part("State so far", stateView(row.state)),
    part(
      "What could still stop it",
      ...(idle ? [make("p", "", "Nothing is under way here.")] : row.under_way.map((one) => underWayView(one, stops))),
    ),
  );
  return node;
}

// All rows, each with a button that goes there; drawn only when somebody opens it.
function listView(go) {
  const node = make("details");
  node.append(focusable(make("summary", "", "All rows")));
  const place = make("div");
  node.append(place);
  let rows = [];
  let buttons = [];
  const draw = () => {
    if (!node.open || buttons.length) return;
    const table = make("table", "cedar-table");
    const head = make("tr");
    head.append(...["row", "call", "event"].map((name) => Object.assign(make("th", "", name), { scope: "col" })));
    const thead = make("thead");
    thead.append(head);
    const body = make("tbody");
    buttons = rows.map((row, index) => button(`Row ${row.number}`, () => go(index), "cedar-quiet"));
    rows.forEach((row, index) => {
      const line = make("tr");
      const cell = make("td");
      cell.append(buttons[index]);
      line.append(cell, make("td", "", row.call), Object.assign(make("th", "", row.kind), { scope: "row" }));
      body.append(line);
    });
    table.append(make("caption", "", "Every row of the ledger; a button goes there"), thead, body);
    place.replaceChildren(table);
  };
  node.addEventListener("toggle", draw);
  return {
    node,
    fill(now) {
      rows = now;
      buttons = [];
      place.replaceChildren();
      draw();
    },
    mark(row) {
      buttons.forEach((node, index) => {
        if (index === row) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
      });
    },
  };
}

function render({ model, el }) {
  const root = controlRoot("cedar-stepper");
  const tools = make("div", "cedar-actions");
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Step through the rows");
  const shown = make("div");
  const status = liveRegion();
  const still = make("p", "cedar-label", STILL);
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let rows = [];
  let row = model.get("row");
  let timer = null;

  const show = () => {
    const now = rows[row];
    if (!now) return;
    shown.replaceChildren(rowView(now, model.get("stops")));
    field.value = String(row + 1);
    setDisabled(first, row === 0);
    setDisabled(back, row === 0);
    setDisabled(forward, row === rows.length - 1);
    setDisabled(last, row === rows.length - 1);
    list.mark(row);
    setText(status, `Row ${now.number} of ${rows.length}: ${now.kind}.`);
  };
  const pause = () => {
    if (timer !== null) window.clearInterval(timer);
    timer = null;
    setText(play, "Play");
  };
  const move = (wanted) => {
    row = Math.min(Math.max(wanted, 0), rows.length - 1);
    show();
  };
  const go = (wanted) => {
    pause();
    move(wanted);
  };
  const start = () => {
    if (row === rows.length - 1) move(0);
    setText(play, "Pause");
    timer = window.setInterval(() => {
      move(row + 1);
      if (row === rows.length - 1) pause();
    }, BEAT_MS);
  };

  const first = button("First", () => go(0));
  const back = button("Back", () => go(row - 1));
  const play = button("Play", () => (timer === null ? start() : pause()));
  const forward = button("Forward", () => go(row + 1), "cedar-primary");
  const last = button("Last", () => go(rows.length - 1));
  const field = Object.assign(textField("input", "Go to row"), { type: "number", min: "1" });
  const of = make("span", "cedar-label");
  field.addEventListener("change", () => go(Math.round(Number(field.value) || 1) - 1));
  const read = button("Read the ledger again", () => model.send({ type: "read" }), "cedar-quiet");
  const jump = make("label", "cedar-jump");
  jump.append(make("span", "cedar-label", "Row"), field, of);
  tools.append(first, back, play, forward, last, jump, read);
  const list = listView(go);
  root.append(make("p", "cedar-title", model.get("title")), tools, still, status, shown, list.node);
  el.append(root);

  root.addEventListener("keydown", (event) => {
    const wanted = MOVES[event.key];
    if (!wanted || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(wanted(row));
  });
  const mind = () => {
    if (calm.matches) pause();
    setDisabled(play, calm.matches);
    still.hidden = !calm.matches;
  };
  calm.addEventListener("change", mind);
  mind();

  const stop = follow(model, (gone) => {
    read.hidden = !model.get("grows");
    setDisabled(read, gone);
    if (model.get("rows") === rows) return;
    pause();
    rows = model.get("rows");
    field.max = String(rows.length);
    setText(of, `of ${rows.length}`);
    list.fill(rows);
    move(row);
  });
  return () => {
    pause();
    calm.removeEventListener("change", mind);
    stop();
  };
}

export default { render };
