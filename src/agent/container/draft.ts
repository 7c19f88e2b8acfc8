import { FedwayError } from "../../errors/fedway-error.ts";
import { type ColumnKind, type Hop, variableName } from "./schema.ts";

/** Functions over the rows of a group. */
export const aggregates = ["count", "sum", "avg", "min", "max"] as const;

/** A function over the values of a column, or the number of rows where no column is named. */
export interface Aggregate {
  readonly function: (typeof aggregates)[number];
  readonly distinct: boolean;
  /** Variable, without `?`. */
  readonly column?: string | undefined;
}

/** Comparisons; `contains` looks for a part of the text in any case. */
export const operators = ["=", "!=", "<=", ">=", "<", ">", "contains"] as const;

/** A condition on a column. */
export interface Test {
  readonly column: string;
  readonly operator: (typeof operators)[number];
  /** Value to compare the column with, as it was typed, or another column. */
  readonly value?: string | undefined;
  readonly other?: string | undefined;
}

/** One choice that was made. What a query under construction is, is a list of these, as JSON. */
export type Step =
  | { readonly step: "class"; readonly at: string; readonly class: string }
  | {
      readonly step: "property";
      readonly node: string;
      readonly at: string;
      readonly property: string;
      readonly kind: ColumnKind;
    }
  /** `to`: a node that is there already; absent: a new one for each hop. */
  | { readonly step: "path"; readonly node: string; readonly hops: readonly Hop[]; readonly to?: string | undefined }
  | { readonly step: "filter"; readonly test: Test }
  /** Another condition, one of which is enough, beside the last one. */
  | { readonly step: "or"; readonly test: Test }
  | { readonly step: "show"; readonly column: string }
  | { readonly step: "aggregate"; readonly aggregate: Aggregate }
  | { readonly step: "group"; readonly column: string }
  | {
      readonly step: "having";
      readonly aggregate: Aggregate;
      readonly operator: Test["operator"];
      readonly value: number;
    }
  | { readonly step: "order"; readonly by: Aggregate | string; readonly descending: boolean }
  | { readonly step: "limit"; readonly rows: number }
  | { readonly step: "distinct" }
  /** Begins a pattern of its own: rows are kept when no match of it has the column's value. */
  | { readonly step: "except"; readonly column: string }
  /** Begins a pattern of its own: the column is compared with a figure of it. */
  | { readonly step: "compare"; readonly column: string; readonly operator: Test["operator"] }
  /** Ends the pattern: its column that is compared, and by which figure. */
  | { readonly step: "end"; readonly column: string; readonly aggregate?: Aggregate | undefined };

/** A variable that can be shown and compared. */
export interface Column {
  readonly variable: string;
  readonly kind: ColumnKind;
  /** IRI of the class of a node, or of the property whose value it is. */
  readonly iri: string;
  /** Endpoint that binds it. */
  readonly at: string;
}

interface Triple {
  readonly at: string;
  readonly subject: string;
  readonly predicate: string;
  /** Variable, or the IRI of a class where the predicate is `a`. */
  readonly object: string;
}

/** A pattern that another one is compared with. */
export interface Inner {
  readonly opened: Extract<Step, { step: "except" | "compare" }>;
  readonly closed: Extract<Step, { step: "end" }>;
  readonly draft: Draft;
}

/** Result of the steps so far. */
export interface Draft {
  readonly columns: Column[];
  readonly triples: Triple[];
  /** Conditions that must all hold; of the tests of one, one must. */
  readonly conditions: Test[][];
  readonly inner: Inner[];
  readonly shown: (string | Aggregate)[];
  readonly groups: string[];
  readonly having: Extract<Step, { step: "having" }>[];
  readonly order: Extract<Step, { step: "order" }>[];
  limit: number | undefined;
  distinct: boolean;
}

const emptyDraft = (): Draft => ({
  columns: [],
  triples: [],
  conditions: [],
  inner: [],
  shown: [],
  groups: [],
  having: [],
  order: [],
  limit: undefined,
  distinct: false,
});

/** The draft at which the next step works, which may be inside of others that wait for its end. */
export interface Building {
  readonly draft: Draft;
  /** The whole query; the same as `draft` when no pattern is open. */
  readonly outermost: Draft;
  /** Opened by `except` or `compare`, and not ended; absent: the whole query. */
  readonly opened?: Inner["opened"];
}

/** Makes the steps again, one after the other. @throws FedwayError `STEP_REFUSED` for one that cannot follow those before it */
export function replay(steps: readonly Step[]): Building {
  const outermost = emptyDraft();
  let draft = outermost;
  let open: { readonly around: Draft; readonly opened: Inner["opened"] } | undefined;
  const names = new Set<string>();
  const fresh = (iri: string): string => {
    const name = variableName(iri);
    let number = 1;
    while (names.has(`${name}${number}`)) number++;
    names.add(`${name}${number}`);
    return `${name}${number}`;
  };
  for (const step of steps) {
    if (step.step === "except" || step.step === "compare") {
      if (open) throw refused("A pattern is open already.", "End it first.");
      open = { around: draft, opened: step };
      draft = emptyDraft();
    } else if (step.step === "end") {
      if (!open) throw refused("No pattern is open.", "Begin one with except or compare.");
      open.around.inner.push({ opened: open.opened, closed: step, draft });
      draft = open.around;
      open = undefined;
    } else apply(draft, step, fresh);
  }
  return { draft, outermost, ...(open && { opened: open.opened }) };
}

type Plain = Exclude<Step, { step: "except" | "compare" | "end" }>;

function apply(draft: Draft, step: Plain, fresh: (iri: string) => string): void {
  switch (step.step) {
    case "class":
      addNode(draft, step, fresh);
      break;
    case "property":
      addColumn(draft, step, fresh(step.property));
      break;
    case "path":
      addPath(draft, step, fresh);
      break;
    case "filter":
      draft.conditions.push([step.test]);
      break;
    case "or": {
      const last = draft.conditions.at(-1);
      if (!last) throw refused("There is no condition to put another beside.", "Use filter first.");
      last.push(step.test);
      break;
    }
    default:
      applyToHead(draft, step);
  }
}

function applyToHead(
  draft: Draft,
  step: Exclude<Plain, { step: "class" | "property" | "path" | "filter" | "or" }>,
): void {
  switch (step.step) {
    case "show":
      draft.shown.push(step.column);
      break;
    case "aggregate":
      draft.shown.push(step.aggregate);
      break;
    case "group":
      draft.groups.push(step.column);
      break;
    case "having":
      draft.having.push(step);
      break;
    case "order":
      draft.order.push(step);
      break;
    case "limit":
      draft.limit = step.rows;
      break;
    default:
      draft.distinct = true;
  }
}

function addNode(
  draft: Draft,
  { at, class: iri }: { at: string; class: string },
  fresh: (iri: string) => string,
): string {
  const variable = fresh(iri);
  draft.columns.push({ variable, kind: "node", iri, at });
  draft.triples.push({ at, subject: variable, predicate: "a", object: iri });
  return variable;
}

function addColumn(
  draft: Draft,
  { node, at, property, kind }: Extract<Step, { step: "property" }>,
  variable: string,
): void {
  draft.columns.push({ variable, kind, iri: property, at });
  draft.triples.push({ at, subject: node, predicate: property, object: variable });
}

function addPath(
  draft: Draft,
  { node, hops, to }: Extract<Step, { step: "path" }>,
  fresh: (iri: string) => string,
): void {
  let from = node;
  for (const [index, hop] of hops.entries()) {
    const isLast = index === hops.length - 1;
    const next = (isLast ? to : undefined) ?? addNode(draft, { at: hop.classAt, class: hop.class }, fresh);
    const [subject, object] = hop.back ? [next, from] : [from, next];
    draft.triples.push({ at: hop.at, subject, predicate: hop.property, object });
    from = next;
  }
}

/** A step that is not made, and what to do instead. */
export const refused = (message: string, next: string): FedwayError =>
  new FedwayError("STEP_REFUSED", message, { next });
