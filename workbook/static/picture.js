// A picture that the kernel drew, built anew from a short list of elements and attributes.
//
// The source is read as XML in a document of its own, where nothing runs and nothing is loaded, and only what a
// picture of lines and words needs is copied out of it.

const SVG = "http://www.w3.org/2000/svg";
const PICTURE_ELEMENTS = ["svg", "g", "line", "path", "rect", "text", "title"];
const PICTURE_ATTRIBUTES = [
  ...["class", "viewBox", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "rx", "d", "text-anchor"],
  "aria-hidden",
];

function copied(source) {
  if (source.nodeType === Node.TEXT_NODE) return document.createTextNode(source.data);
  if (source.nodeType !== Node.ELEMENT_NODE || !PICTURE_ELEMENTS.includes(source.localName)) return null;
  const node = document.createElementNS(SVG, source.localName);
  for (const name of PICTURE_ATTRIBUTES) {
    if (source.hasAttribute(name)) node.setAttribute(name, source.getAttribute(name));
  }
  node.append(...[...source.childNodes].map(copied).filter((child) => child !== null));
  return node;
}

// `data`: `name` for those who do not see it, `caption`, `svg`, `closing`. Wide pictures scroll, and do not shrink
// below a size that can be read.
function picture(data) {
  const source = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement;
  const node = make("div", "cedar-scene");
  const figure = make("figure");
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", data.name);
  const drawn = copied(source);
  figure.append(drawn ?? make("p", "", "The picture cannot be drawn here. The ledger below has the same events."));
  const caption = make("p");
  caption.append(make("strong", "", data.caption));
  node.append(caption, scroller(figure, data.caption));
  if (data.closing) node.append(make("p", "", data.closing));
  return node;
}
