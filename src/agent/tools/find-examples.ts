import { estimateTokens } from "../../token-estimate.ts";
import { Type } from "typebox";
import type { Catalog } from "../../registry/catalog.ts";
import { type Finder, shapeExample } from "../../registry/find.ts";
import { plainText } from "../../rdf/display-text.ts";
import { entriesNamed, placeNamed } from "../../plan/meant-entries.ts";
import { nameList, namesIn } from "../arguments.ts";
import { defineTool } from "../tool.ts";

type FoundShape = Awaited<ReturnType<Finder["findShapes"]>>[number];
type Example = Awaited<ReturnType<Finder["findExamples"]>>[number]["example"];

interface Parts {
  readonly catalog: Catalog;
  readonly finder: Pick<Finder, "findExamples" | "findShapes">;
}

/** Tokens of all examples of an answer, text and data each. */
const mostTokens = 3_000;
const defaultLimit = 3;

const wrapping = "A query without SERVICE is for its endpoint: name that one as {run_query.endpoint}.";

const outcomeText: Readonly<Record<Example["outcome"], string>> = {
  unknown: "published, not run here",
  ok: "worked",
  partial: "gave a part of the answer",
  empty: "ran, but gave NO rows",
  failed: "FAILED: do not repeat it",
};

/** Solved questions like the one that is asked. */
export const findExamples = ({ catalog, finder }: Parts) =>
  defineTool({
    name: "find_examples",
    title: "Find example queries",
    text: ["Finds solved questions like yours, with their queries and whether these worked."],
    input: Type.Object({
      question: Type.String({ minLength: 1, maxLength: 2_000 }),
      endpoints: Type.Optional(nameList("Only these, comma-separated")),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: defaultLimit })),
    }),
    output: { examples: "array", left_out: "integer" },
    profiles: ["full"],
    async run({ question, endpoints, limit = defaultLimit }, { hint, signal }) {
      const names = namesIn(endpoints);
      const targets = names?.flatMap((name) => targetsOf(name, catalog));
      const solved = await finder.findExamples({ question, targets, limit, signal });
      const ids = names && entriesNamed(names, catalog).map(({ id }) => id);
      const shapes = await finder.findShapes({ question, endpoints: ids, limit, signal });
      const written = shapes.flatMap(fromShape);
      // One place is left for what was published, as most endpoints have no solved questions.
      const first = solved.slice(0, Math.max(1, limit - Math.min(1, written.length)));
      const hits = [...first.map(({ example, score }) => shown(example, score, catalog)), ...written].slice(0, limit);
      const found = withinBudget(hits);
      const left = hits.length - found.length;
      const bare = found.some(({ query }) => !/\bservice\b/i.test(query)) ? hint(wrapping) : undefined;
      return {
        status: hits.length === 0 ? "There is no example like it." : `${found.length} examples, best first`,
        rows: found.map(exampleText),
        notes: [
          ...(left > 0 ? [`${left} more are too long for this answer`] : []),
          ...(bare === undefined ? [] : [bare]),
        ],
        next: hits.length === 0 ? hint("{search_terms} finds the terms.") : undefined,
        data: { examples: found, left_out: left },
      };
    },
  });

/** Queries of a federation are for it, or for any of its members. */
function targetsOf(name: string, catalog: Catalog): readonly string[] {
  const place = placeNamed(name, catalog);
  const own = "federation" in place ? [place.federation.id] : [];
  return [...own, ...entriesNamed([name], catalog).map(({ url }) => url)];
}

type Shown = ReturnType<typeof shown> & { readonly seen?: string };

/** A query that is written from a published shape. */
function fromShape({ id, shape, score, provenance }: FoundShape): readonly Shown[] {
  const example = shapeExample(shape);
  if (example === undefined) return [];
  const { query, words, seen } = example;
  return [
    {
      question: plainText(words, 400),
      outcome: "unknown",
      seen,
      source: plainText(provenance, 120),
      endpoints: [id],
      federated: false,
      score: Math.round(score * 100) / 100,
      query: codeText(query),
    },
  ];
}

function shown({ question, query, targets, origin, outcome, feedback }: Example, score: number, catalog: Catalog) {
  return {
    question: plainText(question, 400),
    outcome,
    ...(feedback !== undefined && { feedback: plainText(feedback, 200) }),
    source: origin.kind === "endpoint" ? `endpoint ${origin.name}` : origin.kind,
    endpoints: targets.map((url) => catalog.byUrl(url)?.id ?? plainText(url, 200)),
    federated: targets.length > 1,
    score: Math.round(score * 100) / 100,
    query: codeText(query),
  };
}

/** The lines of a query stay; invisible characters, cursor movements and ends of fences are removed. */
const codeText = (query: string): string =>
  query
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[^\P{C}\n\t]/gu, " ")
    .replaceAll("```", "` ` `")
    .trim();

function exampleText({ question, outcome, seen, feedback, source, endpoints, query }: Shown, place: number): string {
  const said = feedback === undefined ? "" : ` "${feedback}"`;
  const where = endpoints.length === 0 ? "" : `, endpoints: ${endpoints.join(", ")}`;
  return `${place + 1}. "${question}"\n${seen ?? outcomeText[outcome]}${said} (${seen === undefined ? "from " : ""}${source}${where})\n\`\`\`sparql\n${query}\n\`\`\``;
}

/** As many as fit, the first of all: a query that is cut is of no use. */
function withinBudget(examples: readonly Shown[]): readonly Shown[] {
  let left = mostTokens;
  return examples.filter((example) => {
    const tokens = estimateTokens(JSON.stringify(example));
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}
