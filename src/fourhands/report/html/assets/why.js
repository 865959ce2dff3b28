// Why a trial failed: what execution and events show, and apart from that what judge models said of it, each marked.

function labels({ labels: found }, at) {
  if (!found || found.found.length + found.undecided.length === 0) return null;
  const about = (name) => name !== null && [requirement(name, at), " "];
  return section(
    "Why it failed",
    make(
      "ul",
      { class: "labels" },
      found.found.map(({ label, by, told_by: told, requirement: name, events, why }) => make("li", {}, about(name), make("strong", {}, label), make("span", { class: `chip by ${by}` }, `by ${told}`), ` ${why}`, toEvents(at, events))),
      found.undecided.map(({ requirement: name, events, why }) => make("li", { class: "undecided" }, about(name), make("strong", {}, "undecided"), ` ${why}`, toEvents(at, events))),
    ),
  );
}

function typed({ type: found }, at) {
  if (!found) return null;
  return section(
    "Why it failed under the user’s hands",
    make("p", {}, make("strong", {}, found.type ?? "undecided"), found.by && make("span", { class: `chip by ${found.by}` }, `by ${found.by}`), ` ${found.why}`, toEvents(at, found.events)),
  );
}

/** How far a judge agrees with people, as it was measured for the trial's run by the same question and prompt. */
function trusting(row, said) {
  const same = ["audit", "audit_version", "prompt_version", "judge"];
  const known = STORED.agreements.find((each) => each.run === value("run", row) && same.every((name) => each[name] === said[name]));
  return known ? { told: known.told, trusted: known.trusted } : { told: "unaudited", trusted: false };
}

function standing(row, said) {
  const { told, trusted } = trusting(row, said);
  return make("span", { class: trusted ? "chip" : "chip care" }, told);
}

function opinions({ opinions: found, judged }, at) {
  if (found.length + judged.length === 0) return null;
  const one = (opinion) => make(
    "li",
    {},
    make("strong", {}, opinion.judge),
    ` on ${opinion.audit} `,
    standing(at.row, opinion),
    opinion.problem && make("p", { class: "problems" }, `no opinion: ${opinion.problem}`),
    !opinion.problem && opinion.labels.length === 0 && make("p", {}, "none of the labels applies"),
    make("ul", {}, opinion.labels.map(({ label, events, why, requirement: name }) => make("li", {}, name !== null && [requirement(name, at), " "], make("em", {}, label), ` ${why}`, toEvents(at, events)))),
  );
  const scored = (said) => make("li", {}, make("strong", {}, said.judge), " on plans and code ", standing(at.row, said), " ", said.states.map(({ state, score }) => `${state} ${points(score)}`).join(", "));
  return section("What judge models said", make("ul", { class: "labels opinions" }, found.map(one), judged.map(scored)));
}
