import type * as RDF from "@rdfjs/types";
import { LRUCache } from "lru-cache";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlRequest } from "../outbound/sparql-client.ts";
import type { FederatedClause, PlannedEndpoint } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import {
  clauseColumns,
  clauseQuery,
  hasOneSpelling,
  type KeyBlock,
  numberKeys,
  SOLUTION,
  spellingsOf,
  termsText,
} from "./clause-query.ts";
import { sizedByKey } from "../cache-size.ts";

/**
 * How join keys are written: as VALUES, as a FILTER for endpoints that do not know them (SPARQL 1.0, Virtuoso 6), or as VALUES in
 * a subquery of their own, for endpoints where a path of any length begins at nothing else (Virtuoso 7).
 */
export type KeyForm = "values" | "filter" | "nested";

/** Keys of one FILTER: engines read a disjunction by recursion. */
export const mostFiltered = 256;
/** Vain attempts with the other form that one endpoint costs in ten minutes. */
const mostVain = 3;
const vainMs = 10 * 60_000;

interface Known {
  /** Took keys where the other form was refused. */
  readonly learned?: KeyForm | undefined;
  /** Took keys. */
  readonly proven?: KeyForm | undefined;
  readonly vain: number;
  /** Keys that a path begins at are taken in a subquery of their own. */
  readonly nestsPaths?: boolean | undefined;
  readonly stringsApart?: boolean | undefined;
}

/** Forms of keys that endpoints accept, as known to one process. */
export class KeyForms {
  readonly #known: LRUCache<string, Known>;
  readonly #onLearned: (endpoint: EndpointTarget, lacksValues: boolean) => void;

  /** @param onLearned called for each endpoint that refuses the form in use and takes the other one */
  constructor(onLearned: (endpoint: EndpointTarget, lacksValues: boolean) => void = () => {}) {
    this.#known = new LRUCache<string, Known>({ ...sizedByKey(8), ttl: vainMs });
    this.#onLearned = onLearned;
  }

  of({ endpoint: { url, keys }, pattern }: FederatedClause): KeyForm {
    const { learned = keys ?? "values", nestsPaths } = this.#known.get(url) ?? {};
    return nestsPaths === true && learned === "values" && pathMark.test(pattern) ? "nested" : learned;
  }

  /** Another form, where the one in use may be the reason why keys were refused. */
  other(clause: FederatedClause, refused: FedwayError): KeyForm | undefined {
    const { proven, vain = 0 } = this.#known.get(clause.endpoint.url) ?? {};
    if (vain >= mostVain || clause.substituted || refused.details.upstreamStatus === undefined) return undefined;
    const used = this.of(clause);
    if (used === "values" && lacksStart(clause, refused)) return "nested";
    // A FILTER neither substitutes nor binds.
    if (used === "nested" || proven === used || !clause.pattern.trimStart().startsWith("{")) return undefined;
    return mayBeSyntax(refused) ? otherForms[used] : undefined;
  }

  /** Keys were answered in the form. */
  answered({ url }: PlannedEndpoint, form: KeyForm): void {
    const known = this.#known.get(url);
    if (form !== "nested" && known?.proven !== form) this.#known.set(url, { ...known, proven: form, vain: 0 });
  }

  /** Keys were refused in one form and answered in the other. */
  learned(endpoint: PlannedEndpoint, form: KeyForm): void {
    const known = this.#known.get(endpoint.url);
    if (form === "nested") {
      this.#known.set(endpoint.url, { ...known, nestsPaths: true, vain: 0 });
      return;
    }
    this.#known.set(endpoint.url, { ...known, learned: form, proven: form, vain: 0 });
    this.#onLearned(endpoint, form === "filter");
  }

  /** True if the endpoint holds a string with and without its datatype as two terms; undefined: not known. */
  stringsApart({ url, strings }: PlannedEndpoint): boolean | undefined {
    return strings === undefined ? this.#known.get(url)?.stringsApart : strings === "apart";
  }

  /** The endpoint has said how it holds strings. */
  toldStrings({ url }: PlannedEndpoint, stringsApart: boolean): void {
    this.#known.set(url, { vain: 0, ...this.#known.get(url), stringsApart });
  }

  /** Keys were refused in both forms. */
  tried({ url }: PlannedEndpoint): void {
    const known = this.#known.get(url);
    this.#known.set(url, { ...known, vain: (known?.vain ?? 0) + 1 });
  }
}

const syntaxWords = /\bVALUES\b|\bsyntax\b|\bpars(?:e|er|ing)\b|\blexical\b|\bencountered\b/iu;

const mayBeSyntax = ({ code, message }: FedwayError): boolean =>
  code === "ENDPOINT_REJECTED_QUERY" || (code === "ENDPOINT_FAILED" && syntaxWords.test(message));

const lacksStart = ({ pattern }: FederatedClause, { code, message }: FedwayError): boolean =>
  code === "ENDPOINT_FAILED" && startWords.test(message) && pathMark.test(pattern);

const otherForms = { values: "filter", filter: "values" } as const;
const startWords = /\btransitive\b/iu;
/** Of a path of any length; text that has it for another reason is asked in another form for nothing, and answers the same. */
const pathMark = /[*+]/u;

/** A clause as it is sent with keys. */
interface SentClause {
  readonly query: string;
  readonly columns: SparqlRequest["columns"];
  /** Variables that each row of the answer binds. */
  readonly certain: readonly string[];
  /** The solutions that a row of the answer stands for. */
  readonly own: (row: Bindings) => readonly Bindings[];
}

/**
 * The clause with the keys in a form, and how the rows of its answer are read.
 * @param apart plain strings are sent with and without their datatype
 */
export function sentAs(form: KeyForm, clause: FederatedClause, keys: KeyBlock | undefined, apart = false): SentClause {
  if (form === "filter") return sentAsFilter(clause, keys, apart);
  const { keys: numbered, own } = numberKeys(keys);
  const writing = { nested: form === "nested", apart };
  const query = clauseQuery(clause, numbered, writing);
  const certain = [...new Set([...certainOf(clause), ...(numbered?.variables ?? [])])];
  const asked = clauseColumns(clause, numbered);
  const ownRows = asked.includes(SOLUTION) ? (row: Bindings) => own(withoutConstant(row)) : own;
  return { query, columns: { asked }, certain, own: ownRows };
}

const certainOf = ({ variables }: FederatedClause): readonly string[] =>
  variables.flatMap(({ name, certain }) => (certain ? [name] : []));

function sentAsFilter(clause: FederatedClause, keys: KeyBlock | undefined, apart: boolean): SentClause {
  const condition = keys && keys.variables.length > 0 ? keyCondition(clause, keys, apart) : "";
  const isLimited = !keys || isExact(keys);
  const query = clauseQuery(isLimited ? clause : { ...clause, limit: undefined }, undefined, { condition });
  const columns = clause.variables.length === 0 ? undefined : { asked: clauseColumns(clause) };
  return { query, columns, certain: certainOf(clause), own: keys ? joinWithKeys(keys) : (row) => [row] };
}

function withoutConstant(row: Bindings): Bindings {
  const solution = new Map(row);
  solution.delete(SOLUTION);
  return solution;
}

/** The condition that one of the keys' rows is compatible with a solution; variables that it may leave unbound may be so. */
function keyCondition({ variables }: FederatedClause, keys: KeyBlock, apart: boolean): string {
  const certain = new Set(variables.flatMap(({ name, certain: always }) => (always ? [name] : [])));
  const isKey = (term: RDF.Term, index: number): string => {
    const name = keys.variables[index] ?? "";
    const equal = spellingsOf(term, apart)
      .map((text) => `?${name} = ${text}`)
      .join(" || ");
    if (!certain.has(name)) return `(!bound(?${name}) || ${equal})`;
    return equal.includes(" || ") ? `(${equal})` : equal;
  };
  return keys.rows.map((row) => `(${row.map(isKey).join(" && ")})`).join(" || ");
}

/** True if equality in a FILTER means the keys' terms alone. */
const isExact = ({ rows }: KeyBlock): boolean => rows.every((row) => row.every((term) => hasOneSpelling(term)));

/**
 * Joins a solution that has passed the keys' condition with the keys: equal values may be other terms, and
 * variables that it leaves unbound have the keys' terms.
 */
function joinWithKeys({ variables, rows }: KeyBlock): (row: Bindings) => readonly Bindings[] {
  const known = new Set(rows.map((row) => termsText(row)));
  return (row) => {
    const terms = variables.flatMap((name) => row.get(name) ?? []);
    if (terms.length === variables.length) return known.has(termsText(terms)) ? [row] : [];
    return rows.flatMap((key) => mergedRow(row, variables, key) ?? []);
  };
}

/** The row with the key's terms; undefined when it binds one of them otherwise. */
export function mergedRow(row: Bindings, variables: readonly string[], key: readonly RDF.Term[]): Bindings | undefined {
  const merged = new Map(row);
  for (const [at, name] of variables.entries()) {
    const [own, wanted] = [row.get(name), key[at]];
    if (!wanted || (own && !own.equals(wanted))) return undefined;
    merged.set(name, wanted);
  }
  return merged;
}
