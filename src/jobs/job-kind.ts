import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../errors/fedway-error.ts";
import type { JobContext, JobKind } from "./job-queue.ts";

interface KindDefinition<Payload> extends Omit<JobKind, "validate" | "run"> {
  /** What a payload holds, for the error about one that does not. */
  readonly needs: string;
  readonly run: (payload: Payload, context: JobContext) => Promise<unknown>;
}

/** A kind of job whose payloads fit a schema. */
export function jobKind<Schema extends TSchema>(
  schema: Schema,
  { needs, run, ...kind }: KindDefinition<Static<Schema>>,
): JobKind {
  const payloads = Compile(schema);
  const read = (payload: unknown): Static<Schema> => {
    if (payloads.Check(payload)) return payload;
    throw new FedwayError("REQUEST_INVALID", `A ${kind.name} job needs ${needs}.`);
  };
  return {
    ...kind,
    validate: (payload) => void read(payload),
    run: async (payload, context) => run(read(payload), context),
  };
}
