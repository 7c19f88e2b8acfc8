import type * as RDF from "@rdfjs/types";
import type { EndpointTarget } from "../../outbound/sparql-client.ts";
import type { KeyRule } from "../../rdf/key-rule.ts";
import type { PublishedCatalog } from "../published/published-catalog.ts";

/** How an entry's data is reached: the SPARQL Protocol, Triple Pattern Fragments, or one RDF document. */
export type EndpointInterface = "sparql" | "tpf" | "file";

/** One endpoint of the catalogue, as its RDF describes it (DCAT 3 `dcat:DataService`). */
export interface CatalogEntry {
  /** `dcterms:identifier`: `[a-z0-9][a-z0-9._-]{0,63}`. */
  readonly id: string;
  readonly title: string;
  /** One sentence in plain words; undefined when the operator gave none. */
  readonly description?: string | undefined;
  /** `dcat:endpointURL`, or `void:dataDump` of a file; absolute. Relative ones are resolved against the public URL. */
  readonly url: string;
  /** `dcterms:conformsTo`; "sparql" when not said, "file" when there is a `void:dataDump` instead of an endpoint URL. */
  readonly interface: EndpointInterface;
  readonly homepage?: string | undefined;
  readonly license?: string | undefined;
  readonly keywords: readonly string[];
  /** `fedway:engine`: the store behind it, where known. */
  readonly engine?: string | undefined;
  /** `skos:note`: what its users should know. */
  readonly notes: readonly string[];
  /** `fedway:rowCap`: rows after which its answers are cut. */
  readonly rowCap?: number | undefined;
  /** `fedway:blocksService`: it refuses queries that contain SERVICE. */
  readonly blocksService: boolean;
  /** `fedway:needsUserAgent`: it refuses requests without a User-Agent that names a contact. */
  readonly needsUserAgent: boolean;
  /** IRIs that are no endpoints but extensions of this endpoint's engine, left inside the query (e.g. `wikibase:label`). */
  readonly pseudoServices: readonly string[];
  /** Queries that our parser refuses may be passed on unparsed (Virtuoso `define`, Blazegraph hints). */
  readonly rawQueries: boolean;
  /** `fedway:mirrorOf`: id of the endpoint with the same data that it stands in for when that one fails or is slow. */
  readonly mirrorOf?: string | undefined;
  /** `fedway:neverKept`: its answers are never kept for other queries. */
  readonly neverKept?: boolean | undefined;
  /** It comes with the service. */
  readonly builtIn?: true | undefined;
  /** Method known to work, `post-form` where nothing else is known to be needed. */
  readonly method?: "post-form" | "post-direct" | "get" | undefined;
  /** `fedway:subjectPartition`: no two endpoints with the same IRI here have a subject in common. */
  readonly subjectPartition?: string | undefined;
  /** `fedway:keyAdapter`. */
  readonly keyAdapters?: readonly AcceptedAdapter[] | undefined;
}

/** The values of a property, or the IRIs of the things of a class. */
export type KeyPlace = { readonly property: string } | { readonly class: string };

/**
 * `fedway:keyAdapter`: values here and at another endpoint name the same things but are written in different ways, and how they
 * are made alike. Queries that join the two are evaluated with it.
 */
export interface AcceptedAdapter {
  readonly here: KeyPlace;
  readonly other: KeyPlace;
  /** Catalogue id of the other endpoint. */
  readonly otherEndpoint: string;
  readonly rule: KeyRule;
  /** `dcterms:created`, ISO 8601: when it was verified and accepted; absent: an operator declared it. */
  readonly acceptedAt?: string | undefined;
  /** Values that it joined then. */
  readonly matches?: number | undefined;
}

/** A named set of endpoints (`fedway:Federation`) with its own virtual endpoint `/federations/{id}/sparql`. */
export interface Federation {
  /** As of an entry; federations and endpoints have separate ids. */
  readonly id: string;
  readonly title: string;
  readonly description?: string | undefined;
  /** `fedway:member`: ids of endpoints named one by one. */
  readonly members: readonly string[];
  /** `fedway:memberKeyword`: endpoints with any of these keywords belong to it. */
  readonly memberKeywords: readonly string[];
  /** `fedway:memberQuery`: endpoints that a catalogue search for this text finds belong to it. */
  readonly memberQuery?: string | undefined;
  /** All endpoints that are described belong to it; it comes with the service and cannot be changed. */
  readonly builtIn?: true | undefined;
}

/** The members that a federation names, in its four ways. */
type NamedMembers = Pick<Federation, "members" | "memberKeywords" | "memberQuery" | "builtIn">;

/** Where an entry or federation comes from. */
type Origin = "file" | "api" | "service";

/** A catalogue file that could not be used; the others load all the same. */
export interface CatalogProblem {
  readonly file: string;
  readonly line?: number | undefined;
  readonly reason: string;
}

/** Read access to the catalogue: a live view, whose parts are replaced when it changes. */
export interface Catalog {
  /** Grows with every change; derived data are as old as the version they were derived from. */
  readonly version: number;
  /** Entries by id, in id order. */
  readonly entries: readonly CatalogEntry[];
  readonly federations: readonly Federation[];
  readonly problems: readonly CatalogProblem[];
  /** Facts that others published about the entries. */
  readonly published: PublishedCatalog;
  byId(id: string): CatalogEntry | undefined;
  /** The entry with this endpoint URL; also answers for this service's own `/endpoints/{id}/sparql`. */
  byUrl(url: string): CatalogEntry | undefined;
  federation(id: string): Federation | undefined;
  /** The federation that this service answers for at this URL, `/federations/{id}/sparql`. */
  federationByUrl(url: string): Federation | undefined;
  /** The endpoints of a federation now, in id order; members that are not in the catalogue are left out. */
  membersOf(federation: NamedMembers): readonly CatalogEntry[];
}

/** An entry or federation with its whole RDF. */
export interface CatalogDocument {
  readonly id: string;
  readonly kind: "endpoint" | "federation";
  readonly origin: Origin;
  /** Every triple of the entry's document, those that Fedway does not interpret included. */
  readonly quads: readonly RDF.Quad[];
  /** For `If-Match`. */
  readonly etag: string;
  /** ISO 8601; absent for files and built-in documents. */
  readonly changedAt?: string;
}

/** How the files and the changes over the API differ: both sides changed, or a file is hidden by a deletion. */
export interface CatalogDrift {
  readonly id: string;
  readonly kind: "endpoint" | "federation";
  readonly how: "file-hidden-by-change" | "file-hidden-by-deletion" | "file-changed-since";
  readonly file: string;
}

/** Where and under which condition a document is written. */
export interface CatalogWrite {
  readonly id: string;
  readonly kind: "endpoint" | "federation";
  /** The document's triples; exactly one `dcat:DataService` or `fedway:Federation`, with this id. */
  readonly quads: readonly RDF.Quad[];
  /** "create" fails when it exists, "replace" when it does not; "put" does either. */
  readonly mode: "create" | "replace" | "put";
  /** Only when the document has this etag. */
  readonly ifMatch?: string;
}

/** The catalogue with its documents and changes. */
export interface EditableCatalog extends Catalog {
  document(kind: CatalogDocument["kind"], id: string): CatalogDocument | undefined;
  /** All documents that files or changes hold, in kind and id order. */
  documents(): readonly CatalogDocument[];
  readonly drift: readonly CatalogDrift[];
  /** The URL that a file gives an endpoint, also where a change over the API hides that file. */
  fileUrl(id: string): string | undefined;
  /**
   * Stores a change; when the promise resolves it survives a restart and the live view shows it.
   * @throws FedwayError `ENTRY_INVALID` (what SHACL or the reader found), `ENTRY_CONFLICT` (id or URL taken, exists),
   *   `ENDPOINT_UNKNOWN`, `PRECONDITION_FAILED`, `STORE_FAILED`
   */
  write(change: CatalogWrite): Promise<CatalogDocument>;
  /** Removes a document, leaving a tombstone over a file. @throws FedwayError as `write` */
  remove(kind: CatalogDocument["kind"], id: string, ifMatch?: string): Promise<void>;
  /** Takes in changes that other processes made to the store. */
  refresh(): Promise<void>;
  /** Calls back after every change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** An endpoint as the registry asks it. */
export type AskedEndpoint = Pick<EndpointTarget, "id" | "url" | "method">;
