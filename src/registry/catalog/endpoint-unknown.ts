import { FedwayError } from "../../errors/fedway-error.ts";
import { nearest } from "../../errors/nearest.ts";

/** The error for an endpoint id that is not in the catalogue, with the known ids that are like it. */
export function endpointUnknown(id: string, known: readonly string[] = []): FedwayError {
  const endpoints = nearest(id, known);
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new FedwayError("ENDPOINT_UNKNOWN", `The catalogue has no endpoint "${shown}".`, {
    endpoints,
    next: endpoints.length > 0 ? `Did you mean "${endpoints[0]}"?` : "GET /api/endpoints lists all of them.",
  });
}
