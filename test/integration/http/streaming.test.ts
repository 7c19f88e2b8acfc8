import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { fakeAnswer, streamOf } from "../../support/fake-query-service.ts";
import { askQuery, raw, start } from "./http-fixture.ts";
import { until } from "../../support/eventually.ts";

const ask = (version = "1.1", more = ""): string =>
  `GET /sparql?${askQuery} HTTP/${version}\r\nHost: localhost\r\n${more}\r\n`;
const broken = new FedwayError("ENDPOINT_BROKE_OFF", "The endpoint broke off its answer.");

/** A stream into which a test pushes by hand. */
const openStream = (): Readable => new Readable({ read() {} });

describe("a stream that is whole", () => {
  it("ends with the last chunk", async () => {
    const app = await start();
    app.queries.answer = async () => fakeAnswer(streamOf(["one", "two"]));
    const connection = raw(app, ask("1.1", "Connection: close\r\n"));
    expect(await connection.ended).toBe("closed");
    expect(connection.received()).toContain("Transfer-Encoding: chunked");
    expect(connection.received().endsWith("\r\n0\r\n\r\n")).toBe(true);
  });

  it("may be empty", async () => {
    const app = await start();
    app.queries.answer = async () => fakeAnswer(streamOf([]));
    const response = await fetch(`${app.url}/sparql?${askQuery}`);
    expect({ status: response.status, text: await response.text() }).toStrictEqual({ status: 200, text: "" });
  });

  it("lets its first byte out before its last one is in", async () => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask());
    body.push("early");
    await connection.until("early");
    expect(connection.received()).not.toContain("late");
    body.push("late");
    body.push(null);
    await connection.until("0\r\n\r\n");
    expect(connection.received()).toContain("late");
  });
});

describe("trailers", () => {
  const ending = Promise.resolve({ status: "partial", partial: "subset" } as const);

  it("say how the run ended to those who take them", async () => {
    const app = await start();
    app.queries.answer = async () => ({ ...fakeAnswer(streamOf(["one"])), ending });
    const connection = raw(app, ask("1.1", "TE: gzip, trailers\r\nConnection: close\r\n"));
    await connection.ended;
    expect(connection.received()).toContain("Trailer: Fedway-Status, Fedway-Partial\r\n");
    expect(connection.received().endsWith("\r\n0\r\nFedway-Status: partial\r\nFedway-Partial: subset\r\n\r\n")).toBe(
      true,
    );
  });

  it("are sent to nobody else", async () => {
    const app = await start();
    app.queries.answer = async () => ({ ...fakeAnswer(streamOf(["one"])), ending });
    const connection = raw(app, ask("1.1", "Connection: close\r\n"));
    await connection.ended;
    expect(connection.received()).not.toContain("Trailer");
    expect(connection.received().endsWith("\r\n0\r\n\r\n")).toBe(true);
  });
});

describe("a stream that breaks", () => {
  it("is cut off after its first byte, without the last chunk", async () => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask());
    body.push("first bytes");
    await connection.until("first bytes");
    body.destroy(broken);
    await connection.ended;
    expect(connection.received()).toContain("HTTP/1.1 200 OK");
    expect(connection.received()).not.toContain("\r\n0\r\n");
    await until(() => app.observed.length === 1);
    expect(app.observed[0]).toMatchObject({ route: "/sparql", method: "GET", status: 502 });
    expect(app.lines[0]).toMatchObject({ status: 502, code: "ENDPOINT_BROKE_OFF", cutOff: true, run: "run-1" });
  });

  it.each(["identity", "gzip"])("is a failure for fetch, as %s", async (coding) => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    body.push("a".repeat(5000));
    const response = await fetch(`${app.url}/sparql?${askQuery}`, { headers: { "Accept-Encoding": coding } });
    expect(response.headers.get("Content-Encoding")).toBe(coding === "gzip" ? coding : null);
    body.destroy(broken);
    await expect(response.text()).rejects.toThrow("terminated");
  });
});

describe("a stream that breaks in other ways", () => {
  it("resets the connection of an HTTP/1.0 client, to whom a close means the end", async () => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask("1.0"));
    body.push("first bytes");
    await connection.until("first bytes");
    body.destroy(broken);
    expect(await connection.ended).toBe("reset");
  });

  it("is cut off when its source closes without an end", async () => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask());
    body.push("first bytes");
    await connection.until("first bytes");
    body.destroy();
    await connection.ended;
    expect(connection.received()).not.toContain("\r\n0\r\n");
  });

  it("is a problem document before its first byte", async () => {
    const app = await start();
    app.queries.answer = async () => fakeAnswer(streamOf([], broken));
    const response = await fetch(`${app.url}/sparql?${askQuery}`);
    expect(response.status).toBe(502);
    expect(response.headers.get("Fedway-Run")).toBe("run-1");
    expect(await response.json()).toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
  });
});

describe("a client that leaves", () => {
  it("aborts the query and destroys the body", async () => {
    const app = await start();
    const body = openStream();
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask());
    body.push("first bytes");
    await connection.until("first bytes");
    const [request] = app.queries.requests;
    expect(request?.signal.aborted).toBe(false);
    connection.socket.destroy();
    await until(() => request?.signal.aborted === true && body.destroyed);
    expect(request?.signal.reason).toMatchObject({ code: "CANCELLED" });
    expect(app.observed[0]).toMatchObject({ status: 499 });
  });

  it("aborts a query that has not answered yet", async () => {
    const app = await start();
    app.queries.answer = async ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason instanceof Error ? signal.reason : broken));
      });
    const connection = raw(app, ask());
    await until(() => app.queries.requests.length === 1);
    connection.socket.destroy();
    await until(() => app.observed.length === 1);
    expect(app.observed[0]).toMatchObject({ status: 499 });
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
  });

  it("is no abort when the answer was complete", async () => {
    const app = await start();
    await (await fetch(`${app.url}/sparql?${askQuery}`)).text();
    await until(() => app.observed.length === 1);
    expect(app.queries.requests[0]?.signal.aborted).toBe(false);
    expect(app.observed[0]).toMatchObject({ status: 200 });
  });
});

describe("a client that reads slowly", () => {
  it("holds the source back", async () => {
    const app = await start();
    let given = 0;
    const body = new Readable({
      read() {
        given += 65_536;
        this.push(given > 100_000_000 ? null : Buffer.alloc(65_536, 97));
      },
    });
    app.queries.answer = async () => fakeAnswer(body);
    const connection = raw(app, ask());
    connection.socket.pause();
    await until(() => given > 0);
    let before = -1;
    while (before !== given) {
      before = given;
      await new Promise((resolve) => {
        setTimeout(resolve, 150);
      });
    }
    expect(given).toBeLessThan(20_000_000);
  });
});

const askFor = async (app: { url: string }, encoding: string): Promise<Response> =>
  fetch(`${app.url}/sparql?${askQuery}`, { headers: { "Accept-Encoding": encoding } });

describe("content coding", () => {
  const text = "a small world ".repeat(500);

  it("compresses whole bodies on request", async () => {
    const app = await start();
    app.queries.answer = async () => fakeAnswer(Buffer.from(text));
    for (const coding of ["gzip", "br"]) {
      const response = await askFor(app, coding);
      expect(response.headers.get("Content-Encoding")).toBe(coding);
      expect(response.headers.get("Vary")).toBe("Accept, Accept-Encoding");
      expect(await response.text()).toBe(text);
    }
  });

  it("leaves small bodies and other clients alone", async () => {
    const app = await start();
    expect((await askFor(app, "gzip")).headers.get("Content-Encoding")).toBeNull();
    app.queries.answer = async () => fakeAnswer(Buffer.from(text));
    const response = await askFor(app, "identity");
    expect(response.headers.get("Content-Encoding")).toBeNull();
    expect(response.headers.get("Content-Length")).toBe(String(text.length));
  });

  it("compresses streams, and random bytes survive", async () => {
    const app = await start();
    const bytes = randomBytes(3_000_000);
    app.queries.answer = async () => fakeAnswer(Readable.from([bytes], { objectMode: false }));
    const response = await askFor(app, "gzip");
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("passes an encoded body through untouched", async () => {
    const app = await start();
    const zipped = gzipSync(text);
    app.queries.answer = async () => fakeAnswer(zipped, { contentEncoding: "gzip" });
    const connection = raw(app, ask("1.1", "Accept-Encoding: gzip\r\nConnection: close\r\n"));
    await connection.ended;
    const [head = "", ...rest] = connection.received().split("\r\n\r\n");
    expect(head).toContain("Content-Encoding: gzip");
    const body = Buffer.from(rest.join("\r\n\r\n"), "latin1");
    expect(body.equals(zipped)).toBe(true);
    expect(gunzipSync(body).toString()).toBe(text);
  });
});
