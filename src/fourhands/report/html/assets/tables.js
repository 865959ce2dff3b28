// Tables that stand in the page: sorted by a click on a header, and copied as CSV.

/** Sort keys: numbers before texts, unknown values last whichever way. */
function compare(a, b, direction) {
  const [noA, noB] = [a === null || a === "", b === null || b === ""];
  if (noA || noB) return noA - noB;
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * TEXTS.compare(String(a), String(b));
}
const TEXTS = new Intl.Collator("en", { numeric: true });

/** What a header's button does next: up, down, and back to the order of the record. */
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

/** Call `sort(column, direction)` when a header is used; direction 0 is the original order. */
function sortable(table, sort) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = header.querySelector("button");
    button?.addEventListener("click", () => {
      const order = NEXT[header.getAttribute("aria-sort") ?? "none"];
      headers.forEach((each) => each.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      sort(column, { ascending: 1, descending: -1, none: 0 }[order]);
      say(order === "none" ? "Original order" : `Sorted by ${button.textContent.trim()}, ${order}`);
    });
  });
}

function keyOf(cell) {
  if (!("value" in cell.dataset)) return cell.textContent.trim();
  const { value: text } = cell.dataset;
  return cell.classList.contains("number") && text !== "" ? Number(text) : text;
}

/** Names that equal the row above are there for a reader of the row, but need not be seen twice. */
function quieten(table) {
  const group = Number(table.dataset.group);
  let above = [];
  for (const row of table.tBodies[0].rows) {
    const names = [...row.cells].slice(0, group);
    let same = true;
    names.forEach((cell, index) => {
      same &&= above[index] === cell.textContent;
      cell.classList.toggle("same", same);
    });
    row.classList.toggle("first", !names.length || !names[0].classList.contains("same"));
    above = names.map((cell) => cell.textContent);
  }
}

const IDENTITY = ["condition", "model", "agent"];
const [FIRST, ALL_NAMES] = [0.7, 0.6]; // shares of the room that they may take

/** Keep in sight whose row it is: of these names as many as leave room for numbers, the most telling first. */
function pin(table) {
  const room = table.parentElement.clientWidth;
  const headers = [...table.tHead.rows[0].cells];
  let used = 0;
  const kept = new Set();
  for (const name of IDENTITY) {
    const header = headers.find((each) => each.dataset.name === name);
    if (header && used + header.offsetWidth <= room * (kept.size ? ALL_NAMES : FIRST)) {
      used += header.offsetWidth;
      kept.add(header.cellIndex);
    }
  }
  const last = Math.max(...kept);
  let left = 0;
  for (const { cellIndex: column, offsetWidth } of headers.filter(({ dataset }) => IDENTITY.includes(dataset.name))) {
    for (const row of table.rows) {
      const cell = row.cells[column];
      cell.classList.toggle("pinned", kept.has(column));
      cell.classList.toggle("edge", column === last);
      cell.style.left = kept.has(column) ? `${left}px` : "";
    }
    if (kept.has(column)) left += offsetWidth;
  }
}

/** The lines that `results --format csv` prints, sorted as they are shown. */
function csv(table) {
  return [...table.rows].map((row) => row.dataset.csv).join("");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "vh" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

let timer = 0;
/** Tell those who listen, and for a moment those who look. */
function say(text) {
  const status = byId("status");
  status.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => (status.textContent = ""), 2500);
}

for (const table of document.querySelectorAll("table.result")) {
  const original = [...table.tBodies[0].rows];
  quieten(table);
  new ResizeObserver(() => pin(table)).observe(table.parentElement);
  sortable(table, (column, direction) => {
    const keyed = original.map((row) => [keyOf(row.cells[column]), row]);
    if (direction) keyed.sort(([a], [b]) => compare(a, b, direction));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    quieten(table);
  });
}
for (const button of document.querySelectorAll("button.all")) {
  button.addEventListener("click", () => {
    const table = byId(button.dataset.table);
    const whole = table.classList.toggle("whole");
    button.setAttribute("aria-pressed", whole);
    pin(table);
  });
}
for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    await copy(csv(byId(button.dataset.table)));
    say("Copied as CSV");
  });
}
