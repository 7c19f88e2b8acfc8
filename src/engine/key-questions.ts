import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { termToText } from "../results/terms.ts";
import { noteStatus } from "./executor.ts";
import { fetchRows, type FetchOptions } from "./fetch-rows.ts";
import type { KeyForms } from "./key-forms.ts";
import type { SourceReport } from "./reports.ts";
import type { TermJudge } from "./sent-clause.ts";

// What an endpoint takes for one term is asked there, once, when keys are sent for which it matters.

interface QuestionOptions extends FetchOptions {
  readonly keyForms: KeyForms;
}

/** The clause whose endpoint is asked, and how its request is treated (`RowsRequest`). */
interface Asked {
  readonly clause: FederatedClause;
  readonly report: SourceReport;
  readonly tolerated: boolean;
  readonly inPart: boolean;
}

const stringQuestion = 'SELECT (sameTerm("x", "x"^^<http://www.w3.org/2001/XMLSchema#string>) AS ?same) WHERE {}';

/**
 * True if the endpoint holds a string as two terms, with and without its datatype (Virtuoso, Blazegraph): both are sent as
 * keys. An endpoint that does not say holds one.
 */
export async function areStringsApart(options: QuestionOptions, asked: Asked): Promise<boolean> {
  const { endpoint } = asked.clause;
  const known = options.keyForms.stringsApart(endpoint);
  if (known !== undefined) return known;
  try {
    for (const row of await answerOf(options, asked, { query: stringQuestion, names: ["same"] })) {
      options.keyForms.toldStrings(endpoint, isFalse(row.get("same")));
    }
  } catch (error) {
    if (!toFedwayError(error).kind.silenceable) throw error;
  }
  if (options.keyForms.stringsApart(endpoint) === undefined) options.keyForms.toldStrings(endpoint, false);
  return options.keyForms.stringsApart(endpoint) === true;
}

/** Virtuoso writes false as the integer 0. */
const isFalse = (term: RDF.Term | undefined): boolean => term?.value === "false" || term?.value === "0";

/**
 * How terms that a clause's endpoint has compared by value are compared with keys: each pair of kinds (datatypes, or languages) is
 * asked there once.
 */
export const judgeOf = (options: QuestionOptions, asked: Asked): TermJudge => ({
  async finds(key, term) {
    const { endpoint } = asked.clause;
    const kinds = `${kindOf(key)} ${kindOf(term)}`;
    const known = options.keyForms.matchesByValue(endpoint, kinds);
    if (known !== undefined) return known;
    const found = await isFound(options, asked, [key, term]);
    if (found !== undefined) options.keyForms.toldMatch(endpoint, kinds, found);
    else leaveOut(asked, [term]);
    return found === true;
  },
  leaveOut: (terms) => leaveOut(asked, terms),
});

const kindOf = (term: RDF.Term): string =>
  term.termType === "Literal" && term.language === "" ? term.datatype.value : "@";

/** Rows of an answer that are looked into. */
const MOST = 100;

/**
 * True if the endpoint finds a term of its data when it is asked for a key of equal value; undefined where it does not say, as of
 * terms that it has computed.
 */
async function isFound(
  options: QuestionOptions,
  asked: Asked,
  [key, term]: readonly [RDF.Term, RDF.Term],
): Promise<boolean | undefined> {
  const ofTerm = `?s ?p ${termToText(term)}`;
  // A FILTER, as Corese finds less for two constants of equal value.
  const beside = `?s ?p ${termToText(key)} . ?s ?p ?o FILTER(?o = ${termToText(term)})`;
  const places = /\bGRAPH\b/iu.test(asked.clause.pattern) ? ["g", "s", "p"] : ["s", "p"];
  const rows = async (names: readonly string[], triples: string, limit = MOST): Promise<readonly Bindings[]> => {
    const where = places.includes("g") ? `{ GRAPH ?g { ${triples} } }` : `{ ${triples} }`;
    const select = names.map((name) => `?${name}`).join(" ");
    return answerOf(options, asked, { query: `SELECT DISTINCT ${select} WHERE ${where} LIMIT ${limit}`, names, limit });
  };
  const values = (await rows(["o"], beside)).flatMap((row) => row.get("o") ?? []);
  if (!values.some((value) => value.equals(term))) {
    const isStored = (await rows(places, ofTerm, 1)).length > 0;
    return isStored && values.length < MOST ? false : undefined;
  }
  if (!values.some((value) => value.equals(key))) return true;
  // Of subjects that have the key, too, nothing can be said.
  const all = await rows([...places, "o"], beside);
  const placeOf = (row: Bindings): string => places.map((name) => row.get(name)?.value).join(" ");
  const withKey = new Set(all.filter((row) => row.get("o")?.equals(key)).map(placeOf));
  return all.some((row) => row.get("o")?.equals(term) && !withKey.has(placeOf(row))) ? true : undefined;
}

interface Question {
  readonly query: string;
  readonly names: readonly string[];
  readonly limit?: number;
}

async function answerOf(
  options: QuestionOptions,
  { clause: { endpoint }, report, tolerated, inPart }: Asked,
  { query, names, limit }: Question,
): Promise<readonly Bindings[]> {
  const request = { endpoint, query, columns: { asked: names }, certain: [], limit, report, tolerated, inPart };
  const rows: Bindings[] = [];
  for await (const row of fetchRows(options, request)) rows.push(row);
  return rows;
}

/** @throws FedwayError `ENDPOINT_PARTIAL` unless an answer is wanted in part */
function leaveOut({ clause: { endpoint }, report, inPart }: Asked, terms: readonly RDF.Term[]): void {
  const shown = terms.map((term) => termToText(term).slice(0, LONGEST_SHOWN)).join(" ");
  if (inPart) {
    noteStatus(report, "partial", `rows with ${shown} left out: it may be a join key in another spelling`);
    return;
  }
  const message = `The endpoint takes no VALUES, and it does not say whether ${shown} matches a join key of equal value.`;
  throw new FedwayError("ENDPOINT_PARTIAL", message, {
    fault: "partial",
    where: { endpoint: endpoint.id ?? endpoint.url },
    next: "Ask with partial=true for the answer without such rows, or compare with STR() of the values.",
  });
}

const LONGEST_SHOWN = 120;
