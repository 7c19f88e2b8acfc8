import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { createHttpServer } from "../../src/http/server.ts";
import { fakeSettings } from "../support/fake-query-service.ts";
import { createFakeDeps } from "../support/http-deps.ts";
import { pageDeps } from "../support/page-deps.ts";

const program = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const screenshots = fileURLToPath(new URL("screenshots/", import.meta.url));

/** The browser of Debian; that it is missing is a failure. */
async function openBrowser(): Promise<Browser> {
  if (!existsSync(program)) {
    throw new Error(
      `There is no browser at ${program}. On Debian: apt-get install -y --no-install-recommends chromium; elsewhere name one by CHROMIUM.`,
    );
  }
  const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking"];
  const alone = ["--disable-component-update", "--disable-sync", "--disable-gpu", "--no-sandbox"];
  return chromium.launch({ executablePath: program, headless: true, args: [...quiet, ...alone] });
}

/** A page that takes note of what no page of ours may do. */
export interface Visit {
  readonly page: Page;
  /** Errors on the console, exceptions, refusals by the Content-Security-Policy. */
  readonly complaints: readonly string[];
  /** URLs of all requests that left for another origin. */
  readonly strays: readonly string[];
}

/** The browser and the service under test. */
export interface Stage {
  readonly url: string;
  /** Opens a path; closed after the test file. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
}

async function visitIn(
  browser: Browser,
  url: string,
  [path, options]: [string, BrowserContextOptions],
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // A time limit only ends what hangs: a busy machine is no failure.
  context.setDefaultTimeout(240_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const strays: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) strays.push(request.url());
  });
  await page.goto(url + path);
  return { page, complaints, strays };
}

/** What pages are asked of. */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Admin token of the shell over fakes. */
export const stageToken = "a-token-of-these-tests";

/** Starts the shell over fakes, and the browser, for a test file. */
export function useStage(
  options: Parameters<typeof pageDeps>[0] = {},
  more: Parameters<typeof createFakeDeps>[0] = {},
): Stage {
  return useStageOf(async () => {
    const config = { ...fakeSettings, adminToken: stageToken };
    const server = await createHttpServer(await createFakeDeps({ ...pageDeps(options), config, ...more }));
    return { url: await server.listen(), close: () => server.close(0) };
  });
}

/** Starts this service and the browser for a test file. */
export function useStageOf(start: () => Promise<Served>): Stage {
  let browser: Browser | undefined;
  let served: Served | undefined;
  let url = "";
  beforeAll(async () => {
    served = await start();
    url = served.url;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });
  return {
    get url() {
      return url;
    },
    visit: async (path, more = {}) => {
      // A browser that has died fails the test that it died in, not those after it.
      if (!browser?.isConnected()) browser = await openBrowser();
      return visitIn(browser, url, [path, more]);
    },
  };
}

/** Sizes and schemes that pages are looked at in: what overflows does so in any colours, and colours are alike in any size. */
export const looks = {
  light: { colorScheme: "light" },
  phone: { colorScheme: "dark", viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true },
} as const satisfies Readonly<Record<string, BrowserContextOptions>>;

/** Keeps a picture of the whole page for people to look at, where `FEDWAY_PICTURES` asks for them. */
export async function keepPicture({ page }: Visit, name: string): Promise<void> {
  if (process.env["FEDWAY_PICTURES"] === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, fullPage: true });
}

interface AxeFinding {
  readonly id: string;
  readonly impact?: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

type AxeAnswer = Readonly<Record<"violations" | "passes", readonly AxeFinding[]>>;

/** What axe-core finds wrong with the page as it is now, one line a node; critical ones only where the page is not ours. */
export async function accessibilityFaults({ page }: Visit, only?: "critical"): Promise<readonly string[]> {
  // The page's policy runs no script; this one is run by the browser's driver, outside of it.
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate<AxeAnswer>("axe.run()");
  expect(passes.length).toBeGreaterThan(10);
  const ours = violations.filter(({ impact }) => only === undefined || impact === only);
  return ours.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)}`));
}
