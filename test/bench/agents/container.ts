import oxigraph from "oxigraph";
import { createQueryContainer } from "../../../src/agent/container/container.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { toPlanDescription } from "../../../src/query/explain.ts";
import {
  publishedData,
  type PublishedQuestion,
  publishedQuestions,
  publishedSources,
} from "../../support/published-questions.ts";
import { describedModels } from "../../support/described-models.ts";
import { buildFrom, NotBuildable } from "../../support/scripted-builder.ts";
import { toCatalog, toEntry } from "../../unit/plan/plan-cases.ts";

/** How many published queries can be put together from numbered choices, and why the others cannot. @throws Error when the container keeps an invalid one */
export async function runContainerBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const questions = publishedQuestions().filter((_question, index) => !quick || index % 7 === 0);
  const outcomes: (readonly [PublishedQuestion, string])[] = [];
  for (const { id, description } of publishedSources()) {
    const store = new oxigraph.Store();
    store.load(publishedData(id), { format: "application/n-triples" });
    const own = questions.filter(({ dataset }) => dataset === id);
    const known = new Map<string, string>();
    for (const question of own) {
      const outcome = known.get(question.sparql) ?? (await outcomeOf(question, { id, description, store }));
      known.set(question.sparql, outcome);
      outcomes.push([question, outcome]);
    }
    const built = outcomes.filter(([{ dataset }, outcome]) => dataset === id && outcome === sameRows).length;
    process.stdout.write(`${id.padEnd(16)}${built} of ${own.length}\n`);
  }
  print(outcomes);
}

const sameRows = "the same rows";

function print(outcomes: readonly (readonly [PublishedQuestion, string])[]): void {
  const groups: Readonly<Record<string, (question: PublishedQuestion) => boolean>> = {
    "all questions": () => true,
    "with rows": ({ rows }) => rows > 0,
    "with rows that do not depend on ties": ({ rows, unstable }) => rows > 0 && unstable !== true,
  };
  for (const [name, isIn] of Object.entries(groups)) {
    const own = outcomes.filter(([question]) => isIn(question));
    const built = own.filter(([, outcome]) => outcome === sameRows).length;
    process.stdout.write(`${name}: ${built} of ${own.length} (${((100 * built) / own.length).toFixed(1)} %)\n`);
  }
  const texts = new Map(outcomes.map(([{ dataset, sparql }, outcome]) => [`${dataset} ${sparql}`, outcome]));
  process.stdout.write(
    `different queries: ${[...texts.values()].filter((outcome) => outcome === sameRows).length} of ${texts.size}\n`,
  );
  const reasons = Map.groupBy(
    outcomes.filter(([, outcome]) => outcome !== sameRows),
    ([, outcome]) => outcome,
  );
  for (const [reason, all] of [...reasons].toSorted(([, one], [, other]) => other.length - one.length)) {
    process.stdout.write(`  ${String(all.length).padStart(4)}  ${reason} (${all[0]?.[0].id ?? ""})\n`);
  }
}

type Whole = Pick<ReturnType<typeof publishedSources>[number], "id" | "description"> & {
  readonly store: oxigraph.Store;
};

async function outcomeOf(
  { sparql, rows, rewritten, unstable }: PublishedQuestion,
  { id, description, store }: Whole,
): Promise<string> {
  const entry = toEntry(id.replaceAll("_", "-"));
  const catalog = { ...toCatalog([entry]), membersOf: () => [] };
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
  const container = createQueryContainer({
    catalog,
    models: describedModels({ descriptions: [[entry.id, description]] }).models,
    queries: { explain: (request) => toPlanDescription(planner.plan(request).plan) },
    ask: async ({ text, maxRows }) => rowsOf(store, text).slice(0, maxRows),
    now: () => 0,
  });
  const call = { owner: "bench", signal: new AbortController().signal };
  try {
    const { handle } = await container.open([entry.id], call);
    const { query } = await buildFrom(sparql, (step) => container.step(handle, step, call));
    const { plan } = planner.plan({ text: query, strict: false, defaultGraphs: [], namedGraphs: [] });
    if (plan.kind !== "direct") throw new Error(`the endpoint is not asked by itself: ${query}`);
    const made = rowsOf(store, plan.query)
      .map((row) => row.join(" | "))
      .toSorted();
    if (rewritten === true || unstable === true) return made.length === rows ? sameRows : "other rows";
    const wanted = rowsOf(store, sparql)
      .map((row) => row.join(" | "))
      .toSorted();
    return JSON.stringify(made) === JSON.stringify(wanted) ? sameRows : "other rows";
  } catch (error) {
    if (error instanceof NotBuildable) return error.message;
    if (error instanceof FedwayError && error.code === "STEP_REFUSED")
      return rows === 0 || isOverNothing(store, sparql)
        ? "refused: its pattern matches nothing"
        : `refused: ${error.message}`;
    throw error;
  }
}

/** One row of an aggregate: it counts nothing. */
function isOverNothing(store: oxigraph.Store, sparql: string): boolean {
  const [row, ...more] = rowsOf(store, sparql);
  return more.length === 0 && row !== undefined && row.every((cell) => cell === null || cell === '"0"');
}

/** Rows in N-Triples syntax, in the order of the columns. */
function rowsOf(store: oxigraph.Store, text: string): readonly (readonly (string | null)[])[] {
  const answer = JSON.parse(store.query(text, { results_format: "json" }) as unknown as string) as Answer;
  return answer.results.bindings.map((row) => answer.head.vars.map((name) => shown(row[name])));
}

interface Answer {
  readonly head: { readonly vars: readonly string[] };
  readonly results: {
    readonly bindings: readonly Readonly<
      Record<string, { readonly type: string; readonly value: string; readonly datatype?: string }>
    >[];
  };
}

function shown(term: Answer["results"]["bindings"][number][string] | undefined): string | null {
  if (term === undefined) return null;
  if (term.type === "uri") return `<${term.value}>`;
  const isNumber = term.datatype !== undefined && Number.isFinite(Number(term.value)) && term.value !== "";
  // Sums of floating-point numbers depend on their order in the last digits.
  return JSON.stringify(isNumber ? String(Number(Number(term.value).toPrecision(12))) : term.value);
}
