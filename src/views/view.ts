/** A value as text, with how it looks on pages and where it leads there. */
export interface Value {
  readonly text: string;
  /** It is a state: `up`, `work`, `down`, or outlined. */
  readonly mark?: string;
  readonly look?: "code" | "muted";
  /** The moment that it is, in ISO 8601. */
  readonly time?: string;
  /** Catalogue id of the endpoint that it names. */
  readonly endpoint?: string;
  /** Path of the service. */
  readonly path?: string | undefined;
  /** In full, where `text` is short for it. */
  readonly title?: string;
  /** Smaller, behind it. */
  readonly more?: Cell;
  /** From where to where on an axis that ends at `of`. */
  readonly bar?: { readonly from: number; readonly to: number; readonly of: number };
}

/** Several values are a list; undefined is nothing to say, which is not `unknown`. */
export type Cell = string | Value | readonly Cell[] | undefined;

export const unknown: Value = { text: "unknown", look: "muted" };

export type Fact = readonly [label: string, value: Cell];

/** A column whose name begins with `#` is one of numbers. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Something shown to people, for every medium: `viewText` and `viewHtml` write it. */
export interface View {
  readonly title: string;
  readonly facts?: readonly Fact[];
  readonly lines?: readonly Cell[];
  readonly table?: Table;
  /** Text with line ends of its own. */
  readonly code?: string | undefined;
  readonly children?: readonly View[];
}

/** Items without those too many to be named. */
export const firstOf = <Item>(
  names: readonly Item[],
  most: number,
  count = names.length,
): readonly (Item | string)[] =>
  count <= most ? names : [...names.slice(0, most), `and ${count - Math.min(most, names.length)} more`];
