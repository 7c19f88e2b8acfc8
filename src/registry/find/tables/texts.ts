import { setImmediate as nextTurn } from "node:timers/promises";
import type { EndpointModel, EndpointModels } from "../../model/endpoint-models.ts";
import type { KnownTerm, TermKind } from "../../model/schema.ts";
import { publishedKey, type PublishedFacts } from "../../catalog/published/published-facts.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import type { TermUse } from "../answers.ts";
import { TermTable, termDocument, termKey, type TermUsers, termWeights } from "./term-table.ts";
import { type TextDocument, TextIndex } from "./text-index.ts";

/** Classes and properties, by name and by text. */
interface TermTexts {
  readonly table: TermTable;
  readonly termText: TextIndex;
}

/** Names and texts of endpoints and of their classes and properties, over what the models know. */
export interface SearchedTexts extends TermTexts {
  readonly models: EndpointModels;
  readonly endpointText: TextIndex;
  /** Published texts of endpoints without a description. */
  readonly published: PublishedTexts;
}

/** Weights of the fields of an endpoint's document. */
const endpointWeights = { id: 5, title: 4, keywords: 3, description: 2, notes: 1, terms: 0.5 } as const;

/** Fields that the operator wrote. */
export const ownFields: readonly string[] = ["id", "title", "keywords", "description", "notes"];

const termTexts = (users: TermUsers): TermTexts => ({
  table: new TermTable(users),
  termText: new TextIndex(termWeights),
});

/** Texts over these models; `updateTexts` keeps them so. */
export function createTexts(models: EndpointModels): SearchedTexts {
  return {
    models,
    endpointText: new TextIndex(endpointWeights),
    ...termTexts({
      ids: (kind, iri) => models.described(kind, iri),
      use(id, kind, iri) {
        const found = models.get(id)?.described?.term(kind, iri);
        return found && { id, ...(found.count && { count: found.count }) };
      },
    }),
    published: new PublishedTexts(models),
  };
}

/** Takes in that a model's entry, description or published facts have changed. */
export function updateTexts(
  texts: SearchedTexts,
  after: EndpointModel | undefined,
  before: EndpointModel | undefined,
): void {
  const [gone, come] = [endpointDocument(before), endpointDocument(after)];
  if (gone) texts.endpointText.remove(gone);
  if (come) texts.endpointText.add(come);
  const [former, described] = [before, after].map((model) => model?.described);
  if (described !== former) updateTerms(texts, described?.terms(), former?.terms());
  texts.published.changed((after ?? before)?.id ?? "");
}

type Terms = Iterable<Pick<KnownTerm, "kind" | "iri" | "label">> | undefined;

function updateTerms({ table, termText }: TermTexts, after: Terms, before: Terms): void {
  for (const { kind, iri } of before ?? []) {
    const gone = table.drop(termKey(kind, iri));
    if (gone !== undefined) termText.remove(termDocument(gone));
  }
  for (const { kind, iri, label } of after ?? []) {
    const term = { key: termKey(kind, iri), kind, iri, label };
    if (table.add(term)) termText.add(termDocument(term));
  }
}

/** Published terms, indexed at the first search that wants them: that takes 300 ms, and most processes never do. */
class PublishedTexts implements TermTexts {
  readonly table: TermTable;
  readonly termText = new TextIndex(termWeights);
  readonly #models: EndpointModels;
  readonly #users: TermUsers;
  /** Of each endpoint, as they are indexed. */
  readonly #held = new Map<string, PublishedFacts["terms"]>();
  #read: Promise<void> | undefined;

  constructor(models: EndpointModels) {
    this.#models = models;
    this.#users = {
      ids: (kind, iri) => [...models.published(kind, iri)].filter((id) => models.get(id)?.described === undefined),
      use(id, kind, iri) {
        const { described, published } = models.get(id) ?? {};
        const found = described === undefined ? published?.terms.get(publishedKey(kind, iri)) : undefined;
        if (found === undefined || published === undefined) return undefined;
        const count = found.count === undefined ? {} : { count: { value: found.count, status: "claimed" as const } };
        return { id, published: published.provenance, ...count };
      },
    };
    this.table = new TermTable(this.#users);
  }

  /** Endpoints of which others have published a term, indexed or not. */
  usesOf({ kind, iri }: Pick<KnownTerm, "kind" | "iri">): readonly TermUse[] {
    return [...this.#users.ids(kind, iri)].flatMap((id) => this.#users.use(id, kind, iri) ?? []);
  }

  /** Resolves when all are indexed; one endpoint a turn. */
  read(): Promise<void> {
    this.#read ??= this.#readAll();
    return this.#read;
  }

  async #readAll(): Promise<void> {
    for (const { id } of this.#models.all()) {
      await nextTurn();
      this.#take(id);
    }
  }

  changed(id: string): void {
    if (this.#read !== undefined) this.#take(id);
  }

  #take(id: string): void {
    const { described, published } = this.#models.get(id) ?? {};
    const now = described === undefined ? published?.terms : undefined;
    const before = this.#held.get(id);
    if (now === before) return;
    if (now === undefined) this.#held.delete(id);
    else this.#held.set(id, now);
    updateTerms(this, now?.values(), before?.values());
  }
}

const longestText = 2_000;
const mostListed = 50;
/** Classes, and as many properties, whose names an endpoint is found by. */
const mostNames = 150;

const listText = (values: readonly string[]): string => values.slice(0, mostListed).join(" \n ").slice(0, longestText);

/** Searchable text of an endpoint. */
function endpointDocument({ id = "", entry, described }: Partial<EndpointModel> = {}): TextDocument | undefined {
  if (entry === undefined) return undefined;
  const namesOf = (kind: TermKind): readonly string[] =>
    [...(described?.terms(kind) ?? [])].slice(0, mostNames).map(({ iri }) => iriParts(iri).local.slice(0, 100));
  return {
    key: id,
    fields: {
      id,
      title: entry.title.slice(0, longestText),
      keywords: listText(entry.keywords),
      description: (entry.description ?? "").slice(0, longestText),
      notes: listText(entry.notes),
      terms: [...namesOf("class"), ...namesOf("property")].join(" "),
    },
  };
}
