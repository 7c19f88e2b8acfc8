import { estimateTokens } from "../../token-estimate.ts";
import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { placeNamed } from "../../plan/meant-entries.ts";
import type { Catalog, Federation, PublishedFacts } from "../../registry/catalog.ts";
import { PrefixTable, partsOf, schemaViewInTurns } from "../../registry/schema.ts";
import { type EndpointModels, joinsOf } from "../../registry/model.ts";
import type { Finder } from "../../registry/find.ts";
import type { DescriptionService, VoidDescription } from "../../registry/descriptions.ts";
import { choice, nameList, namesIn } from "../arguments.ts";
import { fitting, isIdentity, joinText } from "./join-text.ts";
import type { Reply } from "../reply.ts";
import { defineTool } from "../tool.ts";
import { unlikeKeys, unlikeText } from "../../diagnosis/why/unlike-keys.ts";

type ValueExamples = ReturnType<Finder["valueExamples"]>[number];

/** Sources of an endpoint's description. */
export interface DescribeParts {
  readonly catalog: Catalog;
  readonly models: EndpointModels;
  readonly descriptions: Pick<DescriptionService, "get" | "freshness">;
  readonly finder: Pick<Finder, "valueExamples" | "keys" | "federation">;
}

const viewOf: Readonly<
  Record<"summary" | "classes" | "schema" | "paths" | "void", Parameters<typeof schemaViewInTurns>[1]["detail"]>
> = {
  summary: "summary",
  classes: "classes",
  schema: "lines",
  paths: "paths",
  void: "void",
};

/** Fields of the data of a described endpoint. */
export const schemaFields = {
  endpoint: "string",
  federation: "string",
  schema: "string",
  truncated: "boolean",
  complete: "boolean",
} as const;

/** The schema of one endpoint within a budget. */
export const describeEndpoint = (parts: DescribeParts) =>
  defineTool({
    name: "describe_endpoint",
    title: "Describe an endpoint",
    text: [
      "Shows classes, properties, counts of an endpoint or federation.",
      "schema (default) has a line per class; paths join classes; void is Turtle.",
    ],
    input: Type.Object({
      endpoint: Type.String({ minLength: 1, maxLength: 2_048 }),
      detail: Type.Optional(choice(["summary", "classes", "schema", "paths", "void"])),
      classes: Type.Optional(nameList("Only these, by name or IRI, comma-separated")),
      max_tokens: Type.Optional(Type.Integer({ minimum: 100, maximum: 8_000, default: 2_000 })),
    }),
    output: schemaFields,
    profiles: ["full", "small"],
    run: ({ classes, detail = "schema", max_tokens: maxTokens = 2_000, endpoint }) =>
      describeForAgent(parts, { endpoint, detail, maxTokens, classes: namesIn(classes) }),
  });

/** How to get what was left out. */
const left = "raise max_tokens, or name classes";

interface Description {
  /** Id or URL. */
  readonly endpoint: string;
  readonly detail: keyof typeof viewOf;
  readonly maxTokens: number;
  readonly classes?: readonly string[] | undefined;
}

/** The view for `describe_endpoint` and its alias. @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
export async function describeForAgent(parts: DescribeParts, request: Description): Promise<Reply> {
  const { catalog, descriptions } = parts;
  const { endpoint, detail, maxTokens } = request;
  const place = placeNamed(endpoint, catalog);
  if ("federation" in place) return describeFederation(parts, place.federation, request);
  const { id, defaultGraphs } = place.entry;
  const facts = catalog.published.facts(id);
  const stored = await descriptions.get(id);
  if (stored === undefined && facts !== undefined && facts.terms.size > 0) {
    const { text, omitted } = publishedText(id, facts, maxTokens);
    const truncated = omitted.classes + omitted.properties > 0;
    const view = { text, truncated, omitted, complete: false };
    return replyOf({ endpoint: id }, view, { detail, more: { freshness: "published" } });
  }
  const description = stored ?? (await knownDescription(descriptions, id));
  const table = PrefixTable.of(parts.models.get(id)?.described ?? description);
  const view = await viewWith(description, request, {
    head: defaultGraphs ? `default graph: ${defaultGraphs.map((graph) => `<${graph}>`).join(" ")}` : "",
    table,
    joins: joinDetails.has(detail) ? joinTexts(parts, id, table) : [],
    examples: parts.finder.valueExamples(id),
    parts: partsOf(id, description.built, parts),
  });
  const { state } = await descriptions.freshness(id, description);
  return replyOf({ endpoint: id }, view, { detail, more: { freshness: state } });
}

/**
 * The classes and properties of an endpoint that has not been described, as others published them, within `maxTokens`: those that
 * most published queries use first, classes and properties in turn.
 */
function publishedText(id: string, facts: PublishedFacts, maxTokens: number) {
  const terms = [...facts.terms.values()].toSorted((one, other) => other.uses - one.uses);
  const table = new PrefixTable(terms.map(({ iri }) => iri));
  const head = `${id} has not been described yet. This was ${facts.provenance}; it is not all that there is, and may be out of date.`;
  const [classes, properties] = (["class", "property"] as const).map((kind) =>
    terms.filter((one) => one.kind === kind),
  );
  const inTurn = terms.flatMap((_, at) => [classes?.[at], properties?.[at]]).filter((term) => term !== undefined);
  const texts = inTurn.map(({ iri, uses }) => `${table.short(iri).text}${uses > 0 ? ` (${uses})` : ""}`);
  const { declared, lines } = fitting(texts, maxTokens - estimateTokens(head) - 30, table);
  const listed = (name: string, kind: "class" | "property", total = 0) => {
    const shown = lines.filter((_, at) => inTurn[at]?.kind === kind);
    const text = total === 0 ? [] : [`${name}, ${shown.length} of ${total}:`, ...shown];
    return { text, omitted: total - shown.length };
  };
  const ofClasses = listed("classes (with published queries that use them)", "class", classes?.length);
  const ofProperties = listed("properties", "property", properties?.length);
  return {
    text: [head, ...declared, ...ofClasses.text, ...ofProperties.text].join("\n"),
    omitted: { classes: ofClasses.omitted, properties: ofProperties.omitted },
  };
}

/** The merged schema of the members, as that of one endpoint. @throws FedwayError `DESCRIPTION_UNKNOWN` */
async function describeFederation(parts: DescribeParts, { id }: Federation, request: Description): Promise<Reply> {
  const model = parts.finder.federation(id);
  if (model === undefined)
    throw new FedwayError("DESCRIPTION_UNKNOWN", `No member of the federation "${id}" has been described yet.`);
  const { description, members, known } = model;
  const head = `federation of ${members.length} endpoints, ${known.length} described; query it as one endpoint, without SERVICE`;
  const table = PrefixTable.of(description);
  const view = await viewWith(description, request, {
    head,
    table,
    joins: unlikeJoins(parts, known, table),
    examples: oncePerProperty(known.flatMap((member) => parts.finder.valueExamples(member))),
  });
  return replyOf({ federation: id }, view, { detail: request.detail });
}

interface ViewParts {
  readonly head?: string;
  readonly table: PrefixTable;
  /** Lines about what the data join with, which have a fifth of the budget. */
  readonly joins: readonly string[];
  readonly examples: readonly ValueExamples[];
  readonly parts?: ReturnType<typeof partsOf>;
}

/** The view of a schema with its joins, within the budget. */
async function viewWith(
  description: VoidDescription,
  { detail, maxTokens, classes }: Description,
  { head = "", table, joins, examples, parts }: ViewParts,
) {
  const joinTokens = Math.floor(maxTokens / 5);
  const { declared, lines } = fitting(joins, joinTokens, table);
  const view = await schemaViewInTurns(description, {
    detail: viewOf[detail],
    more: left,
    maxTokens: maxTokens - estimateTokens(head) - (lines.length === 0 ? 0 : joinTokens),
    examples,
    ...(parts && { parts }),
    ...(classes && { classes }),
  });
  const joined = [...declared, ...lines].filter((line) => !view.text.includes(line));
  return { ...view, text: [...(head === "" ? [] : [head]), view.text, ...joined].join("\n") };
}

interface View {
  readonly text: string;
  readonly truncated: boolean;
  readonly complete: boolean;
  readonly omitted: object;
}

function replyOf(
  whose: { readonly endpoint: string } | { readonly federation: string },
  { text, truncated, omitted, complete }: View,
  { detail, more = {} }: { readonly detail: string; readonly more?: object },
): Reply {
  const status = `${detail} of ${Object.values(whose).join()}${truncated ? ", cut to the budget" : ""}`;
  return { status, rows: [text], data: { ...whose, detail, schema: text, truncated, omitted, complete, ...more } };
}

/** Members that are compared each with each. */
const mostJoined = 12;

/** Joins of few members whose IRIs or keys are unlike: patterns alone do not join them. */
function unlikeJoins(
  { models, finder }: DescribeParts,
  members: readonly string[],
  table: PrefixTable,
): readonly string[] {
  const among = new Set(members.length > mostJoined ? [] : members);
  return [...among].flatMap((id) => {
    const keys = unlikeKeys(finder, id).filter((join) => among.has(join.there.endpoint));
    const joins = joinsOf(models, id, among).filter((join) =>
      join.how === "subjects" ? join.namespace !== join.there : isIdentity(join.property),
    );
    const texts = keys.map((join) => unlikeText(join, table)).concat(joins.map((join) => joinText(join, table)));
    return texts.map((text) => `${id} ${text}`);
  });
}

/** The members' values of a property as one list. */
function oncePerProperty(all: readonly ValueExamples[]): readonly ValueExamples[] {
  const groups = Map.groupBy(all, (each) => `${each.class ?? ""} ${each.property}`);
  return [...groups.values()].flatMap((group) => {
    const [{ class: of, property } = { property: "" }] = group;
    return { class: of, property, values: [...new Set(group.flatMap(({ values }) => values))] };
  });
}

/** Views that say what the data join with. */
const joinDetails: ReadonlySet<string> = new Set(["summary", "schema", "paths"]);

/** "joins with: ..." and "may join with: ...", proven ones first. */
const joinTexts = ({ models, finder }: DescribeParts, id: string, table: PrefixTable): readonly string[] => [
  ...unlikeKeys(finder, id).map((join) => unlikeText(join, table)),
  ...joinsOf(models, id).map((join) => joinText(join, table)),
];

/** Known data of an endpoint. @throws FedwayError `DESCRIPTION_UNKNOWN` */
export async function knownDescription(
  descriptions: DescribeParts["descriptions"],
  id: string,
): Promise<VoidDescription> {
  const description = await descriptions.get(id);
  if (description) return description;
  throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`);
}
