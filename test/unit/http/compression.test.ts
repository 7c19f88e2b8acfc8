import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chooseCoding, compressStream } from "../../../src/http/compression.ts";
import { until } from "../../support/eventually.ts";
import { streamOf } from "../../support/fake-query-service.ts";

const shouldChoose = (header: string | undefined, coding: string | undefined): void =>
  it(`answers ${header} with ${coding ?? "identity"}`, () => expect(chooseCoding(header)).toBe(coding));

describe("chooseCoding", () => {
  shouldChoose(undefined, undefined);
  shouldChoose("", undefined);
  shouldChoose("identity", undefined);
  shouldChoose("gzip", "gzip");
  shouldChoose("br", "br");
  shouldChoose("gzip, deflate, br, zstd", "gzip");
  shouldChoose("gzip;q=0.5, br;q=0.9", "br");
  shouldChoose("GZIP;Q=0.8", "gzip");
  shouldChoose("x-gzip", "gzip");
  shouldChoose("*", "gzip");
  shouldChoose("*;q=0", undefined);
  shouldChoose("gzip;q=0, *", "br");
  shouldChoose("gzip;q=0", undefined);
  shouldChoose("identity;q=1, gzip;q=0.5", undefined);
  shouldChoose("gzip;q=nonsense", undefined);
  shouldChoose("deflate, zstd", undefined);
  shouldChoose(",".repeat(100_000), undefined);
});

const collect = async (stream: Readable): Promise<Buffer> => Buffer.concat(await stream.toArray());

describe("compressStream", () => {
  it("keeps every byte", async () => {
    const chunks = Array.from({ length: 500 }, (_, index) => `row ${index} `.repeat(50));
    const sent = await collect(compressStream(streamOf(chunks), "gzip"));
    expect(gunzipSync(sent).toString()).toBe(chunks.join(""));
    const brotli = await collect(compressStream(streamOf(chunks), "br"));
    expect(brotliDecompressSync(brotli).toString()).toBe(chunks.join(""));
  });

  it("lets the first bytes out before the source goes on", async () => {
    const source = new Readable({ read() {} });
    const seen: string[] = [];
    const first = Promise.withResolvers<void>();
    const unzipped = compressStream(source, "gzip").pipe(createGunzip());
    unzipped.on("data", (chunk: Buffer) => {
      seen.push(chunk.toString());
      first.resolve();
    });
    source.push("first");
    await first.promise;
    expect(seen.join("")).toBe("first");
    source.push(null);
  });

  it("fails with the source's error", async () => {
    const broken = compressStream(streamOf(["a"], new Error("broken")), "gzip");
    await expect(collect(broken)).rejects.toThrow("broken");
  });

  it("fails when the source closes early", async () => {
    const source = new Readable({ read() {} });
    const compressed = collect(compressStream(source, "gzip"));
    source.push("a");
    source.destroy();
    await expect(compressed).rejects.toThrow("Premature close");
  });

  it.each(["gzip", "br"] as const)("fails at once when the source has failed before: %s", async (coding) => {
    const source = new Readable({ read() {} });
    source.on("error", () => {});
    source.destroy(new Error("broken before"));
    await new Promise(setImmediate);
    await expect(collect(compressStream(source, coding))).rejects.toThrow("broken before");
  });
});

describe("compressStream, left alone", () => {
  it("destroys the source when it is abandoned", async () => {
    const source = new Readable({ read() {} });
    const closed = new Promise((resolve) => {
      source.once("close", resolve);
    });
    compressStream(source, "br").destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });

  it("holds the source back when nobody reads", async () => {
    let given = 0;
    const source = new Readable({
      highWaterMark: 65_536,
      read() {
        given += 65_536;
        this.push(randomBytes(65_536));
      },
    });
    const stream = compressStream(source, "gzip");
    // Until a turn goes by in which nothing is taken.
    await until(async () => {
      const before = given;
      await sleep(50);
      return given === before && given > 0;
    });
    expect(given).toBeLessThan(1_000_000);
    stream.destroy();
  });
});
