import oxigraph from "oxigraph";
import { askMember, rowsOfStore } from "../peers/peer.ts";
import { type Shape, shapePrefixes } from "./queries.ts";

const graphOf = (name: string): string => `urn:member:${name}`;

/** The query as it is asked of one store in which each endpoint is a named graph. */
export const withGraphs = (text: string): string =>
  shapePrefixes + text.replaceAll(/SERVICE (?:SILENT )?@(\w+)/gu, (_, name: string) => `GRAPH <${graphOf(name)}>`);

/** The query as it is sent to a federation engine. */
export const withServices = (text: string, urls: Readonly<Record<string, string>>): string =>
  shapePrefixes + text.replaceAll(/@(\w+)/gu, (_, name: string) => `<${urls[name] ?? ""}>`);

/** Terms by variable, as N-Triples. */
type Row = Readonly<Record<string, string>>;

/** Answers a shape with the fewest requests, by one who knows what is where. @returns canonical rows, sorted */
export async function answerShapeByHand(
  shape: Shape,
  urls: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const told = new oxigraph.Store();
  const terms = new Map<string, Set<string>>();
  for (const round of shape.rounds) {
    const asked = round.map(async ({ at, select, says }) => {
      const query = select.replace(
        /%keys\((\w+)\)/u,
        (_, key: string) => `VALUES ?${key} { ${[...(terms.get(key) ?? [])].join(" ")} }`,
      );
      return { at, says, rows: await rowsOf(urls[at] ?? "", shapePrefixes + query) };
    });
    for (const { at, says, rows } of await Promise.all(asked)) {
      remember(terms, rows);
      const triples = rows.map((row) => says.replaceAll(/\?(\w+)/gu, (_, name: string) => row[name] ?? ""));
      const turtle = shapePrefixes + triples.join("\n");
      told.load(turtle, { format: "ttl" });
      told.load(turtle, { format: "ttl", to_graph_name: oxigraph.namedNode(graphOf(at)) });
    }
  }
  return rowsOfStore(told, withGraphs(shape.last ?? shape.text));
}

function remember(terms: Map<string, Set<string>>, rows: readonly Row[]): void {
  for (const row of rows) {
    for (const [name, term] of Object.entries(row)) {
      const known = terms.get(name) ?? new Set();
      terms.set(name, known.add(term));
    }
  }
}

interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly datatype?: string;
}

async function rowsOf(url: string, query: string): Promise<readonly Row[]> {
  const text = await askMember(url, query, "application/sparql-results+json");
  const { results } = JSON.parse(text) as { results: { bindings: readonly Record<string, JsonTerm>[] } };
  return results.bindings.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, term]) => [name, toText(term)])),
  );
}

const toText = ({ type, value, datatype }: JsonTerm): string => {
  if (type === "uri") return `<${value}>`;
  return datatype === undefined ? JSON.stringify(value) : `${JSON.stringify(value)}^^<${datatype}>`;
};
