// Writes the rules of deploy/prometheus/rules as an object of the Prometheus operator into k8s/components/monitoring.
// A test compares the two, so run this after a rule has changed.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { parse, stringify } from "yaml";

const rules = new URL("prometheus/rules/", import.meta.url);
const target = new URL("../k8s/components/monitoring/prometheus-rule.yaml", import.meta.url);

const files = (await readdir(rules)).filter((name) => name.endsWith(".yml")).toSorted();
if (files.length === 0) throw new Error(`There are no rules in ${rules.pathname}`);
const texts = await Promise.all(files.map((name) => readFile(new URL(name, rules), "utf8")));
const object = {
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: {
    name: "fedway",
    labels: { "app.kubernetes.io/name": "fedway", "app.kubernetes.io/part-of": "fedway" },
  },
  spec: { groups: texts.flatMap((text) => parse(text).groups) },
};
const heading = "# Written by deploy/build-prometheus-rule.mjs from deploy/prometheus/rules; change the rules there.\n";
await writeFile(target, heading + stringify(object, { lineWidth: 0, blockQuote: "literal" }));
