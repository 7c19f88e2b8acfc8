import { createHash } from "node:crypto";
import { iriText } from "../../../src/rdf/term-text.ts";
import { PrefixTable } from "../../../src/registry/schema.ts";
import type { NamedInput } from "../load/input.ts";
import { openInputs, type WholeStore } from "../package/whole-store.ts";
import type { OpenStore } from "../verify/answer-store.ts";
import { type ClassProperty, type DataClass, dataSchema, rowsOf } from "./data-schema.ts";
import { countQuestion, type DraftQuestion, propertyKinds, type QuestionKind, templates } from "./templates.ts";

/** How questions are made. */
export interface QuestionRequest {
  readonly signal: AbortSignal;
  /** Decides which names and values stand in the questions. */
  readonly seed: number;
  readonly most: number;
}

/** A question as files of queries have it. */
interface GeneratedQuestion {
  readonly id: string;
  readonly kind: QuestionKind;
  readonly question: string;
  readonly sparql: string;
}

/** Questions, and the properties that none of them asks about. */
export interface GeneratedQuestions {
  readonly questions: readonly GeneratedQuestion[];
  readonly uncovered: readonly string[];
}

/** Answers with more rows are no use as gold. */
const mostRows = 200;

/**
 * Questions about RDF files with queries whose answers have rows: first one for each property of each class, of the kind that is
 * rarest so far, then more of the others. The same files, seed and number give the same questions.
 * @throws FedwayError `DATASET_INVALID`, or as the store
 */
export async function generateQuestions(
  inputs: readonly NamedInput[],
  { openStore, signal, seed, most }: QuestionRequest & { readonly openStore: OpenStore },
): Promise<GeneratedQuestions> {
  const store = await openInputs(inputs, { openStore, signal });
  try {
    const { classes, properties } = await dataSchema(store);
    const generator = new Generator(store, classes, seed);
    const pairs = classes.flatMap((of) => of.properties.map((property) => ({ of, property })));
    for (const { of, property } of pairs) if (generator.questions.length < most) await generator.ask(of, property);
    for (const of of classes) if (generator.questions.length < most) await generator.count(of);
    for (let before = -1; before < generator.questions.length && generator.questions.length < most; ) {
      before = generator.questions.length;
      for (const { of, property } of pairs) if (generator.questions.length < most) await generator.ask(of, property);
    }
    for (const { name } of classes) if (name !== undefined) generator.covered.add(name);
    return { questions: generator.questions, uncovered: [...properties.difference(generator.covered)].toSorted() };
  } finally {
    await store.close();
  }
}

class Generator {
  readonly questions: GeneratedQuestion[] = [];
  /** Properties that a question asks about. */
  readonly covered = new Set<string>();
  readonly #parts: Parameters<typeof countQuestion>[1];
  readonly #table: PrefixTable;
  readonly #kinds = new Map<string, number>();
  readonly #tried = new Set<string>();

  constructor(store: WholeStore, classes: readonly DataClass[], seed: number) {
    const names = classes.flatMap(({ iri, name = iri, properties }) => [
      iri,
      name,
      ...properties.map((each) => each.iri),
    ]);
    this.#table = new PrefixTable(names);
    this.#parts = {
      store,
      classes: new Map(classes.map((each) => [each.iri, each])),
      short: (iri) => this.#table.short(iri).text,
      pick: (items, purpose) => items[numberOf(`${seed} ${purpose}`) % items.length],
    };
  }

  /** One more question about a property, of the kind that is rarest so far among those that were not tried. */
  async ask(of: DataClass, property: ClassProperty): Promise<void> {
    const kinds = propertyKinds.toSorted((left, right) => (this.#kinds.get(left) ?? 0) - (this.#kinds.get(right) ?? 0));
    for (const kind of kinds) {
      const key = `${kind} ${of.iri} ${property.iri}`;
      if (this.#tried.has(key)) continue;
      this.#tried.add(key);
      const draft = await templates[kind](of, property, this.#parts);
      if (draft === undefined || !(await this.#keep(kind, [of.words, property.words], draft))) continue;
      this.covered.add(property.iri);
      return;
    }
  }

  async count(of: DataClass): Promise<void> {
    await this.#keep("count", [of.words], countQuestion(of, this.#parts));
  }

  async #keep(kind: QuestionKind, names: readonly string[], draft: DraftQuestion): Promise<boolean> {
    const { question, select, where, tail = "" } = draft;
    const body = `SELECT ${select} WHERE { ${where} } ${tail}`.trimEnd();
    const sparql = `${this.#prologue(body)}${body}`;
    const rows = await rowsOf(this.#parts.store, sparql);
    if (rows.length === 0 || rows.length > mostRows) return false;
    const id = [kind, ...names].join("-").replaceAll(/[^\p{L}\p{N}]+/gu, "-");
    this.questions.push({ id: this.#freeId(id), kind, question, sparql });
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    return true;
  }

  /** Declarations of the prefixes that stand in front of names of a query. */
  #prologue(body: string): string {
    const used = new Set(Array.from(body.matchAll(/(?<=[\s;])([A-Za-z]\w*):/gu), ([, prefix = ""]) => prefix));
    const declared = [...used].flatMap((prefix) => {
      const namespace = this.#table.namespace(prefix);
      return namespace === undefined ? [] : [`PREFIX ${prefix}: ${iriText(namespace)} `];
    });
    return declared.join("");
  }

  #freeId(id: string): string {
    const isTaken = (other: string): boolean => this.questions.some((each) => each.id === other);
    let free = id;
    for (let at = 2; isTaken(free); at++) free = `${id}-${at}`;
    return free;
  }
}

const numberOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();
