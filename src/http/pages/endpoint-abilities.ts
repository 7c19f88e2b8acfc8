import {
  type Capabilities,
  probedConstructs,
  type ProbedConstruct,
  type ProbeOutcome,
} from "../../registry/capabilities/capabilities.ts";
import { type Asker, askFor } from "./ask-for-work.ts";
import { latencyText, momentOf, numberText } from "./figures.ts";
import { type Html, html } from "../../html.ts";

const names: Readonly<Record<ProbedConstruct, string>> = {
  values: "VALUES",
  aggregates: "COUNT, SUM, AVG",
  aggregateTruth: "Aggregates over 100,000 solutions",
  groupHaving: "GROUP BY with HAVING",
  minus: "MINUS",
  subquery: "Subqueries",
  optional: "OPTIONAL",
  valuesUndef: "VALUES with UNDEF",
  notExists: "FILTER NOT EXISTS",
  zeroLengthPath: "Paths of length zero",
  blankNodes: "Blank nodes",
  typedLiterals: "Typed literals",
  construct: "CONSTRUCT",
};

const notProbed = html`<span class="verdict none">not probed</span>`;

function verdictRow(construct: ProbedConstruct, outcome: ProbeOutcome | undefined): Html {
  const found =
    outcome === undefined ? notProbed : html`<span class="verdict ${outcome.verdict}">${outcome.verdict}</span>`;
  return html`<tr><th scope="row">${names[construct]}</th><td>${found}</td><td class="n">${outcome === undefined ? "" : latencyText(outcome.durationMs)}</td><td>${outcome?.detail ?? ""}</td></tr>
`;
}

const fact = (name: string, value: Html | string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
const known = (value: number | undefined, unit: string): Html | string =>
  value === undefined ? notProbed : `${numberText(value)} ${unit}`;
const listed = (values: readonly string[]): string => (values.length === 0 ? "none worked" : values.join(", "));

function rowCapText({ rowCap, rowCapSilent, wholeRows }: Capabilities): Html | string {
  if (rowCap !== undefined) return `${numberText(rowCap)} rows${rowCapSilent ? ", without a word" : ""}`;
  return wholeRows === undefined ? notProbed : `not at ${numberText(wholeRows)} rows`;
}

/** What probes found, construct by construct. */
export function capabilitiesBody(capabilities: Capabilities | undefined, asker: Asker): Html {
  if (capabilities === undefined) {
    return html`<p class="muted">Nothing has been probed yet.</p>
${askFor("capabilities", asker)}`;
  }
  const { constructs, probedAt, methods, formats, maxValuesRows, maxUrlBytes, reachable, unfinished } = capabilities;
  return html`<p class="muted">Probed at ${momentOf(probedAt)} by queries that touch no data, each with a known answer.${
    unfinished ? " The probing ended early." : ""
  }${reachable ? "" : " The endpoint did not answer."}</p>
<div class="scroll" role="group" aria-label="Constructs" tabindex="0"><table>
<thead><tr><th scope="col">Construct</th><th scope="col">Answer</th><th scope="col" class="n">Took</th><th scope="col">Instead</th></tr></thead>
<tbody>
${probedConstructs.map((construct) => verdictRow(construct, constructs[construct]))}</tbody></table></div>
<dl class="facts">
${fact("Request methods", listed(methods))}${fact("Formats", listed(formats))}${fact("Answers are cut at", rowCapText(capabilities))}${fact("VALUES of up to", known(maxValuesRows, "rows"))}${fact("URLs of up to", known(maxUrlBytes, "bytes"))}</dl>`;
}
