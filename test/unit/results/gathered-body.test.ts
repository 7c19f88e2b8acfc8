import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { gathered, GatheredBody, isWhole, piecesOf } from "../../../src/results/gathered-body.ts";
import { ChunkMemory, giveBack, isReceived } from "../../../src/http/send-answer.ts";

describe("a gathered body", () => {
  const pieces = [Buffer.from("ab"), Buffer.from("c"), Buffer.from("def")];

  it("is a stream of its pieces", async () => {
    expect((await buffer(new GatheredBody(pieces))).toString()).toBe("abcdef");
  });

  it("gives its pieces without a copy", () => {
    const body = gathered(pieces);
    expect(body).toBeInstanceOf(GatheredBody);
    expect(piecesOf(body)).toBe(pieces);
  });

  it("is a plain buffer when there is one piece", () => {
    const [only] = pieces;
    const body = gathered(pieces.slice(0, 1));
    expect(body).toBe(only);
    expect(piecesOf(body)).toEqual([only]);
  });

  it.each([
    ["a buffer", Buffer.from("a"), true],
    ["a gathered body", new GatheredBody(pieces), true],
    ["another stream", Readable.from(pieces), false],
  ])("%s is whole: %s", (_what, body, whole) => {
    expect(isWhole(body)).toBe(whole);
  });
});

/** Memory as a read of a connection has it. */
const read = (bytes = 65_536): Buffer => Buffer.from(new ArrayBuffer(bytes)).fill(1);

describe("giveBack", () => {
  it("empties memory", () => {
    const chunk = read();
    giveBack(chunk.buffer);
    expect(chunk.length).toBe(0);
    expect(chunk.buffer.byteLength).toBe(0);
  });
  it("may be told twice", () => {
    const chunk = read();
    giveBack(chunk.buffer);
    giveBack(chunk.buffer);
    expect(chunk.length).toBe(0);
  });
  it.each([
    ["of Node's pool", Buffer.from("pooled")],
    ["that is small", read(16_383)],
    ["that threads share", Buffer.from(new SharedArrayBuffer(65_536))],
  ])("leaves memory %s", (_what, chunk) => {
    const before = Buffer.from(chunk).toString("hex");
    giveBack(chunk.buffer);
    expect(chunk.toString("hex")).toBe(before);
    expect(Buffer.from("more").toString()).toBe("more");
  });
});

describe("ChunkMemory", () => {
  it("gives memory back once other memory has come and all is written", () => {
    const memory = new ChunkMemory();
    const first = read();
    const [head, tail] = [first.subarray(0, 100), first.subarray(100)];
    const headWritten = memory.writing(head);
    const tailWritten = memory.writing(tail);
    headWritten();
    memory.writing(read());
    expect(tail.length).toBe(65_436);
    tailWritten();
    expect(first.length).toBe(0);
  });
  it("keeps memory of which more may come, however much of it is written", () => {
    const memory = new ChunkMemory();
    const first = read();
    memory.writing(first.subarray(0, 100))();
    expect(first.length).toBe(65_536);
    memory.writing(first.subarray(100))();
    expect(first.length).toBe(65_536);
    const second = read();
    memory.writing(second);
    expect(first.length).toBe(0);
    expect(second.length).toBe(65_536);
  });
  it("keeps what could not be written", () => {
    const memory = new ChunkMemory();
    const first = read();
    const written = memory.writing(first);
    memory.writing(read());
    written(new Error("the client has gone"));
    expect(first.length).toBe(65_536);
  });
});

it.each([
  ["a gathered body", new GatheredBody([read()]), false],
  ["one of received pieces", new GatheredBody([read()], true), true],
  ["another stream", Readable.from([read()]), false],
])("%s is received: %s", (_what, body, received) => {
  expect(isReceived(body)).toBe(received);
});
