import type { CatalogEntry } from "../catalog/catalog.ts";
import type { EndpointModel, EndpointModels } from "../model/endpoint-models.ts";
import type { TermKind } from "../model/schema.ts";
import { iriParts } from "../schema/text.ts";
import { TermTable, termDocument, termKey, termWeights } from "./term-table.ts";
import { type TextDocument, TextIndex } from "./text-index.ts";

/** The index's data: texts over what the models know. */
export interface IndexState {
  readonly models: EndpointModels;
  readonly table: TermTable;
  readonly endpointText: TextIndex;
  readonly termText: TextIndex;
}

/** Weights of the fields of an endpoint's document. */
const endpointWeights = { id: 5, title: 4, keywords: 3, description: 2, notes: 1, terms: 0.5 } as const;

/** Fields that the operator wrote. */
export const ownFields: readonly string[] = ["id", "title", "keywords", "description", "notes"];

/** The texts of the models, which they follow from now on. */
export function indexed(models: EndpointModels): IndexState {
  const state: IndexState = {
    models,
    table: new TermTable(models),
    endpointText: new TextIndex(endpointWeights),
    termText: new TextIndex(termWeights),
  };
  models.follow({ changed: (after, before) => updateTexts(state, after, before) });
  return state;
}

function updateTexts(state: IndexState, after: EndpointModel | undefined, before: EndpointModel | undefined): void {
  if (before?.entry !== undefined) state.endpointText.remove(endpointDocument(before, before.entry));
  if (after?.entry !== undefined) state.endpointText.add(endpointDocument(after, after.entry));
  if (before?.described !== after?.described) updateTerms(state, after?.described, before?.described);
}

type Described = EndpointModel["described"];

function updateTerms({ table, termText }: IndexState, after: Described, before: Described): void {
  for (const { kind, iri } of before?.terms() ?? []) {
    const gone = table.drop(termKey(kind, iri));
    if (gone !== undefined) termText.remove(termDocument(gone));
  }
  for (const { kind, iri, label } of after?.terms() ?? []) {
    const term = { key: termKey(kind, iri), kind, iri, label };
    if (table.add(term)) termText.add(termDocument(term));
  }
}

const longestText = 2_000;
const mostListed = 50;
/** Classes, and as many properties, whose names an endpoint is found by. */
const mostNames = 150;

const listText = (values: readonly string[]): string => values.slice(0, mostListed).join(" \n ").slice(0, longestText);

/** What an endpoint is found by. */
function endpointDocument({ id, described }: EndpointModel, entry: CatalogEntry): TextDocument {
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
