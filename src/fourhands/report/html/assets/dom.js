// Elements are made here and nowhere else. Text is only ever text: nothing that was recorded becomes markup.

/** An element with attributes (null: left out) and children; a child that is a string becomes text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

// What cannot be seen, or acts on what stands around it: controls, marks of direction, halves of a character.
const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Text in which every such character is spelled, as the tables and the terminal spell it. */
function shown(text) {
  return String(text).replace(HIDDEN, (one) => {
    const code = one.codePointAt(0);
    const digits = code.toString(16);
    if (code <= 0xff) return `\\x${digits.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
}

const byId = (id) => document.getElementById(id);

function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** A mark of one of the two hands: a shape and a letter, so that its colour is not needed. */
function hand(lane, label) {
  return make("span", { class: `hand ${lane}` }, make("span", { class: "shape", "aria-hidden": "true" }, lane === "user" ? "U" : "A"), label ?? lane);
}
