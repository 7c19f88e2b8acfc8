import { itemAt } from "../../values.ts";
import type { Query } from "../parse/query.ts";
import type { Term, Triple } from "sparqljs";
import { iriText, literalText } from "../../rdf/term-text.ts";
import type { TokenRange } from "../parse/outline.ts";

/** Triples of a template that are counted; a graph that has all instances of these and lacks others is not found. */
const mostTemplates = 4;

/**
 * A query that counts triples which the answer to a CONSTRUCT has, each once, in `?fedway_rows`: no fewer are in the whole
 * graph. Undefined where no query says that.
 */
export function tripleCountQuery(parsed: Query): string | undefined {
  const { ast, outline, prologue, tokens, text } = parsed;
  const { where, tail, values, datasets } = outline;
  if (ast.queryType !== "CONSTRUCT" || where === undefined || values !== undefined || tail.to > tail.from)
    return undefined;
  const template = (ast.template ?? []).flatMap((triple) => termsOf(triple) ?? []).slice(0, mostTemplates);
  if (template.length === 0) return undefined;
  // Predicates that differ keep triples apart.
  const areApart =
    new Set(template.map(([, predicate]) => predicate.value)).size === template.length &&
    !template.some(([, predicate]) => isVariable(predicate));
  const pattern = textOf(parsed, where);
  const parts = template.map((triple) => instances(triple, pattern, areApart)).join(" UNION ");
  const graphs = datasets.map((range) => `${textOf(parsed, range)} `).join("");
  const counted = areApart ? parts : `SELECT DISTINCT ${columns.join(" ")} WHERE { ${parts} }`;
  const declarations = text.slice(0, itemAt(tokens, prologue.length).start);
  return `${declarations}SELECT (COUNT(*) AS ?fedway_rows) ${graphs}WHERE { ${counted} }`;
}

const columns = ["?fedway_s", "?fedway_p", "?fedway_o"] as const;

type Terms = readonly [subject: Term, predicate: Term, object: Term];

/** Undefined for a triple with a blank node, of which there is one more for each solution, or without a variable. */
function termsOf({ subject, predicate, object }: Triple): readonly [Terms] | undefined {
  if (!("termType" in predicate)) return undefined;
  const terms = [subject, predicate, object] as const;
  const isPlain = terms.every(({ termType }) => termType !== "BlankNode" && termType !== "Quad");
  return isPlain && terms.some(isVariable) ? [terms] : undefined;
}

const isVariable = ({ termType }: Term): boolean => termType === "Variable";

function written(term: Term): string {
  if (term.termType === "Variable") return `?${term.value}`;
  return term.termType === "Literal" ? literalText(term) : iriText(term.value);
}

/** The distinct triples that a template makes of a pattern's solutions (SPARQL 1.1 Query, section 16.2). */
function instances(terms: Terms, pattern: string, areApart: boolean): string {
  const [subject, predicate, object] = terms.map((term) => (isVariable(term) ? written(term) : undefined));
  const conditions = [
    subject && `!isLiteral(${subject})`,
    predicate && `isIRI(${predicate})`,
    object && `BOUND(${object})`,
  ].flatMap((condition) => (condition === undefined ? [] : ` FILTER(${condition})`));
  const names = new Set([subject, predicate, object].flatMap((name) => name ?? []));
  const projection = areApart ? [...names] : terms.map((term, at) => `(${written(term)} AS ${columns[at]})`);
  return `{ SELECT DISTINCT ${projection.join(" ")} WHERE { ${pattern}\n${conditions.join("")} } }`;
}

const textOf = ({ text, tokens }: Query, { from, to }: TokenRange): string =>
  text.slice(itemAt(tokens, from).start, itemAt(tokens, to - 1).end);
