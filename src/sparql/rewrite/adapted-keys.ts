import type { Query } from "../parse/query.ts";
import type { KeyExpressions } from "../../rdf/key-rule.ts";
import type { Group, ServiceElement, TokenRange } from "../parse/outline.ts";
import { projectsAll, selectsOf, whereVariables } from "../structure/scope.ts";
import { tokenAt } from "../parse/tokens.ts";

/** A variable that parts of a query share though their endpoints write its values in different ways. */
export interface UnlikeKey {
  /** Without `?`. */
  readonly name: string;
  /** The clause that binds the left values; or a pattern that does, and the group that it stands in. */
  readonly left: ServiceElement | { readonly kind: "pattern"; readonly text: string; readonly group: Group };
  /** Where the variable has right values, each with the group that binds them. */
  readonly right: readonly { readonly range: TokenRange; readonly group: Group }[];
  readonly expressions: KeyExpressions;
}

/**
 * The text in which these parts are joined by what makes their values alike: `A { ?k } B { ?k }` is
 * `{ A { ?k } BIND(left(?k) AS ?k_key) } B { ?k_key }`. Everywhere else, `?k` is the left value.
 */
export function withAdaptedKeys(query: Query, keys: readonly UnlikeKey[]): string {
  const changes = new Changes(query);
  for (const { name, left, right, expressions } of keys) {
    const key = changes.freshName(`${name}_key`);
    const other = expressions.right === undefined ? key : changes.freshName(`${name}_other`);
    for (const { range } of right) changes.rename(range, name, other);
    const groups = expressions.right === undefined ? [] : new Set(right.map(({ group }) => group));
    for (const { to } of groups) changes.before(to - 1, ` BIND(${expressions.right?.(`?${other}`)} AS ?${key}) `);
    const bound = ` BIND(${expressions.left(`?${name}`)} AS ?${key}) }`;
    if (left.kind === "service") changes.surround(left, bound);
    // What a pattern matches it matches once, so that it may stand twice.
    else changes.before(left.group.to - 1, ` { ${left.text}${bound} `);
  }
  changes.keepColumns();
  return changes.text();
}

/** Replacements of tokens, and insertions before and after them. */
class Changes {
  readonly #query: Query;
  readonly #names: Set<string>;
  readonly #tokens = new Map<number, { before: string; text: string; behind: string }>();

  constructor(query: Query) {
    this.#query = query;
    this.#names = new Set(query.tokens.flatMap(({ kind, text }) => (kind === "var" ? [text.slice(1)] : [])));
  }

  freshName(wanted: string): string {
    let name = wanted;
    while (this.#names.has(name)) name += "_";
    this.#names.add(name);
    return name;
  }

  #at(token: number) {
    const change = this.#tokens.get(token) ?? { before: "", text: tokenAt(this.#query.tokens, token).text, behind: "" };
    this.#tokens.set(token, change);
    return change;
  }

  before(token: number, text: string): void {
    this.#at(token).before += text;
  }

  /** Puts an element into a group, whose end is given. */
  surround(element: ServiceElement, end: string): void {
    this.#at(element.from).before = `{ ${this.#at(element.from).before}`;
    this.#at(element.to - 1).behind += end;
  }

  rename({ from, to }: TokenRange, name: string, other: string): void {
    for (let at = from; at < to; at++) {
      const { kind, text } = tokenAt(this.#query.tokens, at);
      if (kind === "var" && text.slice(1) === name) this.#at(at).text = `?${other}`;
    }
  }

  /** The new variables are no columns of `SELECT *`. */
  keepColumns(): void {
    const { tokens, outline } = this.#query;
    for (const select of selectsOf(outline).filter(projectsAll)) {
      const names = Array.from(whereVariables(tokens, select), (name) => `?${name}`).join(" ");
      for (let at = select.head.from; at < select.head.to; at++) {
        if (tokenAt(tokens, at).text === "*") this.#at(at).text = names;
      }
    }
  }

  text(): string {
    const edits = [...this.#tokens].map(([at, { before, text, behind }]) => ({
      range: { from: at, to: at + 1 },
      replacement: before + text + behind,
    }));
    return this.#query.cut(edits);
  }
}
