import type { EndpointModel } from "../../model/endpoint-models.ts";
import type { PublishedShape } from "../../catalog/published/shapes-file.ts";
import { bracketedIri } from "../../../rdf/display-text.ts";
import { shapeText } from "../read/shape-query.ts";
import type { EndpointTables } from "../tables/endpoint-tables.ts";
import { clamped, rankQuestion } from "./question-ranking.ts";
import type { RankedNode } from "./rank-terms.ts";

/** A search for shapes. */
export interface ShapeRequest {
  readonly question: string;
  /** Ids; the likeliest for the question when absent. */
  readonly endpoints?: readonly string[] | undefined;
  /** 1 to 100. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** A published shape at an endpoint. */
export interface FoundShape extends RankedShape {
  readonly id: string;
  /** "published, as of 2026-11-28, from owner/repository". */
  readonly provenance: string;
}

/** Endpoints whose shapes are looked at. */
const mostEndpoints = 3;

/** Shapes of endpoints that say most of a question: those of the likeliest endpoint first. @throws the signal's reason */
export async function shapesFor(
  tables: EndpointTables,
  { question, endpoints, limit, signal }: ShapeRequest,
): Promise<readonly FoundShape[]> {
  const ranked = await rankQuestion(tables, question, signal);
  const likely = ranked.endpoints.map(({ id }) => id).filter((id) => endpoints?.includes(id) ?? true);
  const shaped = likely.filter((id) => shapesOf(tables.models.get(id)).length > 0).slice(0, mostEndpoints);
  const found = shaped.flatMap((id) => {
    const model = tables.models.get(id);
    const { provenance = "" } = model?.published ?? {};
    const best = bestShapes(shapesOf(model), ranked.termsOf(id), clamped(limit));
    return best.map(({ shape, score }) => ({ shape, score, id, provenance }));
  });
  return found.slice(0, clamped(limit));
}

/** Published shapes of an endpoint; of a described one those that it has all terms of. */
function shapesOf(model: EndpointModel | undefined): readonly PublishedShape[] {
  const { described, published } = model ?? {};
  const shapes = published?.shapes ?? [];
  if (described === undefined) return shapes;
  return shapes.filter(({ of, steps }) => {
    const classes = [of, ...steps.map((step) => step.class)].filter((iri) => iri !== undefined);
    return (
      classes.every((iri) => described.term("class", iri) !== undefined) &&
      steps.every(({ property }) => described.term("property", property) !== undefined)
    );
  });
}

/** A shape with its score, which compares the shapes of one endpoint. */
interface RankedShape {
  readonly shape: PublishedShape;
  readonly score: number;
}

/** Of a term that shapes before have already. */
const againShare = 0.2;
/** Of a term that the question does not name, only its neighbours. */
const unnamedShare = 0.3;
/** Of shapes of published models beside those of queries. */
const modelShare = 0.6;
/** Of the best score: what says less of the question is left out. */
const leastShare = 0.25;
const mostCompared = 300;

/**
 * The shapes of an endpoint that say most of a question, best first: those whose terms the question names, each after the first
 * rather with other terms than with the same. Of those, what queries have stands before what models have.
 */
export function bestShapes(
  shapes: readonly PublishedShape[],
  terms: readonly RankedNode[],
  limit: number,
): readonly RankedShape[] {
  const scores = new Map(
    terms.map(({ node: { kind, iri }, score, words, isMentioned, meaning = 0 }) => {
      const isNamed = words.length > 0 || isMentioned || meaning > 0.5;
      const key: string = `${kind} ${iri}`;
      return [key, isNamed ? score : unnamedShare * score] as const;
    }),
  );
  const taken = new Set<string>();
  const left = new Map(shapes.slice(0, mostCompared).map((shape) => [shape, keysOf(shape)]));
  const found: RankedShape[] = [];
  // Two shapes may read alike, such as one of queries and one of a model.
  const texts = new Set<string | undefined>([undefined]);
  for (let best = bestOf(left, scores, taken); best !== undefined; best = bestOf(left, scores, taken)) {
    const [first = best] = found;
    if (found.length >= limit || best.score < leastShare * first.score) break;
    const keys = left.get(best.shape) ?? [];
    left.delete(best.shape);
    const text = shapeText(best.shape, bracketedIri);
    if (texts.has(text)) continue;
    texts.add(text);
    found.push(best);
    for (const key of keys) taken.add(key);
  }
  return found.toSorted((one, other) => Number(one.shape.uses === 0) - Number(other.shape.uses === 0));
}

/** The shape whose terms have the largest scores; undefined where none has any. */
function bestOf(
  left: ReadonlyMap<PublishedShape, readonly string[]>,
  scores: ReadonlyMap<string, number>,
  taken: ReadonlySet<string>,
): RankedShape | undefined {
  let best: RankedShape | undefined;
  for (const [shape, keys] of left) {
    const sum = keys.reduce((all, key) => all + (scores.get(key) ?? 0) * (taken.has(key) ? againShare : 1), 0);
    const score = ((shape.uses > 0 ? 1 : modelShare) * sum) / Math.sqrt(keys.length);
    if (score > (best?.score ?? 0)) best = { shape, score };
  }
  return best;
}

/** Its classes and properties, each once. */
function keysOf({ of, steps }: PublishedShape): readonly string[] {
  const classes = [of, ...steps.map((step) => step.class)].filter((iri) => iri !== undefined);
  return [
    ...new Set([...classes.map((iri) => `class ${iri}`), ...steps.map(({ property }) => `property ${property}`)]),
  ];
}
