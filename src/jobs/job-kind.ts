import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../errors/fedway-error.ts";
import { payloadCopy } from "./bounds.ts";
import type { JobContext, JobKind } from "./job-queue.ts";

interface KindDefinition<Payload> extends Omit<JobKind, "validate" | "run"> {
  /** Required content of a payload, for the error about one without it. */
  readonly needs: string;
  readonly run: (payload: Payload, context: JobContext) => Promise<unknown>;
}

/**
 * Result of a handler whose job goes on as a waiting job of another kind, which has places of its own: id and
 * priority stay, runs are counted anew.
 */
export class Handover {
  readonly kind: string;
  readonly payload: unknown;

  /** @throws FedwayError `REQUEST_INVALID` for a payload that cannot be stored */
  constructor(kind: string, payload: unknown) {
    this.kind = kind;
    this.payload = payloadCopy(payload);
  }
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
