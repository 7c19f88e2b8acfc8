import { LRUCache } from "lru-cache";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget } from "../outbound/sparql-request.ts";
import type { FederatedClause, PlannedEndpoint } from "../plan/query-plan.ts";
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
/** Pairs of kinds of terms that are known of one endpoint. */
const mostKinds = 64;

interface Known {
  /** Took keys where the other form was refused. */
  readonly learned?: KeyForm | undefined;
  /** Took keys. */
  readonly accepted?: KeyForm | undefined;
  readonly vain: number;
  /** Keys that a path begins at are taken in a subquery of their own. */
  readonly nestsPaths?: boolean | undefined;
  readonly stringsApart?: boolean | undefined;
  /** By kinds of terms: true if a term matches another one of equal value. */
  readonly byValue?: ReadonlyMap<string, boolean> | undefined;
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
    const { accepted, vain = 0 } = this.#known.get(clause.endpoint.url) ?? {};
    if (vain >= mostVain || clause.substituted || refused.details.upstreamStatus === undefined) return undefined;
    const used = this.of(clause);
    if (used === "values" && lacksStart(clause, refused)) return "nested";
    // A FILTER neither substitutes nor binds.
    if (used === "nested" || accepted === used || !clause.pattern.trimStart().startsWith("{")) return undefined;
    return mayBeSyntax(refused) ? otherForms[used] : undefined;
  }

  /** Keys were answered in the form. */
  answered({ url }: PlannedEndpoint, form: KeyForm): void {
    const known = this.#known.get(url);
    if (form !== "nested" && known?.accepted !== form) this.#known.set(url, { ...known, accepted: form, vain: 0 });
  }

  /** Keys were refused in one form and answered in the other. */
  learned(endpoint: PlannedEndpoint, form: KeyForm): void {
    const known = this.#known.get(endpoint.url);
    if (form === "nested") {
      this.#known.set(endpoint.url, { ...known, nestsPaths: true, vain: 0 });
      return;
    }
    this.#known.set(endpoint.url, { ...known, learned: form, accepted: form, vain: 0 });
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

  /** True if a term of a kind matches one of another kind, or spelling, that has its value; undefined: not known. */
  matchesByValue({ url }: PlannedEndpoint, kinds: string): boolean | undefined {
    return this.#known.get(url)?.byValue?.get(kinds);
  }

  /** The endpoint has said whether terms of such kinds match each other. */
  toldMatch({ url }: PlannedEndpoint, kinds: string, matches: boolean): void {
    const known = this.#known.get(url);
    const byValue = new Map(known?.byValue).set(kinds, matches);
    if (byValue.size <= mostKinds) this.#known.set(url, { vain: 0, ...known, byValue });
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
