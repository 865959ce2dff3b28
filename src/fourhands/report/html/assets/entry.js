// One entry of a story: what one of the two hands did, said, or saw.

const SPEECH = new Set(["opened", "messaged", "asked", "answered"]);

function plainDiff(text) {
  return text.split("\n").map((line) => make("span", { class: { "+": "plus", "-": "minus", "@": "place" }[line[0]] ?? null }, `${line}\n`));
}

/** Text that may have been clipped in its middle. `show` makes nodes of a part. */
function clipped(text, show = (part) => part) {
  const gap = text.left_out && make("span", { class: "left-out" }, `… ${text.left_out} …`);
  return [show(text.head), gap, text.tail && show(text.tail)];
}

function content(entry) {
  const { text, form, kind } = entry;
  if (!text || entry.state) return null;
  if (SPEECH.has(kind) || entry.closing) return make("blockquote", { class: "speech" }, clipped(text));
  if (form === "words") return make("div", { class: "words" }, clipped(text));
  if (form === "diff") return make("pre", {}, clipped(text, plainDiff));
  return make("pre", { class: form }, form === "shell" && make("span", { class: "prompt", "aria-hidden": "true" }, "$ "), clipped(text));
}

/** What the text below does not say anyway. */
function titleOf({ kind, form, title, text, tool, state }) {
  if (state) return stateTitle(state);
  if (kind === "opened") return "opens the conversation";
  if (kind === "asked" || kind === "answered") return kind === "asked" ? "asks" : "answers";
  if (kind === "said" || (SPEECH.has(kind) && text)) return null;
  return form === "shell" && text && tool ? tool : title;
}

const SHORT = 8;

function output(entry) {
  const { output: text, code } = entry;
  const failed = code !== null && code !== 0;
  const exit = code === null ? null : make("span", { class: failed ? "exit failed" : "exit" }, `exit ${code}`);
  if (!text || (!text.head && !text.tail)) return exit && make("p", { class: "outcome" }, "no output ", exit);
  const lines = `${text.head}${text.tail}`.trimEnd().split("\n").length + text.lines_left_out;
  return make(
    "details",
    { class: "output", open: lines <= SHORT && !entry.asking && entry.kind !== "opened" },
    make("summary", {}, entry.kind === "opened" ? "all that the agent was told" : `output, ${count(lines, "line")} `, exit),
    make("pre", {}, clipped(text)),
  );
}

const range = ([from, to]) => (to <= from ? `${from}` : `${from}–${to}`);

function touch({ path, kind, lines, fired }) {
  const where = lines === null ? "" : `:${lines.map(range).join(", ")}`;
  return make(
    "li",
    { class: fired ? "fired" : null },
    make("span", { class: "kind" }, kind === "edit" ? "edits" : "reads"),
    " ",
    make("span", { class: "path" }, `${path}${where}`),
    fired && make("span", { class: "chip user" }, "watched region"),
  );
}

/** What an entry has, unless it says so: a story leaves out what is empty. */
const EMPTY = { thread: "main", step: null, elapsed: null, code: null, fired: [], touches: [], diffs: [], more_files: 0, details: [], spoken: null, state: null, moves: [], slips: [], closing: false };

/** Whether it is part of the talk: what one of the two says to the other, and what the talk is about to end in. */
const isTalk = ({ kind, closing, state }) => SPEECH.has(kind) || closing || state?.of === "stop" || ["at_will", "verified", "ended"].includes(kind);

/** What stands beneath what an agent does to ask: the question itself is the next entry. */
const folded = (entry, ...shown) => (entry.asking ? make("details", { class: "output" }, make("summary", {}, "how it asks"), shown) : shown);

function entryOf(told, at) {
  const entry = { ...EMPTY, ...told };
  const title = titleOf(entry);
  const quiet = (entry.lane === "harness" && !entry.state) || ["carried", "noted", "would_trigger"].includes(entry.kind);
  const speaks = SPEECH.has(entry.kind) || entry.closing;
  const fired = entry.fired.length > 0 && make("span", { class: "chip user" }, `sets off ${entry.fired.join(", ")}`);
  return make(
    "li",
    { id: `${at.prefix}${entry.seq}`, class: ["entry", entry.lane, entry.kind, quiet && "small", entry.dropped && "dropped", isTalk(entry) && "talk", speaks && "speaks", entry.state && `of-${entry.state.of}`].filter(Boolean).join(" "), tabindex: -1 },
    make("div", { class: "when" }, make("span", { class: "step" }), make("span", { class: "elapsed" }, entry.elapsed === null ? "" : clock(entry.elapsed))),
    make(
      "div",
      { class: "card" },
      make(
        "header",
        {},
        entry.lane === "agent" || entry.lane === "user" ? hand(entry.lane) : make("span", { class: "lane" }, entry.lane),
        title && make("span", { class: "title" }, title),
        entry.thread !== "main" && make("span", { class: "chip" }, entry.thread),
        entry.dropped && make("span", { class: "chip" }, "not taken up"),
        fired,
        moveOf(entry, at),
        entry.slips.map((slip) => make("span", { class: "chip care" }, `agreement broken: ${slip}`)),
      ),
      folded(entry, content(entry), entry.kind !== "verified" && output(entry)),
      stateCard(entry, at),
      reasons(entry),
      steps(entry, at),
      entry.touches.length > 0 && make("ul", { class: "touches" }, entry.touches.map(touch)),
      entry.diffs.map(fileDiff),
      entry.more_files > 0 && make("p", { class: "left-out" }, `${count(entry.more_files, "more file")} left out`),
      entry.details.length > 0 && make("ul", { class: "fine" }, entry.details.map((line) => make("li", {}, line))),
    ),
  );
}

function clock(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
}
