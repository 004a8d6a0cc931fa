// Steps to put in order: by two buttons each, by the arrow keys on them, or by drag.
//
// The order is only a list of ids. The items are built once and moved about, so that a button keeps its place in the
// page's memory; the focus, which moving takes away, is given back.

function orderView(model, isLocked, changed, announce) {
  const list = make("ol", "cedar-order");
  const steps = new Map(model.get("options").map((step) => [step.id, step]));
  const items = new Map();
  let shown = [];
  let dragged = null;

  const current = () => {
    const picked = model.get("picked");
    return Array.isArray(picked) && picked.length === steps.size ? picked : [...steps.keys()];
  };

  function place(id, to) {
    const order = current().filter((other) => other !== id);
    const at = Math.max(0, Math.min(to, order.length));
    order.splice(at, 0, id);
    changed(order);
    announce(`${steps.get(id).text} Place ${at + 1} of ${order.length}.`);
  }

  function move(id, by, pressed) {
    if (isLocked()) return;
    const at = current().indexOf(id) + by;
    if (at < 0 || at >= steps.size) {
      announce(`${steps.get(id).text} It is ${by < 0 ? "first" : "last"} already.`);
      return;
    }
    place(id, at);
    pressed.focus();
  }

  function item(step) {
    const node = make("li", "cedar-step");
    const line = make("div", "cedar-step-line");
    const buttons = [
      ["Move up", -1],
      ["Move down", 1],
    ].map(([says, by]) => {
      const one = button(says, () => move(step.id, by, one), "cedar-quiet");
      one.setAttribute("aria-label", `${says}: ${step.text}`);
      one.addEventListener("keydown", (event) => {
        const along = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (along === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move(step.id, along, one);
      });
      return one;
    });
    line.append(make("span", "cedar-step-text", step.text), ...buttons);
    node.append(line);
    node.addEventListener("dragstart", (event) => {
      dragged = step.id;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", step.text);
      event.stopPropagation(); // or the notebook drags the whole cell
    });
    node.addEventListener("dragover", (event) => {
      if (dragged === null || isLocked()) return;
      event.preventDefault();
      event.stopPropagation();
      node.classList.add("cedar-over");
    });
    node.addEventListener("dragleave", () => node.classList.remove("cedar-over"));
    node.addEventListener("drop", (event) => {
      node.classList.remove("cedar-over");
      if (dragged === null || isLocked()) return;
      event.preventDefault();
      event.stopPropagation();
      const id = dragged;
      dragged = null;
      if (id !== step.id) place(id, current().indexOf(step.id));
    });
    node.addEventListener("dragend", () => {
      dragged = null;
    });
    return { node, buttons };
  }

  for (const step of steps.values()) {
    items.set(step.id, item(step));
    list.append(items.get(step.id).node);
  }
  const second = make("div");
  const heading = make("p", "cedar-label", "Your second vote");
  const votes = make("ol", "cedar-order");
  second.append(heading, votes);
  const mark = make("p", "cedar-label", "Your order, locked");
  const box = make("div");
  box.append(mark, list, second);

  return {
    node: box,
    update(locked, answer, marks) {
      const order = Array.isArray(answer) && answer.length === steps.size ? answer : [...steps.keys()];
      if (order.join("\n") !== shown.join("\n")) {
        const held = document.activeElement;
        list.append(...order.map((id) => items.get(id).node));
        if (list.contains(held)) held.focus();
        shown = [...order];
      }
      for (const { node, buttons } of items.values()) {
        node.draggable = !locked;
        for (const one of buttons) one.hidden = locked;
      }
      mark.hidden = !locked;
      const again = marks.find((made) => made.second);
      second.hidden = again === undefined;
      if (again && votes.children.length === 0) {
        votes.append(...again.answer.map((id) => make("li", "", steps.get(id).text)));
      }
    },
  };
}
