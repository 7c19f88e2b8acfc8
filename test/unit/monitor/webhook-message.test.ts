import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { deliveryId, receiverOf, webhookMessage, createWebhookSigner } from "../../../src/monitor/receivers/message.ts";
import { incident } from "../../support/monitor-records.ts";

const titles = new Map([["people", 'People & "friends"']]);
const entryOf = (id: string) => ({ title: titles.get(id) ?? id, url: `http://${id}.example/sparql` });
const context = { entryOf, publicUrl: "https://fedway.example/base" };

describe("a message", () => {
  it("tells that an incident was opened", () => {
    expect(webhookMessage({ kind: "incident-opened", incident: incident() }, context)).toEqual({
      type: "incident.opened",
      timestamp: "2026-03-01T10:30:00.000Z",
      data: {
        id: "people-1",
        state: "open",
        subject: "endpoint",
        endpoint: { id: "people", title: 'People & "friends"', url: "http://people.example/sparql" },
        started: "2026-03-01T10:00:00.000Z",
        opened: "2026-03-01T10:30:00.000Z",
        kind: "down",
        fault: "timeout",
        faults: { timeout: 2, "http-5xx": 1 },
        evidence: [{ at: "2026-03-01T10:00:00.000Z", ok: false, ms: 12, fault: "timeout", tries: 1, source: "turn" }],
        links: {
          incident: "https://fedway.example/base/api/incidents/people-1",
          endpoint: "https://fedway.example/base/endpoints/people",
          status: "https://fedway.example/base/status",
        },
      },
    });
  });

  it("tells that it was closed, and how", () => {
    const closed = incident({ closedMs: Date.parse("2026-03-01T12:00:00Z"), closedBy: "moved" });
    expect(webhookMessage({ kind: "incident-closed", incident: closed }, context)).toMatchObject({
      type: "incident.closed",
      timestamp: "2026-03-01T12:00:00.000Z",
      data: { state: "closed", closed: "2026-03-01T12:00:00.000Z", closedBy: "moved" },
    });
  });
});

describe("a delivery's id", () => {
  const opened = { kind: "incident-opened", incident: incident() } as const;
  const closed = { kind: "incident-closed", incident: incident() } as const;
  const [one, two] = [receiverOf("https://hooks.example/key1"), receiverOf("https://hooks.example/key2")];

  it("is constant, and another for every event and receiver", () => {
    const ids = [deliveryId(opened, one), deliveryId(closed, one), deliveryId(opened, two), deliveryId(opened, one)];
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toBe(ids[3]);
    expect(ids[0]).toBe(`people-1.opened.${one}`);
  });

  it.each(["a:b", "x".repeat(300), "ä", ""])("fits a job when the incident is called %j", (id) => {
    const delivery = deliveryId({ kind: "incident-closed", incident: incident({ id }) }, one);
    expect(delivery).toMatch(/^[\w.-]{1,128}$/);
    expect(delivery).not.toBe(deliveryId({ kind: "incident-closed", incident: incident({ id: `${id}:` }) }, one));
  });

  it("does not tell the receiver's URL", () => {
    expect(one).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe("a signature", () => {
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampS: 1_614_265_330, body: '{"test": 2432232314}' };

  it("is that of the specification's example", () => {
    expect(createWebhookSigner("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")(message)).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("takes a secret without the prefix as text", () => {
    const signed = `${message.id}.${message.timestampS}.${message.body}`;
    const expected = createHmac("sha256", "plain words, ä").update(signed).digest("base64");
    expect(createWebhookSigner("plain words, ä")(message)["webhook-signature"]).toBe(`v1,${expected}`);
  });

  it.each(["whsec_", "whsec_not base64", "whsec_abc", "whsec_abcde==="])("refuses %s", (secret) => {
    expect(() => createWebhookSigner(secret)).toThrow(
      "FEDWAY_WEBHOOK_SECRET begins with whsec_ but is not Base64 after that.",
    );
  });
});
