import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type RunningPrometheus, startPrometheus } from "../support/prometheus.ts";
import { createSampleMetrics } from "../support/sample-metrics.ts";
import { type Listening, listening } from "../support/listening.ts";
import { eventually } from "../support/eventually.ts";
import { newFolder } from "../support/scratch-folder.ts";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition: string }[] };
}

const dashboard = JSON.parse(await readFile(`${deploy}grafana/dashboards/fedway.json`, "utf8")) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));
const recording = parse(await readFile(`${deploy}prometheus/rules/recording.yml`, "utf8")) as {
  readonly groups: readonly { readonly rules: readonly { readonly record: string }[] }[];
};
const recorded = recording.groups.flatMap(({ rules }) => rules.map(({ record }) => record));

/** An expression as Grafana sends it when everything is chosen. */
const substituted = (expression: string): string =>
  expression.replaceAll("$__rate_interval", "15s").replaceAll(/\$(instance|endpoint)\b/g, ".*");

describe("the dashboard", () => {
  it("is what the panels say", async () => {
    const folder = newFolder();
    await promisify(execFile)(process.execPath, [`${deploy}grafana/build-dashboard.mjs`, join(folder, "made.json")]);
    const made: unknown = JSON.parse(await readFile(join(folder, "made.json"), "utf8"));
    expect(dashboard).toEqual(made);
  });

  it("has a title, a description, a query and a place for every panel", () => {
    expect(panels.length).toBeGreaterThan(30);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, description = "", targets = [] } of panels) {
      expect(title.length, title).toBeGreaterThan(1);
      expect(description.length, title).toBeGreaterThan(5);
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.filter((cell) => Number(cell.split(",")[0]) >= 24)).toEqual([]);
  });

  it("is provisioned with the datasource that it names", async () => {
    const read = async (path: string): Promise<unknown> => parse(await readFile(`${deploy}grafana/${path}`, "utf8"));
    const sources = (await read("provisioning/datasources/prometheus.yml")) as {
      readonly datasources: readonly { readonly uid: string }[];
    };
    const uids = sources.datasources.map(({ uid }) => uid);
    expect(new Set(panels.map(({ datasource }) => datasource?.uid))).toEqual(new Set(uids));
    expect(await read("provisioning/dashboards/fedway.yml")).toMatchObject({
      providers: [{ options: { path: "/etc/grafana/dashboards" } }],
    });
    expect(await readdir(`${deploy}grafana/dashboards`)).toEqual(["fedway.json"]);
  });
});

describe("over a real scrape", () => {
  let folder: string;
  let target: Listening;
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    const sample = await createSampleMetrics();
    const server = createServer((_request, response) => {
      void sample
        .step()
        .then(() => sample.metrics.render())
        .then((text) => response.writeHead(200, { "content-type": sample.metrics.contentType }).end(text));
    });
    target = await listening(server);
    folder = newFolder();
    const configured = parse(await readFile(`${deploy}prometheus/prometheus.yml`, "utf8")) as {
      readonly scrape_configs: readonly { readonly job_name: string; readonly metrics_path: string }[];
    };
    const job = configured.scrape_configs.find(({ job_name: name }) => name === "fedway");
    await writeFile(
      join(folder, "prometheus.yml"),
      stringify({
        global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
        rule_files: [`${deploy}prometheus/rules/*.yml`],
        scrape_configs: [
          {
            job_name: job?.job_name,
            metrics_path: job?.metrics_path,
            static_configs: [{ targets: [`127.0.0.1:${target.port}`], labels: { role: "web" } }],
          },
        ],
      }),
    );
    prometheus = await startPrometheus(join(folder, "prometheus.yml"));
  });

  afterAll(async () => {
    await prometheus.close();
    await target.close();
  });

  /** Rates and rules need a few scrapes. */
  const shouldGiveData = (expression: string): Promise<void> =>
    eventually(async () => {
      const values = (await prometheus.query(expression)).map(({ value }) => Number(value[1]));
      expect(values).not.toEqual([]);
      expect(values.every(Number.isFinite)).toBe(true);
    });

  it("an invalid query and one without data are told apart from others", async () => {
    await expect(prometheus.query("sum by (")).rejects.toThrow("parse error");
    expect(await prometheus.query("fedway_that_is_not_there")).toEqual([]);
  });

  it.each(recorded)("the rule %s gives data", (name) => shouldGiveData(name));

  it.each(queries)("%s: %s", (_, expression) => shouldGiveData(substituted(expression)));

  it("every variable has values", async () => {
    const definitions = dashboard.templating.list.map(({ definition }) => definition);
    expect(definitions).toHaveLength(2);
    for (const definition of definitions) {
      const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      const values = new Set((await prometheus.query(selector)).map(({ metric }) => metric[label]));
      expect(values.size, definition).toBeGreaterThan(0);
      expect(values.has(undefined), definition).toBe(false);
    }
  });
});
