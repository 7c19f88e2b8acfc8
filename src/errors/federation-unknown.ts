import { FedwayError } from "./fedway-error.ts";
import { nearest } from "./nearest.ts";

/** The error for a federation id that is not in the catalogue, with the known id that is most like it. */
export function federationUnknown(id: string, known: readonly { readonly id: string }[]): FedwayError {
  const [like] = nearest(
    id,
    known.map((each) => each.id),
  );
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new FedwayError("FEDERATION_UNKNOWN", `The catalogue has no federation "${shown}".`, {
    next: like === undefined ? "GET /api/federations lists all of them." : `Did you mean "${like}"?`,
  });
}
