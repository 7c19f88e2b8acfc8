import { describe, expect, it } from "vitest";
import { createOpened } from "../../../src/app/service-life.ts";

describe("what was opened", () => {
  it("is closed in reverse order, one after the other", async () => {
    const opened = createOpened();
    const events: string[] = [];
    for (const name of ["store", "jobs", "http"]) {
      opened.add(async () => {
        events.push(`${name} closes`);
        await new Promise(setImmediate);
        events.push(`${name} is closed`);
      });
    }
    await opened.close();
    expect(events).toStrictEqual(["http", "jobs", "store"].flatMap((name) => [`${name} closes`, `${name} is closed`]));
  });

  it("is closed although something fails, which is told at the end", async () => {
    const opened = createOpened();
    const closed: string[] = [];
    opened.add(() => void closed.push("store"));
    opened.add(() => Promise.reject(new Error("jobs failed")));
    opened.add(() => {
      throw new Error("http failed");
    });
    await expect(opened.close()).rejects.toThrow("http failed");
    expect(closed).toStrictEqual(["store"]);
  });

  it("is closed once, and who asks again waits for it", async () => {
    const opened = createOpened();
    const { promise, resolve } = Promise.withResolvers<void>();
    let times = 0;
    let isOver = false;
    opened.add(() => {
      times += 1;
      return promise;
    });
    const first = opened.close();
    const second = opened.close().then(() => (isOver = true));
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    resolve();
    await Promise.all([first, second]);
    await opened.close();
    expect({ times, isOver }).toStrictEqual({ times: 1, isOver: true });
  });
});
