import { FedwayError } from "../errors/fedway-error.ts";
import { unknownId } from "../errors/unknown-id.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { EndpointModels } from "../registry/model.ts";
import { schemaViewInTurns } from "../registry/schema.ts";
import { plainText } from "../rdf/display-text.ts";
import type { Finder } from "../registry/find.ts";
import type { DescriptionService } from "../registry/descriptions.ts";
import { knownDescription } from "./tools/describe-endpoint.ts";
import type { ResultStore } from "./results/result-store.ts";
import { resultPart, resultUri } from "./results/show-result.ts";
import { skillText } from "./skill.ts";
import { type CallerIdentity, type Hint, holderOf } from "./tool.ts";

/** Content of a resource. */
interface ResourceContent {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** Resources of agents: larger than an answer of a tool, read by programs rather than by models. */
export type AgentResources = ReturnType<typeof createResources>;

interface Parts {
  readonly catalog: Catalog;
  readonly models: Pick<EndpointModels, "get">;
  readonly descriptions: Pick<DescriptionService, "get" | "freshness">;
  readonly finder: Pick<Finder, "valueExamples" | "findExamples">;
  readonly results: ResultStore;
}

const pageSize = 100;
const mostCharacters = 400_000;
const mostSchemaTokens = 8_000;

/** By RFC 6570; names are unique. */
const templates = [
  {
    uriTemplate: "fedway://endpoints/{id}/schema",
    name: "schema",
    title: "Schema of an endpoint",
    mimeType: "text/plain",
  },
  { uriTemplate: "fedway://endpoints/{id}/void", name: "void", title: "VoID of an endpoint", mimeType: "text/turtle" },
  {
    uriTemplate: "fedway://results/{id}{?offset}",
    name: "result",
    title: "All rows of an answer",
    mimeType: "text/csv",
  },
];

/** The resources over what this process knows and keeps. */
export function createResources(parts: Parts, hint: Hint) {
  const { catalog, finder, models, results } = parts;
  const skill = skillText(hint);
  return {
    skill,
    /** The skill and the schemas of described endpoints, without their content. @throws FedwayError `REQUEST_INVALID` for a cursor that is none */
    async list(cursor?: string) {
      const from = cursor === undefined ? 0 : offsetOf(cursor);
      const own = { uri: "fedway://skill", name: "skill", title: "How to use Fedway", mimeType: "text/markdown" };
      const described = catalog.entries.filter(({ id }) => models.get(id)?.described !== undefined);
      const page = described.slice(from, from + pageSize).map(({ id, title }) => ({
        uri: `fedway://endpoints/${id}/schema`,
        name: `schema of ${id}`,
        title: plainText(title, 80),
        mimeType: "text/plain",
      }));
      const next = from + pageSize;
      return {
        resources: from === 0 ? [own, ...page] : page,
        ...(next < described.length && { nextCursor: String(next) }),
      };
    },
    templates,
    /** Ids for the template of a resource that begin with a text: of described endpoints, of the caller's results. */
    completeId(template: string, start: string, caller: CallerIdentity): readonly string[] {
      const described = () => catalog.entries.filter(({ id }) => models.get(id)?.described).map(({ id }) => id);
      const ids = template.startsWith("fedway://results/") ? results.ids(holderOf(caller)) : described();
      return ids.filter((id) => id.toLowerCase().startsWith(start.toLowerCase()));
    },
    /** Questions like a text that were answered before, best first. @throws FedwayError `STORE_FAILED` */
    async completeQuestion(text: string, signal: AbortSignal): Promise<readonly string[]> {
      const hits = text.trim() === "" ? [] : await finder.findExamples({ question: text, limit: 20, signal });
      const answered = hits.filter(({ example }) => example.outcome !== "failed");
      return [...new Set(answered.map(({ example }) => plainText(example.question, 400)))];
    },
    /** @throws FedwayError `RESOURCE_UNKNOWN`, `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN`, `RESULT_UNKNOWN`, `RESULT_EXPIRED` */
    async read(uri: string, caller: CallerIdentity): Promise<ResourceContent> {
      if (uri === "fedway://skill") return { uri, mimeType: "text/markdown", text: skill };
      const result = resultPattern.exec(uri);
      if (result)
        return readResult(parts, { uri, owner: holderOf(caller), id: result[1] ?? "", offset: Number(result[2] ?? 0) });
      const [, id = "", part] = endpointPattern.exec(uri) ?? [];
      if (part === "schema" || part === "void") return readView(parts, uri, { name: id, part });
      throw new FedwayError("RESOURCE_UNKNOWN", `There is no resource ${plainText(uri, 100)}.`, {
        next: `Resources are ${templates.map(({ uriTemplate }) => uriTemplate).join(", ")} and fedway://skill.`,
      });
    },
  };
}

const resultPattern = /^fedway:\/\/results\/([\w.-]{1,128})(?:\?offset=(\d{1,9}))?$/;
const endpointPattern = /^fedway:\/\/endpoints\/([\w.-]{1,64})\/(schema|void)$/;

function offsetOf(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new FedwayError("REQUEST_INVALID", "The cursor is not one of this list.");
}

async function readView(
  { catalog, descriptions, finder }: Parts,
  uri: string,
  { name, part }: { readonly name: string; readonly part: "schema" | "void" },
): Promise<ResourceContent> {
  const id = catalog.byId(name.toLowerCase())?.id;
  if (id === undefined) throw unknownId("endpoint", name, catalog);
  const description = await knownDescription(descriptions, id);
  const view = { detail: part === "void" ? part : "lines", maxTokens: mostSchemaTokens } as const;
  const { text } = await schemaViewInTurns(description, { ...view, examples: finder.valueExamples(id) });
  return { uri, mimeType: part === "void" ? "text/turtle" : "text/plain", text };
}

interface ResultRequest {
  readonly uri: string;
  readonly id: string;
  readonly owner: string;
  readonly offset: number;
}

function readResult({ results }: Parts, { uri, id, owner, offset }: ResultRequest): ResourceContent {
  const kept = results.get(owner, id);
  const { csv, next } = resultPart(kept, { offset, maxRows: 5_000, mostCharacters });
  const more = next === undefined ? [] : [`# more rows: ${resultUri(id)}?offset=${next}`];
  const prefixes = csv.prefixes.map((prefix) => `# ${prefix}`);
  return { uri, mimeType: "text/csv", text: [...prefixes, csv.header, ...csv.lines, ...more].join("\n") };
}
