import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { TabularAnswer } from "../query/table.ts";
import { sendJson, anyOriginHeaders } from "./common-headers.ts";

/** Characters that are written as JSON in one turn of the event loop. */
const PIECE_CHARACTERS = 65_536;
/** Characters of all tables that clients have not read yet. */
const MOST_UNREAD_CHARACTERS = 128 * 1024 * 1024;

/** Sends tables; a large one in pieces with turns for others between them. @throws FedwayError `SERVICE_BUSY` */
export function createTableSender(): (reply: FastifyReply, table: TabularAnswer, status: number) => FastifyReply {
  let unread = 0;
  return (reply, table, status) => {
    const characters = table.rows.reduce((sum, row) => sum + charactersOf(row), 0);
    if (characters < PIECE_CHARACTERS) return sendJson(reply, table, status);
    if (unread + characters > MOST_UNREAD_CHARACTERS) throw tooManyUnread();
    unread += characters;
    reply.raw.once("close", () => {
      unread -= characters;
    });
    const body = Readable.from(piecesOf(table), { objectMode: false });
    return reply.code(status).headers(anyOriginHeaders).type("application/json").send(body);
  };
}

const charactersOf = (row: readonly (string | null)[]): number =>
  row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);

/** The table as JSON, its rows at the end. */
async function* piecesOf({ rows, ...head }: TabularAnswer): AsyncIterable<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let piece: (readonly (string | null)[])[] = [];
  let characters = 0;
  let separator = "";
  for (const row of rows) {
    piece.push(row);
    characters += charactersOf(row);
    if (characters < PIECE_CHARACTERS) continue;
    yield separator + JSON.stringify(piece).slice(1, -1);
    separator = ",";
    piece = [];
    characters = 0;
    await nextTurn();
  }
  if (piece.length > 0) yield separator + JSON.stringify(piece).slice(1, -1);
  yield "]}";
}

const tooManyUnread = (): FedwayError =>
  new FedwayError("SERVICE_BUSY", "Too many large tables are still being read by their clients.", {
    retryAfterMs: 2_000,
    next: "Try again in a moment, or send the query to /sparql, where answers of any size are streamed.",
  });
