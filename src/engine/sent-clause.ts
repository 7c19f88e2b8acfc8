import type * as RDF from "@rdfjs/types";
import type { SparqlRequest } from "../outbound/sparql-request.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import {
  clauseColumns,
  clauseQuery,
  isSpelledOnce,
  type KeyBlock,
  numberKeys,
  SOLUTION,
  spellingsOf,
  valuesText,
} from "./clause-query.ts";
import type { KeyForm } from "./key-forms.ts";
import { itemAt } from "../values.ts";

/** How terms of an answer are compared with keys that the endpoint has compared by value. */
export interface TermJudge {
  /** Settles with true if the endpoint, asked for the key, finds the term, which has its value in another spelling. */
  finds(key: RDF.Term, term: RDF.Term): Promise<boolean>;
  /** The endpoint takes these terms for equal to some key; it is not known which. */
  leaveOut(terms: readonly RDF.Term[]): void;
}

/** A clause as it is sent with keys. */
interface SentClause {
  readonly query: string;
  readonly columns: SparqlRequest["columns"];
  /** Variables that each row of the answer binds. */
  readonly certain: readonly string[];
  /** The solutions that rows of the answer stand for. */
  readonly own: (rows: readonly Bindings[], judgeOf: () => TermJudge) => Promise<readonly Bindings[]>;
}

/**
 * The clause with the keys in a form, and how the rows of its answer are read.
 * @param keys in a FILTER: no two rows have the same values
 * @param apart plain strings are sent with and without their datatype
 */
export function sentAs(form: KeyForm, clause: FederatedClause, keys: KeyBlock | undefined, apart = false): SentClause {
  if (form === "filter") return sentAsFilter(clause, keys, apart);
  const { keys: numbered, own } = numberKeys(keys);
  const writing = { nested: form === "nested", apart };
  const query = clauseQuery(clause, numbered, writing);
  const certain = [...new Set([...certainOf(clause), ...(numbered?.variables ?? [])])];
  const asked = clauseColumns(clause, numbered);
  if (numbered === keys && !asked.includes(SOLUTION)) return { query, columns: { asked }, certain, own: asTheyAre };
  const ownRows = asked.includes(SOLUTION) ? (row: Bindings) => own(withoutConstant(row)) : own;
  return { query, columns: { asked }, certain, own: async (rows) => rows.flatMap(ownRows) };
}

const asTheyAre: SentClause["own"] = async (rows) => rows;

const certainOf = ({ variables }: FederatedClause): readonly string[] =>
  variables.flatMap(({ name, certain }) => (certain ? [name] : []));

function withoutConstant(row: Bindings): Bindings {
  const solution = new Map(row);
  solution.delete(SOLUTION);
  return solution;
}

function sentAsFilter(clause: FederatedClause, keys: KeyBlock | undefined, apart: boolean): SentClause {
  const condition = keys && keys.variables.length > 0 ? keyCondition(clause, keys, apart) : "";
  // Of numbers and dates, rows may be left out when they are joined with the keys.
  const isLimited = !keys || keys.rows.every((row) => row.every((term) => isSpelledOnce(term)));
  const query = clauseQuery(isLimited ? clause : { ...clause, limit: undefined }, undefined, { condition });
  const columns = clause.variables.length === 0 ? undefined : { asked: clauseColumns(clause) };
  return { query, columns, certain: certainOf(clause), own: keys ? joinedWith(keys) : asTheyAre };
}

/** The condition that one of the keys' rows is compatible with a solution; variables that it may leave unbound may be so. */
function keyCondition({ variables }: FederatedClause, keys: KeyBlock, apart: boolean): string {
  const certain = new Set(variables.flatMap(({ name, certain: always }) => (always ? [name] : [])));
  const isKey = (term: RDF.Term, index: number): string => {
    const name = itemAt(keys.variables, index);
    // By value, which finds all that a key may match. Disjunctions of sameTerm have no rows at Virtuoso.
    const equal = spellingsOf(term, apart)
      .map((text) => `?${name} = ${text}`)
      .join(" || ");
    if (!certain.has(name)) return `(!bound(?${name}) || ${equal})`;
    return equal.includes(" || ") ? `(${equal})` : equal;
  };
  return keys.rows.map((row) => `(${row.map(isKey).join(" && ")})`).join(" || ");
}

/**
 * Joins solutions that have passed the keys' condition with the keys. Terms of equal value are one to endpoints that store values,
 * which report them in spellings of their own, and several to others: the endpoint says so. Variables that a solution leaves
 * unbound have the keys' terms.
 */
function joinedWith({ variables, rows: keys }: KeyBlock): SentClause["own"] {
  const byValues = new Map(keys.map((key) => [valuesText(key), key]));

  async function own(row: Bindings, judge: TermJudge): Promise<readonly Bindings[]> {
    const terms = variables.flatMap((name) => row.get(name) ?? []);
    const isOpen = terms.length < variables.length;
    const equal = byValues.get(valuesText(terms));
    if (!isOpen && !equal) judge.leaveOut(terms);
    const found: Bindings[] = [];
    for (const key of isOpen ? keys : equal ? [equal] : []) {
      if (await isFor(row, { variables, key }, judge)) found.push(withTerms(row, variables, key));
    }
    return found;
  }

  return async (rows, judgeOf) => {
    const judge = judgeOf();
    const found: Bindings[] = [];
    for (const row of rows) found.push(...(await own(row, judge)));
    return found;
  };
}

interface Key {
  readonly variables: readonly string[];
  readonly key: readonly RDF.Term[];
}

async function isFor(row: Bindings, { variables, key }: Key, judge: TermJudge): Promise<boolean> {
  for (const [at, wanted] of key.entries()) {
    const term = row.get(itemAt(variables, at));
    if (!term || term.equals(wanted)) continue;
    if (valuesText([term]) !== valuesText([wanted]) || !(await judge.finds(wanted, term))) return false;
  }
  return true;
}

function withTerms(row: Bindings, variables: readonly string[], key: readonly RDF.Term[]): Bindings {
  const own = new Map(row);
  for (const [at, name] of variables.entries()) if (key[at]) own.set(name, key[at]);
  return own;
}

/** The row with the key's terms; undefined when it binds one of them otherwise. */
export function mergedRow(row: Bindings, variables: readonly string[], key: readonly RDF.Term[]): Bindings | undefined {
  const isOther = (name: string, at: number): boolean => {
    const term = row.get(name);
    return term !== undefined && !(key[at] && term.equals(key[at]));
  };
  return variables.some(isOther) ? undefined : withTerms(row, variables, key);
}
