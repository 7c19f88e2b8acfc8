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
