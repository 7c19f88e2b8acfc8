import { hash } from "node:crypto";
import { type Static, Type } from "typebox";
import { wellKnownNamespaces } from "../../../rdf/well-known-prefixes.ts";
import { type Collection, createCollection } from "../../../store/collection.ts";
import type { Store } from "../../../store/store.ts";

/** Outcome of a query when it was run; unknown for published ones. */
const exampleOutcomes = ["unknown", "ok", "empty", "partial", "failed"] as const;

/** How a query ended. */
export type ExampleOutcome = (typeof exampleOutcomes)[number];

/** The same for what is stored. */
export const outcomeSchema = Type.Unsafe<ExampleOutcome>({ type: "string", enum: [...exampleOutcomes] });

/** Where an example is from: an endpoint's own data (catalogue id), a file (its path), or a run of this service. */
export interface ExampleOrigin {
  readonly kind: "endpoint" | "file" | "run";
  readonly name: string;
}

/** A question in plain words and the query that answers it, or that failed to. */
export interface Example {
  /** The same for the same question and query. */
  readonly id: string;
  readonly question: string;
  /** A SPARQL query with all of its prefixes; one that failed may be anything. */
  readonly query: string;
  /** URLs of the endpoints and ids of the federations that it asks, without repetition. */
  readonly targets: readonly string[];
  readonly origin: ExampleOrigin;
  readonly outcome: ExampleOutcome;
  /** Feedback on the query: a diagnosis, or a person's words. */
  readonly feedback?: string | undefined;
}

/** An example as it was found somewhere: unchecked text. */
export interface RawExample {
  readonly question: string;
  readonly query: string;
  /** Targets that the query is meant for: URLs of endpoints, ids of endpoints and federations. */
  readonly targets: readonly string[];
  /** Namespaces by prefix that its source declares. */
  readonly prefixes?: ReadonlyMap<string, string>;
  readonly outcome?: ExampleOutcome | undefined;
  readonly feedback?: string | undefined;
}

const setSchema = Type.Object({
  endpoint: Type.String(),
  examples: Type.Array(
    Type.Object({ question: Type.String(), query: Type.String(), targets: Type.Array(Type.String()) }),
  ),
});

/** The examples that an endpoint, given by its URL, publishes in its own data. */
export type ExampleSet = Static<typeof setSchema>;

/** Examples read from endpoints, by catalogue id. */
export const createExampleStore = (store: Store): Collection<ExampleSet> =>
  createCollection({
    store,
    prefix: "example-set/",
    schema: setSchema,
    removesInvalid: true,
    lost: "Examples that the endpoint publishes are read again.",
  });

/**
 * Reads a query: the URLs of its SERVICE targets, those that are constants.
 * @returns undefined when it is no query that could be run here
 */
export type ReadTargets = (query: string) => readonly string[] | undefined;

const longestQuestion = 1_000;
const longestQuery = 20_000;
const longestFeedback = 500;
const mostTargets = 20;

/**
 * The example in what was found; undefined when it cannot be used: without question or query, too long, or, unless it is
 * known to have failed, no query that could be run.
 */
export function toExample(raw: RawExample, origin: ExampleOrigin, readTargets: ReadTargets): Example | undefined {
  const { outcome = "unknown", feedback } = raw;
  const question = withoutMarkup(raw.question);
  const text = raw.query.trim();
  if (question === "" || text === "" || question.length > longestQuestion || text.length > longestQuery)
    return undefined;
  const query = withPrefixes(text, raw.prefixes ?? new Map());
  const services = readTargets(query);
  if (services === undefined && outcome !== "failed") return undefined;
  const targets = [...new Set([...raw.targets, ...(services ?? [])])].slice(0, mostTargets);
  return {
    id: hash("sha256", JSON.stringify([question, text]), "base64url").slice(0, 22),
    question,
    query,
    targets,
    origin,
    outcome,
    feedback: feedback === undefined || feedback === "" ? undefined : withoutMarkup(feedback).slice(0, longestFeedback),
  };
}

/** Comments of published examples hold links and emphasis. */
const withoutMarkup = (text: string): string =>
  text
    .slice(0, 4 * longestQuestion)
    .replaceAll(/<\/?[a-z][^<>]{0,500}>/gi, "")
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();

const usedPrefix = /(?<![\w<?$@"'/#:.-])([a-z][\w.-]{0,39}):(?=[\w%\\-]|[\s;.,)}\]])/gi;
const declaredPrefix = /\bprefix\s+([\w.-]{0,40}):/gi;

/** The query with the declarations that it lacks: those of its source first, then the well-known ones. */
function withPrefixes(query: string, prefixes: ReadonlyMap<string, string>): string {
  const declared = new Set(Array.from(query.matchAll(declaredPrefix), ([, prefix = ""]) => prefix));
  const used = new Set(Array.from(query.matchAll(usedPrefix), ([, prefix = ""]) => prefix));
  const lines = [...used]
    .filter((prefix) => !declared.has(prefix))
    .flatMap((prefix) => {
      const namespace = prefixes.get(prefix) ?? wellKnownNamespaces.get(prefix);
      return namespace === undefined || /[<>"{}|^`\\\s]/.test(namespace) ? [] : `PREFIX ${prefix}: <${namespace}>\n`;
    });
  return lines.toSorted().join("") + query;
}
