// What the writer of the page left in it: the trials by column, and where each trial's story is.

const STORED = JSON.parse(byId("data").textContent);

/** One value of a trial; a column is either plain or `{words, at}`: an index into words, -1 for none. */
function value(column, row) {
  const stored = STORED.columns[column];
  if (!stored) return null;
  if (Array.isArray(stored)) return stored[row];
  const at = stored.at[row];
  return at < 0 ? null : stored.words[at];
}

const words = (column) => STORED.columns[column]?.words ?? [];

const hasStory = (row) => STORED.stories[row] >= 0;

const arrived = new Map();
const shelves = new Map();

// The one function that a file of the stories' folder calls.
globalThis.fourhandsShelf = (name, text) => arrived.set(name, text);

/** What a shelf holds, as it was packed: from the page, or else from the folder beside it. */
async function packed(name) {
  const inline = byId(`shelf-${name}`);
  if (inline) return JSON.parse(inline.textContent);
  // A page from disk may not fetch a file, but it may load a script.
  const script = make("script", { src: `${STORED.folder}/${name}.js` });
  await new Promise((resolve) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", resolve);
    document.head.append(script);
  });
  script.remove();
  const text = arrived.get(name);
  arrived.delete(name);
  if (text === undefined) throw new Error(`it is not in the folder ${STORED.folder} beside this page`);
  return text;
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The story of a trial; null where none was recorded. */
async function storyOf(row) {
  const place = STORED.stories[row];
  if (place < 0) return null;
  const name = STORED.shelves[Math.floor(place / STORED.perShelf)];
  if (!shelves.has(name)) {
    const told = packed(name).then(unpacked);
    shelves.set(name, told);
    told.catch(() => shelves.delete(name)); // the folder may come back
  }
  return (await shelves.get(name))[place % STORED.perShelf];
}

const idOf = (row) => `${value("run", row)}/${value("trial", row)}`;
const byName = new Map();
for (let row = STORED.trials - 1; row >= 0; row -= 1) {
  byName.set(value("trial", row), row);
  byName.set(idOf(row), row);
}

/** A trial by `RUN/TRIAL`, or by its own name where that is enough. */
const find = (name) => byName.get(name) ?? null;

const several = words("run").length > 1;
/** What a run's folder is called. */
const runName = (row) => STORED.runs[value("run", row)] ?? value("run", row);
/** The part of an address that names a trial. */
const address = (row) => encodeURIComponent(several ? idOf(row) : value("trial", row));
