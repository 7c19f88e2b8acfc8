/** Characters of a foreign text that are looked at. */
const longestText = 8_192;
const maxExcerpt = 300;

/** Tags as HTML and XML have them; `<http://...>` in a message is an IRI and no tag. */
const tag = /<(?:[!?/]|[a-z][\w-]{0,30}(?::[a-z][\w-]{0,30})?(?=[\s/>]))[^<>]{0,400}>/giu;
const looksLikeMarkup = /^\s{0,200}<(?:!doctype|!--|\?xml|html|head|body|sparql|h\d|p|pre|div|title|error)\b/iu;
const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'", amp: "&" };
const entity = /&(lt|gt|quot|#34|#39|amp);/gu;

/** Members of JSON in which engines and gateways say what went wrong, the most telling first. */
const wordsIn = ["exception", "message", "detail", "description", "error", "reason", "title"];

/**
 * The words of a foreign text, fit for a one-line message: the message of a JSON object, markup without its tags, any other
 * text as it is; no control or format characters, one blank between words, at most 300 characters.
 */
export function excerptOf(text: string): string {
  const read = text.slice(0, longestText);
  const words = messageOf(read) ?? (looksLikeMarkup.test(read) ? withoutTags(read) : read);
  const plain = words.replaceAll(/[\p{C}\s]+/gu, " ").trim();
  if (plain.length <= maxExcerpt) return plain;
  const cut = plain.slice(0, maxExcerpt - 1).toWellFormed();
  return `${cut.replace(/\uFFFD$/u, "")}…`;
}

/** The words as part of a sentence; nothing where there are none. */
export function quoted(text: string): string {
  const excerpt = excerptOf(text);
  return excerpt === "" ? "" : `: "${excerpt}"`;
}

const withoutTags = (text: string): string =>
  text
    .replaceAll(/<(script|style)\b[^>]{0,200}>[^<]{0,8192}/giu, " ")
    .replaceAll(tag, " ")
    .replaceAll(entity, (_reference, name: string) => entities[name] ?? "");

/** Message of a JSON object; an object that is cut off or has none is quoted as it is. */
function messageOf(text: string): string | undefined {
  if (!/^\s*[[{]/u.test(text)) return undefined;
  try {
    return messageIn(JSON.parse(text), 0);
  } catch {
    const [, value] =
      /"(?:exception|message|detail|error)"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,2000})/u.exec(text) ?? [];
    return value
      ?.slice(1)
      .replaceAll(/\\[nrt]/gu, " ")
      .replaceAll(/\\(["\\/])/gu, "$1");
  }
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth > 3) return undefined;
  const parts = new Map<string, unknown>(Object.entries(value));
  for (const name of Array.isArray(value) ? ["0"] : wordsIn) {
    const words = messageIn(parts.get(name), depth + 1);
    if (words !== undefined && words.trim() !== "") return words;
  }
  return undefined;
}

/** Words of engines that fail while they write. */
const failure =
  /(?<![\w$])(?<![\w$]\.)(?:[\w$]+\.)*[\w$]*(?:Exception|Error|Failure)\b|\b(?:error|exception|abort|cancel|timeout|timed out|time ?limit|deadline|out of memory|failed)/iu;

/**
 * An endpoint's text after the last whole row of its answer, or in place of one; nothing where a row is merely cut off.
 * @param text the bytes after the last whole row
 */
export function lastWords(text: string): string {
  const rest = text.slice(0, longestText).replace(/^(?:[\s,\]}]|<\/\w{1,20}>)*/u, "");
  const isRow = /^(?:[[{"'<]|_:)/u.test(rest) && messageOf(rest) === undefined && !looksLikeMarkup.test(rest);
  if (!isRow) return rest;
  const at = rest.search(failure);
  return at < 0 ? "" : rest.slice(at);
}
