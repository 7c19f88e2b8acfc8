import { visible } from "./visible.ts";

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

/** Template tag: what is put in is escaped unless it is `Html` itself. */
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
