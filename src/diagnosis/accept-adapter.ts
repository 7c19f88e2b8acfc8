import { itemAt } from "../values.ts";
import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import { unknownId } from "../errors/unknown-id.ts";
import type { Admission, Admitted } from "../query/admission.ts";
import type { Probe } from "../query/probe.ts";
import { termToText } from "../results/terms.ts";
import { isWritableIri } from "../rdf/term-text.ts";
import { type AcceptedAdapter, adapterQuads, type CatalogEntry, type EditableCatalog } from "../registry/catalog.ts";
import { dcat, rdf } from "../rdf/vocabularies.ts";
import { type KeyAdapter, keyAdapters } from "./why/join-keys.ts";

/** Keys to join: values of a property, or IRIs of a class, at two endpoints. */
export interface AdapterRequest {
  /** Catalogue ids. */
  readonly endpoint: string;
  readonly other: string;
  /** IRIs of a property or class. */
  readonly key: string;
  readonly otherKey: string;
  readonly signal: AbortSignal;
  readonly owner?: string | undefined;
  /** The call that this is part of; absent: it is one of its own. */
  readonly admitted?: Admitted | undefined;
}

interface Options {
  readonly catalog: Pick<EditableCatalog, "byId" | "document" | "write" | "entries" | "federations" | "federation">;
  readonly probe: Probe;
  readonly admission: Pick<Admission, "enter">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Finds, verifies and keeps an adapter. */
export type AcceptAdapter = ReturnType<typeof createAdapterAcceptance>;

const mostSampled = 1_000;
const mostMet = 100;
const mostTried = 6;
/** Of the smaller sample: where more values are the same already, nothing is unlike. */
const mostAlike = 0.5;
const timeoutMs = 20_000;
/** To endpoints, for all questions. */
const mostRequests = 200;

/**
 * Adapters of the catalogue are found and verified here: values of both sides are sampled, and of the ways to make them alike
 * the one with which the endpoints have most values in common is kept with the entry. All queries that join the two use it from then on.
 */
export function createAdapterAcceptance({ catalog, probe, admission, now }: Options) {
  /**
   * @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID` (nothing joins them, or nothing is needed), `SERVICE_BUSY`, what
   *   asking and the catalogue throw
   */
  return async function acceptAdapter(request: AdapterRequest): Promise<AcceptedAdapter> {
    const { owner } = request;
    const characters = request.key.length + request.otherKey.length;
    const entrant = { client: owner, what: "adapter", characters, timeoutMs, signal: request.signal };
    const admitted = request.admitted ?? (await admission.enter(entrant));
    const signal = request.admitted ? request.signal : admitted.signal;
    const budget = admitted.requests.part(mostRequests);
    try {
      const found = await find(request, async (where, maxRows) => {
        const text = `SELECT DISTINCT ?value WHERE { ${where} } LIMIT ${maxRows}`;
        const { rows } = await probe({ text, maxRows, timeoutMs, signal, owner, budget, prune: false });
        return rows.flatMap((row) => row.get("value") ?? []);
      });
      return await keep(request, found);
    } finally {
      if (request.admitted === undefined) admitted.leave();
    }
  };

  async function find(request: AdapterRequest, ask: Ask): Promise<Found> {
    const [entry, otherEntry] = [entryOf(request.endpoint), entryOf(request.other)];
    if (entry === otherEntry) throw invalid("An adapter joins two endpoints, but both sides are the same.");
    const left = await sampled({ entry, iri: request.key }, ask);
    const right = await sampled({ entry: otherEntry, iri: request.otherKey }, ask);
    if (alikeShare(left, right) >= mostAlike) throw invalid("Values of both sides are written alike already.");
    let best: Found | undefined;
    for (const adapter of keyAdapters(left.terms, right.terms, mostTried)) {
      const { length: matches } = await ask(joined(left, right, adapter), mostMet);
      // Those with the fewest steps come first, and may join only the values that are written almost alike.
      if (matches > (best?.matches ?? 0)) best = { here: left.place, other: right.place, adapter, matches };
    }
    if (best) return best;
    throw invalid(
      `No way was found to make them alike: ${shown(left.terms)} at ${entry.id}, ${shown(right.terms)} at ${otherEntry.id}.`,
    );
  }

  function entryOf(id: string): CatalogEntry {
    const entry = catalog.byId(id);
    if (entry === undefined) throw unknownId("endpoint", id, catalog);
    return entry;
  }

  async function keep({ endpoint, other }: AdapterRequest, found: Found): Promise<AcceptedAdapter> {
    const { here, other: there, adapter, matches } = found;
    const acceptedAt = new Date(now()).toISOString();
    const accepted = { here, other: there, otherEndpoint: other, rule: adapter.rule, matches, acceptedAt };
    const document = catalog.document("endpoint", endpoint);
    const subject = document?.quads.find(
      ({ predicate, object }) => predicate.value === rdf.type && object.value === dcat.DataService,
    )?.subject;
    if (document === undefined || subject === undefined) throw unknownId("endpoint", endpoint, catalog);
    const quads = [...document.quads, ...adapterQuads(subject, accepted)];
    await catalog.write({ kind: "endpoint", id: endpoint, quads, mode: "replace", ifMatch: document.etag });
    return accepted;
  }
}

interface Found {
  readonly here: AcceptedAdapter["here"];
  readonly other: AcceptedAdapter["here"];
  readonly adapter: KeyAdapter;
  readonly matches: number;
}

interface Side {
  readonly place: AcceptedAdapter["here"];
  readonly terms: readonly RDF.Term[];
  /** The side as a SERVICE clause, with this variable for its values. */
  readonly group: (name: string, behind?: string) => string;
}

type Ask = (where: string, maxRows: number) => Promise<readonly RDF.Term[]>;

/** An IRI names the property whose values, or the class whose things, are the keys: whichever the endpoint has. */
async function sampled(side: { readonly entry: CatalogEntry; readonly iri: string }, ask: Ask): Promise<Side> {
  const { entry, iri } = side;
  if (!isWritableIri(iri)) throw invalid(`"${iri.slice(0, 100)}" is not an absolute IRI.`);
  const places = [
    { place: { property: iri }, pattern: (name: string) => `?thing_${name} <${iri}> ?${name}` },
    { place: { class: iri }, pattern: (name: string) => `?${name} a <${iri}>` },
  ];
  for (const { place, pattern } of places) {
    const group = (name: string, behind = ""): string => `SERVICE <${entry.url}> { ${pattern(name)} ${behind} } `;
    const terms = await ask(group("value"), mostSampled);
    if (terms.length > 0) return { place, terms, group };
  }
  throw invalid(`<${iri}> is neither a property nor a class that ${entry.id} has.`);
}

function alikeShare(left: Side, right: Side): number {
  const textsOf = ({ terms }: Side): ReadonlySet<string> => new Set(terms.map((term) => termToText(term)));
  const [some, others] = [textsOf(left), textsOf(right)];
  return some.intersection(others).size / Math.min(some.size, others.size);
}

function joined(left: Side, right: Side, { left: here, right: there }: KeyAdapter): string {
  const key = `${left.group("value")} BIND(${here("?value")} AS ?key) `;
  return key + (there ? right.group("other", `BIND(${there("?other")} AS ?key)`) : right.group("key"));
}

const shown = (terms: readonly RDF.Term[]): string => JSON.stringify(itemAt(terms, 0).value.slice(0, 100));

const invalid = (message: string): FedwayError =>
  new FedwayError("REQUEST_INVALID", message, { next: "Name a property or class whose values both sides know." });
