// The ledger of a conversation: each requirement, turn by turn, by letter and colour; a letter that is underlined is
// where it changed, and leads to the event that changed it.

const STATE_LETTERS = { held: "H", revealed: "R", acknowledged: "A", satisfied: "S", violated: "V", forgotten: "F" };

/** Of what nobody could tell there is no letter. */
const letter = (state) => STATE_LETTERS[state] ?? "?";

/** By turn, the state in which a requirement was at its end, and the event that brought it there, if one did. */
function statesOf({ moves }, turns) {
  const cells = [];
  let state = "held";
  for (let turn = 1; turn <= turns; turn += 1) {
    const last = moves.filter(([at]) => at === turn).at(-1);
    if (last) state = last[1];
    cells.push({ turn, state, seq: last?.[2] ?? null });
  }
  return cells;
}

function cell({ turn, state, seq }, name, at) {
  const label = `${name}, turn ${turn}: ${state}`;
  const shown = seq === null ? make("span", { title: label }, letter(state)) : toEvent(at, seq, letter(state));
  shown.setAttribute("title", label);
  if (seq !== null) shown.setAttribute("aria-label", label);
  return make("td", { class: `state ${state}${seq === null ? " same" : ""}` }, shown);
}

function ledgerRow(each, turns, at) {
  const label = each.label ?? (each.fate === "held" ? "never told" : "");
  const early = each.label_at_will !== each.label && each.label_at_will;
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, requirement(each.id, at)),
    statesOf(each, turns).map((one) => cell(one, each.id, at)),
    make("td", { class: `state end ${each.fate}` }, make("span", { title: `${each.id}, in the end: ${each.fate}` }, letter(each.fate))),
    make("td", { class: "label" }, label, early && make("span", { class: "quiet" }, ` (at will: ${early})`)),
    make("td", { class: "meaning" }, each.text ?? "–"),
  );
}

function ledgerPanel(story, at) {
  const ledger = story.talk?.ledger;
  if (!ledger?.requirements.length) return null;
  const { turns, stop } = ledger;
  const head = (seq, index) => make("th", { scope: "col", class: index + 1 === stop ? "turn stop" : "turn", title: index + 1 === stop ? "the agent first wanted to end here" : null }, toEvent(at, seq, String(index + 1)));
  const met = ledger.requirements.filter(({ met: is }) => is).length;
  return make(
    "details",
    { class: "ledger", open: true },
    make("summary", {}, `Ledger: ${met} of ${count(ledger.requirements.length, "requirement")} met in the end`),
    scroller(
      "Ledger, turn by turn",
      make(
        "table",
        { class: "matrix" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, turns.length > 0 ? "turn" : ""), turns.map(head), make("th", { scope: "col", class: turns.length + 1 === stop ? "turn stop" : "turn" }, "end"), make("th", { scope: "col", class: "label" }, "label"), make("th", { scope: "col", class: "meaning" }, "what the user wants"))),
        make("tbody", {}, ledger.requirements.map((each) => ledgerRow(each, turns.length, at))),
      ),
    ),
    make("p", { class: "states" }, Object.entries(STATE_LETTERS).map(([state, sign]) => make("span", {}, make("span", { class: `state ${state}`, "aria-hidden": "true" }, sign), ` ${state}`)), stop !== null && make("span", {}, make("span", { class: "turn stop", "aria-hidden": "true" }, "n"), " the agent first wants to end")),
  );
}
