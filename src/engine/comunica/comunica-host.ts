import createEngine from "#comunica-engine";
import { KeysInitQuery } from "@comunica/context-entries";
import { ActionContext } from "@comunica/core";
import { LRUCache } from "lru-cache";
import { DataFactory } from "rdf-data-factory";
import type { AlgebraHost, ParsedSkeleton } from "../evaluator/algebra-engine.ts";
import type { Operation } from "../evaluator/algebra.ts";
import { operators } from "../evaluator/operators.ts";
import { executionKey, resultOf } from "./actor-query-operation-fedway.ts";
import { toParserText, withFreshVariables } from "./parser-text.ts";

/**
 * Comunica as the host of our operators: its parser makes the algebra, and its bus of query operations gives each operation to
 * our actor. `deploy/comunica/engine.json` names all that runs: there are no other operators, and no HTTP, dereferencing or RDF
 * parsing actors.
 */
export function createComunicaHost(): AlgebraHost {
  const { mediatorQueryParse, mediatorQueryOperation } = createEngine({ "urn:fedway:operators": operators });
  return {
    parse: keepParsed(async (skeleton) => {
      const context = new ActionContext({ [KeysInitQuery.dataFactory.name]: withFreshVariables(new DataFactory()) });
      const query = toParserText(skeleton);
      const { operation, baseIRI } = await mediatorQueryParse.mediate({ context, query, queryFormat: sparql });
      return { operation: operation as Operation, base: baseIRI };
    }),
    async evaluate(operation, execution) {
      const context = new ActionContext({ [executionKey.name]: execution });
      return resultOf(await mediatorQueryOperation.mediate({ operation, context }));
    },
  };
}

const sparql = { language: "sparql", version: "1.1" };

// Their algebra takes some fifty times as many bytes.
const KEPT_SKELETON_CHARACTERS = 262_144;

/** Keeps parsed skeletons by their text. Parsing is 0.27 ms of 1.67 ms that a join of ten rows takes an evaluator. */
function keepParsed(parse: AlgebraHost["parse"]): AlgebraHost["parse"] {
  const kept = new LRUCache<string, Promise<ParsedSkeleton>>({
    maxSize: KEPT_SKELETON_CHARACTERS,
    sizeCalculation: (_parsed, { length }) => length,
  });
  return (skeleton) => {
    const parsed = kept.get(skeleton) ?? parse(skeleton);
    kept.set(skeleton, parsed);
    return parsed;
  };
}
