// The evidence below a time line: tests, the user's lines, the ablation, the proof of delivery.

const section = (title, ...what) => make("section", {}, make("h3", {}, title), what);

function tests(found) {
  if (!found) return null;
  const row = ([name, status]) => make("li", { class: status }, make("span", { class: "status" }, status), " ", make("code", {}, name));
  const list = (title, rows, all) => rows.length > 0 && [
    make("h4", {}, title),
    make("ul", { class: "tests" }, rows.map(row)),
    all > rows.length && make("p", { class: "left-out" }, `${count(all - rows.length, "more test")} left out`),
  ];
  const names = (title, them) => them.length > 0 && make("p", {}, `${title}: `, them.map((name, index) => [index ? ", " : "", make("code", {}, name)]));
  return section(
    "Tests",
    list("To be fixed", found.fail_to_pass, found.fail_to_pass_count),
    make("p", {}, `${found.pass_to_pass - found.pass_to_pass_failed_count} of ${count(found.pass_to_pass, "other test")} still pass.`, found.timed_out && " The tests ran out of time."),
    list("Broken", found.pass_to_pass_failed, found.pass_to_pass_failed_count),
    names("Missing", found.missing),
    names("Restored before the tests ran", found.restored),
    found.output && make("details", { class: "output" }, make("summary", {}, "what the tests printed"), make("pre", {}, clipped(found.output))),
  );
}

function userLines({ known, written, taken_out: out }) {
  if (!known || written.length + out.length === 0) return null;
  const row = (kind) => (line) =>
    make(
      "tr",
      { class: line.fate },
      make("td", {}, line.intervention),
      make("td", {}, kind),
      make("td", { class: "number" }, line.line),
      make("td", { class: "code" }, line.text ?? "–"),
      make("td", {}, line.words),
      make("td", { class: "path" }, line.path),
    );
  const head = ["intervention", "", "line", "text", "what became of it", "file"];
  return section(
    "The user’s lines",
    scroller(
      "The user’s lines",
      make(
        "table",
        { class: "plain" },
        make("thead", {}, make("tr", {}, head.map((name) => (name ? make("th", { scope: "col" }, name) : make("td"))))),
        make("tbody", {}, written.map(row("written")), out.map(row("taken out"))),
      ),
    ),
  );
}

/** What may be wider than the page: then it can be scrolled, by the keyboard too. */
function scroller(label, ...what) {
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, what);
}

function proof(story, at) {
  const facts = (found) => found.map(({ text, events }) => make("li", {}, text, toEvents(at, events)));
  const one = (each) => make("li", {}, make("strong", {}, each.intervention), each.shadow_of.length === 0 && (each.delivered ? " delivered" : " not delivered"), each.planned && [", ", each.planned.text], make("ul", {}, facts(each.facts)));
  if (!story.delivery.length && !story.asking) return null;
  return section("Proof of delivery", make("ul", { class: "proof" }, story.delivery.map(one), story.asking && facts([story.asking])));
}

function ablation(found) {
  if (!found) return null;
  const probe = (each) => make("li", {}, make("strong", {}, each.name.replaceAll("_", " ")), each.scope && `, ${{ place: "at its place", files: "in its files", all: "as a whole" }[each.scope]}`, `: ${each.verdict}`, each.timed_out && ", out of time", each.conflicts.length > 0 && `; could not be composed: ${each.conflicts.join(", ")}`);
  return section("Did the edit cause it?", make("p", {}, found.words), !found.words.includes(found.detail) && make("p", { class: "quiet" }, found.detail), make("ul", {}, found.probes.map(probe)));
}
