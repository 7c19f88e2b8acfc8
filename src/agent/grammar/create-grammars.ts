import { FedwayError } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import type { Catalog } from "../../registry/catalog/catalog.ts";
import type { EndpointModels } from "../../registry/model/endpoint-models.ts";
import type { GrammarDialect } from "./grammar.ts";
import { type GrammarSource, sourcesOf } from "./places.ts";
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
  const described = (ids: readonly string[]): readonly GrammarSource[] => sourcesOf(ids, models);
  return {
    /** Queries for one endpoint. @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
    async ofEndpoint(id: string, options: GrammarOptions): Promise<string> {
      if (!catalog.byId(id)) throw unknownId("endpoint", id, catalog);
      const sources = described([id]);
      if (sources.length === 0) {
        throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`, {
          next: `POST /api/endpoints/${id}/describe has it described.`,
        });
      }
      return (await sparqlGrammar({ sources, asFederation: false, ...options })).text;
    },
    /** Queries with a SERVICE group for each of some endpoints; undefined when none of them is described. */
    async ofEndpoints(ids: readonly string[], options: GrammarOptions): Promise<string | undefined> {
      const sources = described(ids);
      if (sources.length === 0) return undefined;
      return (await sparqlGrammar({ sources, asFederation: true, ...options })).text;
    },
    /** Queries with a SERVICE group for each member. @throws FedwayError `FEDERATION_UNKNOWN`, `DESCRIPTION_UNKNOWN` */
    async ofFederation(id: string, options: GrammarOptions): Promise<string> {
      const federation = catalog.federation(id);
      if (!federation) throw unknownId("federation", id, catalog);
      const members = catalog.membersOf(federation).map((member) => member.id);
      const sources = described(members.slice(0, mostMembers));
      if (sources.length === 0) {
        throw new FedwayError("DESCRIPTION_UNKNOWN", `No member of the federation "${id}" has been described yet.`, {
          next: "POST /api/endpoints/{id}/describe has a member described.",
        });
      }
      const missing = members.filter((member) => sources.every((source) => source.id !== member));
      const notes =
        missing.length === 0 ? [] : [`Members without a description here: ${missing.join(", ").slice(0, 2_000)}`];
      return (await sparqlGrammar({ sources, asFederation: true, notes, ...options })).text;
    },
  };
}
