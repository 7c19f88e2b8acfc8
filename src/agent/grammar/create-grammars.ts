import { FedwayError } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import { type Catalog, type CatalogEntry, describeAdvice } from "../../registry/catalog.ts";
import type { EndpointModels } from "../../registry/model.ts";
import type { GrammarDialect } from "./grammar.ts";
import { sourcesOf } from "./places.ts";
import { sparqlGrammar } from "./sparql-grammar.ts";

interface GrammarParts {
  readonly catalog: Catalog;
  readonly models: Pick<EndpointModels, "get">;
}

/** How a grammar is written. */
export interface GrammarOptions {
  /** `lark` is read by llguidance, and so by Outlines, guidance, vLLM and SGLang. */
  readonly dialect: GrammarDialect;
  /** Most bytes of the text. */
  readonly maxBytes: number;
}

/** A grammar for more endpoints would have room for a few terms of each. */
const mostMembers = 50;

/** Grammars from what endpoints are described with. */
export function createGrammars({ catalog, models }: GrammarParts) {
  const written = async (ids: readonly string[], asFederation: boolean, options: GrammarOptions) => {
    const sources = sourcesOf(ids.slice(0, mostMembers), models);
    const missing = ids.filter((id) => sources.every((source) => source.id !== id));
    const notes =
      missing.length === 0 ? [] : [`Members without a description here: ${missing.join(", ").slice(0, 2_000)}`];
    return sources.length === 0 ? undefined : (await sparqlGrammar({ sources, notes, asFederation, ...options })).text;
  };
  return {
    /** Queries for one endpoint. @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
    async ofEndpoint(id: string, options: GrammarOptions): Promise<string> {
      const entry = catalog.byId(id);
      if (!entry) throw unknownId("endpoint", id, catalog);
      const text = await written([id], false, options);
      return text ?? notDescribed(`The endpoint "${id}" has not`, entry);
    },
    /** Queries with a SERVICE group for each of some endpoints; undefined when none of them is described. */
    ofEndpoints: (ids: readonly string[], options: GrammarOptions) => written(ids, true, options),
    /** Queries with a SERVICE group for each member. @throws FedwayError `FEDERATION_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
    async ofFederation(id: string, options: GrammarOptions): Promise<string> {
      const federation = catalog.federation(id);
      if (!federation) throw unknownId("federation", id, catalog);
      const members = catalog.membersOf(federation).map((member) => member.id);
      const text = await written(members, true, options);
      return text ?? notDescribed(`No member of the federation "${id}" has`, undefined);
    },
  };
}

function notDescribed(what: string, entry: CatalogEntry | undefined): never {
  throw new FedwayError("DESCRIPTION_UNKNOWN", `${what} been described yet.`, { next: describeAdvice(entry) });
}
