import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { configReference } from "../../src/config/config.ts";
import { promtool } from "../support/prometheus.ts";
import { startService } from "../support/running-service.ts";
import { metricNames } from "../support/sample-metrics.ts";

const folder = fileURLToPath(new URL("../../deploy/prometheus/", import.meta.url));

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

interface TestFile {
  readonly rule_files: readonly string[];
  readonly group_eval_order: readonly string[];
  readonly tests: readonly {
    readonly name: string;
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

async function filesOf<File>(inside: string): Promise<readonly (readonly [string, File])[]> {
  const names = (await readdir(`${folder}${inside}`)).filter((name) => name.endsWith(".yml")).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(`${folder}${inside}/${name}`, "utf8")));
  return names.map((name, index) => [`${inside}/${name}`, parse(texts[index] ?? "") as File] as const);
}

const ruleFiles = await filesOf<RuleFile>("rules");
const testFiles = await filesOf<TestFile>("tests");
const groups = ruleFiles.flatMap(([, { groups: inFile }]) => inFile);
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));

/** Words of PromQL that are no metrics. */
const language = new Set(
  "sum min max avg count topk bottomk vector by without rate increase changes absent predict_linear unless and or on group_left ignoring offset time bool".split(
    " ",
  ),
);

/** Names of the series that an expression reads. */
function seriesOf(expression: string): readonly string[] {
  const bare = expression
    .replaceAll("$__rate_interval", "5m")
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, "")
    .replaceAll(/\boffset\s+\w+/g, "");
  const words = bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*/g) ?? [];
  return words.filter((word) => !language.has(word) && !/_over_time$|^histogram_quantile$|^e\d+$/.test(word));
}

describe("promtool", () => {
  it.each([
    ["takes the configuration", ["check", "config", "prometheus.yml"]],
    ["takes the rules", ["check", "rules", ...ruleFiles.map(([name]) => name)]],
    ["finds that alerts fire and do not fire as told", ["test", "rules", ...testFiles.map(([name]) => name)]],
  ])("%s", async (_, args) => {
    const { code, said } = await promtool(args, folder);
    expect(said).toContain("SUCCESS");
    expect(said).not.toContain("FAILED");
    expect(code).toBe(0);
  });
});

describe("every alert", () => {
  it("is there", () => {
    expect(alerts.length).toBeGreaterThanOrEqual(20);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(recorded.length).toBeGreaterThanOrEqual(15);
  });

  it.each(alerts.map((rule) => [rule.alert ?? "", rule] as const))("%s says what to do", (_, rule) => {
    expect(rule.labels?.["severity"]).toMatch(/^(critical|warning)$/);
    for (const name of ["summary", "description", "runbook"]) {
      expect(rule.annotations?.[name]?.length, name).toBeGreaterThan(10);
    }
  });

  const cases = testFiles.flatMap(([, { tests }]) => tests.flatMap((test) => test.alert_rule_test));

  it.each(alerts.map(({ alert }) => alert ?? ""))("%s is tested firing and not firing", (name) => {
    const firing = cases.filter(({ alertname }) => alertname === name).map((one) => one.exp_alerts.length > 0);
    expect(new Set(firing)).toEqual(new Set([true, false]));
  });

  it("that is tested is there", () => {
    const names = new Set(alerts.map(({ alert }) => alert));
    expect(cases.length).toBeGreaterThan(40);
    expect(cases.filter(({ alertname }) => !names.has(alertname))).toEqual([]);
  });

  it.each(testFiles)("%s tests with all rules, in the order in which they build on each other", (_, file) => {
    expect(file.rule_files).toEqual(["../rules/recording.yml", "../rules/alerts.yml"]);
    expect(file.group_eval_order.toSorted()).toEqual(groups.map(({ name }) => name).toSorted());
  });
});

/** Metrics and routes of a running service. */
async function serviceNow() {
  const service = await startService({ alpha: "http://127.0.0.1:9/sparql" }, { FEDWAY_MONITOR: "on" });
  try {
    const told = metricNames(await (await fetch(`${service.url}/metrics`)).text());
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const routes = Object.keys(paths).map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
    return { told, routes };
  } finally {
    await service.close();
  }
}

describe("every rule and panel reads what a running service has:", async () => {
  const { told, routes } = await serviceNow();
  const known = new Set([...told, ...recorded, "up"]);
  const dashboard = await readFile(`${folder}../grafana/dashboards/fedway.json`, "utf8");
  const shown = [...dashboard.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '""']) => JSON.parse(text) as string,
  );

  it.each(rules.map((rule) => [rule.alert ?? rule.record ?? "", rule.expr] as const))("%s", (_, expression) => {
    const read = seriesOf(expression);
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((name) => !known.has(name))).toEqual([]);
  });

  it("the dashboard", () => {
    expect(shown.length).toBeGreaterThan(50);
    expect(shown.flatMap((text) => seriesOf(text)).filter((name) => !known.has(name))).toEqual([]);
  });

  it("a series that nobody tells would be found", () => {
    expect(seriesOf('sum by (job) (rate(fedway_x_total{job="a"}[5m] offset 1h)) > 2e6 or time() - y')).toEqual([
      "fedway_x_total",
      "y",
    ]);
    expect(known.has("fedway_x_total")).toBe(false);
  });

  it.each(alerts.map((rule) => [rule.alert ?? "", rule] as const))(
    "%s leads to routes and settings that there are",
    (_, rule) => {
      const runbook = (rule.annotations?.["runbook"] ?? "").replaceAll(/\{\{[^}]*\}\}/g, "x");
      const paths = [...runbook.matchAll(/(?<![\w.])\/[a-z][\w/.-]*\w/g)].map(([path]) => path);
      expect(paths.filter((path) => !routes.some((route) => route.test(path)))).toEqual([]);
      const settings = [...runbook.matchAll(/FEDWAY_[A-Z_]+/g)].map(([name]) => name);
      expect(settings.filter((name) => !configReference.some((one) => one.name === name))).toEqual([]);
    },
  );
});
