import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createAddressGuard } from "../../../src/outbound/address-guard.ts";
import { isRedirect, type RedirectStep, redirectStep } from "../../../src/outbound/redirects.ts";
import type { RequestMethod } from "../../../src/outbound/sparql-request.ts";

const guard = createAddressGuard();

function step(from: string, location: string, status = 307): RedirectStep {
  return stepBy("post-form", { from, location, status });
}
function stepBy(method: RequestMethod, at: { from: string; location: string; status: number }): RedirectStep {
  const { from, location, status } = at;
  return redirectStep({ url: new URL(from), method }, { status, headers: { location }, text: "" }, { guard });
}
function shouldRefuse(from: string, location: string, code: string): void {
  let thrown: unknown;
  try {
    step(from, location);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(FedwayError);
  expect(thrown).toMatchObject({ code });
}

describe("redirects", () => {
  it.each([
    ["http://a.example/sparql", "https://a.example/sparql", "https://a.example/sparql"],
    ["https://a.example/x/sparql", "../y?z=1#frag", "https://a.example/y?z=1"],
    ["https://a.example/sparql", "//b.example/sparql", "https://b.example/sparql"],
    ["http://a.example/sparql", "http://b.example:8080/", "http://b.example:8080/"],
  ])("from %s to %s", (from, location, expected) => {
    expect(step(from, location).url.href).toBe(expected);
  });
  it.each([
    [301, "post-form", "get"],
    [302, "post-direct", "get"],
    [303, "post-form", "get"],
    [301, "get", "get"],
    [307, "post-form", "post-form"],
    [308, "post-direct", "post-direct"],
    [307, "get", "get"],
  ] as const)("%i turns %s into %s", (status, method, expected) => {
    expect(stepBy(method, { from: "http://a.example/", location: "/b", status }).method).toBe(expected);
  });
  it.each([
    ["https://a.example/sparql", "http://a.example/sparql", "ENDPOINT_REDIRECT"],
    ["https://a.example/sparql", "http://b.example/", "ENDPOINT_REDIRECT"],
    ["http://a.example/", "http://[bad", "ENDPOINT_REDIRECT"],
    ["http://a.example/", `/${"x".repeat(9000)}`, "ENDPOINT_REDIRECT"],
    ["http://a.example/", "http://127.1/", "ADDRESS_REFUSED"],
    ["http://a.example/", "http://[::ffff:10.0.0.1]/", "ADDRESS_REFUSED"],
    ["http://a.example/", "http://user@b.example/", "ADDRESS_REFUSED"],
    ["http://a.example/", "ftp://b.example/", "ADDRESS_REFUSED"],
    ["https://a.example/", "file:///etc/passwd", "ADDRESS_REFUSED"],
  ])("from %s to %s is refused: %s", shouldRefuse);
  it.each([
    [301, "/x", true],
    [308, "/x", true],
    [300, "/x", false],
    [304, "/x", false],
    [302, undefined, false],
  ])("%i to %s is a redirect: %s", (status, location, expected) => {
    expect(isRedirect({ status, headers: { location }, text: "" })).toBe(expected);
  });
});
