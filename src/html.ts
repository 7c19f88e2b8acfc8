/** HTML that needs no more escaping. */
export interface Html {
  readonly html: string;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const everySpecial = /[&<>"']/g;
/** Also what `visible` may have something to do with. */
const special = /[&<>"'\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

// Most texts have nothing to escape, and looking costs less than replacing.
const escape = (text: string): string =>
  special.test(text) ? visible(text).replaceAll(everySpecial, (character) => entities[character] ?? character) : text;

/** Text or HTML, or several of them, put into a template. */
export type Piece = string | number | Html | readonly Piece[] | undefined;

function render(piece: Piece): string {
  if (piece === undefined) return "";
  if (typeof piece === "string") return escape(piece);
  if (typeof piece === "number") return String(piece);
  if ("html" in piece) return piece.html;
  let text = "";
  for (const each of piece) text += render(each);
  return text;
}

/** Template tag: pieces are escaped unless they are `Html`. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = strings[0] ?? "";
  for (let at = 0; at < pieces.length; at++) text += render(pieces[at]) + (strings[at + 1] ?? "");
  return { html: text };
}

/** Only http and https links; anything else in a catalogue file becomes no link. */
export const link = (url: string, text: string): Html =>
  /^https?:\/\//i.test(url) ? html`<a href="${url}" rel="noopener">${text}</a>` : html`${text}`;

/** A link to a path of this service; anything else becomes no link. */
export const ownLink = (path: string, text: string): Html =>
  /^\/(?![/\\])/.test(path) ? html`<a href="${path}">${text}</a>` : html`${text}`;

/** Pieces with a separator between them; absent ones are left out. */
export const joined = (pieces: readonly Piece[], separator: Piece): readonly Piece[] =>
  pieces.filter((piece) => piece !== undefined).flatMap((piece, at) => (at === 0 ? [piece] : [separator, piece]));

/**
 * Control characters but tabs and line feeds, and those that are invisible, end lines or change the direction of text: with
 * them foreign text could pass for ours, reorder what stands beside it, or command a terminal.
 */
const hidden = /\r\n|(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

function escaped(found: string): string {
  if (found === "\r\n") return "\n";
  const code = found.codePointAt(0) ?? 0;
  const digits = code.toString(16).toUpperCase();
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

/** Foreign text as people may see it: hidden characters as `\uXXXX`, line ends as line feeds. */
export const visible = (text: string): string => text.replace(hidden, escaped);

/** JSON as people may see it: hidden characters as escapes of JSON, so that it means the same. */
export const visibleJson = (json: string): string => json.replace(hidden, escapedInJson);

function escapedInJson(found: string): string {
  if (found.startsWith("\r")) return "\n";
  return Array.from({ length: found.length }, (_, at) => `\\u${unitHex(found.charCodeAt(at))}`).join("");
}

const unitHex = (unit: number): string => unit.toString(16).toUpperCase().padStart(4, "0");
