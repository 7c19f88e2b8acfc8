import type { Asker } from "../../outbound/whole-answer.ts";
import type { RdfDocument } from "../../outbound/documents.ts";
import type { Clock } from "../../clock.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { Capabilities } from "./capabilities.ts";

const hydraSearch = "http://www.w3.org/ns/hydra/core#search";

/** True if a document has the search form (Hydra) of a Triple Pattern Fragments interface. */
export const hasSearchForm = (quads: RdfDocument["quads"]): boolean =>
  quads.some(({ predicate }) => predicate.value === hydraSearch);

const bounds = {
  tpf: { maxBytes: 4 * 1024 * 1024, maxQuads: 20_000, namedGraphs: true },
  file: { maxBytes: 2 ** 26, maxQuads: 500_000 },
};
const timeoutMs = 30_000;

/**
 * A canary for RDF files and Triple Pattern Fragments: the document comes and is RDF; a fragment has the search form
 * (Hydra) by which it is asked. What such endpoints hold is not looked at.
 */
export async function documentCanary(
  { id, url, interface: kind }: Pick<CatalogEntry, "id" | "url" | "interface">,
  { asker, clock, signal }: Canary,
): Promise<Capabilities> {
  const frame = { endpoint: url, probedAt: new Date(clock.now()).toISOString(), constructs: {}, methods: [] };
  try {
    const limits = kind === "tpf" ? bounds.tpf : bounds.file;
    const { quads, mediaType } = await asker.fetchDocument({ url, signal, timeoutMs, ...limits, endpoint: id });
    const reachable = kind !== "tpf" || hasSearchForm(quads);
    return { ...frame, reachable, formats: reachable ? [mediaType] : [] };
  } catch (thrown) {
    if (toFedwayError(thrown).code === "CANCELLED") throw thrown;
    return { ...frame, reachable: false, formats: [] };
  }
}

interface Canary {
  readonly asker: Pick<Asker, "fetchDocument">;
  readonly clock: Pick<Clock, "now">;
  readonly signal: AbortSignal;
}
