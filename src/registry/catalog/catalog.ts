import type * as RDF from "@rdfjs/types";
import { type Static, Type } from "typebox";
import type { EndpointTarget } from "../../outbound/sparql-request.ts";
import type { KeyRule } from "../../rdf/key-rule.ts";
import { boolean, type Given, integer, text, texts } from "../../shapes.ts";
import type { DocumentFields } from "./document-fields.ts";
import type { PublishedCatalog } from "./published/published-catalog.ts";

const { Optional } = Type;

/** How an entry's data is reached: the SPARQL Protocol, Triple Pattern Fragments, or one RDF document. */
const endpointInterfaces = ["sparql", "tpf", "file"] as const;
export type EndpointInterface = (typeof endpointInterfaces)[number];

const id = Type.String({ maxLength: 64, description: "Catalogue id." });

/** The values of a property, or the IRIs of the things of a class. */
export type KeyPlace = { readonly property: string } | { readonly class: string };
const place = Type.Unsafe<KeyPlace>(Type.Object({ property: Optional(Type.String()), class: Optional(Type.String()) }));

/**
 * `fedway:keyAdapter`: values here and at another endpoint name the same things but are written in different ways, and how they
 * are made alike. Queries that join the two are evaluated with it.
 */
export const AcceptedAdapter = Type.Object(
  {
    here: place,
    other: place,
    otherEndpoint: text("Catalogue id of the other endpoint."),
    rule: Type.Unsafe<KeyRule>(
      Type.Object(
        {
          prefix: text("What stands before the keys here."),
          otherPrefix: text("What stands before them there."),
          steps: Type.Array(text("blanks, case, padding or version.")),
          form: Optional(text("How the other side writes them: iri, or a datatype.")),
        },
        { description: "How values are made alike." },
      ),
    ),
    acceptedAt: Optional(
      Type.String({
        format: "date-time",
        description: "When it was verified and accepted; absent: an operator declared it.",
      }),
    ),
    matches: Optional(integer("Values that it joined when it was verified.")),
  },
  { title: "Adapter" },
);
export type AcceptedAdapter = Given<Static<typeof AcceptedAdapter>>;

/** One endpoint of the catalogue, as its RDF (DCAT 3 `dcat:DataService`) describes it; `document-fields.ts` has the terms. */
export const CatalogEntry = Type.Object({
  id,
  title: text("A few words."),
  description: Optional(text("One sentence in plain words.")),
  url: text("URL of the endpoint, or of the file; http or https. Its default graphs are in its query part."),
  interface: Type.Enum([...endpointInterfaces], { description: "How the data is reached." }),
  defaultGraphs: Optional(
    Type.Array(Type.String({ maxLength: 2_048 }), {
      minItems: 1,
      maxItems: 20,
      description:
        "IRIs of the graphs that are its default graph; a part of the URL, as default-graph-uri. Queries with FROM or graphs of their own do not ask them.",
    }),
  ),
  homepage: Optional(text("URL of a page for people.")),
  license: Optional(text("IRI of the license.")),
  keywords: texts("Keywords."),
  notes: texts("What its users should know, a sentence each."),
  engine: Optional(text("The store behind it, e.g. virtuoso, fuseki or other.")),
  rowCap: Optional(
    Type.Integer({ minimum: 1, maximum: 999_999_999_999_999, description: "Rows after which answers are cut." }),
  ),
  blocksService: boolean("It refuses queries that contain SERVICE."),
  needsUserAgent: boolean("It refuses requests that name no contact."),
  pseudoServices: texts("IRIs in SERVICE that are extensions of its engine."),
  rawQueries: boolean("Pass queries on that are no SPARQL 1.1."),
  mirrorOf: Optional(
    text("Id of an endpoint with the same data, for which it stands in when that one fails or lacks rows."),
  ),
  neverKept: Optional(boolean("Never keep its answers for other queries.")),
  builtIn: Optional(Type.Literal(true, { description: "The registry itself; it comes with the service." })),
  method: Optional(
    Type.Enum(["post-form", "post-direct", "get"], { description: "The request method, when only that one works." }),
  ),
  subjectPartition: Optional(text("No two endpoints with the same IRI here have a subject in common.")),
  keyAdapters: Optional(Type.Array(AcceptedAdapter, { description: "How its keys are joined with those of others." })),
});
export type CatalogEntry = Given<Static<typeof CatalogEntry>>;

/** A named set of endpoints (`fedway:Federation`) with its own virtual endpoint; federations and endpoints have separate ids. */
export const Federation = Type.Object({
  id,
  title: text("A few words."),
  description: Optional(text("One sentence in plain words.")),
  members: texts("Ids of endpoints that are named one by one."),
  memberKeywords: texts("Endpoints with one of these keywords belong to it."),
  memberQuery: Optional(text("Endpoints that a search for this finds belong to it.")),
  builtIn: Optional(
    Type.Literal(true, {
      description: "All described endpoints belong to it; it comes with the service and cannot be changed.",
    }),
  ),
});
export type Federation = Given<Static<typeof Federation>>;

/** The members that a federation names, in its four ways. */
type NamedMembers = Pick<Federation, "members" | "memberKeywords" | "memberQuery" | "builtIn">;

/** Author and time of a document. */
const Authorship = Type.Object({
  origin: Type.Enum(["file", "api", "service"], {
    description: "Who said so: a catalogue file, a change over the API, or the service itself.",
  }),
  changedAt: Optional(text("Time of the change (ISO 8601).")),
});

type Authorship = Given<Static<typeof Authorship>>;

/** A catalogue file that could not be used; the others load all the same. */
const CatalogProblem = Type.Object({
  file: Type.String(),
  line: Optional(Type.Integer()),
  reason: Type.String(),
});
export type CatalogProblem = Given<Static<typeof CatalogProblem>>;

/** How the files and the changes over the API differ: both sides changed, or a file is hidden by a deletion. */
const CatalogDrift = Type.Object({
  id,
  kind: Type.Enum(["endpoint", "federation"], { description: "What the document describes." }),
  how: Type.Enum(["file-hidden-by-change", "file-hidden-by-deletion", "file-changed-since"], {
    description: "How they differ.",
  }),
  file: Type.String(),
});
export type CatalogDrift = Given<Static<typeof CatalogDrift>>;

/** Schemas of what is shown beside entries and federations. */
export const catalogSchemas = { authorship: Authorship, problem: CatalogProblem, drift: CatalogDrift } as const;

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

/** Which document: ids of entries and federations are apart. */
export interface DocumentName {
  readonly id: string;
  readonly kind: "endpoint" | "federation";
}

/** An entry or federation with its whole RDF. */
export interface CatalogDocument extends DocumentName, Authorship {
  /** Every triple of the entry's document, those that Fedway does not interpret included. */
  readonly quads: readonly RDF.Quad[];
  /** For `If-Match`. */
  readonly etag: string;
}

/** Where and under which condition a document is written. */
export interface CatalogWrite extends DocumentName {
  /** The document's triples; exactly one `dcat:DataService` or `fedway:Federation`, with this id. */
  readonly quads: readonly RDF.Quad[];
  /** "create" fails when it exists, "replace" when it does not; "put" does either. */
  readonly mode: "create" | "replace" | "put";
  /** Only when the document has this etag. */
  readonly ifMatch?: string;
}

/** The catalogue with its documents and changes. */
export interface EditableCatalog extends Catalog {
  /** Parses the document. */
  document(kind: CatalogDocument["kind"], id: string): CatalogDocument | undefined;
  /** Author and time of a document, without its triples. */
  authorship(kind: CatalogDocument["kind"], id: string): Authorship | undefined;
  /** All documents that files or changes hold, in kind and id order. */
  documents(): readonly CatalogDocument[];
  readonly drift: readonly CatalogDrift[];
  /** The URL that a file gives an endpoint, also where a change over the API hides that file. */
  fileUrl(id: string): string | undefined;
  /** The URL of an endpoint, where the operator himself wrote it: in a file of his own, or as the argument of a command. */
  operatorUrl(id: string): string | undefined;
  /** Takes a URL for one that the operator wrote: the argument of the command for which this service runs. */
  setArgument(url: string | undefined): void;
  /**
   * Stores a change; when the promise resolves it survives a restart and the live view shows it.
   * @throws FedwayError `ENTRY_INVALID` (what SHACL or the reader found), `ENTRY_CONFLICT` (id or URL taken, exists),
   *   `ENDPOINT_UNKNOWN`, `PRECONDITION_FAILED`, `STORE_FAILED`
   */
  write(change: CatalogWrite): Promise<CatalogDocument>;
  /** Changes some fields of a document, in whatever it has become by then; `ifMatch` and errors as of `write`. */
  change(name: DocumentName, fields: DocumentFields, ifMatch?: string): Promise<CatalogDocument>;
  /** Removes a document, leaving a tombstone over a file. @throws FedwayError as `write` */
  remove(kind: CatalogDocument["kind"], id: string, ifMatch?: string): Promise<void>;
  /** Takes in changes that other processes made to the store. */
  refresh(): Promise<void>;
  /** Calls back after every change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** An endpoint as the registry asks it. */
export type AskedEndpoint = Pick<EndpointTarget, "id" | "url" | "method">;
