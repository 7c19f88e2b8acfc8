import { jsonByte, JsonStructure } from "./json-structure.ts";

/** Some elements of the document's list: from the first byte to the one behind the last. */
export interface ElementRange {
  readonly from: number;
  readonly to: number;
}

/** At which part of the document the cutter is; "whole" = this document cannot be cut. */
type Part = "start" | "head" | "list" | "tail" | "whole";

const minRangeBytes = 8 * 1024;

/**
 * Finds where a JSON-LD document can be cut into documents that mean the same together: between the elements of an
 * outermost array, and of a `@graph` that stands alone or behind one `@context`. These are the forms in which
 * engines write graphs; the parser would hold all of them, and for some takes time with the square of their length.
 */
export class JsonLdCutter extends JsonStructure {
  #part: Part = "start";
  #elementDepth = 0;
  #key = "";
  #context: ElementRange | undefined;
  #rangeFrom = 0;
  #ranges: ElementRange[] = [];
  #taken = false;

  /** The value of `@context`; undefined when there is none. */
  get context(): ElementRange | undefined {
    return this.#context;
  }

  /** The elements are those of a `@graph`, not of an array. */
  get isGraph(): boolean {
    return this.#elementDepth === 2;
  }

  /** The document so far consists of elements; at its end, it can be cut. */
  get isList(): boolean {
    return this.#part === "list" || this.#part === "tail";
  }

  /** The ranges that are complete, each once. From the first call on, the document must go on as a list. */
  takeRanges(): readonly ElementRange[] {
    this.#taken = true;
    const ranges = this.#ranges;
    this.#ranges = [];
    return ranges;
  }

  protected override visit(byte: number, position: number): void {
    if (this.#part === "list") this.#inList(byte, position);
    else if (this.depth === 1 && this.#part !== "whole") this.#outermost(byte, position);
    else if (this.depth === 2 && this.#part === "head" && this.#key === "@graph") this.#graphValue(byte, position);
  }

  #outermost(byte: number, position: number): void {
    if (this.#part === "start") {
      if (byte === jsonByte.openArray) this.#beginList(position);
      else this.#part = "head";
    } else if (this.#part === "tail") this.#behindList(byte);
    else if (byte === jsonByte.colon) this.#beginValue(position);
    else this.#endValue(byte, position);
  }

  #beginValue(position: number): void {
    this.#key = this.word;
    const isContext = this.#key === "@context" && this.#context === undefined;
    if (isContext) this.#context = { from: position + 1, to: position + 1 };
    else if (this.#key !== "@graph") this.#part = "whole";
  }

  /** A `@graph` comes here only when its value is no array. */
  #endValue(byte: number, position: number): void {
    if (this.#key !== "@context" || byte !== jsonByte.comma) this.#part = "whole";
    else if (this.#context !== undefined) this.#context = { from: this.#context.from, to: position };
  }

  #graphValue(byte: number, position: number): void {
    if (byte === jsonByte.openArray) this.#beginList(position);
    else this.#part = "whole";
  }

  #beginList(position: number): void {
    this.#part = "list";
    this.#elementDepth = this.depth;
    this.#rangeFrom = position + 1;
  }

  #inList(byte: number, position: number): void {
    if (this.depth !== this.#elementDepth) return;
    const isEnd = byte === jsonByte.openArray + 2;
    if (!isEnd && (byte !== jsonByte.comma || position - this.#rangeFrom < this.#rangeBytes)) return;
    this.#ranges.push({ from: this.#rangeFrom, to: position });
    this.#rangeFrom = position + 1;
    this.forgetLoad();
    if (isEnd) this.#part = "tail";
  }

  /** The context is read with each range, so a long one makes them longer. */
  get #rangeBytes(): number {
    const { from, to } = this.#context ?? { from: 0, to: 0 };
    return Math.max(minRangeBytes, 4 * (to - from));
  }

  /** More keys make a named graph of the elements, or a node. */
  #behindList(byte: number): void {
    if (byte !== jsonByte.comma) return;
    if (!this.#taken) this.#part = "whole";
    else this.fault = 'The JSON document has more keys behind a long "@graph"; they must stand before it.';
  }
}
