import { toFedwayError } from "../../../../src/errors/fedway-error.ts";
import {
  elementsWithin,
  isWord,
  type Query,
  parseQuery,
  type Token,
  tokenize,
  undeclaredPrefixes,
} from "../../../../src/sparql/query.ts";
import type { Answer, WholeStore } from "../../package/whole-store.ts";

/** Possible faults of a query: its text, the names in it, or its evaluation. */
export const queryFaults = [
  "parse-error",
  "prefix-error",
  "malformed-service",
  "other-endpoint",
  "named-graph",
  "timeout",
  "too-large",
  "runtime",
] as const;
export type QueryFault = (typeof queryFaults)[number];

/** Where queries can be sent: ids of shards by URL, and the URL at which all of them answer as one dataset. */
export interface Targets {
  readonly shards: ReadonlyMap<string, string>;
  readonly federation: string;
}

/** A query as the store of the whole dataset is asked it, and the shards it names, by id; or its fault. */
export type ReadFinal =
  | { readonly text: string; readonly named: readonly string[] }
  | { readonly fault: QueryFault; readonly why: string; readonly named: readonly string[] };

/**
 * Reads a query as it would be sent to the endpoints of a package: SERVICE of a shard, or of a variable, becomes GRAPH, SERVICE of
 * the federation its group. Endpoints have no named graphs, so that a GRAPH of the query's own is refused.
 */
export function readFinal(text: string, { shards, federation }: Targets): ReadFinal {
  const query = parsedOr(text);
  if ("fault" in query) return { ...query, named: [] };
  const { services, datasets } = query;
  const iris = services.flatMap(({ target }) => (target.kind === "iri" ? [target.iri] : []));
  const named = [...new Set(iris.flatMap((iri) => shards.get(iri) ?? []))];
  const other = iris.find((iri) => !shards.has(iri) && iri !== federation);
  const refused = (fault: QueryFault, why: string) => ({ fault, why, named });
  if (other !== undefined) return refused("other-endpoint", `SERVICE <${other}> is not an endpoint of the package.`);
  const isInner = services.some(({ target, parent }) => target.kind === "iri" && target.iri === federation && parent);
  if (isInner) return refused("other-endpoint", "A shard cannot ask the federation.");
  const hasGraph = [...elementsWithin(query.outline.groups)].some(({ kind }) => kind === "graph");
  // A dataset with named graphs has no shards among the targets.
  if (shards.size > 0 && (hasGraph || datasets.length > 0))
    return refused("named-graph", "The endpoints have no named graphs.");
  const edits = services.map(({ target, element: { from, name } }) =>
    target.kind === "iri" && target.iri === federation
      ? { range: { from, to: name + 1 }, replacement: "" }
      : { range: { from, to: name }, replacement: "GRAPH " },
  );
  return { text: query.cut(edits), named };
}

type Fault = { readonly fault: QueryFault; readonly why: string };

function parsedOr(text: string): Query | Fault {
  try {
    return parseQuery(text);
  } catch (error) {
    const { code, message } = toFedwayError(error);
    if (code === "QUERY_TOO_LARGE") return { fault: "too-large", why: message };
    const tokens = tokensOf(text);
    if (isMalformedService(tokens)) return { fault: "malformed-service", why: message };
    return { fault: isPrefixError(text, tokens) ? "prefix-error" : "parse-error", why: message };
  }
}

function tokensOf(text: string): readonly Token[] {
  try {
    return tokenize(text);
  } catch {
    return [];
  }
}

/** A SERVICE that is not followed by one IRI or variable and a group. */
const isMalformedService = (tokens: readonly Token[]): boolean =>
  tokens.some((token, at) => {
    if (!isWord(token, "SERVICE")) return false;
    const name = isWord(tokens[at + 1], "SILENT") ? at + 2 : at + 1;
    return !/^(?:iri|pname|var)$/u.test(tokens[name]?.kind ?? "") || tokens[name + 1]?.text !== "{";
  });

/** Nothing is wrong but prefixes that are not declared. */
function isPrefixError(text: string, tokens: readonly Token[]): boolean {
  const missing = [...undeclaredPrefixes(tokens).keys()];
  if (missing.length === 0) return false;
  try {
    parseQuery(`${missing.map((prefix) => `PREFIX ${prefix}: <urn:x:>`).join(" ")}\n${text}`);
    return true;
  } catch {
    return false;
  }
}

/** Fault by the code of an error. */
export function faultOfCode(code: string): QueryFault {
  if (/TIMEOUT|DEADLINE/u.test(code)) return "timeout";
  if (/TOO_LARGE/u.test(code)) return "too-large";
  return /^(?:SERVICE_|ENDPOINT_UNKNOWN|FEDERATION_UNKNOWN|ADDRESS_)/u.test(code) ? "other-endpoint" : "runtime";
}

/** Asks the whole dataset. @throws the signal's reason */
export async function answerFinal(
  final: ReadFinal,
  { store, signal }: { readonly store: WholeStore; readonly signal: AbortSignal },
): Promise<Answer | Fault> {
  if ("fault" in final) return final;
  try {
    return await store.ask(final.text);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = toFedwayError(error);
    return { fault: faultOfCode(code), why: message };
  }
}
