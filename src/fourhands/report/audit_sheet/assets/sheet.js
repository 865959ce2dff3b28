// Answers: kept here and in the browser's storage, saved as a table. Each is of an item of this sheet, and of a person.

const DATA = JSON.parse(byId("data").textContent);
const KEY = `fourhands-sheet-${DATA.sheet}`;
const OF = `${KEY}-of-`;
const [ITEM, ...REST] = DATA.columns;
const [NOTE, ANNOTATOR] = REST.splice(-2);
const [YES, NO] = DATA.words;
const articles = [...document.querySelectorAll("article.item")];
const answers = new Map();
let here = 0;
let person = "";

const isAnswered = (one) => one.none || one.labels.length > 0;
const current = () => answers.get(DATA.items[here]);
const answered = () => [...answers.values()].filter(isAnswered).length;
const named = () => byId("by").value.trim();

function clean() {
  for (const item of DATA.items) answers.set(item, { labels: [], none: false, note: "" });
  here = 0;
}

function take(item, one) {
  if (!answers.has(item)) return false;
  const labels = DATA.labels.filter((label) => one.labels?.includes(label)).slice(0, DATA.any ? Infinity : 1);
  const none = DATA.any && one.none === true && labels.length === 0;
  answers.set(item, { labels, none, note: typeof one.note === "string" ? one.note : "" });
  return true;
}

/** What a storage holds; nothing, where there is none: then the file that is saved is all there is. */
function stored(act) {
  try {
    return act() ?? null;
  } catch {
    return null;
  }
}

const keptOf = (name) => stored(() => JSON.parse(localStorage.getItem(OF + name)));

/** Under the name of whom they are of: two people at one computer do not see each other's. */
function remember() {
  stored(() => localStorage.setItem(OF + person, JSON.stringify({ here, answers: [...answers] })));
  stored(() => sessionStorage.setItem(KEY, person));
}

function goOnAs(name) {
  const kept = keptOf(name);
  clean();
  person = name;
  byId("by").value = name;
  for (const [item, one] of Array.isArray(kept?.answers) ? kept.answers : []) take(item, one);
  here = Math.min(Math.max(Number(kept?.here) || 0, 0), articles.length - 1);
  stored(() => sessionStorage.setItem(KEY, name));
  offer();
  show();
}

/** Who has answered in this browser, to be asked for: nobody's answers show by themselves. */
function offer() {
  const names = (stored(() => Object.keys(localStorage)) ?? []).filter((key) => key.startsWith(OF)).sort();
  const buttons = names
    .map((key) => key.slice(OF.length))
    .filter((name) => name !== person)
    .map((name) => {
      const button = make("button", { type: "button" }, name ? `Go on as ${name}` : "Go on without a name");
      button.addEventListener("click", () => (goOnAs(name), (byId("about").open = false)));
      return button;
    });
  byId("kept").replaceChildren(...(buttons.length ? ["Answered before in this browser:", ...buttons] : []));
  byId("kept").hidden = buttons.length === 0;
}

/** A name is given. Answers of nobody yet become that person's; those of another one stay theirs. */
function rename() {
  const name = named();
  if (!name || name === person) return;
  if (person || (keptOf(name) && answered() === 0)) return goOnAs(name);
  const before = keptOf(name) ? new Map(answers) : null;
  stored(() => localStorage.removeItem(OF));
  if (before) {
    goOnAs(name);
    for (const [item, one] of before) if (isAnswered(one)) take(item, one);
  }
  person = name;
  remember();
  offer();
  show();
}

function show() {
  const one = current();
  articles.forEach((article, at) => (article.hidden = at !== here));
  for (const button of document.querySelectorAll(".label")) {
    const pressed = "none" in button.dataset ? one.none : one.labels.includes(button.dataset.label);
    button.setAttribute("aria-pressed", String(pressed));
  }
  if (byId("note").value !== one.note) byId("note").value = one.note;
  byId("previous").disabled = here === 0;
  byId("next").disabled = here === articles.length - 1;
  byId("count").textContent = `${answered()} of ${articles.length} answered`;
}

function go(at) {
  if (at < 0 || at >= articles.length) return;
  here = at;
  show();
  remember();
  articles[here].focus({ preventScroll: true });
  scrollTo({ top: 0, behavior: "instant" });
}

function goToOpen() {
  for (let step = 1; step <= articles.length; step += 1) {
    const at = (here + step) % articles.length;
    if (!isAnswered(answers.get(DATA.items[at]))) return go(at);
  }
  tell("All items are answered");
}

function change(what) {
  answers.set(DATA.items[here], { ...current(), ...what });
  show();
  remember();
}

function choose(label) {
  const { labels } = current();
  const has = labels.includes(label);
  if (!DATA.any) return change({ labels: has ? [] : [label] });
  change({ labels: has ? labels.filter((one) => one !== label) : [...labels, label], none: false });
}

const chooseNone = () => DATA.any && change({ labels: [], none: !current().none });
const clear = () => change({ labels: [], none: false });

function tell(text) {
  byId("status").textContent = text;
  setTimeout(() => (byId("status").textContent = ""), 4000);
}

/** A cell of a table. A spreadsheet takes what begins like a formula for one: an apostrophe makes it text. */
function cell(text) {
  const safe = /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
  return /[",;\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function row(item) {
  const one = answers.get(item);
  const given = DATA.any
    ? DATA.labels.map((label) => (isAnswered(one) ? (one.labels.includes(label) ? "yes" : "no") : ""))
    : [one.labels[0] ?? ""];
  return [item, ...given, one.note, named()];
}

function save() {
  rename();
  const name = named();
  if (!name) {
    byId("about").open = true;
    byId("by").focus();
    return tell("Give your name first");
  }
  const rows = [[ITEM, ...REST, NOTE, ANNOTATOR], ...DATA.items.map(row)];
  const text = rows.map((cells) => cells.map(cell).join(",")).join("\r\n");
  const file = `answers-${name.normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "-")}.csv`;
  const url = URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv;charset=utf-8" }));
  make("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  tell(`${count(answered(), "answer")} saved as ${file}`);
}

/** The text of a file as spreadsheets save it: in UTF-8, or in UTF-16 with its mark. */
async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(mark).decode(bytes);
}

/** The rows of a table as this page and spreadsheets save it: one delimiter, which its first line tells. */
function table(text) {
  const [head] = text.split("\n", 1);
  const delimiter = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0];
  const rows = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const one = text[at];
    const cells = rows.at(-1);
    if (quoted && one === '"' && text[at + 1] === '"') cells[cells.length - 1] += text[(at += 1)];
    else if (one === '"') quoted = !quoted;
    else if (!quoted && one === delimiter) cells.push("");
    else if (!quoted && one === "\n") rows.push([""]);
    else if (quoted || one !== "\r") cells[cells.length - 1] += one;
  }
  return rows;
}

const folded = (text) => text.trim().replace(/\s+/gu, " ").toLowerCase();
const bare = (text) => text.replace(/^'(?=[=+\-@\t\r])/u, "");

/** What a row answers; `unclear` are cells of which nobody can tell what they say. */
function given(cellOf) {
  if (!DATA.any) {
    const cell = folded(cellOf(REST[0]));
    const label = DATA.labels.find((one) => folded(one) === cell);
    return { labels: label ? [label] : [], none: false, unclear: cell && !label ? 1 : 0 };
  }
  const cells = DATA.labels.map((label) => [label, folded(cellOf(label))]);
  const labels = cells.filter(([, cell]) => YES.includes(cell)).map(([label]) => label);
  const unclear = cells.filter(([, cell]) => cell && !YES.includes(cell) && !NO.includes(cell)).length;
  return { labels, none: labels.length === 0 && cells.some(([, cell]) => NO.includes(cell)), unclear };
}

async function load(file) {
  const [head, ...rows] = table(await textOf(file));
  const places = head.map(folded);
  const value = (cells, column) => (cells[places.indexOf(folded(column))] ?? "").trim();
  const lacking = [ITEM, ...REST].find((column) => !places.includes(folded(column)));
  if (lacking) return tell(`This is no file of answers: there is no column ${lacking}`);
  const own = rows.filter((cells) => value(cells, ITEM));
  const who = [...new Set(own.map((cells) => bare(value(cells, ANNOTATOR))))].filter(Boolean);
  if (who.length > 1 && !who.includes(named())) return tell(`Answers of ${who.join(", ")}: give your name first`);
  if (who.length === 1 && !named()) {
    byId("by").value = who[0];
    rename();
  }
  const found = { taken: 0, others: 0, unclear: 0 };
  for (const cells of own) {
    const by = bare(value(cells, ANNOTATOR));
    const item = value(cells, ITEM);
    if (who.length > 1 && by && by !== named()) continue;
    if (!answers.has(item)) {
      found.others += 1;
      continue;
    }
    const one = given((column) => value(cells, column));
    found.unclear += one.unclear;
    const before = answers.get(item);
    const note = bare(value(cells, NOTE)) || before.note;
    // What says nothing, or what nobody understands, takes the place of no answer.
    const says = isAnswered(one) && !one.unclear;
    take(item, { ...(says ? one : before), note });
    found.taken += says ? 1 : 0;
  }
  show();
  remember();
  const more = [
    found.others ? `${found.others} of another sheet` : "",
    found.unclear ? `${count(found.unclear, "cell")} not understood` : "",
  ];
  tell([`${count(found.taken, "answer")} taken`, ...more.filter(Boolean)].join(", "));
}

const KEYS = {
  j: () => go(here + 1),
  k: () => go(here - 1),
  o: goToOpen,
  c: clear,
  n: () => byId("note").focus(),
  s: save,
  0: chooseNone,
  ...Object.fromEntries(DATA.labels.map((label, at) => [String(at + 1), () => choose(label)])),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of document.querySelectorAll(".label")) {
  button.addEventListener("click", () => ("none" in button.dataset ? chooseNone() : choose(button.dataset.label)));
}
byId("note").addEventListener("input", (event) => change({ note: event.target.value }));
byId("previous").addEventListener("click", () => go(here - 1));
byId("next").addEventListener("click", () => go(here + 1));
byId("open").addEventListener("click", goToOpen);
byId("clear").addEventListener("click", clear);
byId("save").addEventListener("click", save);
byId("by").addEventListener("change", rename);
byId("load").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = ""; // the same file may be given again
  if (file) await load(file);
});
for (const id of ["who", "answer"]) byId(id).addEventListener("submit", (event) => event.preventDefault());
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("content").focus();
});

clean();
nameTheme();
const last = stored(() => sessionStorage.getItem(KEY)); // of this tab: it was loaded again
if (last !== null && keptOf(last)) {
  goOnAs(last);
  byId("about").open = false;
} else {
  offer();
  show();
}
