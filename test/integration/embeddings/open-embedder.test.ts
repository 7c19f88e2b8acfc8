import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Embedder } from "../../../src/embeddings/embedder.ts";
import { openEmbedder } from "../../../src/embeddings/open-embedder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ResolveHost } from "../../../src/outbound/address-guard.ts";
import { createJsonClient } from "../../../src/outbound/json-client.ts";
import { type Listening, listening } from "../../support/listening.ts";
import { newFolder } from "../../support/scratch-folder.ts";

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string };
interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[] };
}

const key = "sk-secret-0123456789";
const signal = new AbortController().signal;
let server: Listening;
let asked: Asked[];
let answers: Answer[];
let client: ReturnType<typeof createJsonClient>;

const embeddingsOf = (input: readonly string[]): string =>
  JSON.stringify({
    object: "list",
    // Backwards, as the index tells the place.
    data: input.map((each, index) => ({ object: "embedding", index, embedding: [each.length, 1] })).toReversed(),
  });

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: Asked["body"] = JSON.parse(await text(request));
  asked.push({ path: request.url ?? "", headers: request.headers, body });
  const { status = 200, headers = {}, body: answer } = answers.shift() ?? { body: embeddingsOf(body.input) };
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(answer);
}

beforeEach(async () => {
  asked = [];
  answers = [];
  client = createJsonClient({ version: "1", allowAddresses: ["127.0.0.0/8"] });
  server = await listening(createServer((request, response) => void serve(request, response)));
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const api = (by = client): Embedder => openEmbedder({ source: `${server.origin}/v1`, model: "small", key }, by)!;

describe("an OpenAI-compatible API", () => {
  it("is asked in batches, with its key", async () => {
    const texts = Array.from({ length: 130 }, (_, place) => "x".repeat(place + 1));
    const vectors = await api().embed(texts, { signal });
    expect(asked.map(({ body }) => body.input.length)).toEqual([64, 64, 2]);
    expect(asked[0]).toMatchObject({
      path: "/v1/embeddings",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: { model: "small", encoding_format: "float" },
    });
    expect(vectors.map(([length = 0, one = 0]) => Math.round(length / one))).toEqual(texts.map(({ length }) => length));
  });

  it("is asked again where it says so", async () => {
    answers = [{ status: 429, headers: { "retry-after": "0" }, body: "{}" }];
    expect(await api().embed(["a"], { signal })).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["no JSON", { body: "<html>" }],
    ["no list", { body: '{"data": {}}' }],
    ["too few vectors", { body: '{"data": []}' }],
    ["the same place twice", { body: '{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}' }],
    ["a place that is none", { body: '{"data": [{"index": -1, "embedding": [1]}, {"index": 0, "embedding": [1]}]}' }],
    ["unlike lengths", { body: '{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}' }],
    ["texts for numbers", { body: '{"data": [{"index": 0, "embedding": ["1"]}, {"index": 1, "embedding": [1]}]}' }],
    ["a refusal", { status: 401, body: `Incorrect API key provided: ${key}` }],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:9/" }, body: "" }],
    ["a long pause", { status: 503, headers: { "retry-after": "600" }, body: "" }],
    ["too much", { body: " ".repeat(17 * 1024 * 1024) }],
  ] as const)("gives %s: the error says so, without the key", async (_, answer) => {
    answers = [answer];
    const error: unknown = await api()
      .embed(["a", "bb"], { signal })
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof FedwayError)) throw new Error("no FedwayError", { cause: error });
    expect(error).toMatchObject({ code: "MODEL_FAILED", message: expect.stringContaining("model small") });
    expect(JSON.stringify([error.message, error.details, String(error.details.cause)])).not.toContain(key);
    expect(asked).toHaveLength(1);
  });

  it("is dialled under the guard of all that goes out", async () => {
    const resolveHost: ResolveHost = (_, done) => done(null, [{ address: "169.254.169.254", family: 4 }]);
    const guarded = createJsonClient({ version: "1", resolveHost });
    const named = openEmbedder({ source: "http://models/v1", model: "small", key }, guarded)!;
    await expect(named.embed(["a"], { signal })).rejects.toMatchObject({
      code: "MODEL_FAILED",
      details: { next: expect.stringContaining("FEDWAY_ALLOW_ADDRESSES") },
    });
    expect(asked).toEqual([]);
    await guarded.close();
  });

  it("needs a name of its model", () => {
    const config = { source: "http://127.0.0.1/v1", model: undefined, key: undefined };
    expect(() => openEmbedder(config, client)).toThrow(/FEDWAY_EMBEDDINGS_MODEL/);
  });
});

describe("a local model", () => {
  const open = (source: string) => openEmbedder({ source, model: undefined, key: undefined }, client);

  it("that is missing is named at the start", () => {
    expect(() => open("/nowhere/at-all")).toThrow(/\/nowhere\/at-all has no tokenizer.json or no ONNX model/);
  });

  it("with damaged files fails at the first text and says why, also without its runtime's real self", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "tokenizer.json"), "{");
    writeFileSync(join(folder, "model.onnx"), "no model");
    const runtime = join(folder, "node_modules/onnxruntime-node");
    mkdirSync(runtime, { recursive: true });
    const code = "export const InferenceSession = { create() { throw new Error('No protobuf,\\n really.'); } };";
    writeFileSync(join(runtime, "index.js"), code);
    writeFileSync(join(runtime, "package.json"), '{"name": "onnxruntime-node", "type": "module", "main": "index.js"}');
    const embedder = open(folder)!;
    for (let round = 0; round < 2; round += 1) {
      await expect(embedder.embed(["a"], { signal })).rejects.toMatchObject({
        code: "MODEL_FAILED",
        message: expect.stringContaining("No protobuf, really."),
      });
    }
    await embedder.close();
  });
});

it("there is none without a setting", () => {
  expect(openEmbedder({ source: undefined, model: undefined, key: undefined }, client)).toBeUndefined();
});
