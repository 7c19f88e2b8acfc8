import { describe, expect, it } from "vitest";
import { html, visible } from "../../../src/html.ts";

const shouldShow = (name: string, text: string, shown: string): void =>
  it(`shows ${name}`, () => {
    expect(visible(text)).toBe(shown);
    expect(html`<p>${text}</p>`.html).toBe(`<p>${shown}</p>`);
  });

describe("foreign text", () => {
  shouldShow("text that is turned round", "\u202Egpj.exe\u202C", String.raw`\u202Egpj.exe\u202C`);
  shouldShow(
    "isolates, marks and the Arabic letter mark",
    "\u2066\u2069\u200E\u200F\u061C",
    String.raw`\u2066\u2069\u200E\u200F\u061C`,
  );
  shouldShow("C0 and C1 controls", "\u0000\u001B[2J\u007F\u009B", String.raw`\u0000\u001B[2J\u007F\u009B`);
  shouldShow("letters that nobody sees", "a\u200Bb\uFEFF\u{E0041}", String.raw`a\u200Bb\uFEFF\U000E0041`);
  shouldShow("line ends as line feeds, and tabs", "a\r\nb\nc\td", "a\nb\nc\td");
  shouldShow("a carriage return that would overwrite a line", "good\rbad", String.raw`good\u000Dbad`);
  shouldShow("every other script as it is", "שלום عربي नमस्ते 👩‍👩‍👧", "שלום عربي नमस्ते 👩‍👩‍👧");

  it("of every bidirectional control is shown escaped", () => {
    const controls = [...Array(0x3000).keys()]
      .map((code) => String.fromCodePoint(code))
      .filter((c) => /\p{Bidi_Control}/u.test(c));
    expect(controls).toHaveLength(12);
    for (const control of controls) expect(visible(control)).toMatch(/^\\u[0-9A-F]{4}$/);
  });
});
