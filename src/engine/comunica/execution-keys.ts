import { ActionContextKey } from "@comunica/core";
import type { BindingsStream, IActionContext } from "@comunica/types";
import type * as RDF from "@rdfjs/types";
import type { ClauseSource } from "./clause-source.ts";
import { PulledStream } from "./pulled-stream.ts";

/** The sources of the running execution, by clause IRI. */
export const clauseSourcesKey = new ActionContextKey<ReadonlyMap<string, ClauseSource>>("fedway:clauseSources");

/** Ends the running execution with an error. */
export const failKey = new ActionContextKey<(error: unknown) => void>("fedway:fail");

/** Solutions as a stream of the running execution: a failure ends the execution, not just the stream. */
export function streamOf(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
  return new PulledStream(open, context.getSafe(failKey)) as unknown as BindingsStream;
}
