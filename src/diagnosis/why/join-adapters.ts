import { itemAt } from "../../values.ts";
import type * as RDF from "@rdfjs/types";
import { type TextEdit, type TokenRange } from "../../sparql/query.ts";
import { endpointOf, type Finding, type Inquiry, repairOf, shownPart, shownTerm, solvedBy } from "./inquiry.ts";
import { xsd } from "../../rdf/vocabularies.ts";
import { termToText } from "../../results/terms.ts";
import { termOf } from "./mistaken-endpoint.ts";
import { type KeyAdapter, keyAdapters } from "./join-keys.ts";
import { mending } from "./mending.ts";
import { type QueryPart, renderParts, type Wrapper } from "./query-parts.ts";
import type { TermsWanted } from "./prober.ts";
import { answered, type Claim, type Ground } from "./statements.ts";

/** A variable that joins two sides of a query. The right side stands behind the left one, so that a BIND can come between. */
interface Join {
  readonly name: string;
  readonly left: readonly QueryPart[];
  readonly right: readonly QueryPart[];
  /** SERVICE around the right side; absent: both stand in one group. */
  readonly wrapper?: Wrapper | undefined;
}

/** Edits that make two sides meet. */
interface Mending {
  readonly kind: string;
  readonly edits: readonly TextEdit[];
}

const mostJoins = 3;
const mostSampled = 200;
const mostAdapters = 8;
/** Properties by which data say that two IRIs name one thing. */
const identities: readonly string[] = [
  "http://www.w3.org/2002/07/owl#sameAs",
  "http://www.w3.org/2004/02/skos/core#exactMatch",
];

/**
 * Explains parts that have no solutions together because they write the values that join them in different ways: compares samples of both
 * sides, and tests adapters. Where no adapter fits: the kind of value on each side. A variable whose values do meet is not to blame.
 */
export async function explainJoin(inquiry: Inquiry, core: readonly QueryPart[]): Promise<ExplainedJoin> {
  const { prober } = inquiry;
  const joins = joinsOf(inquiry, core).slice(0, mostJoins);
  await prober.ask(joins.map((join) => meeting(join, [join.name])));
  let examples: readonly Claim[] = [];
  for (const join of joins) {
    if (prober.evidence(meeting(join, [join.name]))?.count !== 0) continue;
    const wanted = sampled(join);
    const [left = [], right = []] = await prober.terms(wanted);
    const [mended] = await mending(inquiry, mendingsOf(inquiry, join, { left, right }));
    const values = { left: left[0], right: right[0] };
    if (mended) return { finding: keysFinding(inquiry, join, { mended, ...values }), examples };
    if (examples.length === 0) examples = apartClaims(inquiry, join, values);
  }
  return { finding: undefined, examples: examples.length > 0 ? examples : pairClaims(joins) };
}

const sampled = ({ name, left, right }: Join): readonly TermsWanted[] =>
  [left, right].map((side) => ({ group: renderParts(side), of: `?${name}`, most: mostSampled }));

/** The solutions of the left side whose values of some variables are those of a solution of the right side. */
const meeting = ({ left, right }: Join, names: readonly string[]) => ({
  group: `${renderParts(left)} { SELECT DISTINCT ${names.map((name) => `?${name}`).join(" ")} WHERE { ${renderParts(right)} } }`,
});

/** Several variables join two sides, each of which has values that meet, but not together. */
function pairClaims(joins: readonly Join[]): readonly Claim[] {
  const same = joins.filter(({ right }) => right[0] === joins[0]?.right[0] && right.length === joins[0]?.right.length);
  const names = [...new Set(same.map(({ name }) => name))];
  const [join] = same;
  if (join === undefined || names.length < 2) return [];
  const [last, ...others] = names.toReversed().map((name) => `?${name}`);
  return [
    {
      text: `${others.toReversed().join(", ")} and ${last} have values on both sides that are the same, but not together`,
      grounds: [
        { question: meeting(join, names), has: false },
        ...names.map((name) => answered(meeting(join, [name]))),
      ],
    },
  ];
}

/** No value of a variable is on both sides, with one of each. */
function apartClaims(inquiry: Inquiry, join: Join, values: Values): readonly Claim[] {
  if (values.left === undefined || values.right === undefined) return [];
  return [{ text: `?${join.name} is ${examplesText(inquiry, join, values)}`, grounds: apart(join) }];
}

const apart = (join: Join): readonly Ground[] => [
  { question: meeting(join, [join.name]), has: false },
  ...sampled(join).map(answered),
];

function mendingsOf(inquiry: Inquiry, join: Join, { left, right }: Samples): readonly Mending[] {
  const areIris = left[0]?.termType === "NamedNode" && right[0]?.termType === "NamedNode";
  // A measurement is no key, whatever number stands in an IRI.
  const adapters = [left, right].some(isMeasured) ? [] : keyAdapters(left, right, mostAdapters);
  const guess = adapters.find(({ isGuess }) => isGuess);
  return [
    ...adapters.filter(({ isGuess }) => !isGuess).map((adapter) => withKeys(inquiry, join, adapter)),
    ...(areIris ? identityMendings(inquiry, join) : []),
    // Believed last, and never within one endpoint.
    ...(guess && join.wrapper ? [withKeys(inquiry, join, guess)] : []),
  ];
}

interface Samples {
  readonly left: readonly RDF.Term[];
  readonly right: readonly RDF.Term[];
}

const measured: ReadonlySet<string> = new Set(["decimal", "double", "float"].map((name) => xsd.namespace + name));

const isMeasured = ([first]: readonly RDF.Term[]): boolean =>
  first?.termType === "Literal" && measured.has(first.datatype.value);

interface ExplainedJoin {
  readonly finding: Finding | undefined;
  /** Empty when no values are known. */
  readonly examples: readonly Claim[];
}

/** Joins between the parts to blame and the rest; those between endpoints first. */
function joinsOf({ parts }: Inquiry, core: readonly QueryPart[]): readonly Join[] {
  const joins = core.toReversed().flatMap((part) => joinsOfPart(parts, part));
  const byName = new Map(joins.map((join) => [`${join.name} ${join.right[0]?.range.from} ${isBetween(join)}`, join]));
  return [...byName.values()].toSorted((one, other) => Number(isBetween(other)) - Number(isBetween(one)));
}

const isBetween = ({ wrapper }: Join): boolean => wrapper !== undefined;

/** The joins of a part, or of its SERVICE, with what stands before it and behind it. */
function joinsOfPart(parts: readonly QueryPart[], part: QueryPart): readonly Join[] {
  const wrapper = part.wrappers.find(({ service }) => service !== undefined);
  // Things of two classes that have the same numbers are not the same things.
  if (!wrapper && termOf(part)?.kind === "class") return [];
  const side = wrapper ? parts.filter(({ wrappers }) => wrappers.includes(wrapper)) : [part];
  const within = wrapper && part.triple ? joinsOfSide(side, { side: [part], wrapper: undefined }) : [];
  const later = sidesBehind(parts, part)
    .flatMap(({ later: other, behind }) => joinsOfSide(parts, { side: behind, wrapper: other }))
    .filter(({ name }) => part.variables.has(name));
  return [...joinsOfSide(parts, { side, wrapper }), ...later, ...within];
}

/** The clauses behind a part for other endpoints: the cause may stand on the left of the join. */
function sidesBehind(parts: readonly QueryPart[], part: QueryPart) {
  const clauses = new Set(
    parts
      .filter(
        ({ range, wrappers }) => range.from > part.range.from && !wrappers.some((each) => part.wrappers.includes(each)),
      )
      .flatMap(({ wrappers }) => wrappers.find(({ service }) => service !== undefined) ?? []),
  );
  return [...clauses].map((later) => ({ later, behind: parts.filter(({ wrappers }) => wrappers.includes(later)) }));
}

function joinsOfSide(
  parts: readonly QueryPart[],
  { side, wrapper }: { readonly side: readonly QueryPart[]; readonly wrapper: Wrapper | undefined },
): readonly Join[] {
  const before = parts.filter((other) => !side.includes(other) && other.range.from < (side[0]?.range.from ?? 0));
  const bound = new Set(before.flatMap(({ kind, variables }) => (kind === "filter" ? [] : [...variables])));
  const names = new Set(side.flatMap(({ variables }) => [...variables]).filter((name) => bound.has(name)));
  return [...names].map((name) => ({ name, left: before, right: side, wrapper }));
}

/** Renames the variable on the right, and binds its new name to what the left value is there. */
function withKeys(inquiry: Inquiry, join: Join, { kind, left, right }: KeyAdapter): Mending {
  const { name } = join;
  const [key, other] = [freshName(inquiry, `${name}Key`), freshName(inquiry, `${name}Other`)];
  const renamed = right === undefined ? key : other;
  const leftText = left(`?${name}`);
  if (join.wrapper) {
    const behind = right === undefined ? "" : `BIND(${right(`?${other}`)} AS ?${key}) `;
    return { kind, edits: clauseEdits(inquiry, join, { renamed, before: `BIND(${leftText} AS ?${key}) `, behind }) };
  }
  const condition = `${right === undefined ? `?${renamed}` : right(`?${other}`)} = ${leftText}`;
  return { kind, edits: groupEdits(inquiry, join, { renamed, behind: ` FILTER(${condition}) ` }) };
}

/** The left value and the right one are joined by a property that says that they name the same thing. */
function identityMendings(inquiry: Inquiry, join: Join): readonly Mending[] {
  const { name, wrapper } = join;
  const same = freshName(inquiry, `${name}Same`);
  return identities.flatMap((iri): readonly Mending[] => {
    const pattern = ` ?${name} (<${iri}>|^<${iri}>) ?${same} . `;
    if (!wrapper) return [{ kind: "same-as", edits: groupEdits(inquiry, join, { renamed: same, behind: pattern }) }];
    const onRight = clauseEdits(inquiry, join, { renamed: same, before: "", behind: pattern });
    const leftWrapper = join.left.findLast(({ variables }) => variables.has(name))?.wrappers[0];
    const renaming = clauseEdits(inquiry, join, { renamed: same, before: "", behind: "" });
    const onLeft = leftWrapper ? renaming.concat(endOf(inquiry, leftWrapper.group, pattern)) : [];
    return [onRight, onLeft].map((edits) => ({ kind: "same-as", edits }));
  });
}

function freshName({ query }: Inquiry, wanted: string): string {
  let name = wanted;
  while (query.tokens.some(({ kind, text }) => kind === "var" && text.slice(1) === name)) name += "_";
  return name;
}

function clauseEdits(
  inquiry: Inquiry,
  { name, wrapper }: Join,
  { renamed, before, behind }: { readonly renamed: string; readonly before: string; readonly behind: string },
): readonly TextEdit[] {
  if (wrapper === undefined) return [];
  const { from } = wrapper.range;
  const start = { from, to: from + 1 };
  return [
    ...(before === "" ? [] : [{ range: start, replacement: before + inquiry.query.textOf(start) }]),
    ...renamings(inquiry, wrapper.group, { name, renamed }),
    ...(behind === "" ? [] : [endOf(inquiry, wrapper.group, ` ${behind}`)]),
  ];
}

function groupEdits(
  inquiry: Inquiry,
  { name, right }: Join,
  { renamed, behind }: { readonly renamed: string; readonly behind: string },
): readonly TextEdit[] {
  const [part] = right;
  const { where } = inquiry.query.outline;
  const group = part?.wrappers.at(-1)?.group ?? where;
  if (part?.triple === undefined || group === undefined) return [];
  const ranges = [part.triple.subject, part.triple.object].flatMap(({ range }) => range ?? []);
  const edits = ranges.flatMap((range) => renamings(inquiry, range, { name, renamed }));
  return [...edits, endOf(inquiry, group, behind)];
}

function renamings(
  { query }: Inquiry,
  { from, to }: TokenRange,
  { name, renamed }: { readonly name: string; readonly renamed: string },
): readonly TextEdit[] {
  return query.tokens.slice(from, to).flatMap(({ kind, text }, at) => {
    const range = { from: from + at, to: from + at + 1 };
    return kind === "var" && text.slice(1) === name ? [{ range, replacement: `?${renamed}` }] : [];
  });
}

/** Something more before the closing brace of a group. */
const endOf = (inquiry: Inquiry, group: TokenRange, text: string): TextEdit => {
  const range = { from: group.to - 1, to: group.to };
  return { range, replacement: `${needsDot(inquiry, range.from - 1, text)}${text}}` };
};

/** Triples before more triples end with a dot. */
function needsDot({ query }: Inquiry, at: number, added: string): string {
  const { text } = itemAt(query.tokens, at);
  return added.trimStart().startsWith("?") && ![".", "}", "{"].includes(text) ? " ." : "";
}

interface Values {
  readonly left: RDF.Term | undefined;
  readonly right: RDF.Term | undefined;
}

const sidesOf = ({ name, left, right }: Join) =>
  [left.findLast(({ variables }) => variables.has(name)), right.find(({ variables }) => variables.has(name))] as const;

/** One value of each side. */
function examplesText(inquiry: Inquiry, join: Join, { left, right }: Values): string {
  const sides = sidesOf(join);
  const told = [left, right].flatMap((term, at) => {
    const part = sides[at];
    if (term === undefined || part === undefined) return [];
    return [`${shownTerm(inquiry.query, term)} in ${shownPart(part)}${placeName(inquiry, part)}`];
  });
  return told.join(", but ");
}

function keysFinding(
  inquiry: Inquiry,
  join: Join,
  { mended, ...values }: Values & { readonly mended: Mending },
): Finding {
  const { name, right } = join;
  const [here, there] = sidesOf(join).map((part) => part && endpointOf(inquiry, part));
  const isAcceptable = mended.kind !== "same-as" && here !== undefined && there !== undefined && here !== there;
  const always = isAcceptable ? ` An admin can have all queries joined so: POST /api/endpoints/${here}/adapters.` : "";
  return {
    code: "EMPTY_KEYS",
    claims: [
      {
        text: `The values of ?${name} are not written alike (${mended.kind}): ${examplesText(inquiry, join, values)}`,
        grounds: [...apart(join), ...solvedBy(inquiry, mended.edits)],
      },
    ],
    part: sidesOf(join)[1] ?? right[0],
    repairs: [repairOf(inquiry, `keys-${mended.kind}`, mended.edits)],
    suggestions: [values.left, values.right].flatMap((term) =>
      term ? [{ term: termToText(term), score: 1, why: `a value of ?${name}` }] : [],
    ),
    next: `Take the repair, which was checked.${always}`,
  };
}

function placeName(inquiry: Inquiry, part: QueryPart): string {
  const endpoint = endpointOf(inquiry, part);
  return endpoint === undefined ? "" : ` at ${endpoint}`;
}
