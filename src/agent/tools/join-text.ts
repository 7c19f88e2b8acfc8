import { estimateTokens } from "../../token-estimate.ts";
import { keyAdapters } from "../../diagnosis/why/join-keys.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import type { KnownJoin } from "../../registry/model.ts";
import type { PrefixTable } from "../../registry/schema.ts";
import { bracketedIri } from "../../rdf/display-text.ts";

const marks: Readonly<Record<string, string>> = { sampled: "~", lowerBound: ">=", claimed: "*" };

/** "joins with: works on ex:author (ex:Person), 12 links"; "may" where no links were seen. Unlike keys have their adapter beside. */
export function joinText(join: KnownJoin, table: PrefixTable): string {
  if (join.how === "subjects") {
    const name = table.short(join.class).text;
    if (join.namespace === join.there)
      return `may join with: ${join.with} on things of ${name}: both have IRIs in ${bracketedIri(join.there)}`;
    return `may join with: ${join.with} on things of ${name}: IRIs are unlike, bind ${adapterText(join)}`;
  }
  const kind = join.class === undefined ? "" : ` (${table.short(join.class).text})`;
  const links = join.triples === undefined ? "" : `, ${marks[join.triples.status] ?? ""}${join.triples.value} links`;
  const verb = join.how === "linkset" ? "joins with" : "may join with";
  const same = isIdentity(join.property) ? `, IRIs are unlike: ${identityText(join, table)}` : "";
  return `${verb}: ${join.with} on ${join.back ? "its " : ""}${table.short(join.property).text}${kind}${links}${same}`;
}

/** True if a property says that two IRIs name one thing. */
export const isIdentity = (iri: string): boolean => identities.has(iri);

const identities: ReadonlySet<string> = new Set([
  "http://www.w3.org/2002/07/owl#sameAs",
  "http://www.w3.org/2004/02/skos/core#exactMatch",
]);

const identityText = ({ property, back }: { readonly property: string; readonly back: boolean }, table: PrefixTable) =>
  `${back ? "?there" : "?here"} ${table.short(property).text} ${back ? "?here" : "?there"}`;

/** The expression over the IRI here that gives the IRI there. */
function adapterText({ namespace, there }: { readonly namespace: string; readonly there: string }): string {
  const [left, right] = [namespace, there].map((each) => [dataFactory.namedNode(`${each}1`)]);
  const [adapter] = keyAdapters(left ?? [], right ?? [], 1);
  return adapter?.left("?here") ?? `${bracketedIri(namespace)} as ${bracketedIri(there)}`;
}

/** As many lines as the budget takes, and declarations of the prefixes that they use. */
export function fitting(all: readonly string[], maxTokens: number, table: PrefixTable) {
  const prefixes = new Set<string>();
  const lines: string[] = [];
  const used = (line: string): readonly string[] =>
    [...line.matchAll(/(?<![\w<])([A-Za-z][\w-]{0,100}):(?=[A-Za-z0-9_])/gu)].flatMap(([, prefix = ""]) =>
      table.namespace(prefix) === undefined || prefixes.has(prefix) ? [] : prefix,
    );
  const declaration = (prefix: string): string => table.declaration(prefix);
  let left = maxTokens - 10;
  for (const line of all) {
    const fresh = [...new Set(used(line))];
    left -= [line, ...fresh.map(declaration)].reduce((sum, text) => sum + estimateTokens(text) + 1, 0);
    if (left < 0) break;
    for (const prefix of fresh) prefixes.add(prefix);
    lines.push(line);
  }
  return { declared: [...prefixes].toSorted().map(declaration), lines, omitted: all.length - lines.length };
}
