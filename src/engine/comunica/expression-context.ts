import { KeysExpressionEvaluator, KeysInitQuery } from "@comunica/context-entries";
import { ExpressionError } from "@comunica/utils-expression-evaluator";
import type * as RDF from "@rdfjs/types";
import { LRUCache } from "lru-cache";
import type { HeldBytes } from "../held-bytes.ts";
import { createTruths, truthsKey } from "./existence-truths.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";

/**
 * What expressions of one execution share. Comunica keeps the first of these for as long as the engine lives, with a key
 * for every datatype that it ever sees, and makes a cache of a thousand types for each evaluator.
 */
export function expressionContext(held: HeldBytes): Readonly<Record<string, unknown>> {
  return {
    [truthsKey.name]: createTruths(held),
    [KeysInitQuery.functionArgumentsCache.name]: {},
    [KeysExpressionEvaluator.superTypeProvider.name]: { cache: new LRUCache({ max: 1_000 }), discoverer: () => "term" },
    [KeysInitQuery.extensionFunctionCreator.name]: unknownFunction,
  };
}

/** A function that nobody knows is an error of its expression (SPARQL 1.1 Query, section 17.6). */
async function unknownFunction({ value }: RDF.NamedNode): Promise<(() => Promise<never>) | undefined> {
  if (!value.includes(":") || value.startsWith(xsd)) return undefined;
  return async () => {
    throw new ExpressionError("The function is not known.");
  };
}
