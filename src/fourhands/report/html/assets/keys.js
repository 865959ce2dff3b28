// The keyboard: / filters, j and k (or the arrows, within a time line) walk through a story, u jumps to the user, m to
// what is said, and t leaves nothing else.

const typing = (target) => target.matches("input, select, textarea");
const byUser = (entry) => entry.classList.contains("user");
const isSaid = (entry) => entry.classList.contains("speaks");

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  u: () => move(1, byUser),
  U: () => move(-1, byUser),
  m: () => move(1, isSaid),
  M: () => move(-1, isSaid),
  t: () => telling.querySelector(".talk-switch") && toggleTalk(),
  Escape: () => (location.hash = ""),
};
const ARROWS = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") hideTip();
  if (typing(event.target)) return;
  const act = event.key === "/" ? toFilter : telling.hidden ? null : (KEYS[event.key] ?? (event.target.matches(".entry") ? ARROWS[event.key] : null));
  if (!act) return;
  event.preventDefault();
  act();
});

function toFilter() {
  if (!telling.hidden) location.hash = "";
  setTimeout(() => byId("text").focus());
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // its address would be taken for one of the page
  byId("content").focus();
});
