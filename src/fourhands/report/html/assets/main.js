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
follow();
