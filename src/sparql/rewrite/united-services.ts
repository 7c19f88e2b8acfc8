import { itemAt } from "../../values.ts";
import type { Query } from "../parse/query.ts";
import { servicesOf } from "./colocated-clauses.ts";
import type { Element, ServiceElement, TokenRange } from "../parse/outline.ts";
import { groupsWithin } from "../structure/scope.ts";
import { type Token } from "../parse/tokens.ts";

/** A UNION of one pattern at several endpoints. */
interface UnitedServices {
  readonly union: TokenRange;
  readonly services: readonly ServiceElement[];
}

/** The UNIONs of nothing but SERVICE clauses with the same body and without SILENT, outside of other clauses. */
export function unitedServices(query: Query): readonly UnitedServices[] {
  if (!query.vocabulary.has("UNION")) return [];
  const elements = [...groupsWithin(query.outline.groups, isOpen)].flatMap((group) => group.elements);
  return elements.flatMap((union) => {
    const services = union.kind === "union" ? servicesOf(union) : undefined;
    const [first] = services ?? [];
    if (!first || services === undefined || services.length < 2) return [];
    const body = query.textOf(first.group);
    const isSame = ({ group, silent, name }: ServiceElement): boolean =>
      !silent && itemAt(query.tokens, name).kind !== "var" && query.textOf(group) === body;
    return services.every(isSame) ? [{ union, services }] : [];
  });
}

const isOpen = ({ kind }: Element): boolean => kind !== "service";

/** The tokens of a query with one of the clauses of each UNION of one pattern. */
export function foldedTokens(query: Query): readonly Token[] {
  const repeated = unitedServices(query).flatMap(({ services }) => services.slice(1));
  const left = new Set(repeated.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at)));
  return query.tokens.filter((_, at) => !left.has(at));
}
