// A trial's story: how it ended, the time line of both hands, and the evidence below it.

const fact = (name, ...what) => make("div", {}, make("dt", {}, name), make("dd", {}, what));

function ending(story, at) {
  const { verification: tests, lines, delivery, talk } = story;
  const word = story.verdict ?? "not ended";
  const shadows = delivery.filter((each) => each.shadow_of.length > 0); // of a user who was not there
  const planned = delivery.length - shadows.length;
  const delivered = delivery.filter((each) => each.delivered).length;
  const would = new Set(story.entries.filter(({ kind }) => kind === "would_trigger").map((each) => each.intervention)).size;
  const fates = new Map();
  for (const line of lines.written) fates.set(line.fate, (fates.get(line.fate) ?? 0) + 1);
  const kept = [...fates].map(([fate, n]) => `${n} ${fate}`).join(", ");
  return make(
    "dl",
    { class: "facts" },
    fact("verdict", make("span", { class: `verdict ${word}` }, word === "none" ? "no verdict" : word), story.termination && ` ${story.termination.replaceAll("_", " ")}`),
    talk?.at_will && fact("at will", make("span", { class: `verdict ${talk.at_will}` }, talk.at_will === "none" ? "no verdict" : talk.at_will), talk.stop !== null && toEvents(at, [talk.stop])),
    talk?.is_talk && fact("told", `${talk.ledger.requirements.length - talk.held.length} of ${count(talk.ledger.requirements.length, "requirement")}`),
    talk?.is_talk && fact("the user says", count(talk.said, "message"), talk.blocked > 0 && `; ${count(talk.blocked, "wording")} blocked`),
    talk?.slips.length > 0 && fact("agreement broken", talk.slips.map(({ slip, seq }, index) => [index > 0 && ", ", slip, toEvents(at, [seq])])),
    tests && fact("tests", `${tests.fail_to_pass_passed} of ${tests.fail_to_pass_count} to be fixed pass`, tests.pass_to_pass_failed_count > 0 && `; ${count(tests.pass_to_pass_failed_count, "other")} broken`),
    story.steps !== null && fact("steps", story.steps.toLocaleString("en")),
    story.tokens !== null && fact("tokens", story.tokens.toLocaleString("en")),
    story.seconds !== null && fact("time", clock(story.seconds)),
    planned > 0 && fact("interventions", `${delivered} of ${planned} delivered`),
    shadows.length > 0 && fact("a user would have acted", `${would} of ${shadows.length}`),
    lines.written.length > 0 && fact("user’s lines", kept),
    story.ablation && make("div", { class: "broad" }, make("dt", {}, "cause"), make("dd", {}, story.ablation.words)),
  );
}

const LEGEND = [["agent", "agent"], ["user", "user"]];

function legend() {
  return make(
    "p",
    { class: "legend" },
    LEGEND.map(([lane, label]) => hand(lane, label)),
    make("span", {}, make("span", { class: "shape base", "aria-hidden": "true" }, "·"), "base"),
    make("span", { class: "quiet" }, "a line’s colour and letter tell who wrote it, + and − what became of it"),
  );
}

function timeline(story, at) {
  const list = make("ol", { class: "line" });
  let step = null;
  for (const [index, entry] of story.entries.entries()) {
    const asking = entry.kind === "acted" && story.entries[index + 1]?.kind === "asked";
    const item = entryOf({ ...entry, asking }, at);
    if ((entry.step ?? step) !== step) {
      step = entry.step;
      item.querySelector(".step").textContent = `step ${step}`;
    }
    list.append(item);
  }
  return list;
}

const chips = (story, row) =>
  make("p", { class: "what" }, [several && runName(row), story.agent, story.model, story.condition, story.talk?.persona, story.repeat && `repeat ${story.repeat}`, story.attempt > 1 && `attempt ${story.attempt}`].filter(Boolean).map((each) => make("span", { class: "chip" }, each)));

/** Of a conversation: whether all is shown, or what was said alone. */
function talkSwitch(story) {
  if (!story.talk?.is_talk) return null;
  const button = make("button", { type: "button", class: "talk-switch", "aria-pressed": String(telling.classList.contains("talk-only")) }, "Talk only ", make("kbd", {}, "t"));
  button.addEventListener("click", toggleTalk);
  return button;
}

function toggleTalk() {
  const only = telling.classList.toggle("talk-only");
  for (const each of telling.querySelectorAll(".talk-switch")) each.setAttribute("aria-pressed", String(only));
  say(only ? "Only what was said" : "All that was done");
}

/** The whole story of trial `row`; `prefix` keeps the ids of several stories apart. */
function storyElement(story, row, prefix, extra) {
  const name = `${prefix}title`;
  const at = place(story, row, prefix);
  return make(
    "article",
    { class: "story", "aria-labelledby": name },
    make(
      "header",
      { class: "story-head" },
      make("h2", { id: name, tabindex: -1 }, story.task || story.trial),
      chips(story, row),
      extra,
      ending(story, at),
      story.problems.length > 0 && make("ul", { class: "problems" }, story.problems.map((problem) => make("li", {}, problem))),
      meanings(story, at),
      ledgerPanel(story, at),
      legend(),
      talkSwitch(story),
    ),
    make("div", { class: "lanes", "aria-hidden": "true" }, make("span", {}, hand("agent")), make("span", {}), make("span", {}, hand("user"))),
    timeline(story, at),
    make("div", { class: "evidence" }, labels(story.why, at), typed(story.why, at), tests(story.verification), userLines(story.lines), ablation(story.ablation), opinions(story.why, at), proof(story, at)),
  );
}
