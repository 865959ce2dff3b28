// Diffs in which every line says who wrote it: by its colour, and by a letter for those who do not see it.

const LETTERS = { agent: "A", user: "U", base: "·" };
const SIGNS = { "+": "+", "-": "−", " ": "" };
const SIGN_NAMES = { "+": "added", "-": "removed", " ": "" };

function diffLine([sign, author, before, after, text, unended]) {
  return make(
    "tr",
    { class: `${author} ${SIGN_NAMES[sign] ?? ""}` },
    make("td", { class: "at" }, before ?? ""),
    make("td", { class: "at" }, after ?? ""),
    make("td", { class: "who" }, make("span", { "aria-hidden": "true" }, LETTERS[author] ?? "?"), make("span", { class: "vh" }, author)),
    make("td", { class: "sign" }, make("span", { "aria-hidden": "true" }, SIGNS[sign] ?? sign), make("span", { class: "vh" }, SIGN_NAMES[sign])),
    make("td", { class: "text" }, text, unended && make("span", { class: "unended" }, " (no newline at the end)")),
  );
}

function hunk({ old_start: before, new_start: after, lines }) {
  const place = make("tr", { class: "place" }, make("td", { colspan: 5 }, `line ${before} → ${after}`));
  return make("tbody", {}, place, lines.map(diffLine));
}

function fileDiff(file) {
  const counts = make("span", { class: "counts" }, `+${file.added} −${file.removed}`);
  const status = file.status === "modified" ? null : make("span", { class: "chip" }, file.status);
  return make(
    "figure",
    { class: "diff" },
    make("figcaption", {}, make("span", { class: "path" }, file.path), counts, status, file.note && make("span", { class: "quiet" }, file.note)),
    file.hunks.length > 0 && make(
      "table",
      {},
      make("colgroup", {}, ["at", "at", "who", "sign", "rest"].map((name) => make("col", { class: name }))),
      make("thead", { class: "vh" }, make("tr", {}, ["line before", "line after", "written by", "change", "text"].map((name) => make("th", { scope: "col" }, name)))),
      file.hunks.map(hunk),
    ),
    file.lines_left_out > 0 && make("p", { class: "left-out" }, `${count(file.lines_left_out, "more line")} left out`),
  );
}
