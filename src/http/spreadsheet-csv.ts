/** A cell that a spreadsheet would take for a formula, or trim until it is one. */
const formula = /"[\t\r\n]|"?[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|\t/y;
const number = /"?[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,9})?"?(?=[,\r\n]|$)/y;
/** Longer than any number that `number` matches. */
const longestNumber = 1_000;

const matchesAt = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at;
  return pattern.test(text);
};

/**
 * Marks CSV for spreadsheets: an apostrophe goes before the text of each cell that would be a formula there. Numbers stay.
 * Takes and gives UTF-8 in any parts.
 */
export async function* spreadsheetCsv(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const marker = new CellMarker();
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const marked = marker.read(decoder.decode(bytes, { stream: true }), false);
    if (marked !== "") yield Buffer.from(marked);
  }
  yield Buffer.from(marker.read(decoder.decode(), true));
}

class CellMarker {
  /** The start of a cell whose end decides what it is. */
  #held = "";
  #isStart = true;
  #isQuoted = false;

  read(part: string, isLast: boolean): string {
    const text = this.#held + part;
    let marked = "";
    let at = 0;
    while (at < text.length) {
      if (this.#isStart) {
        if (!isLast && isUndecided(text, at)) break;
        const isFormula = matchesAt(formula, text, at) && !matchesAt(number, text, at);
        if (isFormula && text[at] === '"') marked += `"'`;
        else if (isFormula) marked += "'";
        if (text[at] === '"') {
          if (!isFormula) marked += '"';
          this.#isQuoted = true;
          at += 1;
        }
        this.#isStart = false;
      }
      const end = this.#endFrom(text, at);
      marked += text.slice(at, end);
      at = end;
    }
    this.#held = text.slice(at);
    return marked;
  }

  /** The place behind the next character that means something: a quote, or outside of quotes the end of a cell. */
  #endFrom(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      const character = text[at];
      // A doubled quote ends the quotes and begins them again.
      if (character === '"') this.#isQuoted = !this.#isQuoted;
      else if (!this.#isQuoted && (character === "," || character === "\n")) {
        this.#isStart = true;
        return at + 1;
      }
    }
    return text.length;
  }
}

function isUndecided(text: string, at: number): boolean {
  return text.length - at < longestNumber && !/[,\n]/.test(text.slice(at));
}
