import type { GeneratedData } from "./query-generator-data.ts";
import {
  innerGroups,
  whereOf,
  type Element,
  type GeneratedQuery,
  type Group,
  type Triple,
} from "./query-generator-syntax.ts";

/** How many rows a part of a query may have, and of which variables. */
interface Size {
  readonly rows: number;
  readonly variables: ReadonlySet<string>;
}

/**
 * A rough guess at the largest intermediate result of a query, so that cases which would take an oracle minutes are not
 * asked: products of patterns that share no variable.
 */
export function guessedRows(query: GeneratedQuery, { facts }: GeneratedData): number {
  let largest = 0;
  const of = (predicate: string): number => facts.filter((fact) => fact.predicate === predicate).length;

  function pattern({ subject, predicate, object }: Triple): Size {
    const variables = new Set([subject, predicate, object].filter((term) => term.startsWith("?")));
    const all = predicate.startsWith("<") ? of(predicate) : facts.length;
    const matching = predicate.startsWith("<") || predicate.startsWith("?") ? all : facts.length * 2;
    const constants = [subject, object].filter((term) => !term.startsWith("?")).length;
    return { rows: matching / 4 ** constants, variables };
  }

  function joined(left: Size, right: Size): Size {
    const shared = [...right.variables].filter((name) => left.variables.has(name)).length;
    const rows = Math.max(1, left.rows) * Math.max(1, right.rows / 5 ** shared);
    largest = Math.max(largest, rows);
    return { rows, variables: new Set([...left.variables, ...right.variables]) };
  }

  function element(one: Element): Size {
    switch (one.kind) {
      case "triples":
        return one.triples.map(pattern).reduce(joined, none);
      case "union": {
        const branches = one.branches.map(group);
        const rows = branches.reduce((sum, branch) => sum + branch.rows, 0);
        return { rows, variables: new Set(branches.flatMap(({ variables }) => Array.from(variables))) };
      }
      case "values":
        return { rows: one.rows.length, variables: new Set(one.variables) };
      case "minus":
      case "filter":
      case "bind":
        for (const inner of innerGroups(one)) group(inner);
        return none;
      case "select": {
        const { rows } = group(one.select.where);
        return { rows, variables: new Set(one.select.projection.map(({ variable }) => variable)) };
      }
      default:
        return group(one.body);
    }
  }

  function group(elements: Group): Size {
    return elements.map(element).reduce(joined, none);
  }

  group(whereOf(query));
  return largest;
}

const none: Size = { rows: 1, variables: new Set() };
