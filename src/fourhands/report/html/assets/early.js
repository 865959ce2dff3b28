// Runs before anything is drawn, so that a remembered theme does not flash.
try {
  const theme = localStorage.getItem("fourhands-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage here (a private window, a file opened from disk): the system's theme it is.
}
document.documentElement.classList.add("live");
