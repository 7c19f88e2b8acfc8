import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createOtlpTracing, type OtlpTracingOptions } from "../../../src/telemetry/otlp-tracing.ts";
import type { Tracing } from "../../../src/telemetry/tracing.ts";
import { type CollectorAnswer, startOtlpCollector } from "../../support/otlp-collector.ts";
import { freePort } from "../../support/listening.ts";

/** The queue is shorter than what one round of `survives` makes. */
const quick = { version: "1", everyMs: 5, exportMs: 200, closeMs: 300, maxQueue: 1000 };

function work(tracing: Tracing, spans: number): void {
  for (let n = 0; n < spans; n += 1) {
    const span = tracing.startSpan("request", { attributes: { n } });
    tracing.startSpan("run", { parent: span.context }).end();
    span.end("FAILED");
    span.end();
  }
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const turn = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function survives(endpoint: string, more: Partial<OtlpTracingOptions> = {}): Promise<void> {
  const tracing = createOtlpTracing({ endpoint, ...quick, ...more });
  for (let round = 0; round < 10; round += 1) {
    work(tracing, 600);
    await turn(20);
  }
  await tracing.close();
  // Spans after the end are nobody's, but harm nobody.
  work(tracing, 10);
}

describe("a collector that", () => {
  const answers: Readonly<Record<string, CollectorAnswer>> = {
    "never answers": () => {},
    "resets connections": (request) => request.socket.resetAndDestroy(),
    fails: (_request, response) => response.writeHead(500).end("no"),
    "asks for patience": (_request, response) => response.writeHead(503, { "retry-after": "3600" }).end(),
    redirects: (_request, response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
    "answers with nonsense": (_request, response) => response.writeHead(200).end("{\u0000".repeat(100)),
    "answers without end": (_request, response) => {
      response.writeHead(200);
      const write = (): void => {
        if (response.destroyed) return;
        response.write("x".repeat(65_536), () => setImmediate(write));
      };
      write();
    },
    drips: (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(timer));
    },
  };

  it.each(Object.keys(answers))("%s disturbs nobody, and is left behind at the end", async (name) => {
    let posts = 0;
    const collector = await startOtlpCollector((request, response) => {
      posts += 1;
      answers[name]?.(request, response);
    });
    await survives(collector.url);
    expect(posts).toBeGreaterThan(0);
    await collector.close();
  });

  it("is not there disturbs nobody", async () => {
    await expect(survives(`http://127.0.0.1:${await freePort()}`)).resolves.toBeUndefined();
  });

  it("speaks no TLS disturbs nobody", async () => {
    const collector = await startOtlpCollector(() => {});
    await expect(survives(collector.url.replace("http:", "https:"))).resolves.toBeUndefined();
    await collector.close();
  });

  it("takes nothing makes the queue no longer than it may be", async () => {
    const collector = await startOtlpCollector(() => {});
    const tracing = createOtlpTracing({ endpoint: collector.url, ...quick, exportMs: 60_000 });
    const heap = async (): Promise<number> => {
      await turn(20);
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    work(tracing, 5000);
    const before = await heap();
    for (let round = 0; round < 20; round += 1) {
      work(tracing, 5000);
      await turn(1);
    }
    // 200,000 spans of some 1.5 KB would be 300 MB.
    expect((await heap()) - before).toBeLessThan(60 * 2 ** 20);
    await tracing.close();
    await collector.close();
  });
});

it("comes back and gets what is recorded then", async () => {
  let down = true;
  let received = 0;
  const front = await startOtlpCollector((request, response) => {
    if (down) {
      response.writeHead(500).end();
      return;
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
    received += Number(request.headers["content-length"] ?? 1);
  });
  const tracing = createOtlpTracing({ endpoint: front.url, ...quick });
  work(tracing, 10);
  await turn(100);
  expect(received).toBe(0);
  down = false;
  work(tracing, 10);
  await tracing.close();
  expect(received).toBeGreaterThan(0);
  await front.close();
});
