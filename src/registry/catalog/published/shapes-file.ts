import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { iri, sourceSchema } from "./facts-file.ts";

const place = Type.Integer({ minimum: 0, maximum: 10_000 });
/** Of three at most: property, class at the other end or null, mark; read by `stepOf`, as a union takes three times as long. */
const stepList = Type.Optional(Type.Array(Type.Array(Type.Unknown(), { maxItems: 3 }), { minItems: 1, maxItems: 8 }));

const shape = Type.Object({
  /** Class of the first node. */
  of: Type.Optional(place),
  /** Steps from the first node, or each from the node before. */
  star: stepList,
  chain: stepList,
  /** Published queries that have all of it; none for those of published models. */
  uses: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Graphs, each with the whole shape; "?" for any. */
  graph: Type.Optional(Type.Union([Type.Literal("?"), Type.Array(place, { maxItems: 20 })])),
  /** Places of its sources; of a collection. */
  src: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
});

/** Terms and shapes, as a file for one endpoint and a collection have them. */
export const shapeLists = {
  /** Property that states classes, where that is not rdf:type. */
  typeBy: Type.Optional(iri),
  terms: Type.Optional(Type.Array(iri, { maxItems: 10_000 })),
  shapes: Type.Optional(Type.Array(shape, { maxItems: 1_000 })),
  models: Type.Optional(Type.Array(shape, { maxItems: 1_000 })),
};

const shapesFile = Type.Object({
  format: Type.Literal(1),
  url: iri,
  asOf: Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\d$` }),
  /** URLs of endpoints whose shapes hold here too. */
  like: Type.Optional(Type.Array(iri, { maxItems: 20 })),
  ...shapeLists,
  sources: Type.Array(sourceSchema),
});

/** The shapes of one endpoint as `catalog/published/shapes/` has them. */
export type ShapesFile = Static<typeof shapesFile>;

/** A step to another node. */
interface ShapeStep {
  readonly property: string;
  /** Stated for the node at the other end. */
  readonly class?: string | undefined;
  /** The node at the other end, where that is the same in all queries. */
  readonly value?: string | undefined;
  /** From the other end to this one. */
  readonly isInverse: boolean;
  /** Of a property path. */
  readonly repeated: "" | "*" | "+" | "?";
}

/** Terms that stand together in published queries, or in a published model, at one endpoint. */
export interface PublishedShape {
  /** "star": all steps are from the first node; "chain": each is from the node before. */
  readonly form: "star" | "chain";
  /** Class of the first node. */
  readonly of?: string | undefined;
  readonly steps: readonly ShapeStep[];
  /** Published queries that have all of it; 0 for a published model. */
  readonly uses: number;
  /** Property that states classes. */
  readonly typeBy?: string | undefined;
  /** Named graphs that each have all of it; empty: it stands in GRAPH with a variable. Absent: it stands in no GRAPH. */
  readonly graphs?: readonly string[] | undefined;
}

const validator = Compile(shapesFile);

/** @throws SyntaxError, TypeError with the reason, in words for the operator */
export function parseShapesFile(text: string): ShapesFile {
  const value: unknown = JSON.parse(text);
  if (validator.Check(value)) return value;
  const [first] = validator.Errors(value);
  throw new TypeError(`${first?.instancePath ?? "/"} ${first?.message ?? "is not a file of published shapes"}.`);
}

/**
 * The shapes that a file has itself, most used first, those of models last.
 * @throws RangeError for a step that is none, and for the number of a term that is not there
 */
export function publishedShapes({
  terms = [],
  shapes = [],
  models = [],
  typeBy,
}: Pick<ShapesFile, "terms" | "shapes" | "models" | "typeBy">): readonly PublishedShape[] {
  const termAt = (at: unknown): string => {
    const term = typeof at === "number" ? terms[at] : undefined;
    if (term === undefined) throw new RangeError(`There is no term ${JSON.stringify(at)}.`);
    return term;
  };
  return [...shapes.toSorted((one, other) => (other.uses ?? 0) - (one.uses ?? 0)), ...models].map((each) => {
    const { of, star, chain = [], uses = 0, graph } = each;
    return {
      form: star === undefined ? "chain" : "star",
      of: of === undefined ? undefined : termAt(of),
      steps: (star ?? chain).map((numbers) => stepOf(numbers, termAt)),
      uses,
      typeBy,
      graphs: graph === "?" ? [] : graph?.map(termAt),
    };
  });
}

/** How a property is followed; "=": the other end is a value, not of a class. */
const marks: ReadonlyMap<unknown, Pick<ShapeStep, "isInverse" | "repeated">> = new Map(
  (["", "*", "+", "?"] as const).flatMap((repeated) =>
    [false, true].map((isInverse) => [`${isInverse ? "^" : ""}${repeated}`, { isInverse, repeated }] as const),
  ),
);

function stepOf([property, end, how = ""]: readonly unknown[], termAt: (at: unknown) => string): ShapeStep {
  const other = end === undefined || end === null ? undefined : termAt(end);
  const followed = marks.get(how === "=" ? "" : how);
  if (followed === undefined) throw new RangeError(`There is no mark ${JSON.stringify(how)}.`);
  return { property: termAt(property), ...(how === "=" ? { value: other } : { class: other }), ...followed };
}

/** A node of a shape: its number, and its class or value where that is stated. */
export interface ShapeNode {
  readonly at: number;
  readonly class?: string | undefined;
  readonly value?: string | undefined;
}

/** A shape as triples, from subject to object. */
export function shapeTriples({ form, of, steps }: PublishedShape) {
  let here: ShapeNode = { at: 0, class: of };
  return steps.map(({ property, class: type, value, isInverse, repeated }, at) => {
    const there: ShapeNode = { at: at + 1, class: type, value };
    const [from, to] = isInverse ? [there, here] : [here, there];
    if (form === "chain") here = there;
    return { from, property, to, repeated };
  });
}
