import { rdf } from "../../rdf/vocabularies.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import type { PlacedPattern } from "../../sparql/query-patterns.ts";
import { isWord } from "../../sparql/tokens.ts";
import type { QueryScope } from "./query-scope.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Rows from which pulling them is worth a warning. */
const manyRows = 50_000;
const aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

interface Estimate {
  readonly scope: QueryScope;
  /** At most so many solutions of the scope's least frequent pattern; undefined: not known. */
  readonly rows: number | undefined;
  /** A constant beside classes and properties narrows it, by how much is not known. */
  readonly isNarrowed: boolean;
}

/** What a query may cost by the counts of descriptions, in one sentence; undefined when nothing is to be said. */
export function costWarning(parsed: ParsedQuery, scopes: readonly QueryScope[]): string | undefined {
  const estimates = scopes.filter(({ patterns }) => patterns.length > 0).map((scope) => estimateOf(scope));
  const [heaviest] = estimates
    .filter(({ rows = 0, isNarrowed }) => !isNarrowed && rows >= manyRows)
    .toSorted((one, other) => (other.rows ?? 0) - (one.rows ?? 0));
  if (heaviest === undefined) return undefined;
  const many = `${nameOf(heaviest)} may send up to ${(heaviest.rows ?? 0).toLocaleString("en")} rows`;
  if (estimates.length === 1) return alone(parsed, many);
  const [lightest] = estimates
    .filter((each) => each !== heaviest && shares(each.scope, heaviest.scope))
    .toSorted((one, other) => weight(one) - weight(other));
  if (lightest === undefined || weight(lightest) >= (heaviest.rows ?? 0) / 2)
    return `${many}; add a constant or a FILTER.`;
  const few =
    lightest.rows === undefined
      ? ""
      : ` (${lightest.isNarrowed ? "fewer than " : ""}${lightest.rows.toLocaleString("en")} rows)`;
  return `${many}; bind from ${nameOf(lightest)} instead${few}: put its SERVICE first, with the constants.`;
}

function alone({ ast, tokens }: ParsedQuery, many: string): string | undefined {
  const isCut = ast.queryType === "SELECT" && ast.limit !== undefined;
  if (isCut || ast.queryType === "ASK" || tokens.some((token) => isWord(token, ...aggregates))) return undefined;
  return `${many}; add LIMIT, a constant or an aggregate.`;
}

const weight = ({ rows, isNarrowed }: Estimate): number =>
  rows === undefined ? (isNarrowed ? 0 : Number.POSITIVE_INFINITY) : isNarrowed ? rows / 100 : rows;

const nameOf = ({ scope: { ids, service } }: Estimate): string =>
  (ids.length === 1 ? ids[0] : service) ?? "The endpoints";

function estimateOf(scope: QueryScope): Estimate {
  const { vocabulary, patterns } = scope;
  const counts = patterns.flatMap((pattern) => (vocabulary && countOf(pattern, vocabulary)) ?? []);
  const rows = counts.length === 0 ? undefined : Math.min(...counts);
  return { scope, rows, isNarrowed: patterns.some((pattern) => isNarrowing(pattern)) };
}

function countOf({ predicate, object }: PlacedPattern, { classes, properties }: Vocabulary): number | undefined {
  if (predicate.kind !== "iri") return undefined;
  if (predicate.iri !== rdf.type) return properties.get(predicate.iri)?.triples;
  return object.kind === "iri" ? classes.get(object.iri)?.entities : undefined;
}

const isNarrowing = ({ subject, predicate, object }: PlacedPattern): boolean =>
  subject.kind !== "variable" ||
  (object.kind !== "variable" && !(predicate.kind === "iri" && predicate.iri === rdf.type));

function shares(one: QueryScope, other: QueryScope): boolean {
  const names = variablesOf(one);
  return [...variablesOf(other)].some((name) => names.has(name));
}

const variablesOf = ({ patterns }: QueryScope): ReadonlySet<string> =>
  new Set(
    patterns.flatMap(({ subject, object }) =>
      [subject, object].flatMap((term) => (term.kind === "variable" ? [term.name] : [])),
    ),
  );
