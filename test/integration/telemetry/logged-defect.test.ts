import { expect, it } from "vitest";
import { createHttpServer } from "../../../src/http/server.ts";
import { createFakeDeps } from "../../support/http-deps.ts";

interface Line {
  readonly id?: string;
  readonly err?: Error;
}

it("a defect is logged with the request it happened in, and the client is told none of it", async () => {
  const deps = await createFakeDeps();
  const run = () => Promise.reject(new Error("a defect"));
  const server = await createHttpServer({ ...deps, queries: { ...deps.queries, run } });
  const body = new URLSearchParams({ query: "ASK {}" });
  const response = await fetch(`${await server.listen()}/sparql`, { method: "POST", body });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("a defect");
  await server.close();
  const [defect, request] = deps.lines as readonly Line[];
  expect(defect?.err?.message).toBe("a defect");
  expect(defect?.id).toBe(request?.id);
  expect(defect?.id).toMatch(/^[\w-]{8}-1$/);
});
