// What the address says is shown: the overview, `#trial=NAME` (`&at=EVENT`), or up to three trials side by side: their
// whole stories (`#compare=NAME,NAME`), what was said (`#talk=…`) or what was planned (`#plans=…`).

const overview = byId("overview");
const telling = byId("telling");
const title = document.title;
let left = { scroll: 0, focus: null };
let asked = 0;

function route() {
  const parts = location.hash.slice(1).split("&").map((part) => part.split("="));
  return Object.fromEntries(parts.map(([key, ...rest]) => [key, rest.join("=")]));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** How each of several is told. */
const VIEWS = { trial: storyElement, compare: storyElement, talk: talkElement, plans: planElement };

const viewOf = (where) => Object.keys(VIEWS).find((name) => where[name] !== undefined) ?? null;

const named = (where, view) => (view === "trial" ? [where.trial] : where[view].split(",").filter(Boolean).slice(0, MOST_BESIDE)).map(decoded);

async function follow() {
  const where = route();
  const view = viewOf(where);
  if (view === null) showOverview();
  else await showStories(where, view);
}

function showOverview() {
  asked += 1;
  document.title = title;
  const back = !telling.hidden;
  telling.hidden = true;
  overview.hidden = false;
  telling.replaceChildren();
  const target = location.hash.length > 1 ? byId(location.hash.slice(1)) : null;
  if (target) target.scrollIntoView();
  else if (back) {
    scrollTo({ top: left.scroll, behavior: "instant" });
    left.focus?.focus({ preventScroll: true });
  }
}

async function showStories(where, view) {
  const current = (asked += 1);
  const names = named(where, view);
  const key = [view === "trial" ? "compare" : view, ...names].join("\n");
  if (telling.hidden) left = { scroll: scrollY, focus: document.activeElement };
  if (telling.dataset.shown !== key || telling.hidden) {
    const told = await Promise.all(names.map((name, index) => tellOne(name, index, view, names)));
    if (current !== asked) return; // another address was followed meanwhile
    telling.dataset.shown = key;
    telling.replaceChildren(above(names, view), make("div", { class: names.length > 1 ? `beside of-${names.length}` : "alone" }, told));
    overview.hidden = true;
    telling.hidden = false;
    scrollTo({ top: 0, behavior: "instant" });
    (telling.querySelector("h2") ?? telling).focus({ preventScroll: true });
    document.title = shown(`${names.join(" and ")} · ${title}`);
  }
  if (where.at !== undefined) goTo(Number(where.at));
}

async function tellOne(name, index, view, names) {
  const row = find(name);
  const prefix = `${"abc"[index]}-`;
  const session = sessionOf(name);
  if (session) return view === "talk" ? sessionElement(session, prefix, besides(null, view, names)) : problem(`${name} is a real session: only its talk can be shown.`);
  if (row === null) return problem(`This report has no trial ${name}.`);
  try {
    const story = await storyOf(row);
    return story ? VIEWS[view](story, row, prefix, besides(row, view, names)) : problem(`Of ${name} no story was recorded.`);
  } catch (error) {
    return problem(`The story of ${name} cannot be told: ${error.message}. It may still be being written: try again in a minute. Else copy that folder here, or run fourhands report again.`);
  }
}

const problem = (text) => make("p", { class: "missing", role: "alert" }, text);

/** The way back, to the trials before and after in the table as it is filtered, and to the other views of these. */
function above(names, view) {
  const rows = found.rows.filter(hasStory);
  const at = rows.indexOf(find(names[0]));
  const step = (label, row) => view === "trial" && at >= 0 && row !== undefined && make("a", { href: `#trial=${address(row)}` }, label);
  const known = names.filter((name) => find(name) !== null);
  const list = (some) => some.map((name) => (find(name) === null ? name : address(find(name)))).join(",");
  const other = (label, name, some) => view !== name && !(name === "compare" && view === "trial") && some.length > 0 && make("a", { href: `#${name}=${list(some)}` }, label);
  return make(
    "nav",
    { class: "above", "aria-label": "Trials" },
    make("a", { href: "#", id: "back" }, "← All trials"),
    step("Previous", rows[at - 1]),
    step("Next", rows[at + 1]),
    make("span", { class: "views" }, other("Whole stories", "compare", known), other("The talk alone", "talk", names), other("The plans alone", "plans", known)),
  );
}

/** A choice of what to put beside this one: another trial of the same task or, of talks, a real session. */
function besides(row, view, names) {
  const task = value("task", row ?? find(names.find((name) => find(name) !== null)));
  const others = every.filter((other) => hasStory(other) && value("task", other) === task && !names.some((name) => find(name) === other));
  const sessions = STORED.sessions.map((each, index) => [`session:${index + 1}`, `real session ${each.name}`]).filter(([name]) => !names.includes(name) && (view === "talk" || view === "trial"));
  if (others.length + sessions.length === 0) return null;
  const label = (other) => ["agent", "model", "condition"].map((name) => value(name, other)).concat(`repeat ${value("repeat", other)}`, several ? runName(other) : []).join(" · ");
  const options = others.map((other) => [address(other), label(other)]).concat(sessions);
  const select = make("select", {}, make("option", { value: "" }, sessions.length ? "choose a trial of this task, or a session" : "choose a trial of this task"), options.map(([name, text]) => make("option", { value: name }, text)));
  select.addEventListener("change", () => {
    if (!select.value) return;
    const own = names.map((name) => (find(name) === null ? name : address(find(name))));
    const kept = own.length < MOST_BESIDE ? own : own.slice(0, MOST_BESIDE - 1);
    const isSession = find(decoded(select.value)) === null;
    location.hash = `${view === "trial" ? (isSession ? "talk" : "compare") : view}=${[...kept, select.value].join(",")}`;
  });
  return make("label", { class: "besides" }, "Put beside it ", select);
}

/** Go to an event, or what it is told with: within `story`, or else within the first that is there. */
function goTo(seq, story = telling) {
  const entries = [...(story.querySelector("ol.line") ?? story).querySelectorAll(".entry")];
  const at = entries.filter((entry) => Number(entry.id.split("-")[1]) <= seq).at(-1);
  if (at && !at.getClientRects().length) toggleTalk(); // it is hidden while only the talk is shown
  at?.focus({ preventScroll: true });
  at?.scrollIntoView({ block: "center" });
}

/** Move the focus along the time line: to the next entry, or to the next that `fits`. */
function move(direction, fits = () => true) {
  const focused = document.activeElement?.closest(".entry");
  const list = focused?.parentElement ?? telling.querySelector("ol.line");
  const entries = [...(list?.children ?? [])];
  let index = focused ? entries.indexOf(focused) : direction > 0 ? -1 : entries.length;
  const skipped = (entry) => !entry.getClientRects().length || !fits(entry);
  do index += direction;
  while (entries[index] && skipped(entries[index]));
  entries[index]?.focus({ preventScroll: true });
  entries[index]?.scrollIntoView({ block: "nearest" });
}
