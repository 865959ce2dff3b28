// Light or dark: the system's choice, until a reader makes one.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

function nameTheme() {
  byId("theme").setAttribute("aria-pressed", String(isDark()));
}

byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
  try {
    localStorage.setItem("fourhands-theme", root.dataset.theme);
  } catch {
    // Not remembered, then.
  }
});
dark.addEventListener("change", nameTheme);
