import { describe, expect, it } from "vitest";
import { fakeNowMs } from "../support/http-deps.ts";
import { signInCode } from "../../src/http/write-access.ts";
import { listedThings } from "../support/listed-things.ts";
import { accessibilityFaults, keepPicture, looks, stageToken, useStage, type Visit } from "./browser-fixture.ts";

const stage = useStage({}, listedThings);

const pages: Readonly<Record<string, string>> = {
  catalogue: "/",
  search: "/?q=proteins+ancient&class=foaf:Person",
  "no-hits": "/?q=xyzzy",
  query: "/query",
  endpoint: "/endpoints/people",
  "endpoint-hostile": "/endpoints/hostile",
  "endpoint-unknown-state": "/endpoints/dark",
  federations: "/federations",
  jobs: "/jobs",
  shards: "/shards",
  runs: "/runs",
  watches: "/watches",
  federation: "/federations/north",
  status: "/status",
  "status-by-latency": "/status?sort=latency&order=desc",
  incidents: "/incidents",
  incident: `/incidents/gone-${fakeNowMs - 5 * 3_600_000}`,
  run: "/runs/run-hostile",
  ask: "/ask",
  help: "/help",
  guide: "/help/monitoring",
  login: "/login",
  missing: "/endpoints/peple",
  "unknown-path": "/nothing/here",
};

/** The browser itself tells of every answer that is no success. */
const expected = (path: string): readonly string[] =>
  [pages["missing"], pages["unknown-path"]].includes(path)
    ? ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
    : [];

/** The page as it is now fits its window, keeps to its policy and pleases axe-core. */
async function shouldLookWell(visit: Visit, name: string, complaints: readonly string[] = []): Promise<void> {
  const { page, strays } = visit;
  await keepPicture(visit, name);
  const sizes = await page.evaluate<{ scrollWidth: number; clientWidth: number; styled: string }>(
    `({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
       styled: getComputedStyle(document.body).display })`,
  );
  // The stylesheet came: without it nothing here would mean much.
  expect(sizes.styled).toBe("flex");
  expect(sizes.scrollWidth).toBeLessThanOrEqual(sizes.clientWidth);
  expect(visit.complaints).toStrictEqual(complaints);
  expect(strays).toStrictEqual([]);
  // Last: axe-core leaves the page changed.
  expect(await accessibilityFaults(visit)).toStrictEqual([]);
  await page.context().close();
}

const eachLook = Object.keys(looks) as readonly (keyof typeof looks)[];

describe.each(Object.entries(pages))("%s", (name, path) => {
  it.each(eachLook)("%s", async (look) => {
    await shouldLookWell(await stage.visit(path, looks[look]), `${name}-${look}`, expected(path));
  });
});

describe("signed in", () => {
  const signedIn = async (look: keyof typeof looks, path: string): Promise<Visit> => {
    const visit = await stage.visit(`/login?token=${signInCode(stageToken)}`, looks[look]);
    await visit.page.goto(`${stage.url}${path}`);
    return visit;
  };

  it.each(eachLook)("jobs with progress and errors, %s", async (look) => {
    await shouldLookWell(await signedIn(look, "/jobs"), `jobs-operator-${look}`);
  });

  it.each(eachLook)("the answer to a question, %s", async (look) => {
    const visit = await signedIn(look, "/ask");
    await visit.page.getByLabel("Question").fill("What are the names of the people of the north?");
    await visit.page.getByRole("button", { name: "Ask" }).click();
    await visit.page.getByRole("link", { name: "Open in the query console" }).waitFor();
    await shouldLookWell(visit, `ask-answer-${look}`);
  });
});

it("the dark scheme is dark, the light one light", async () => {
  const brightness = async (colorScheme: "light" | "dark"): Promise<number> => {
    const { page } = await stage.visit("/", { colorScheme });
    const colour = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.context().close();
    const channels = (colour.match(/\d+/g) ?? []).map(Number);
    expect(channels).toHaveLength(3);
    return channels.reduce((sum, channel) => sum + channel, 0) / 3;
  };
  expect(await brightness("dark")).toBeLessThan(60);
  expect(await brightness("light")).toBeGreaterThan(220);
});

it("axe-core would find faults", async () => {
  const visit = await stage.visit("/status");
  await visit.page.evaluate(`
    document.documentElement.removeAttribute("lang");
    for (const label of document.querySelectorAll("label")) label.remove();`);
  const faults = await accessibilityFaults(visit);
  expect(faults.map((fault) => fault.split(":", 1)[0])).toContain("html-has-lang");
  expect(faults.map((fault) => fault.split(":", 1)[0])).toContain("select-name");
  await visit.page.context().close();
});
