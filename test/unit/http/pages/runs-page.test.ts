import { describe, expect, it } from "vitest";
import { runPage } from "../../../../src/http/pages/runs-page.ts";
import type { RunRecord } from "../../../../src/query/records.ts";

const record: RunRecord = {
  id: "0-run",
  startedAt: "2026-03-12T10:00:00.000Z",
  plan: "federated",
  queryHash: "abc",
  status: "ok",
  rows: 40,
  bytes: 12_530,
  durationMs: 85,
  sources: [
    { endpoint: "left", requests: 1, rows: 40, bytes: 270, ms: 20, status: "ok" },
    { endpoint: "http://other.example/", requests: 2, bytes: 0, ms: 60, status: "timeout", reason: "ENDPOINT_TIMEOUT" },
  ],
  steps: [
    {
      pattern: "{ ?s ?p ?o }",
      endpoints: ["left"],
      asked: 1,
      estimate: 50,
      keys: 0,
      whole: 0,
      requests: 1,
      rows: 40,
      bytes: 270,
      at: 0,
      ms: 20,
    },
    {
      pattern: "{ ?s ?q ?r }",
      endpoints: ["left"],
      asked: 12,
      keys: 40,
      whole: 0,
      requests: 2,
      rows: 7,
      bytes: 20,
      at: 20,
      ms: 60,
    },
  ],
  notes: [{ code: "WRAPPERS_MERGED", message: "A filter was moved." }],
};

type Step = NonNullable<RunRecord["steps"]>[number];

const stepsWith = (more: Partial<Step>): readonly Step[] =>
  (record.steps ?? []).map((step) => Object.assign(structuredClone(step), more));

const shown = (more: Partial<RunRecord> = {}): string =>
  runPage({
    record: { ...record, ...more },
    pathOf: (id) => (id === "left" ? "/endpoints/left" : undefined),
    isOperator: false,
  });

describe("the page of a run", () => {
  it("says what the status means, and what each endpoint gave", () => {
    const text = shown();
    expect(text).toContain("Complete.");
    expect(text).toContain("<dt>Note WRAPPERS_MERGED:</dt><dd>A filter was moved.</dd>");
    expect(text).toContain('<a href="/endpoints/left">left</a>');
    expect(text).toContain("ENDPOINT_TIMEOUT");
    expect(text).not.toContain('href="http://other.example/');
    expect(text).toContain("0.3 kB");
    expect(text).toContain("12.5 kB");
  });

  it("draws the steps on one axis of time, with what was expected", () => {
    const text = shown();
    expect(text).toContain('aria-label="from &lt; 1 ms to 20 ms"');
    expect(text).toContain('<rect class="bar" x="250" width="750" height="10"/>');
    expect(text).toContain('<td class="n">50</td><td class="n">40</td>');
    expect(text).toContain("and 11 more");
    expect(text).toContain("&lt; 0.1 kB");
  });

  it("warns of rows that may be wrong", () => {
    expect(shown({ status: "partial", partial: "uncertain" })).toContain("Some rows may be wrong");
    expect(shown({ status: "partial", partial: "subset" })).toContain("is in the true answer");
    expect(shown({ status: "failed", detail: "It is down." })).toContain("It is down.");
  });

  it("shows hostile text as text", () => {
    const query = "SELECT * { ?s ?p '</pre><script>alert(1)</script>\u202e' }";
    const text = shown({
      asked: { query, endpoint: "left", repairs: [] },
      detail: "<img src=x onerror=alert(1)>",
      steps: stepsWith({ pattern: query, endpoints: ['"><b>'] }),
    });
    expect(text).not.toMatch(/<script|<img|<b>|\u202e/u);
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).toContain('href="/query#endpoint=left&amp;query=');
  });

  it("has no query for others than its owner", () => {
    const text = shown({ steps: stepsWith({ pattern: undefined }) });
    expect(text).not.toContain("Open it in the console");
    expect(text).toContain("a step");
  });
});
