// The table of trials: filtered and sorted as numbers of rows; only one page of it is in the document.

const PAGE = 100;
const PRINTED = 500;

const dollars = (n) => `$${n.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: n < 0.1 ? 4 : 2 })}`;
const whole = (n) => n.toLocaleString("en");

function verdict(row) {
  const word = !value("applicable", row) ? "not applicable" : (value("verdict", row) ?? "not run");
  return make("span", { class: `verdict ${word.replace(" ", "-")}` }, word === "none" ? "no verdict" : word);
}

const link = (row, text) => (!hasStory(row) ? text : make("a", { href: `#trial=${address(row)}` }, text));

const COLUMNS = [
  { name: "run", title: "run", only: several, show: runName },
  { name: "task", title: "task", show: (row) => link(row, value("task", row)) },
  { name: "agent", title: "agent" },
  { name: "model", title: "model" },
  { name: "condition", title: "condition" },
  { name: "repeat", title: "repeat", number: true },
  { name: "verdict", title: "verdict", show: verdict },
  { name: "termination", title: "ended", show: (row) => (value("termination", row) ?? "–").replaceAll("_", " ") },
  { name: "steps", title: "steps", number: whole },
  { name: "tokens", title: "tokens", number: whole },
  { name: "cost", title: "cost", number: dollars },
  { name: "delivered", title: "delivered", number: true },
  { name: "user_lines_at_end", title: "user’s lines left", number: true },
  { name: "ablation", title: "cause", only: words("ablation").length > 0, show: (row) => (value("ablation", row) ?? "").replaceAll("_", " ") },
].filter(({ only }) => only !== false);

const FILTERS = [...(several ? ["run"] : []), "task", "agent", "model", "condition", "verdict", "termination"];

const every = Array.from({ length: STORED.trials }, (_, row) => row);
const found = { rows: every, page: 0, column: null, direction: 0 };
const texts = every.map((row) =>
  ["task", "agent", "model", "condition", "verdict", "termination", "trial", "why"].map((name) => value(name, row) ?? "").join("\n").toLowerCase(),
);

function cellOf(column, row) {
  const stored = value(column.name, row);
  const long = typeof stored === "string" && stored.length > 28 ? "long" : null;
  if (column.show) return make("td", { class: long }, column.show(row));
  if (!column.number) return make("td", { class: long }, stored ?? "–");
  const text = stored === null ? "–" : column.number === true ? String(stored) : column.number(stored);
  return make("td", { class: "number" }, text);
}

function draw(from, to) {
  const body = byId("trials").tBodies[0];
  body.replaceChildren(...found.rows.slice(from, to).map((row) => make("tr", {}, COLUMNS.map((column) => cellOf(column, row)))));
}

function drawPage() {
  const pages = Math.max(1, Math.ceil(found.rows.length / PAGE));
  found.page = Math.max(0, Math.min(found.page, pages - 1));
  const from = found.page * PAGE;
  draw(from, from + PAGE);
  const all = STORED.trials;
  byId("count").textContent = found.rows.length === all ? count(all, "trial") : `${whole(found.rows.length)} of ${count(all, "trial")}`;
  byId("pages").hidden = pages === 1;
  byId("page").textContent = `Page ${found.page + 1} of ${whole(pages)}`;
  byId("before").disabled = found.page === 0;
  byId("after").disabled = found.page === pages - 1;
}

function filter() {
  const wanted = byId("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = FILTERS.map((name) => [STORED.columns[name], Number(byId(`filter-${name}`).value)]).filter(([, index]) => index >= 0);
  found.rows = every.filter(
    (row) => chosen.every(([column, index]) => column.at[row] === index) && wanted.every((word) => texts[row].includes(word)),
  );
  order();
}

function order() {
  if (found.direction) {
    const keys = new Map(found.rows.map((row) => [row, value(found.column, row)]));
    found.rows.sort((a, b) => compare(keys.get(a), keys.get(b), found.direction) || a - b);
  }
  found.page = 0;
  drawPage();
}

function turn(pages) {
  found.page += pages;
  drawPage();
  byId("trials").scrollIntoView({ block: "start" });
}

function prepareTrials() {
  const head = byId("trials").tHead.rows[0];
  head.replaceChildren(
    ...COLUMNS.map(({ title, number }) =>
      make("th", { scope: "col", "aria-sort": "none", class: number ? "number" : null }, make("button", { type: "button" }, title)),
    ),
  );
  sortable(byId("trials"), (column, direction) => {
    Object.assign(found, { column: COLUMNS[column].name, direction });
    filter();
  });
  for (const name of FILTERS) {
    const options = words(name)
      .map((word, index) => [word, index])
      .sort(([a], [b]) => TEXTS.compare(a, b))
      .map(([word, index]) => make("option", { value: index }, name === "run" ? (STORED.runs[word] ?? word) : word.replaceAll("_", " ")));
    const select = make("select", { id: `filter-${name}` }, make("option", { value: -1 }, "all"), options);
    select.addEventListener("change", filter);
    byId("selects").append(make("label", {}, make("span", {}, name === "termination" ? "ended" : name), select));
  }
  byId("text").addEventListener("input", filter);
  byId("filters").addEventListener("reset", () => setTimeout(filter));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("before").addEventListener("click", () => turn(-1));
  byId("after").addEventListener("click", () => turn(1));
  addEventListener("beforeprint", () => {
    draw(0, PRINTED);
    const left = found.rows.length - PRINTED;
    byId("unprinted").textContent = left > 0 ? `${count(left, "more trial")} are not printed: filter them, or see fourhands results.` : "";
  });
  addEventListener("afterprint", () => {
    byId("unprinted").textContent = "";
    drawPage();
  });
  drawPage();
}
