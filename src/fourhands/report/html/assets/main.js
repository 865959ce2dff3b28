// All is defined: begin. What is closed is opened for paper, and closed again.

nameTheme();
prepareTrials();
addEventListener("hashchange", follow);
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((each) => (each.open = true));
});
addEventListener("afterprint", () => opened.forEach((each) => (each.open = false)));
// A page of some stories alone opens at them; from there the way to its overview is open.
if (STORED.start && location.hash.length < 2) location.replace(`#${STORED.start}`);
else follow();
