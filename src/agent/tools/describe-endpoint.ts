import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import type { Catalog, CatalogEntry } from "../../registry/catalog/catalog.ts";
import { publishedView } from "../../registry/published/published-view.ts";
import { type SchemaDetail, schemaView } from "../../registry/schema/schema-view.ts";
import type { EndpointModels } from "../../registry/model/endpoint-models.ts";
import { joinsOf } from "../../registry/model/joins.ts";
import { partsOf } from "../../registry/schema/split-classes.ts";
import { createPrefixTable, descriptionIris } from "../../registry/schema/prefixes.ts";
import type { ValueIndex } from "../../registry/values/value-index.ts";
import type { DescriptionService } from "../../registry/void/description-service.ts";
import type { VoidDescription } from "../../registry/void/void-description.ts";
import { choice, nameList, namesIn } from "../arguments.ts";
import { describeFederation, fitting, joinText } from "./describe-federation.ts";
import { defineTool, type ToolAnswer } from "../tool.ts";
import { unlikeKeys, unlikeText } from "../../diagnosis/why/unlike-keys.ts";

/** What endpoints are described from. */
export interface DescribeParts {
  readonly catalog: Catalog;
  readonly models: EndpointModels;
  readonly values: Pick<ValueIndex, "examples" | "keys">;
  readonly descriptions: Pick<DescriptionService, "get" | "freshness">;
}

const viewOf: Readonly<Record<"summary" | "classes" | "schema" | "paths" | "void", SchemaDetail>> = {
  summary: "summary",
  classes: "classes",
  schema: "lines",
  paths: "paths",
  void: "void",
};

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
    profiles: ["full", "small"],
    run: ({ classes, detail = "schema", max_tokens: maxTokens = 2_000, endpoint }) =>
      describeForAgent(parts, { endpoint, detail, maxTokens, classes: namesIn(classes) }),
  });

interface Description {
  /** Id or URL. */
  readonly endpoint: string;
  readonly detail: keyof typeof viewOf;
  readonly maxTokens: number;
  readonly classes?: readonly string[] | undefined;
}

/** The view for `describe_endpoint` and its alias. @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
export async function describeForAgent(
  { catalog, descriptions, values, models }: DescribeParts,
  { endpoint, detail, maxTokens, classes }: Description,
): Promise<ToolAnswer> {
  const federation = catalog.byId(endpoint) === undefined ? catalog.federation(endpoint) : undefined;
  if (federation !== undefined) {
    const members = catalog.membersOf(federation).map(({ id }) => id);
    return describeFederation(models, { federation, members, maxTokens });
  }
  const { id } = knownEndpoint(catalog, endpoint);
  const facts = catalog.published.facts(id);
  const stored = await descriptions.get(id);
  if (stored === undefined && facts !== undefined && facts.terms.size > 0) {
    const { text, omitted } = publishedView(id, facts, maxTokens);
    const truncated = omitted.classes + omitted.properties > 0;
    const data = { endpoint: id, detail, schema: text, truncated, omitted, complete: false, freshness: "published" };
    return { text, data };
  }
  const description = stored ?? (await knownDescription(descriptions, id));
  const examples = values.examples(id);
  const joins = joinDetails.has(detail) ? joinLines({ models, values }, id, Math.floor(maxTokens / 5)) : noJoins;
  const request = {
    detail: viewOf[detail],
    parts: partsOf(id, description, { models, catalog }),
    maxTokens: maxTokens - joins.tokens,
    examples,
    ...(classes && { classes }),
  };
  const view = schemaView(description, request);
  const { state } = await descriptions.freshness(id);
  const { truncated, omitted, complete } = view;
  const text = [view.text, ...joins.lines.filter((line) => !view.text.includes(line))].join("\n");
  return { text, data: { endpoint: id, detail, schema: text, truncated, omitted, complete, freshness: state } };
}

/** Views that say what the data join with. */
const joinDetails: ReadonlySet<string> = new Set(["summary", "schema", "paths"]);

const noJoins = { lines: [] as readonly string[], tokens: 0 };

/** Lines "joins with: ..." and "may join with: ..." within a budget, and what they take of it. */
function joinLines(
  { models, values }: Pick<DescribeParts, "models" | "values">,
  id: string,
  maxTokens: number,
): typeof noJoins {
  const { described } = models.get(id) ?? {};
  if (described === undefined) return noJoins;
  const table = createPrefixTable(descriptionIris(described));
  const proven = unlikeKeys(values, id).map((join) => unlikeText(join, table));
  const texts = [...proven, ...joinsOf(models, id).map((join) => joinText(join, table))];
  const { declared, lines } = fitting(texts, maxTokens, table);
  return lines.length === 0 ? noJoins : { lines: [...declared, ...lines], tokens: maxTokens };
}

/** The entry with this id or URL. @throws FedwayError `ENDPOINT_UNKNOWN` with the ids that are like it */
export function knownEndpoint(catalog: Catalog, named: string): CatalogEntry {
  const name = named.trim().replace(/^<(.*)>$/, "$1");
  const url = URL.parse(name)?.href;
  const entry =
    catalog.byId(name) ??
    catalog.byId(name.toLowerCase()) ??
    (url && (catalog.byUrl(url) ?? catalog.published.byOtherUrl(url)?.entry));
  if (entry) return entry;
  throw unknownId("endpoint", name, catalog);
}

/** What is known of its data. @throws FedwayError `DESCRIPTION_UNKNOWN` */
export async function knownDescription(
  descriptions: DescribeParts["descriptions"],
  id: string,
): Promise<VoidDescription> {
  const description = await descriptions.get(id);
  if (description) return description;
  throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`);
}
