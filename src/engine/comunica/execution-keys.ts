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

/** Solutions that an operator passes on, in another order or once, as a stream of the running execution. */
export function passedOn(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
  return new PulledStream(open, withoutCount(context)) as unknown as BindingsStream;
}

/** The running execution, for items that were counted before. */
export function withoutCount(context: IActionContext): RunControl {
  return { ...context.getSafe(controlKey), count: () => {} };
}

/** Solutions as a stream of the running execution, which they end with. */
export function streamOf(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
  return new PulledStream(open, context.getSafe(controlKey)) as unknown as BindingsStream;
}
