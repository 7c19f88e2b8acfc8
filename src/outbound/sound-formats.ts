import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import { acceptFor, bareMediaType } from "../results/negotiation.ts";
import type { QueryTask } from "./task.ts";
import { answerMediaType } from "./media-types.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-request.ts";
import { readWhole, type WholeAnswer } from "./whole-answer.ts";

const xmlTuples = "application/sparql-results+xml";
const tuples: readonly string[] = ["application/sparql-results+json", xmlTuples];

/**
 * Formats that write every term with all its parts, and that every engine writes. Engines change terms in formats that
 * abbreviate: doubles become decimals in Turtle and JSON-LD, blank nodes strings in CSV.
 */
export const fullFormats: Readonly<Record<AnswerKind, readonly string[]>> = {
  bindings: tuples,
  boolean: tuples,
  quads: ["application/n-triples", "application/rdf+xml"],
};

const probedFormats = ({ kind, endpoint }: SparqlRequest): readonly string[] =>
  endpoint.formats?.filter((format) => answerMediaType(format, kind) === format) ?? [];

/** Formats in which an endpoint keeps every term: those that were probed, else those that no engine is known to get wrong. */
function soundFormats(asked: SparqlRequest): readonly string[] {
  const probed = probedFormats(asked);
  return probed.length > 0 ? probed : fullFormats[asked.kind];
}

/** Names of columns that all engines write rightly: Virtuoso encodes others twice in JSON. */
export const plainNames = /^\p{ASCII}*$/u;

/** An Accept header with the sound formats first; all others stand last, or are left out where formats were probed. */
export function soundAccept(accept: string, asked: SparqlRequest): string {
  if (!accept.includes(",")) return accept;
  const sound = soundFormats(asked);
  const hasPlainNames = asked.columns === undefined || plainNames.test(asked.columns.asked.join());
  const wanted = hasPlainNames || !sound.includes(xmlTuples) ? sound : [xmlTuples];
  return withFirst(wanted, accept, probedFormats(asked).length === 0);
}

function withFirst(wanted: readonly string[], accept: string, keepsOthers: boolean): string {
  const ranges = accept.split(",").map((range) => range.trim());
  const first = ranges.filter((range) => wanted.includes(bareMediaType(range)));
  const others = ranges.filter((range) => keepsOthers && !wanted.includes(bareMediaType(range)));
  return [...(first.length > 0 ? first : wanted), ...others.map((range) => `${bareMediaType(range)};q=0.1`)].join(", ");
}

/** `soundAccept` of `acceptFor(kind)` where formats were not probed and columns have plain names. */
export const usualAccepts: Readonly<Record<AnswerKind, string>> = {
  bindings: withFirst(fullFormats.bindings, acceptFor("bindings"), true),
  boolean: withFirst(fullFormats.boolean, acceptFor("boolean"), true),
  quads: withFirst(fullFormats.quads, acceptFor("quads"), true),
};

/** True of an answer in a sound format; ASK has no terms. */
export const isSound = (asked: SparqlRequest, mediaType: string): boolean =>
  asked.kind === "boolean" || soundFormats(asked).includes(mediaType);

/**
 * Lets an answer pass that came in another format than asked for, if the endpoint keeps known terms in that format: it is
 * asked for some, once. Where it refuses the question, that counts for it, but in CSV.
 * @param query sends a question beside the call, which keeps its slot
 * @throws FedwayError `ENDPOINT_NOT_SPARQL` where terms come back changed; why the question has no answer
 */
export async function withKeptTerms(
  call: QueryTask,
  answer: SparqlAnswer,
  query: SparqlClient["query"],
): Promise<SparqlAnswer> {
  const { mediaType, body, requests } = answer;
  const { keptIn } = call.state;
  try {
    const known = keptIn.get(mediaType);
    const isKept = known ?? (await keepsTermsIn(mediaType, call, query)) ?? mediaType !== csv;
    keptIn.set(mediaType, isKept);
    if (!isKept) throw changedTerms(mediaType);
    return known === undefined ? { ...answer, requests: requests + 1 } : answer;
  } catch (thrown) {
    const error = toFedwayError(thrown);
    if (!Buffer.isBuffer(body)) body.destroy(error);
    throw error;
  }
}

/** Undefined where the endpoint does not say. @throws FedwayError where it fails */
async function keepsTermsIn(
  mediaType: string,
  { request, leftMs }: QueryTask,
  query: SparqlClient["query"],
): Promise<boolean | undefined> {
  const { kind, signal, budget } = request;
  const limits = { timeoutMs: Math.min(mostMs, leftMs / 2), maxRows: 100, maxBytes: 65_536 };
  const endpoint = { ...request.endpoint, formats: [mediaType] };
  const askFor = (terms: readonly string[]): Promise<WholeAnswer> => {
    budget?.take();
    const question = formatQuestion(mediaType, kind, `VALUES ?x { ${terms.join(" ")} }`);
    const asked = { endpoint, query: question, kind, accept: mediaType, signal, ...limits };
    return readWhole(asked, { client: { query }, pastBreaker: true });
  };
  try {
    return keepsTerms(await askFor(askedTerms));
  } catch (thrown) {
    const { code } = toFedwayError(thrown);
    // Endpoints of SPARQL 1.0 do not know VALUES; some say so with 500.
    if (code === "ENDPOINT_REJECTED_QUERY" || code === "ENDPOINT_REFUSED" || code === "ENDPOINT_FAILED")
      return undefined;
    if (code !== "ENDPOINT_MALFORMED" && code !== "ENDPOINT_BROKE_OFF") throw thrown;
    // What is not escaped ends a term or the answer. Where nothing has to be, an answer breaks with its endpoint alone.
    await askFor(plainTerms);
    // A connection that broke once is not remembered.
    if (code === "ENDPOINT_BROKE_OFF") throw changedTerms(mediaType);
    return false;
  }
}

const changedTerms = (mediaType: string): FedwayError =>
  new FedwayError(
    "ENDPOINT_NOT_SPARQL",
    `The endpoint insists on answering in ${mediaType}, in which it changes or loses terms.`,
    { fault: "wrong-media-type", next: "Use the endpoint's URL without a parameter that fixes the format." },
  );

/** Time for the question: at most this, and half of what is left. */
const mostMs = 15_000;

const plainTerms = ["<urn:x:i>", '"l"@en', "5", "1.5E3"] as const;
/** Terms that change in formats that an engine gets wrong, as SPARQL writes them. */
export const askedTerms: readonly string[] = [...plainTerms, String.raw`"a\tb\nc\\d\"e"`];
const xsd = "http://www.w3.org/2001/XMLSchema#";
const expectedTerms = [
  ["urn:x:i"],
  ["l", "@en"],
  ["5", `^^${xsd}integer`],
  ["1500", `^^${xsd}double`],
  // QLever writes a space for the tab in TSV, and the others bare.
  ['a\tb\nc\\d"e', `^^${xsd}string`],
] as const;

const csv = "text/csv";

/**
 * The question in a format, over a pattern that binds `?x` to `askedTerms`. CSV has no syntax for blank nodes, and some
 * engines write them as strings.
 */
export const formatQuestion = (mediaType: string, kind: AnswerKind, pattern: string): string =>
  kind === "quads"
    ? `CONSTRUCT { <urn:x:s> <urn:x:p> ?x } WHERE { ${pattern} }`
    : `SELECT ?x${mediaType === csv ? " (BNODE() AS ?b)" : ""} WHERE { ${pattern} }`;

/**
 * True if an answer to `formatQuestion` has every term unchanged (in CSV: every value), false if it has changed some;
 * undefined if it answers something else.
 */
export function keepsTerms({ rows, quads, mediaType }: WholeAnswer): boolean | undefined {
  const found = [...rows.map((row) => row.get("x")), ...quads.map(({ object }) => object)];
  if (found.length !== expectedTerms.length) return undefined;
  const isCsv = mediaType === csv;
  if (isCsv && rows.some((row) => row.get("b")?.termType !== "BlankNode")) return false;
  const expected = expectedTerms.map(([value, suffix = ""]) => (isCsv ? value : value + suffix));
  return (
    found
      .map((term) => shown(term, isCsv))
      .toSorted()
      .join("\n") === expected.toSorted().join("\n")
  );
}

/** A term with all its parts, or its value only; numbers by value, since engines write them in spellings of their own. */
function shown(term: RDF.Term | undefined, isValueOnly: boolean): string {
  if (term?.termType !== "Literal") return term?.value ?? "";
  const { value, language, datatype } = term;
  const text = Number.isNaN(Number(value)) ? value : String(Number(value));
  if (isValueOnly) return text;
  return language === "" ? `${text}^^${datatype.value}` : `${text}@${language.toLowerCase()}`;
}
