import { keyAdapters } from "../../diagnosis/why/join-keys.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import type { Federation } from "../../registry/catalog/catalog.ts";
import type { EndpointModels } from "../../registry/model/endpoint-models.ts";
import { federationModel, type SplitTerm } from "../../registry/model/federation-model.ts";
import type { KnownJoin } from "../../registry/model/joins.ts";
import type { KnownCount } from "../../registry/model/schema.ts";
import { estimateTokens } from "../../registry/schema/compose-view.ts";
import { createPrefixTable, descriptionIris, type PrefixTable } from "../../registry/schema/prefixes.ts";
import { bracketedIri, plainText } from "../../registry/schema/text.ts";
import type { ToolAnswer } from "../tool.ts";

interface DescribedFederation {
  readonly federation: Pick<Federation, "id" | "title">;
  readonly members: readonly string[];
  readonly maxTokens: number;
}

const marks: Readonly<Partial<Record<KnownCount["status"], string>>> = { sampled: "~", lowerBound: ">=", claimed: "*" };

/** Classes, joins and properties of a federation's members, each with the members that have it, within a budget. */
export function describeFederation(
  models: EndpointModels,
  { federation, members, maxTokens }: DescribedFederation,
): ToolAnswer {
  const { id, title } = federation;
  const known = federationModel(models, members);
  const table = createPrefixTable(
    known.described.flatMap((member) => [...descriptionIris(models.get(member)?.described ?? emptySchema)]),
  );
  const missing = members.filter((member) => !known.described.includes(member));
  const head = [
    `federation ${id}: ${plainText(title, 120)}; facts of ${known.described.length} of ${members.length} members`,
    ...(missing.length > 0 ? [`nothing is known of: ${missing.join(", ").slice(0, 500)}`] : []),
    "counts are each member's own: ~ sampled, >= lower bound, * stated by the publisher, ? unknown",
  ];
  const body = [
    ...known.terms.class.map((term) => `class ${splitText(term, table)}`),
    ...known.joins.map(({ from, join }) => `${from} ${joinText(join, table)}`),
    ...known.terms.property.map((term) => `property ${splitText(term, table)}`),
  ];
  const { declared, lines, omitted } = fitting([...head, ...body], maxTokens, table);
  const notice = omitted > 0 ? [`${omitted} more lines; raise max_tokens`] : [];
  const text = [...lines.slice(0, head.length), ...declared, ...lines.slice(head.length), ...notice].join("\n");
  return { text, data: { federation: id, schema: text, truncated: omitted > 0 } };
}

const emptySchema = { classPartitions: [], propertyPartitions: [], linksets: [] };

function splitText({ iri, at }: SplitTerm, table: PrefixTable): string {
  const counts = at.map(({ id, count }) => `${id} ${count ? (marks[count.status] ?? "") + count.value : "?"}`);
  return `${table.short(iri).text}: ${counts.join(", ")}`;
}

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
  const same = identities.has(join.property) ? `, IRIs are unlike: ${identityText(join, table)}` : "";
  return `${verb}: ${join.with} on ${join.back ? "its " : ""}${table.short(join.property).text}${kind}${links}${same}`;
}

/** Properties that say that two IRIs name one thing. */
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
    [...line.matchAll(/(?<![\w<])([A-Za-z][\w-]*):(?=[A-Za-z0-9_])/gu)].flatMap(([, prefix = ""]) =>
      table.namespace(prefix) === undefined || prefixes.has(prefix) ? [] : prefix,
    );
  const declaration = (prefix: string): string => `PREFIX ${prefix}: ${bracketedIri(table.namespace(prefix) ?? "")}`;
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
