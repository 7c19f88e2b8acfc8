import { FedwayError } from "./fedway-error.ts";
import { nearest } from "./nearest.ts";

/** Ids that there are: a catalogue, or a part of one. */
interface Known {
  readonly entries?: readonly { readonly id: string }[];
  readonly federations?: readonly { readonly id: string }[];
  /** Those that are like the wanted one, where the caller has looked for them. */
  readonly alike?: readonly string[];
  /** Next step where none resembles the wanted one; by default the list of the API is named. */
  readonly next?: string;
}

/** The error for an id that is not in the catalogue, with the known ids that are most like it. */
export function unknownId(kind: "endpoint" | "federation", id: string, catalog: Known): FedwayError {
  const known = kind === "endpoint" ? catalog.entries : catalog.federations;
  const { alike = nearest(id, known?.map((each) => each.id) ?? []) } = catalog;
  const { next = `GET /api/${kind}s lists all of them.` } = catalog;
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new FedwayError(codes[kind], `The catalogue has no ${kind} "${shown}".`, {
    ...(kind === "endpoint" && alike.length > 0 && { endpoints: alike }),
    next: alike.length > 0 ? `Did you mean "${alike[0]}"?` : next,
  });
}

const codes = { endpoint: "ENDPOINT_UNKNOWN", federation: "FEDERATION_UNKNOWN" } as const;

/** The error for a request that names both. */
export const twoTargets = (): FedwayError =>
  new FedwayError("REQUEST_INVALID", "The request names an endpoint and a federation.", {
    next: "Name one of them: the query is sent to an endpoint, or to all members of a federation.",
  });
