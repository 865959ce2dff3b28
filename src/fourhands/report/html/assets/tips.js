// What a column, or a requirement, means: shown while its button is pointed at, has the focus, or was tapped. What it
// says stands in the page as well, and is named by the button.

const tip = byId("tip");
const EXPLAINED = "button[aria-describedby]";

function showTip(button) {
  const meaning = byId(button.getAttribute("aria-describedby"));
  tip.textContent = meaning.textContent;
  tip.hidden = false;
  const { left, top, bottom } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  tip.style.left = `${Math.max(8, Math.min(left, width - tip.offsetWidth - 8))}px`;
  const below = bottom + 6 + tip.offsetHeight <= height || top < tip.offsetHeight + 6;
  tip.style.top = `${below ? bottom + 6 : top - 6 - tip.offsetHeight}px`;
}

const hideTip = () => (tip.hidden = true);

/** Let a button show what it is described by. */
function explained(button) {
  for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => showTip(button));
  for (const event of ["mouseleave", "blur"]) button.addEventListener(event, hideTip);
  return button;
}
document.querySelectorAll(EXPLAINED).forEach(explained);
// To give a header the focus may scroll to it: then its tip goes along.
const keepTip = () => {
  const at = document.activeElement;
  if (!tip.hidden && at?.matches(EXPLAINED)) showTip(at);
  else hideTip();
};
addEventListener("scroll", keepTip, { capture: true, passive: true });
