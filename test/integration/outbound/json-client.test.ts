import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJsonClient, type JsonClient, type JsonRequest } from "../../../src/outbound/json-client.ts";
import type { NetworkOptions } from "../../../src/outbound/network.ts";
import { shouldRejectWith } from "../../support/document-server.ts";
import {
  hang,
  type Reaction,
  reset,
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../support/webhook-receiver.ts";

let receiver: WebhookReceiver;
let clients: JsonClient[];

const clientWith = (more: Partial<NetworkOptions> = {}): JsonClient => {
  const client = createJsonClient({
    version: "1",
    contact: "ops@example.org",
    allowAddresses: ["127.0.0.0/8"],
    ...more,
  });
  clients.push(client);
  return client;
};

beforeEach(async () => {
  receiver = await startWebhookReceiver("key");
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await receiver.close();
});

const request = (path = "/", more: Partial<JsonRequest> = {}): JsonRequest => ({
  url: `${receiver.origin}${path}`,
  headers: { "webhook-id": "a.b" },
  body: '{"ä":1}',
  signal: new AbortController().signal,
  timeoutMs: 20_000,
  ...more,
});

describe("a message is posted", () => {
  it("as it was given", async () => {
    expect(await clientWith().post(request("/hook/key?token=1"))).toEqual({ status: 204 });
    expect(receiver.received).toMatchObject([
      {
        path: "/hook/key?token=1",
        body: '{"ä":1}',
        headers: {
          "content-type": "application/json",
          "content-length": "8",
          "user-agent": "Fedway/1 (ops@example.org)",
          "webhook-id": "a.b",
        },
      },
    ]);
  });

  const bare: Reaction = (response) => {
    response.writeHead(200, { "content-length": "10" }).write("abc", () => response.destroy());
  };
  const endless: Reaction = (response) => {
    response.writeHead(201);
    const more = (): void => {
      if (response.write("x".repeat(16_384))) setImmediate(more);
      else response.once("drain", more);
    };
    more();
  };
  it.each([
    ["200", status(200), { status: 200 }],
    ["400", status(400), { status: 400 }],
    ["410", status(410), { status: 410 }],
    ["500", status(500), { status: 500 }],
    ["Retry-After", status(429, { "retry-after": "7" }), { status: 429, retryAfterMs: 7000 }],
    ["a Retry-After of days", status(503, { "retry-after": "864000" }), { status: 503, retryAfterMs: 900_000 }],
    ["an answer that breaks off", bare, { status: 200 }],
    ["an answer without end", endless, { status: 201 }],
  ])("and the status told: %s", async (_, reaction, reply) => {
    receiver.react(reaction);
    expect(await clientWith().post(request())).toEqual(reply);
  });

  it("and the status told when the answer goes on for too long", async () => {
    receiver.react((response) => void response.writeHead(202).write("x"));
    expect(await clientWith().post(request("/", { timeoutMs: 2000 }))).toEqual({ status: 202 });
  });

  it("and a redirect is not followed", async () => {
    receiver.react(status(307, { location: "/elsewhere" }));
    expect(await clientWith().post(request("/"))).toEqual({ status: 307 });
    expect(receiver.received.map(({ path }) => path)).toEqual(["/"]);
  });
});

describe("a message is not posted", () => {
  it.each([
    ["to a private address", (): string => `${receiver.origin}/`, {}],
    ["to a private address written differently", (): string => receiver.origin.replace("127.0.0.1", "2130706433"), {}],
    ["with userinfo", (): string => receiver.origin.replace("//", "//user:word@"), { allowAddresses: ["127.0.0.0/8"] }],
    ["to a file", (): string => "file:///etc/passwd", { allowAddresses: ["127.0.0.0/8"] }],
    ["to no URL", (): string => "hooks", {}],
  ])("%s", async (_, url, more) => {
    const client = clientWith({ allowAddresses: [], ...more });
    await shouldRejectWith(client.post(request("/", { url: url() })), { code: "ADDRESS_REFUSED", fault: "address" });
    expect(receiver.received).toEqual([]);
  });

  it("to a name that stands for a private address", async () => {
    const client = clientWith({
      allowAddresses: [],
      resolveHost: (_, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    const url = receiver.origin.replace("127.0.0.1", "hooks.example");
    await shouldRejectWith(client.post(request("/", { url })), { code: "ADDRESS_REFUSED" });
    expect(receiver.received).toEqual([]);
  });
});

describe("a message that is not answered", () => {
  it.each([
    ["hangs", hang, 1000, { code: "DEADLINE_EXCEEDED", fault: "timeout" }],
    ["is cut off", reset, 20_000, { code: "ENDPOINT_UNREACHABLE", fault: "reset" }],
  ] as const)("fails when it %s, and is sent once", async (_, reaction, timeoutMs, wanted) => {
    receiver.react(reaction);
    await shouldRejectWith(clientWith().post(request("/", { timeoutMs })), wanted);
    expect(receiver.received).toHaveLength(1);
  });

  it("fails when nobody listens", async () => {
    const { origin } = receiver;
    await receiver.close();
    const wanted = { code: "ENDPOINT_UNREACHABLE", fault: "connect" } as const;
    const error = await shouldRejectWith(clientWith().post(request("/key", { url: `${origin}/key` })), wanted);
    expect(JSON.stringify([error.message, error.details])).not.toContain("key");
  });

  it("ends when it is cancelled", async () => {
    const controller = new AbortController();
    receiver.react(() => controller.abort());
    await shouldRejectWith(clientWith().post(request("/", { signal: controller.signal })), { code: "CANCELLED" });
  });

  it("ends when the client closes, which takes no more", async () => {
    const client = clientWith();
    receiver.react(() => void client.close());
    await shouldRejectWith(client.post(request()), { code: "CANCELLED" });
    await shouldRejectWith(client.post(request()), { code: "CANCELLED" });
    expect(receiver.received).toHaveLength(1);
  });
});
