import { ActionContextKey } from "@comunica/core";
import type { BindingsStream, IActionContext } from "@comunica/types";
import type * as RDF from "@rdfjs/types";
import type { ClauseSource } from "./clause-source.ts";
import type { PatternLeaves } from "./pattern-leaves.ts";
import { PulledStream, type RunControl } from "./pulled-stream.ts";

/** The sources of the running execution, by clause IRI. */
export const clauseSourcesKey = new ActionContextKey<ReadonlyMap<string, ClauseSource>>("fedway:clauseSources");

/** Makes the leaves of patterns outside the clauses; absent when those have no data. */
export const patternLeavesKey = new ActionContextKey<PatternLeaves>("fedway:patternLeaves");

/** The running execution, for its streams. */
export const controlKey = new ActionContextKey<RunControl>("fedway:control");

/** Solutions as a stream of the running execution, which they end with. */
export function streamOf(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
  return new PulledStream(open, context.getSafe(controlKey)) as unknown as BindingsStream;
}
