import { atOnce, inTurns } from "../../clock.ts";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { iriParts } from "../../rdf/display-text.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { PrefixTable } from "../schema/prefixes.ts";
import type { FederationModel } from "../model/federation-model.ts";
import type {
  EndpointStatus,
  EntryFilter,
  EntryPage,
  SearchAnswer,
  SearchRequest,
  TermCounts,
  WantedTerm,
} from "./answers.ts";
import { filterSteps, hasTerm } from "./rank/filter-entries.ts";
import { nearestTerms } from "./rank/nearest-terms.ts";
import { type EndpointRequest, rankedFor } from "./rank/question-endpoints.ts";
import { type TermRequest, termsFor } from "./rank/question-terms.ts";
import { type FoundShape, type ShapeRequest, shapesFor } from "./rank/rank-shapes.ts";
import { searchSteps, type TermUses, usesOfTerm } from "./rank/run-search.ts";
import type { EngineSearch } from "./read/engine-search.ts";
import type { ExampleService } from "./read/example-service.ts";
import { EndpointTables, type TableSources } from "./tables/endpoint-tables.ts";
import type { ExampleHit, ExampleQuery } from "./tables/example-index.ts";
import type { KeyGroup, ValueHit, ValueRequest } from "./tables/value-index.ts";
import { hasAllWords } from "./tables/text-index.ts";
import { ownFields } from "./tables/texts.ts";
import { queryWords } from "./words/question-words.ts";

interface FinderOptions extends TableSources {
  /** Monitored state of an endpoint; "unknown" for all when absent. */
  readonly statusOf?: ((id: string) => EndpointStatus) | undefined;
  /** Asks engines for names that were not harvested. */
  readonly engineSearch?: EngineSearch | undefined;
  /** Solved questions; none are found when absent. */
  readonly examples?: ExampleService | undefined;
}

/** Finds endpoints, terms, values and examples by what the models know; it keeps itself up to date with them. */
export class Finder {
  readonly #tables: EndpointTables;
  readonly #options: FinderOptions;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#tables = new EndpointTables(options);
  }

  readonly #statusOf = (id: string): EndpointStatus => this.#options.statusOf?.(id) ?? "unknown";

  /** Grows with every change of known terms. */
  get version(): number {
    return this.#tables.models.version;
  }

  /** Endpoints for a question, best first; those that are down stand where they belong. @throws the signal's reason */
  async findEndpoints(request: EndpointRequest) {
    const { hits, ...found } = await this.rankEndpoints(request);
    return { endpoints: hits.map((hit) => hit.lookUp()), ...found };
  }

  /** The same, each to be looked up by whoever shows it. @throws the signal's reason */
  rankEndpoints(request: EndpointRequest) {
    return rankedFor(this.#tables, request, this.#statusOf);
  }

  /**
   * Classes and properties, and beside them entities and values, for a word, a name or a question, each best first.
   * @throws the signal's reason
   */
  searchTerms(request: TermRequest) {
    return termsFor(this.#tables, request, this.#options.engineSearch);
  }

  /** The merged model of a federation; undefined while nothing is known of its members. */
  federation(id: string): FederationModel | undefined {
    const { federations } = this.#tables;
    return federations.model(federations.keyOf(id));
  }

  search(request: SearchRequest): SearchAnswer {
    return atOnce(searchSteps(this.#tables.texts, request));
  }

  /** The same, with turns of the event loop for others: with 20,000 endpoints it takes 80 ms. */
  searchInTurns(request: SearchRequest): Promise<SearchAnswer> {
    return inTurns(searchSteps(this.#tables.texts, request));
  }

  /** Has published terms indexed, for searches that want them. */
  readPublished(): Promise<void> {
    return this.#tables.texts.published.read();
  }

  /** Entries of the catalogue that meet a filter. @throws FedwayError `REQUEST_INVALID` when a local name is ambiguous */
  filterEntries(entries: Catalog["entries"], filter: EntryFilter): EntryPage {
    return atOnce(filterSteps(this.#tables.texts, entries, { filter, statusOf: this.#statusOf }));
  }

  /** The same, with turns of the event loop for others. */
  filterEntriesInTurns(entries: Catalog["entries"], filter: EntryFilter): Promise<EntryPage> {
    return inTurns(filterSteps(this.#tables.texts, entries, { filter, statusOf: this.#statusOf }));
  }

  /** Ids of the endpoints whose own text has every word of `q` as a whole word, in id order; for federations by query. */
  endpointsMatching(q: string): readonly string[] {
    const words = queryWords(q);
    const hits = this.#tables.texts.endpointText.find({ words, how: "whole", fields: ownFields });
    return hits
      .filter((hit) => hasAllWords(hit, words))
      .map(({ key }) => key)
      .toSorted();
  }

  /** Ids of the endpoints that are known to have a class or property. */
  endpointsWith({ kind, iri }: WantedTerm): Iterable<string> {
    return this.#tables.models.described(kind, iri);
  }

  /** Looks up a class or property in an endpoint's description; "no" only where the description is complete. */
  hasTerm(id: string, term: WantedTerm): "yes" | "no" | "unknown" {
    return hasTerm(this.#tables.texts, id, term);
  }

  /** A class or property in all endpoints; undefined when no endpoint is known to have it. */
  term(term: WantedTerm): TermUses | undefined {
    return usesOfTerm(this.#tables.texts, term);
  }

  /** At most three classes or properties of these endpoints that are most like a term, best first. */
  nearest(ids: readonly string[], term: Parameters<typeof nearestTerms>[2]): readonly Suggestion[] {
    return nearestTerms(this.#tables.texts, ids, term);
  }

  /** Namespaces in which these endpoints have a class or property of this local name. */
  namespacesWith(local: string, endpoints: readonly string[]): readonly string[] {
    const { hits } = this.search({ q: local, kinds: ["class", "property"], endpoints, limit: 50, offset: 0 });
    // A local name may have the separators of IRIs itself, as in `:city\\#name`.
    const isNamed = (iri: string): boolean => iri.endsWith(local) && iriParts(iri).local === iriParts(local).local;
    return hits.flatMap(({ iri = "" }) => (isNamed(iri) ? [iri.slice(0, iri.length - local.length)] : []));
  }

  /** The namespace that the schema view of an endpoint writes with this prefix (without colon). */
  namespaceAt(id: string, prefix: string): string | undefined {
    const described = this.#tables.models.get(id)?.described;
    return described && PrefixTable.of(described).namespace(prefix);
  }

  /** How many classes and properties an endpoint is known to have; undefined when it has not been described. */
  termCounts(id: string): TermCounts | undefined {
    const described = this.#tables.models.get(id)?.described;
    if (described === undefined) return undefined;
    const { class: classes, property: properties } = described.counts();
    return { classes, properties, complete: described.classesComplete && described.propertiesComplete };
  }

  /** Version of the description, by default the time when it was finished; undefined when there is none. */
  descriptionVersion(id: string): string | undefined {
    return this.#tables.models.get(id)?.version;
  }

  /** Entities and values that were read, best first within each text, the texts in their order. */
  findValues(request: ValueRequest): Promise<readonly ValueHit[]> {
    return this.#tables.values.find(request);
  }

  /** All values of those properties of an endpoint that have few, for its schema view: texts first, fewest values first. */
  valueExamples(id: string) {
    return this.#tables.values.examples(id);
  }

  /** True if all values of a property at an endpoint are known. */
  holdsAll(id: string, property: string): boolean {
    return this.#tables.values.holdsAll(id, property);
  }

  /** How many labels of entities by this property are known, which is at most its number of triples there. */
  labelsBy(id: string, property: string): number {
    return this.#tables.values.labelsBy(id, property);
  }

  /** Values of each property and IRIs of each class that endpoints are known to have, 100 of each. */
  keys(): readonly KeyGroup[] {
    return this.#tables.values.keys();
  }

  /** Solved questions, best first. @throws FedwayError `STORE_FAILED` */
  async findExamples(query: ExampleQuery): Promise<readonly ExampleHit[]> {
    return (await this.#options.examples?.find(query)) ?? [];
  }

  /** Published shapes that say most of a question. @throws the signal's reason */
  findShapes(request: ShapeRequest): Promise<readonly FoundShape[]> {
    return shapesFor(this.#tables, request);
  }

  /** Resolves when all that is known now is taken in, vectors included. */
  settled(): Promise<void> {
    return this.#tables.settled();
  }

  close(): Promise<void> {
    return this.#tables.close();
  }
}
