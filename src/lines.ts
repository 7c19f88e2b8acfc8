/**
 * The lines of a text in UTF-8 that comes in pieces, without their ends; the last may lack its end. A line ends at "\n" or
 * "\r\n" alone, as in JSON Lines, TSV and server-sent events: `readline` of Node ends it at U+2028 and U+2029, too, which JSON may hold.
 */
export async function* linesOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const piece of pieces) {
    const [rest = "", ...others] = decoder.decode(piece, { stream: true }).split("\n");
    line += rest;
    for (const next of others) {
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
      line = next;
    }
  }
  line += decoder.decode();
  if (line !== "") yield line;
}
