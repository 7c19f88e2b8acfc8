import { finished } from "node:stream/promises";
import { Readable } from "node:stream";
import { type AnswerBytes, counted, readBy } from "../engine/executor.ts";
import type { ResultFormat } from "../results/formats.ts";
import { gathered, isWhole, piecesOf } from "../results/gathered-body.ts";
import type { Bindings, QueryResult } from "../results/model.ts";
import { serializeResult } from "../results/serialize.ts";
import type { Executed } from "./verified-answer.ts";
import { cellsOfRow, isOfNothing } from "./table.ts";

/** The size of an answer without rows but for its variables: what formats put around it. */
const emptyBytes = 1_024;
/** Bytes that a format adds to a variable's name, and bytes of a character in UTF-8. */
const [nameBytes, characterBytes] = [32, 4];

/** More bytes than an answer to this query has that has no row. */
function mostEmptyBytes(query: string): number {
  let bytes = emptyBytes;
  for (const name of new Set(query.match(/[?$][^\s(){}<>.,;|/^*+=!&]+/gu)))
    bytes += nameBytes + characterBytes * name.length;
  return bytes;
}

/**
 * An answer that is over, or has more bytes than one without rows: so it is known whether it is of nothing before any of it
 * leaves. An answer with uncounted rows may be of nothing.
 */
export async function heldAnswer(answer: AnswerBytes, query: string): Promise<Executed<AnswerBytes>> {
  const { body, rows, end } = answer;
  const most = mostEmptyBytes(query);
  if (isWhole(body)) {
    const bytes = piecesOf(body).reduce((sum, { length }) => sum + length, 0);
    return { answer, isOfNothing: rows === undefined ? bytes <= most : rows === 0 };
  }
  // The reader of the body gets its failure there.
  end?.catch(() => {});
  const pieces: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  for (let bytes = 0; bytes <= most; ) {
    const next = await pieces.next();
    if (next.done === true) {
      const count = await end;
      const { contentEncoding } = answer;
      return { answer: { contentEncoding, body: gathered(held), rows: count }, isOfNothing: (count ?? 0) === 0 };
    }
    held.push(next.value);
    bytes += next.value.length;
  }
  const rest = Readable.from(joined(held, pieces), { objectMode: false });
  return { answer: { ...answer, body: rest }, isOfNothing: false };
}

async function* joined(held: readonly Buffer[], pieces: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* held;
    yield* { [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) };
  } finally {
    await pieces.return?.();
  }
}

/** An answer of one row or value, which may be one of nothing although it has it, in the wanted format. */
export async function heldValue(
  result: QueryResult,
  { query, format }: { readonly query: string; readonly format: ResultFormat },
): Promise<Executed<AnswerBytes>> {
  const { begun, isNothing } = await beginning(result, query);
  const { result: tallied, count } = counted(begun);
  const body = serializeResult(tallied, format);
  const end = finished(body).then(count);
  end.catch(() => {});
  return { answer: { contentEncoding: "identity", body, end }, isOfNothing: isNothing };
}

async function beginning(
  result: QueryResult,
  query: string,
): Promise<{ readonly begun: QueryResult; readonly isNothing: boolean }> {
  if (result.kind !== "bindings") {
    return { begun: result, isNothing: result.kind === "boolean" && !result.value };
  }
  const items = result.rows[Symbol.asyncIterator]();
  const first: IteratorResult<Bindings>[] = [];
  while (first.length < 2 && first.at(-1)?.done !== true) first.push(await items.next());
  const rows = first.flatMap(({ done, value }) => (done === true ? [] : [cellsOfRow(result.variables, value)]));
  const next = async (): Promise<IteratorResult<Bindings>> => first.shift() ?? items.next();
  return { begun: { ...result, rows: readBy(items, next) }, isNothing: isOfNothing(query, rows) };
}
