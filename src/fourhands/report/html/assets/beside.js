// Several trials side by side, of each one thing alone: what was said, or what was planned. A real session, whose log
// the writer of the page was given, stands among the talks.

const MOST_BESIDE = 3;

const SESSION = /^session:(\d+)$/;

/** The session that an address names; trials are asked for first, so that none is hidden by one. */
const sessionOf = (name) => (find(name) === null && SESSION.test(name) ? (STORED.sessions[Number(SESSION.exec(name)[1]) - 1] ?? null) : null);

const wordCount = ({ head, tail }) => `${head} ${tail}`.split(/\s+/).filter(Boolean).length;

function median(numbers) {
  if (!numbers.length) return null;
  const sorted = numbers.toSorted ? numbers.toSorted((a, b) => a - b) : [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How much each of the two said; the opening is the task and no message of the talk. */
function saidFacts(said) {
  const one = (who) => {
    const lengths = said.filter(({ lane, kind }) => lane === who && kind !== "opened").map(({ text }) => wordCount(text));
    return fact(who, count(lengths.length, "message"), lengths.length > 0 && `, median ${count(median(lengths), "word")}`);
  };
  return make("dl", { class: "facts" }, one("user"), one("agent"));
}

function saidItem({ lane, text, kind, elapsed }, ...more) {
  return make(
    "li",
    { class: `entry ${lane} ${kind} speaks`, tabindex: -1 },
    make("div", { class: "card" }, make("header", {}, hand(lane), typeof elapsed === "number" && make("span", { class: "quiet elapsed" }, clock(elapsed)), more), make("blockquote", { class: "speech" }, clipped(text))),
  );
}

const isSpeech = ({ kind, closing, text, thread }) => text && (thread ?? "main") === "main" && (SPEECH.has(kind) || closing);

/** The talk of a trial alone. */
function talkElement(story, row, prefix, extra) {
  const name = `${prefix}title`;
  const at = place(story, row, prefix);
  const said = story.entries.filter(isSpeech);
  return make(
    "article",
    { class: "story talking", "aria-labelledby": name },
    make(
      "header",
      { class: "story-head" },
      make("h2", { id: name, tabindex: -1 }, story.task || story.trial),
      chips(story, row),
      extra,
      make("p", {}, make("span", { class: `verdict ${story.verdict ?? ""}` }, story.verdict ?? "not ended"), " ", make("a", { href: `#trial=${address(row)}` }, "the whole story")),
      saidFacts(said),
      meanings(story, at),
    ),
    said.length === 0 ? make("p", { class: "quiet" }, "Nothing was said.") : make("ol", { class: "line said-line" }, said.map((entry) => saidItem(entry, moveOf({ spoken: null, ...entry }, at)))),
  );
}

/** The talk of a real session: its user's turns, and what the agent said to them. */
function sessionElement(session, prefix, extra) {
  const name = `${prefix}title`;
  return make(
    "article",
    { class: "story talking", "aria-labelledby": name },
    make(
      "header",
      { class: "story-head" },
      make("h2", { id: name, tabindex: -1 }, `real session ${session.name}`),
      make("p", { class: "what" }, [session.format, session.agent, session.model].filter(Boolean).map((each) => make("span", { class: "chip" }, each))),
      extra,
      make("p", { class: "quiet" }, "A log of a person’s own work: no trial, no verdict."),
      saidFacts(session.said),
      session.problems.length > 0 && make("ul", { class: "problems" }, session.problems.map((problem) => make("li", {}, problem))),
    ),
    make("ol", { class: "line said-line" }, session.said.map((each) => saidItem(each))),
    session.left_out > 0 && make("p", { class: "left-out" }, `${count(session.left_out, "more message")} left out`),
  );
}

/** The checkpoint of the plan that the work began with; else of the last plan there was. */
function planOf(story) {
  const plans = story.entries.filter(({ state }) => state?.of === "plan");
  return plans.find(({ state }) => state.name === story.talk?.plan) ?? plans.at(-1) ?? null;
}

/** The plan of a trial alone, with what each goal was found to be worth, by source. */
function planElement(story, row, prefix, extra) {
  const name = `${prefix}title`;
  const at = place(story, row, prefix);
  const plan = planOf(story);
  const end = story.entries.filter(({ state }) => state && state.of !== "plan").at(-1)?.state;
  return make(
    "article",
    { class: "story planning", "aria-labelledby": name },
    make(
      "header",
      { class: "story-head" },
      make("h2", { id: name, tabindex: -1 }, story.task || story.trial),
      chips(story, row),
      extra,
      make("p", {}, make("span", { class: `verdict ${story.verdict ?? ""}` }, story.verdict ?? "not ended"), " ", make("a", { href: `#trial=${address(row)}` }, "the whole story")),
      meanings(story, at),
    ),
    plan?.text ? make("div", { class: "plan words" }, clipped(plan.text)) : make("p", { class: "quiet" }, "No plan is in its record."),
    goalTable(story, row, plan?.state, end),
  );
}

/** A share, 0 to 1, as points of 100. */
const share = (value) => (value === null || value === undefined ? "–" : points(100 * value));

function goalTable(story, row, plan, end) {
  const known = story.talk?.ledger.goals ?? [];
  const goals = known.length > 0 ? known : Object.keys({ ...plan?.goals, ...end?.goals }).map((id) => ({ id, text: null }));
  if (!goals.length) return null;
  const judged = (judge, state) => judge.states.find((each) => each.state === state) ?? { goals: {}, score: null };
  const mark = (judge) => `${judge.judge}, ${trusting(row, judge).told}`;
  const columns = [
    plan && [`plan, by ${plan.source ?? "words"}`, ({ id }) => share(plan.goals[id]), points(plan.score)],
    ...(plan ? story.why.judged.map((judge) => [`plan, ${mark(judge)}`, ({ id }) => share(judged(judge, plan.name).goals[id]), points(judged(judge, plan.name).score)]) : []),
    end && [`the end, by ${end.source ?? "checks"}`, ({ id }) => share(end.goals[id]), points(end.score)],
    ...(end ? story.why.judged.map((judge) => [`the end, ${mark(judge)}`, ({ id }) => share(judged(judge, end.name).goals[id]), points(judged(judge, end.name).score)]) : []),
  ].filter(Boolean);
  return scroller(
    "Goals",
    make(
      "table",
      { class: "plain goals" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "goal"), columns.map(([title]) => make("th", { scope: "col", class: "number" }, title)))),
      make(
        "tbody",
        {},
        goals.map((goal) => make("tr", {}, make("th", { scope: "row" }, make("strong", {}, goal.id), goal.text && ` ${goal.text}`), columns.map(([, cellOfGoal]) => make("td", { class: "number" }, cellOfGoal(goal))))),
        make("tr", { class: "sum" }, make("th", { scope: "row" }, "all, by weight"), columns.map(([, , sum]) => make("td", { class: "number" }, sum))),
      ),
    ),
  );
}
