import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

it("strings are compared by code point whatever the locale of the process", () => {
  const script = `
    import { engineAnswer } from ${JSON.stringify(new URL("../../support/engine-answer.ts", import.meta.url).href)};
    const values = 'VALUES ?v { "t" "z" "õ" "Z" "š" "a" }';
    const order = await engineAnswer("SELECT ?v { " + values + " } ORDER BY ?v");
    const least = await engineAnswer("SELECT (MIN(?v) AS ?m) { " + values + " FILTER(?v >= 't') }");
    const time = await engineAnswer('SELECT ("2020-01-01T09:08:07.5"^^<http://www.w3.org/2001/XMLSchema#dateTime> + "PT1S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration> AS ?t) {}');
    console.log(JSON.stringify([new Intl.Collator().resolvedOptions().locale, order, least, time]));`;
  const env = { ...process.env, LC_ALL: "et_EE.UTF-8", LANG: "et_EE.UTF-8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([
    "et-EE",
    ['"Z"', '"a"', '"t"', '"z"', '"õ"', '"š"'],
    ['"t"'],
    ['"2020-01-01T09:08:08.5"^^<http://www.w3.org/2001/XMLSchema#dateTime>'],
  ]);
});
