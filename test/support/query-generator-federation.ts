import {
  linkPredicates,
  predicateRules,
  spelledRule,
  typed,
  word,
  type Draw,
  type Fact,
  type GeneratedData,
  type PredicateRule,
} from "./query-generator-data.ts";

/** How data are dealt out over the members of a federation. */
const layouts = [
  /** All facts about a subject are at one member, by its number. */
  "shards",
  /** The same but for a few facts, so that almost all subjects are at one member. */
  "leaky-shards",
  /** Each predicate is at one member. */
  "vocabularies",
  /** Subjects have IRIs of their own at each member. */
  "authorities",
  /** Members have facts about the same subjects. */
  "shared",
  /** Most facts are at several members. */
  "copies",
  /** One member has all that the others have. */
  "everything",
] as const;
type Layout = (typeof layouts)[number];

/** Data of a federation, and how they are dealt out. */
export interface FederationData extends GeneratedData {
  readonly layout: Layout;
}

/** Strings, numbers and IRIs: a sum over them is an error at one member and none at another. */
const mixedRule: PredicateRule = {
  predicate: word("value"),
  kind: "any",
  object: (draw) => draw.pick([typed("1", "integer"), typed("2.5", "decimal"), '"1"', '"x"', word("Person"), '"1"@en']),
};

/** Facts about and with blank nodes, which are not the same at two members. */
const nodePredicates = [word("part"), word("address")] as const;

/**
 * Data over 3 to 6 members, one of them often empty.
 * @param nodes blank nodes that queries may join on
 */
export function generateFederationData(draw: Draw, { nodes }: { readonly nodes: boolean }): FederationData {
  const layout = draw.pick(layouts);
  const endpoints = 3 + draw.below(4);
  const empty = draw.chance(25) ? draw.below(endpoints) : undefined;
  const filled = Array.from({ length: endpoints }, (_, index) => index).filter((index) => index !== empty);
  const rules = [...predicateRules, spelledRule, mixedRule];
  const subjects = Array.from({ length: 6 + draw.below(8) }, (_, number) => subjectOf(layout, number, filled));
  const facts = new Map<string, Fact>();
  const add = (fact: Fact): void => {
    const key = `${fact.subject} ${fact.predicate} ${fact.object}`;
    const where = new Set([...(facts.get(key)?.endpoints ?? []), ...fact.endpoints]);
    facts.set(key, { ...fact, endpoints: [...where].toSorted((a, b) => a - b) });
  };
  const count = 25 + draw.below(45);
  for (let index = 0; index < count; index++) {
    const rule = draw.pick(rules);
    const number = Math.min(draw.below(subjects.length), draw.below(subjects.length));
    const object = linkPredicates.includes(rule.predicate)
      ? (subjects[draw.below(subjects.length)] ?? "")
      : rule.object(draw);
    const homes = homesOf(draw, { layout, filled, subject: number, predicate: rules.indexOf(rule) });
    add({ subject: subjects[number] ?? "", predicate: rule.predicate, object, kind: rule.kind, endpoints: homes });
  }
  if (nodes) for (const fact of nodeFacts(draw, subjects, { layout, filled })) add(fact);
  return { endpoints, facts: [...facts.values()], layout };
}

// One is the beginning of another, as 1 is of 10; a member that has the first authority does not have the second.
const authorities = [
  "http://data.example",
  "http://data.example.net",
  "http://data.example/more",
  "https://other.example",
];

function subjectOf(layout: Layout, number: number, filled: readonly number[]): string {
  const authority =
    layout === "authorities" ? authorities[(number % filled.length) % authorities.length] : authorities[0];
  return `<${authority}/item/${number}>`;
}

interface Dealt {
  readonly layout: Layout;
  readonly filled: readonly number[];
}

function homesOf(
  draw: Draw,
  dealt: Dealt & { readonly subject: number; readonly predicate: number },
): readonly number[] {
  const { layout, filled, subject, predicate } = dealt;
  const at = (number: number): number => filled[number % filled.length] ?? 0;
  const any = (): number => at(draw.below(filled.length));
  switch (layout) {
    case "shards":
    case "authorities":
      return [at(subject)];
    case "leaky-shards":
      return draw.chance(8) ? [...new Set([at(subject), any()])] : [at(subject)];
    case "vocabularies":
      return [at(predicate)];
    case "shared":
      return [...new Set(draw.chance(25) ? [any(), any()] : [any()])];
    case "copies":
      return [...new Set([any(), any(), any()])];
    default:
      return [...new Set([at(0), any()])];
  }
}

/** Some subjects have blank nodes, which have facts of their own at the same member. */
function nodeFacts(draw: Draw, subjects: readonly string[], { filled }: Dealt): readonly Fact[] {
  const facts: Fact[] = [];
  for (let index = draw.below(5); index > 0; index--) {
    const node = `_:n${index}`;
    const endpoints = draw.chance(30) ? [...new Set([draw.pick(filled), draw.pick(filled)])] : [draw.pick(filled)];
    facts.push({
      subject: draw.chance(80) ? draw.pick(subjects) : "_:n0",
      predicate: draw.pick(nodePredicates),
      object: node,
      kind: "node",
      endpoints,
    });
    for (const rule of [draw.pick(predicateRules), draw.pick(predicateRules)]) {
      if (rule.kind === "blank" || linkPredicates.includes(rule.predicate)) continue;
      facts.push({ subject: node, predicate: rule.predicate, object: rule.object(draw), kind: rule.kind, endpoints });
    }
  }
  return facts;
}
