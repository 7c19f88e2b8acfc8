import { existsSync, readFileSync } from "node:fs";
import type { Triple } from "./described-data.ts";
import { truthfulDescription } from "./truthful-description.ts";
import { truthOf } from "./void-truth.ts";
import type { KnownSchema } from "../../src/registry/model.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

/** Not part of the project: its licence is share-alike. */
const folder = new URL("../../../shared/fkgqa/", import.meta.url);

/** A published question with its query. */
export interface PublishedQuestion {
  readonly id: string;
  readonly dataset: string;
  readonly question: string;
  readonly sparql: string;
  /** Of solutions. */
  readonly rows: number;
  /** Its rows depend on the order of rows of equal rank. */
  readonly unstable?: boolean;
  /** Minutes in most stores. */
  readonly rewritten?: boolean;
}

/** A dataset of the published questions. */
export interface PublishedSource {
  readonly id: string;
  readonly description: VoidDescription;
  readonly questions: readonly string[];
}

/** All questions. @throws Error when the data is not beside the project */
export function publishedQuestions(): readonly PublishedQuestion[] {
  if (!existsSync(folder)) throw new Error("the published questions are not at ../shared/fkgqa");
  return JSON.parse(readFileSync(new URL("queries.json", folder), "utf8")) as readonly PublishedQuestion[];
}

/** A dataset's graph, N-Triples. */
export const publishedData = (dataset: string): string => readFileSync(new URL(`data/${dataset}.nt`, folder), "utf8");

/** The nine datasets, each with a description that says all there is to say of it. */
export function publishedSources(): readonly PublishedSource[] {
  const byDataset = Map.groupBy(publishedQuestions(), ({ dataset }) => dataset);
  return [...byDataset].map(([id, questions]) => ({
    id,
    description: truthfulDescription(truthOf(triplesOf(publishedData(id)))),
    questions: questions.map(({ question }) => question),
  }));
}

/** The triples of N-Triples, a line each. */
export function* triplesOf(text: string): Generator<Triple> {
  for (const line of text.split("\n")) {
    const [, subject, predicate, object] = /^(\S+) (\S+) (.*) \.$/u.exec(line) ?? [];
    if (subject !== undefined && predicate !== undefined && object !== undefined) yield [subject, predicate, object];
  }
}

/** Every class and property of a description. */
export const descriptionTerms = ({ classPartitions, propertyPartitions }: KnownSchema): readonly string[] => [
  ...classPartitions.map(({ class: iri }) => iri),
  ...propertyPartitions.map(({ property }) => property),
];
