import { Yasqe } from "@zazuko/yasqe";
import { Yasr } from "@zazuko/yasr";
import { type AskedQuery, downloadAnswer, explainQuery, type Outcome, runQuery, type Target } from "./ask.ts";
import { endOf, failureOf, notesView, problemView, type ShownProblem, writeFirst } from "./outcome-view.ts";
import { installCompletion } from "./completion.ts";
import { element } from "./elements.ts";
import { ownUrl } from "./own-url.ts";
import { createPlanDisplay, type ShownPlan } from "./plan-view.ts";
import { registerViews } from "./views/index.ts";
import { describedExamples, knownPrefixes, useVocabulary } from "./vocabulary.ts";

/** The element with this id; the page has all of them. */
function part<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${kind.name} "${id}".`);
}

const parts = {
  form: part("ask", HTMLFormElement),
  target: part("target", HTMLSelectElement),
  partial: part("partial", HTMLInputElement),
  stop: part("stop", HTMLButtonElement),
  share: part("share", HTMLButtonElement),
  link: part("link", HTMLInputElement),
  format: part("format", HTMLSelectElement),
  download: part("download", HTMLButtonElement),
  examples: part("examples", HTMLUListElement),
  described: part("described", HTMLParagraphElement),
  state: part("state", HTMLParagraphElement),
  problem: part("problem", HTMLDivElement),
  answer: part("answer", HTMLElement),
  results: part("results", HTMLDivElement),
  plan: part("plan", HTMLDivElement),
};

installCompletion(Yasqe, () => targetOf(parts.target.value));
// Tab leaves the editor: a keyboard is not caught in it.
Yasqe.defaults.extraKeys = {
  ...Yasqe.defaults.extraKeys,
  "Ctrl-Enter": () => void run(),
  "Cmd-Enter": () => void run(),
  "Ctrl-S": () => undefined,
  Tab: false,
  "Shift-Tab": false,
};
const editor = new Yasqe(part("editor", HTMLDivElement), {
  persistenceId: null,
  consumeShareLink: null,
  showQueryButton: false,
  resizeable: false,
  editorHeight: "auto",
});
editor.getInputField().setAttribute("aria-label", "SPARQL query");
// Values are shown whole.
Yasr.defaults.plugins["table"] = { ...Yasr.defaults.plugins["table"], dynamicConfig: { isEllipsed: false } };
registerViews(Yasr);
const results = new Yasr(parts.results, { persistenceId: null, prefixes: knownPrefixes });
results.on("drawn", nameParts);

/** What the result views leave without a name for screen readers. */
function nameParts(): void {
  parts.results
    .querySelector("th:first-child .dt-column-title:empty")
    ?.append(element("span", { class: "hidden" }, "Row"));
  const names = { ".tableSizer": "Rows on a page", textarea: "Response" };
  for (const [selector, name] of Object.entries(names)) {
    for (const found of parts.results.querySelectorAll(selector)) found.setAttribute("aria-label", name);
  }
}

const targetOf = (value: string): Target => {
  const [kind, id] = value.split(":", 2);
  return kind === "endpoint" || kind === "federation" ? { [kind]: id } : {};
};

const askedQuery = (): AskedQuery => ({
  text: editor.getValue(),
  target: targetOf(parts.target.value),
  partial: parts.partial.checked,
});

/** The link that opens the console as it is now: all of it is in the fragment, which no server gets to see. */
function linkOf({ text, target }: AskedQuery): string {
  const parameters = new URLSearchParams({ ...target, query: text });
  return ownUrl(`/query#${parameters.toString()}`);
}

/** Takes query and target from the fragment; a link never runs anything by itself. */
function readFragment(): void {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const query = parameters.get("query");
  if (query !== null) editor.setValue(query);
  for (const kind of ["endpoint", "federation"]) {
    const id = parameters.get(kind);
    if (id !== null) parts.target.value = `${kind}:${id}`;
  }
  // An id that is not here leaves nothing selected.
  if (parts.target.selectedIndex === -1) parts.target.selectedIndex = 0;
}

function say(state: string, sentence: string, mark = ""): void {
  parts.state.replaceChildren(element("span", { class: `badge ${mark}` }, state), ` ${sentence}`);
}

let choosing = new AbortController();
/** Examples of the page itself: for a federation (`*`: for all), or those whose SERVICE clauses name the endpoints. */
const ownExamples = [...parts.examples.querySelectorAll("li")];

/** Shows what there is for the chosen target. */
async function choose(): Promise<void> {
  choosing.abort();
  choosing = new AbortController();
  const { signal } = choosing;
  const { endpoint, federation } = targetOf(parts.target.value);
  const isDescribed = await useVocabulary(endpoint, signal).catch(() => false);
  if (signal.aborted) return;
  const own = ownExamples.filter(({ dataset }) => [federation, federation && "*"].includes(dataset["federation"]));
  for (const item of own) item.hidden = false;
  const items = describedExamples().map(({ title, query }) =>
    element("li", {}, element("button", { type: "button", "data-query": query }, title)),
  );
  parts.examples.replaceChildren(...(endpoint === undefined ? own : items));
  parts.described.hidden = endpoint === undefined || isDescribed;
}

function showProblem(problem: ShownProblem): void {
  const { where, detail } = problem;
  if (where?.line !== undefined) markLine(where.line, detail);
  parts.problem.replaceChildren(...problemView(problem));
  parts.problem.hidden = false;
}

let markedLine: unknown;

/** Lines are counted from 1 in problems, from 0 in the editor. */
function markLine(line: number, message: string): void {
  markedLine = editor.addLineClass(line - 1, "background", "faulty");
  const marker = element(
    "span",
    { class: "fault", title: message, role: "img", "aria-label": `Error: ${message}` },
    "✖",
  );
  editor.setGutterMarker(line - 1, "gutterErrorBar", marker);
}

function clear(): void {
  if (markedLine !== undefined) editor.removeLineClass(markedLine, "background", "faulty");
  editor.clearGutter("gutterErrorBar");
  markedLine = undefined;
  parts.problem.hidden = true;
  parts.problem.replaceChildren();
  parts.answer.hidden = true;
}

let running: AbortController | undefined;

async function run(): Promise<void> {
  running?.abort();
  const controller = new AbortController();
  const { signal } = controller;
  running = controller;
  const query = askedQuery();
  history.replaceState(undefined, "", linkOf(query));
  clear();
  const isBlank = query.text.trim() === "";
  parts.stop.hidden = isBlank;
  if (isBlank) return say("not run", writeFirst);
  say("running", "The endpoints are asked.");
  const display = createPlanDisplay(parts.plan);
  const startedMs = performance.now();
  const unlessStale =
    <Value>(show: (value: Value) => void) =>
    (value: Value): void => {
      if (!signal.aborted) show(value);
    };
  const planning = explainQuery(query, signal)
    .then(unlessStale(display.planned))
    .catch(() => undefined);
  const onRecord = unlessStale(({ sources }: { readonly sources: ShownPlan["sources"] }) => display.show({ sources }));
  try {
    const outcome = await runQuery(query, { signal, onRecord });
    await planning;
    const tookMs = performance.now() - startedMs;
    if (outcome.record !== undefined) display.ran(outcome.record);
    showOutcome(outcome, tookMs);
  } catch (error) {
    if (running !== controller) return;
    say(...failure(error, signal));
    display.show({ status: "cancelled" });
  } finally {
    if (running === controller) parts.stop.hidden = true;
  }
}

const failure = (error: unknown, { aborted }: AbortSignal): [string, string, string] =>
  aborted
    ? ["cancelled", "You stopped it.", "down"]
    : ["failed", `The service could not be reached (${String(error)}). Try again in a moment.`, "down"];

function showOutcome(outcome: Outcome, tookMs: number): void {
  say(...endOf(outcome, tookMs));
  const { record } = outcome;
  if (record !== undefined) {
    parts.state.append(
      " ",
      element("a", { href: ownUrl(`/runs/${encodeURIComponent(record.id)}`) }, "The page of this run"),
      ".",
    );
  }
  const notes = notesView(outcome);
  if (notes.length > 0) parts.state.append(element("span", { class: "notes" }, element("ul", {}, ...notes)));
  const problem = failureOf(outcome);
  if (problem !== undefined) showProblem(problem);
  if (outcome.body === undefined || outcome.body.text === "") return;
  const { text, contentType } = outcome.body;
  parts.answer.hidden = false;
  results.setResponse({ data: text, contentType, status: 200, executionTime: tookMs }, tookMs);
}

const copied = async (text: string): Promise<boolean> =>
  navigator.clipboard === undefined
    ? false
    : navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );

async function share(): Promise<void> {
  parts.link.value = linkOf(askedQuery());
  history.replaceState(undefined, "", parts.link.value);
  part("shared", HTMLDivElement).hidden = false;
  parts.link.select();
  const isCopied = await copied(parts.link.value);
  parts.share.textContent = isCopied ? "Link copied" : "Copy the link below";
}

async function download(): Promise<void> {
  const { value: mediaType, selectedOptions } = parts.format;
  parts.download.disabled = true;
  try {
    const file = await downloadAnswer(askedQuery(), mediaType, new AbortController().signal);
    const url = URL.createObjectURL(file);
    const anchor = element("a", { href: url, download: `answer.${selectedOptions[0]?.dataset["extension"] ?? "txt"}` });
    anchor.click();
    URL.revokeObjectURL(url);
  } catch (error) {
    say("failed", `Nothing was downloaded: ${error instanceof Error ? error.message : String(error)}`, "down");
  } finally {
    parts.download.disabled = false;
  }
}

/** Formats of tables for SELECT and ASK, of graphs for the others. */
function offerFormats(): void {
  const isGraph = ["CONSTRUCT", "DESCRIBE"].includes(editor.getQueryType());
  for (const group of parts.format.querySelectorAll("optgroup")) group.hidden = isGraph !== (group.id === "graphs");
  const fitting = parts.format.querySelector<HTMLOptionElement>(`#${isGraph ? "graphs" : "tables"} option`);
  const chosen = parts.format.selectedOptions[0]?.parentElement?.id === "graphs";
  if (fitting !== null && chosen !== isGraph) parts.format.value = fitting.value;
}

/** What the buttons in examples and problems say with their data. */
function follow({ target }: Event): void {
  if (!(target instanceof HTMLButtonElement)) return;
  const { query, endpoint, line, column } = target.dataset;
  if (query !== undefined) editor.setValue(query);
  if (endpoint !== undefined) {
    parts.target.value = `endpoint:${endpoint}`;
    void choose();
  }
  if (line !== undefined) editor.getDoc().setCursor({ line: Number(line) - 1, ch: Number(column) - 1 });
  editor.focus();
}

parts.form.addEventListener("submit", (event) => {
  event.preventDefault();
  void run();
});
parts.stop.addEventListener("click", () => running?.abort());
parts.share.addEventListener("click", () => void share());
parts.download.addEventListener("click", () => void download());
parts.target.addEventListener("change", () => void choose());
parts.examples.addEventListener("click", follow);
parts.problem.addEventListener("click", follow);
editor.on("change", offerFormats);
globalThis.addEventListener("hashchange", () => {
  readFragment();
  void choose();
});
if (parts.target.dataset["first"] !== undefined) editor.setValue(parts.target.dataset["first"]);
readFragment();
offerFormats();
void choose();
document.documentElement.dataset["console"] = "ready";
