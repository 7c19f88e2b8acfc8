import type { KeyExpressions } from "../rdf/key-rule.ts";
import { editText } from "./edit-text.ts";
import type { ServiceElement } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { projectsAll, selectsOf, whereVariables } from "./scope.ts";
import { tokenAt } from "./tokens.ts";

/** A variable that SERVICE clauses share though their endpoints write its values in different ways. */
export interface UnlikeKey {
  /** Without `?`. */
  readonly name: string;
  readonly left: ServiceElement;
  readonly right: readonly ServiceElement[];
  readonly expressions: KeyExpressions;
}

/**
 * The text in which these clauses are joined by what makes their values alike: `A { ?k } B { ?k }` is
 * `{ A { ?k } BIND(left(?k) AS ?k_key) } B { ?k_key }`. Everywhere else, `?k` is the value of the left clause.
 */
export function withAdaptedKeys(query: ParsedQuery, keys: readonly UnlikeKey[]): string {
  const changes = new Changes(query);
  for (const { name, left, right, expressions } of keys) {
    const key = changes.freshName(`${name}_key`);
    const other = expressions.right === undefined ? key : changes.freshName(`${name}_other`);
    changes.surround(left, ` BIND(${expressions.left(`?${name}`)} AS ?${key})`);
    for (const { group } of right) {
      changes.rename(group, name, other);
      if (expressions.right) changes.before(group.to - 1, ` BIND(${expressions.right(`?${other}`)} AS ?${key}) `);
    }
  }
  changes.keepColumns();
  return changes.text();
}

/** What stands instead of tokens, before and behind them. */
class Changes {
  readonly #query: ParsedQuery;
  readonly #names: Set<string>;
  readonly #tokens = new Map<number, { before: string; text: string; behind: string }>();
  readonly #surrounded = new Set<ServiceElement>();

  constructor(query: ParsedQuery) {
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

  /** Puts an element into a group of its own, with something behind it. */
  surround(element: ServiceElement, text: string): void {
    const last = this.#at(element.to - 1);
    if (this.#surrounded.has(element)) last.behind = last.behind.slice(0, -1) + text + "}";
    else {
      this.before(element.from, "{ ");
      last.behind += `${text} }`;
    }
    this.#surrounded.add(element);
  }

  rename({ from, to }: { readonly from: number; readonly to: number }, name: string, other: string): void {
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
    return editText(this.#query, edits);
  }
}
