// What a column means, beside its header while that is pointed at or has the focus; the list below says it to all.

const tip = byId("tip");

function showTip(button) {
  const meaning = byId(button.getAttribute("aria-describedby"));
  tip.textContent = meaning.textContent;
  tip.hidden = false;
  const { left, bottom } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(left, most))}px`;
  tip.style.top = `${bottom + 6}px`;
}

const hideTip = () => (tip.hidden = true);
for (const button of document.querySelectorAll("th button[aria-describedby]")) {
  for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => showTip(button));
  for (const event of ["mouseleave", "blur"]) button.addEventListener(event, hideTip);
}
// To give a header the focus may scroll to it: then its tip goes along.
const keepTip = () => {
  const at = document.activeElement;
  if (!tip.hidden && at?.matches("th button[aria-describedby]")) showTip(at);
  else hideTip();
};
addEventListener("scroll", keepTip, { capture: true, passive: true });
