/** The tag of a column; as many columns are counted as are ever read. */
const maxTagBytes = 1_024;
const maxVariables = 10_001;
const nameAttribute = /(?:^|\s)name\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/u;

/** Collects the names in `<variable name="x"/>` from tags that pass in pieces. */
export class XmlVariables {
  readonly names: string[] = [];
  /** The tag under way as far as it has come, as Latin-1: a character may be split. */
  #tag: string | undefined;

  /** A tag begins. */
  start(isVariable: boolean): void {
    this.#tag = isVariable ? "" : undefined;
  }

  push(bytes: Uint8Array, from: number, to: number): void {
    if (this.#tag === undefined || this.#tag.length > maxTagBytes) return;
    this.#tag += Buffer.from(bytes.subarray(from, Math.min(to, from + maxTagBytes))).toString("latin1");
  }

  /** The tag ends. */
  end(): void {
    if (this.#tag === undefined || this.names.length === maxVariables) return;
    const [, double, single = ""] = nameAttribute.exec(this.#tag) ?? [];
    this.names.push(Buffer.from(double ?? single, "latin1").toString());
  }
}
