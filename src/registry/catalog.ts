/** One SPARQL endpoint of the catalogue, as its Turtle file describes it (DCAT 3 `dcat:DataService`). */
export interface CatalogEntry {
  /** `dcterms:identifier`: `[a-z0-9][a-z0-9._-]{0,63}`. */
  readonly id: string;
  readonly title: string;
  /** One sentence in plain words; undefined when the operator gave none. */
  readonly description?: string;
  /** `dcat:endpointURL`, absolute. Relative ones in the files are resolved against the service's public URL. */
  readonly url: string;
  readonly homepage?: string;
  readonly license?: string;
  readonly keywords: readonly string[];
  /** IRIs that are no endpoints but extensions of this endpoint's engine, left inside the query (e.g. `wikibase:label`). */
  readonly pseudoServices: readonly string[];
  /** Queries that our parser refuses may be passed on unparsed (Virtuoso `define`, Blazegraph hints). */
  readonly rawQueries: boolean;
  /** Method known to work, `post-form` where nothing else is known to be needed. */
  readonly method?: "post-form" | "post-direct" | "get";
}

/** A catalogue file that could not be used; the others load all the same. */
export interface CatalogProblem {
  readonly file: string;
  readonly line?: number;
  readonly reason: string;
}

/** Read access to the catalogue. */
export interface Catalog {
  /** Entries by id, in id order. */
  readonly entries: readonly CatalogEntry[];
  readonly problems: readonly CatalogProblem[];
  byId(id: string): CatalogEntry | undefined;
  /** The entry with this endpoint URL; also answers for this service's own `/endpoints/{id}/sparql`. */
  byUrl(url: string): CatalogEntry | undefined;
}
