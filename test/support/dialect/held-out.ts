import { readFileSync } from "node:fs";
import oxigraph from "oxigraph";
import { canonicalTerm } from "../canonical-answer.ts";
import { typedCheck } from "../typed-registry.ts";

const folder = new URL("../../fixtures/dialects/", import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");

const prologue =
  "PREFIX : <http://firm.example/schema#> PREFIX d: <http://firm.example/data/> PREFIX v: <http://firm.example/v/> " +
  "PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> " +
  "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>";

/** A query as it was written, and the one that was meant. */
export interface HeldOutQuery {
  readonly kind: string;
  readonly meant: string;
  readonly text: string;
}

/** Queries with habits of other languages that were written down without knowledge of the rules (`fixtures/dialects`). */
export function heldOutQueries(): readonly HeldOutQuery[] {
  const found: HeldOutQuery[] = [];
  let [kind, meant] = ["", ""];
  for (const line of textOf("held-out.txt").replaceAll("\n  ", "\u0000").split("\n")) {
    if (line === "" || line.startsWith("# ")) continue;
    const text = line.replaceAll("\u0000", "\n");
    if (text.startsWith("[")) kind = text.slice(1, -1);
    else if (text.startsWith("= ")) meant = withPrologue(text.slice(2), kind);
    else found.push({ kind, meant, text: withPrologue(text, kind) });
  }
  return found;
}

/** With the prologue in front or at its place, and the characters that an editor hides. */
function withPrologue(text: string, kind: string): string {
  const isBare = kind === "prologue" || text.includes("%P");
  return (isBare ? text.replace("%P", prologue) : `${prologue} ${text}`).replaceAll(
    /\\u([0-9a-f]{4})/g,
    (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

const store = new oxigraph.Store();
store.load(textOf("firm.ttl"), { format: "ttl" });

/**
 * The answer of Oxigraph in a form that two queries can be compared in: without the names of columns, which a repair may invent.
 * @throws Error when the query cannot be run
 */
function answerTo(query: string): string {
  const answer = store.query(query) as boolean | readonly (Map<string, oxigraph.Term> | oxigraph.Quad)[];
  if (typeof answer === "boolean") return String(answer);
  const rows = answer.map((row) =>
    row instanceof Map ? [...row.values()].map((term) => canonicalTerm(term)).join(" ") : row.toString(),
  );
  return (/\}[^}]*ORDER BY[^}]*$/i.test(query) ? rows : rows.toSorted()).join("\n");
}

export type Outcome = "mended" | "wrong" | "none";

/** What the check offers for each query: one with the rows that were meant, another one, or none. */
export async function* heldOutOutcomes(): AsyncGenerator<HeldOutQuery & { readonly outcome: Outcome }> {
  const { check } = await typedCheck({
    data: { firm: store.dump({ format: "nt", from_graph_name: oxigraph.defaultGraph() }) },
  });
  for (const each of heldOutQueries()) {
    const { query, suggested } = await check(each.text, { endpoint: "firm" });
    yield { ...each, outcome: outcomeOf(each, suggested ?? query) };
  }
}

function outcomeOf({ text, meant }: HeldOutQuery, offered: string): Outcome {
  if (offered === text) return "none";
  try {
    return answerTo(offered) === answerTo(meant) ? "mended" : "wrong";
  } catch {
    return "wrong";
  }
}
