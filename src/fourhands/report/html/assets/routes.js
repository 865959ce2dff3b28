// What the address says is shown: the overview, `#trial=NAME` (`&at=EVENT`), or two trials, `#compare=NAME,NAME`.

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

const named = ({ trial, compare: two }) => (two === undefined ? [trial] : two.split(",").slice(0, 2)).map(decoded);

async function follow() {
  const where = route();
  if (where.trial === undefined && where.compare === undefined) showOverview();
  else await showStories(where);
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

async function showStories(where) {
  const current = (asked += 1);
  const names = named(where);
  const key = names.join("\n");
  if (telling.hidden) left = { scroll: scrollY, focus: document.activeElement };
  if (telling.dataset.shown !== key || telling.hidden) {
    const told = await Promise.all(names.map(tellOne));
    if (current !== asked) return; // another address was followed meanwhile
    telling.dataset.shown = key;
    telling.replaceChildren(above(names), make("div", { class: names.length > 1 ? "beside" : "alone" }, told));
    overview.hidden = true;
    telling.hidden = false;
    scrollTo({ top: 0, behavior: "instant" });
    (telling.querySelector("h2") ?? telling).focus({ preventScroll: true });
    document.title = shown(`${names.join(" and ")} · ${title}`);
  }
  if (where.at !== undefined) goTo(Number(where.at));
}

async function tellOne(name, index) {
  const row = find(name);
  if (row === null) return problem(`This report has no trial ${name}.`);
  try {
    const story = await storyOf(row);
    return story ? storyElement(story, row, `${"ab"[index]}-`, besides(row)) : problem(`Of ${name} no story was recorded.`);
  } catch (error) {
    return problem(`The story of ${name} cannot be told: ${error.message}. It may still be being written: try again in a minute. Else copy that folder here, or run fourhands report again.`);
  }
}

const problem = (text) => make("p", { class: "missing", role: "alert" }, text);

/** The way back, and to the trials before and after in the table as it is filtered. */
function above(names) {
  const rows = found.rows.filter(hasStory);
  const at = rows.indexOf(find(names[0]));
  const step = (label, row) => names.length === 1 && at >= 0 && row !== undefined && make("a", { href: `#trial=${address(row)}` }, label);
  return make("nav", { class: "above", "aria-label": "Trials" }, make("a", { href: "#", id: "back" }, "← All trials"), step("Previous", rows[at - 1]), step("Next", rows[at + 1]));
}

/** A choice of another trial of the same task, to be put beside this one. */
function besides(row) {
  const others = every.filter((other) => other !== row && hasStory(other) && value("task", other) === value("task", row));
  if (!others.length) return null;
  const label = (other) => ["agent", "model", "condition"].map((name) => value(name, other)).concat(`repeat ${value("repeat", other)}`, several ? runName(other) : []).join(" · ");
  const select = make("select", {}, make("option", { value: "" }, "choose a trial of this task"), others.map((other) => make("option", { value: other }, label(other))));
  select.addEventListener("change", () => {
    if (select.value) location.hash = `compare=${address(row)},${address(Number(select.value))}`;
  });
  return make("label", { class: "besides" }, "Put beside it ", select);
}

function goTo(seq) {
  const entries = [...telling.querySelectorAll(".entry")];
  const at = entries.filter((entry) => Number(entry.id.split("-")[1]) <= seq).at(-1);
  at?.focus({ preventScroll: true });
  at?.scrollIntoView({ block: "center" });
}

/** Move the focus along the time line: to the next entry, or to the next that `fits`. */
function move(direction, fits = () => true) {
  const focused = document.activeElement?.closest(".entry");
  const list = focused?.parentElement ?? telling.querySelector("ol.line");
  const entries = [...(list?.children ?? [])];
  let index = focused ? entries.indexOf(focused) : direction > 0 ? -1 : entries.length;
  do index += direction;
  while (entries[index] && !fits(entries[index]));
  entries[index]?.focus({ preventScroll: true });
  entries[index]?.scrollIntoView({ block: "nearest" });
}
