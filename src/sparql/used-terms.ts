import type { PropertyPath, ServicePattern, Triple } from "sparqljs";
import { rdf } from "../rdf/vocabularies.ts";
import { absoluteIris } from "./absolute-iris.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { isTriple } from "./query-patterns.ts";

/** A class or property that a query's patterns name. */
export interface UsedTerm {
  readonly kind: "class" | "property";
  readonly iri: string;
}

/** The terms of the patterns that one endpoint is asked. */
interface UsedTerms {
  /** The IRI that SERVICE names; undefined for the patterns outside of every SERVICE. */
  readonly service: string | undefined;
  readonly terms: readonly UsedTerm[];
}

/**
 * The classes and properties that the patterns of a query name, by the endpoint that they are for; those of a SERVICE with a
 * variable are left out, and so are those in a template and in negated paths, which data need not have.
 */
export function usedTerms(query: ParsedQuery): readonly UsedTerms[] {
  const { ast } = absoluteIris(query);
  const found = new Map<string | undefined, Map<string, UsedTerm>>();
  const pending: Visit[] = [{ node: ast.where ?? [], service: undefined }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node, service } = visit;
    if (!isTriple(node)) {
      pushParts(pending, node, service);
      continue;
    }
    const terms = found.get(service) ?? new Map<string, UsedTerm>();
    for (const term of termsOf(node)) terms.set(`${term.kind} ${term.iri}`, term);
    found.set(service, terms);
  }
  return [...found].map(([service, terms]) => ({ service, terms: [...terms.values()] }));
}

function pushParts(pending: Visit[], node: object, service: string | undefined): void {
  const target = isService(node) ? node.name : undefined;
  if (target?.termType === "Variable") return;
  const parts: unknown[] = Object.values(node);
  for (const part of parts.toReversed())
    if (isNode(part)) pending.push({ node: part, service: target?.value ?? service });
}

interface Visit {
  readonly node: object;
  readonly service: string | undefined;
}

const isNode = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !("termType" in value);
const isService = (node: object): node is ServicePattern => "type" in node && node.type === "service";

function termsOf({ predicate, object }: Triple): readonly UsedTerm[] {
  if ("type" in predicate) return propertiesOf(predicate).map((iri) => ({ kind: "property", iri }));
  if (predicate.termType !== "NamedNode") return [];
  if (predicate.value !== rdf.type) return [{ kind: "property", iri: predicate.value }];
  return object.termType === "NamedNode" ? [{ kind: "class", iri: object.value }] : [];
}

function propertiesOf({ pathType, items }: PropertyPath): readonly string[] {
  if (pathType === "!") return [];
  return items.flatMap((item) => {
    if ("type" in item) return propertiesOf(item);
    return item.value === rdf.type ? [] : [item.value];
  });
}
