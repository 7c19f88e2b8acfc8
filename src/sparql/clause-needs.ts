import type {
  Element,
  FilterElement,
  Group,
  QueryOutline,
  SelectOutline,
  ServiceElement,
  TokenRange,
} from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { groupsOf, mentionedVariables, projectedVariables, projectsAll, union } from "./scope.ts";
import { bracketed, isWord, type Token, tokenAt } from "./tokens.ts";

/** What the rest of a query needs of the solutions of a SERVICE clause. */
export interface ClauseNeeds {
  readonly service: ServiceElement;
  readonly inExists: boolean;
  /** Variables that anything outside of the clause looks at; undefined: all of them. */
  readonly variables: ReadonlySet<string> | undefined;
  /** How often a solution comes makes no difference. */
  readonly once: boolean;
  /** Any so many solutions are enough. */
  readonly limit: number | undefined;
  /** Conjuncts of FILTERs that hold in every solution of the clause that is needed, if it binds their variables. */
  readonly conditions: readonly TokenRange[];
}

/** What is known of the place of a group. */
type Place = Omit<ClauseNeeds, "service">;

/**
 * What is needed of the outermost SERVICE clauses of a query, in text order. Everything errs on the safe side: what is
 * mentioned at all beside a clause is needed of it.
 */
export function clauseNeeds({ tokens, outline }: ParsedQuery): readonly ClauseNeeds[] {
  const walk = new NeedsWalk(tokens, outline);
  return walk.found.toSorted((a, b) => a.service.from - b.service.from);
}

/** A solution that comes twice is given two values by these. */
const fresh = ["RAND", "UUID", "STRUUID", "BNODE"];
/** Aggregates that count how often a value comes, without DISTINCT. */
const counting = ["COUNT", "SUM", "AVG", "GROUP_CONCAT"];
const aggregates = [...counting, "MIN", "MAX", "SAMPLE"];

class NeedsWalk {
  readonly found: ClauseNeeds[] = [];
  readonly #tokens: readonly Token[];
  readonly #all: TokenRange;
  /** Nowhere in the query the number of equal solutions can be left out of account. */
  readonly #isVolatile: boolean;

  constructor(tokens: readonly Token[], outline: QueryOutline) {
    this.#tokens = tokens;
    this.#all = { from: 0, to: tokens.length };
    this.#isVolatile = tokens.some((token) => isWord(token, ...fresh));
    this.#select(outline, {
      inExists: false,
      variables: undefined,
      once: this.#formIsOnce(outline),
      limit: outline.form === "ASK" ? 1 : undefined,
      conditions: [],
    });
  }

  /** An ASK wants to know whether there is a solution; a graph has each triple once. */
  #formIsOnce({ form, head }: QueryOutline): boolean {
    if (form === "ASK") return true;
    const template = this.#tokens.slice(head.from, head.to);
    return form === "CONSTRUCT" && !template.some(({ kind, text }) => kind === "blank" || text === "[" || text === "(");
  }

  #select(select: SelectOutline, place: Place): void {
    for (const group of select.exists) this.#exists(group);
    if (!select.where) return;
    const own = this.#ownTokens(select);
    const { isSliced, isGrouped, isDistinct, isCut } = this.#modifiers(select, own);
    const isOnce = isGrouped ? !counts(own) : isDistinct || (place.once && !isSliced);
    // So many distinct solutions may be fewer once others of their variables are left out.
    const outer = isSliced || (place.once && place.limit !== 1) ? undefined : place.limit;
    this.#group(select.where, {
      inExists: place.inExists,
      variables: this.#neededOf(select, own, place.variables),
      once: this.#settled(isOnce),
      limit: isCut ? least([this.#limitOf(select.tail), outer]) : undefined,
      conditions: isSliced || isGrouped ? [] : this.#projected(select, place.conditions),
    });
  }

  /** `isCut`: a LIMIT may be applied to the solutions of the WHERE. */
  #modifiers({ head, values }: SelectOutline, own: readonly Token[]) {
    const has = (...words: readonly string[]): boolean => own.some((token) => isWord(token, ...words));
    const isGrouped = has("GROUP", "HAVING", ...aggregates);
    const isDistinct = isWord(this.#tokens[head.from + 1], "DISTINCT");
    const isCut = !isGrouped && !has("ORDER") && values === undefined && (!isDistinct || this.#hasPlainHead(head));
    return { isSliced: has("LIMIT", "OFFSET"), isGrouped, isDistinct, isCut };
  }

  #settled(once: boolean): boolean {
    return once && !this.#isVolatile;
  }

  /** What stands before and behind the WHERE, without EXISTS. */
  #ownTokens({ head, tail, exists }: SelectOutline): readonly Token[] {
    const at = [head, tail].flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
    const own = at.filter((index) => !exists.some(({ from, to }) => index >= from && index < to));
    return own.map((index) => tokenAt(this.#tokens, index));
  }

  #neededOf(
    select: SelectOutline,
    own: readonly Token[],
    outside: ReadonlySet<string> | undefined,
  ): ReadonlySet<string> | undefined {
    // COUNT(DISTINCT *) compares whole solutions, and so does SELECT DISTINCT *.
    if (own.some((token, at) => isWord(token, "DISTINCT") && own[at + 1]?.text === "*")) return undefined;
    const { head, tail, values } = select;
    const written = union([this.#mentioned(head), this.#mentioned(tail), new Set(values?.variables)]);
    if (!projectsAll(this.#tokens, select)) return written;
    return outside && union([outside, written]);
  }

  /** LIMIT and OFFSET together. */
  #limitOf({ from, to }: TokenRange): number | undefined {
    let [limit, offset]: (number | undefined)[] = [undefined, 0];
    for (let at = from; at < to; at++) {
      const number = Number(this.#tokens[at + 1]?.text);
      if (isWord(this.#tokens[at], "LIMIT")) limit = number;
      if (isWord(this.#tokens[at], "OFFSET")) offset = number;
    }
    const sum = limit === undefined ? Number.NaN : limit + (offset ?? 0);
    return Number.isSafeInteger(sum) ? sum : undefined;
  }

  /** Nothing but variables is projected, so that distinct solutions of the WHERE stay distinct. */
  #hasPlainHead({ from, to }: TokenRange): boolean {
    return this.#tokens.slice(from + 2, to).every(({ kind, text }) => kind === "var" || text === "*");
  }

  /** Conditions on what a subselect projects as it is. */
  #projected(select: SelectOutline, conditions: readonly TokenRange[]): readonly TokenRange[] {
    const names = new Set<string>();
    if (projectsAll(this.#tokens, select)) return conditions;
    for (const { token, depth } of bracketed(this.#tokens, select.head)) {
      if (depth === 0 && token.kind === "var") names.add(token.text.slice(1));
    }
    const own = projectedVariables(this.#tokens, select);
    return conditions.filter((range) => [...this.#mentioned(range)].every((name) => names.has(name) && own.has(name)));
  }

  #group(group: Group, place: Place): void {
    if (group.select) return this.#select(group.select, place);
    const { elements } = group;
    const conditions = [...place.conditions, ...elements.flatMap((element) => this.#conjuncts(element))];
    for (const element of elements) {
      const beside = union(elements.flatMap((other) => (other === element ? [] : [this.#mentioned(other)])));
      const limit = elements.length === 1 ? place.limit : undefined;
      const variables = place.variables && union([place.variables, beside]);
      this.#element(element, { ...place, variables, limit, conditions }, beside);
    }
  }

  #element(element: Element, place: Place, beside: ReadonlySet<string>): void {
    switch (element.kind) {
      case "service":
        this.found.push({ service: element, ...place });
        return;
      case "filter":
      case "bind":
        for (const group of element.exists) this.#exists(group);
        return;
      case "union":
        for (const branch of element.branches) this.#group(branch, place);
        return;
      case "minus":
        this.#minus(element.group, place, beside);
        return;
      default:
        for (const group of groupsOf(element)) this.#group(group, { ...place, ...bare });
    }
  }

  /** Nothing in MINUS is seen outside, but it is compared in the variables beside it; in EXISTS in those from outside too. */
  #minus(group: Group, place: Place, beside: ReadonlySet<string>): void {
    const variables = place.inExists ? place.variables : beside;
    this.#group(group, { ...place, ...bare, variables, once: this.#settled(true) });
  }

  /** Substitution reaches what is mentioned anywhere around it. */
  #exists(group: Group): void {
    const before = this.#mentioned({ from: this.#all.from, to: group.from });
    const variables = union([before, this.#mentioned({ from: group.to, to: this.#all.to })]);
    this.#group(group, { ...bare, inExists: true, variables, once: this.#settled(true) });
  }

  /** The parts of a FILTER that all must hold. */
  #conjuncts(element: Element): readonly TokenRange[] {
    if (element.kind !== "filter" || element.exists.length > 0) return [];
    const whole = expressionOf(this.#tokens, element);
    const found: TokenRange[] = [];
    let from = whole.from;
    for (const { at, token, depth } of bracketed(this.#tokens, whole)) {
      if (depth > 0 || token.kind !== "punct") continue;
      if (token.text === "||") return [whole];
      if (token.text !== "&&") continue;
      found.push({ from, to: at });
      from = at + 1;
    }
    return [...found, { from, to: whole.to }];
  }

  #mentioned(range: TokenRange): Set<string> {
    return mentionedVariables(this.#tokens, range);
  }
}

/** True when an aggregate counts equal solutions. */
const counts = (tokens: readonly Token[]): boolean =>
  tokens.some((token, at) => isWord(token, ...counting) && !isWord(tokens[at + 2], "DISTINCT"));

/** What no condition from outside and no limit reaches. */
const bare = { limit: undefined, conditions: [] };

/** The expression of a FILTER without the brackets around it. */
function expressionOf(tokens: readonly Token[], { from, to }: FilterElement): TokenRange {
  const isBracketed = tokenAt(tokens, from + 1).text === "(";
  return isBracketed ? { from: from + 2, to: to - 1 } : { from: from + 1, to };
}

function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.flatMap((limit) => limit ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}
