// What a conversation adds to an entry: by which move something was said and why, what a state of the code holds, and
// which requirements it moved. `at` is where it stands: `{row, prefix, ids}`, of which trial, and how its ids begin.

/** Where a story's parts stand; `ids` are those of the hidden texts that its requirements' chips are described by. */
function place(story, row, prefix) {
  const known = story.talk?.ledger.requirements ?? [];
  const ids = new Map(known.map(({ id, text }, index) => [id, text === null ? null : `${prefix}requirement-${index}`]));
  return { row, prefix, ids };
}

/** The ledger's texts, for chips to be described by. */
function meanings(story, at) {
  const known = story.talk?.ledger.requirements ?? [];
  return make("div", { hidden: true }, known.map(({ id, text }) => text !== null && make("span", { id: at.ids.get(id) }, `${id}: ${text}`)));
}

/** A requirement by its id; what the ledger says of it is shown to whoever points at it, taps it or goes there. */
function requirement(name, at, mark = "", kind = "") {
  const meaning = at.ids.get(name);
  const label = [mark && make("span", { class: "mark", "aria-hidden": "true" }, mark), name];
  const type = `req ${kind}`.trim();
  if (!meaning) return make("span", { class: type }, label);
  const chip = explained(make("button", { type: "button", class: type, "aria-describedby": meaning }, label));
  chip.addEventListener("click", () => showTip(chip));
  return chip;
}

const requirements = (names, at, mark, kind) => names.map((name) => requirement(name, at, mark, kind));

/** A way to an event of the same story: also where it stands beside others. */
function toEvent(at, seq, ...label) {
  const link = make("a", { class: "seq", href: `#trial=${address(at.row)}&at=${seq}`, "aria-label": label.length ? null : `event ${seq}` }, label.length ? label : `#${seq}`);
  link.addEventListener("click", (event) => {
    const story = link.closest("article");
    if (!story?.querySelector("ol.line")) return;
    if (telling.querySelectorAll("article").length > 1) event.preventDefault();
    goTo(seq, story);
  });
  return link;
}

const toEvents = (at, seqs) => seqs.map((seq) => [" ", toEvent(at, seq)]);

/** Above a message of the user: the move, and of what it speaks. */
function moveOf({ spoken }, at) {
  if (!spoken) return null;
  return [
    spoken.move && make("span", { class: "chip user move" }, spoken.move.replaceAll("_", " ")),
    requirements(spoken.requirements, at),
    spoken.source !== "fixed" && make("span", { class: `chip ${spoken.source}` }, spoken.words_by),
  ];
}

/** Below it: why it was said, and what was not. */
function reasons({ spoken }) {
  if (!spoken) return null;
  const blocked = spoken.blocked.length > 0 && make(
    "details",
    { class: "blocked" },
    make("summary", {}, `${count(spoken.blocked.length, "wording")} not said`),
    make("ul", {}, spoken.blocked.map(({ reason, text }) => make("li", {}, make("span", { class: "reason" }, reason), make("blockquote", {}, clipped(text))))),
  );
  return [spoken.why && make("p", { class: "because" }, spoken.why), blocked];
}

const ARROWS_OF = { satisfied: "✓", violated: "✗", acknowledged: "…", revealed: "→", forgotten: "✗" };

/** The steps of requirements that an entry brought about, those of one kind together. */
function steps({ moves }, at) {
  const by = new Map();
  for (const each of moves) by.set(each.after, [...(by.get(each.after) ?? []), each]);
  return moves.length > 0 && make(
    "p",
    { class: "steps" },
    [...by].map(([after, some]) => make("span", { class: "step-of" }, make("span", { class: `state ${after}` }, `${ARROWS_OF[after] ?? ""} ${after}`), " ", requirements(some.map((each) => each.requirement), at))),
  );
}

const points = (score) => (score === null || score === undefined ? "–" : score.toLocaleString("en", { maximumFractionDigits: 1 }));

/** A checkpoint: what it is of, what it is worth, and what changed since the one before. */
function stateCard({ state, text, form }, at) {
  if (!state) return null;
  const plan = state.of === "plan";
  const worth = state.score === null ? "no score" : [make("strong", {}, points(state.score)), ` of 100 by ${state.source}`];
  const row = (name, names) => names.length > 0 && make("div", {}, make("dt", {}, name), make("dd", {}, requirements(names, at)));
  const failed = state.failed.length > 0 && make("div", {}, make("dt", {}, "checks that fail"), make("dd", {}, make("ul", { class: "checks" }, state.failed.map((name) => make("li", {}, name)))));
  return [
    make(
      "p",
      { class: "worth" },
      make("span", {}, worth),
      state.checks > 0 && make("span", {}, `${state.checks_passed} of ${count(state.checks, "check")} pass${state.checks_unknown ? `, ${state.checks_unknown} not known` : ""}`),
      !plan && make("span", { class: "counts" }, `+${state.additions} −${state.deletions}`),
      requirements(state.gained, at, "↑", "gained"),
      requirements(state.lost, at, "↓", "lost"),
    ),
    state.problem && make("p", { class: "problems" }, state.problem),
    make(
      "details",
      { class: "holds" },
      make("summary", {}, `holds ${state.met.length} of ${count(state.met.length + state.unmet.length + state.unknown.length, "requirement")}`),
      make("dl", { class: "held" }, row("met", state.met), row("not met", state.unmet), row("not known", state.unknown), failed),
    ),
    text && make("details", { class: "output" }, make("summary", {}, plan ? "the plan" : "diff"), make("pre", {}, clipped(text, form === "diff" ? plainDiff : undefined))),
  ];
}

function stateTitle({ of_words: words, name, subject, commit, marks }) {
  return [
    make("strong", {}, words),
    subject && ` “${subject}”`,
    make("span", { class: "quiet" }, ` ${[name, commit, ...marks].filter(Boolean).join(", ")}`),
  ];
}
