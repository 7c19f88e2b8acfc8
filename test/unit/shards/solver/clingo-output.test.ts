import { expect, test } from "vitest";
import { ClingoOutput, type ClingoProgress } from "../../../../src/shards/solver/clingo-output.ts";

function read(text: string) {
  const heard: ClingoProgress[] = [];
  const output = new ClingoOutput((progress) => heard.push(progress));
  for (const line of text.split("\n")) output.feed(line);
  const { result, complete } = output.end;
  return { heard, result, complete };
}

test("models, costs and bounds are told before the object is closed", () => {
  const { heard, result, complete } = read(String.raw`{
  "Call": [
    {
      "Witnesses": [
        {
          "Time": 0.1,
          "Lower": [
            3, 0
          ]
        },
        {
          "Value": [
            "a", "b(\"x, ] y\")"
          ],
          "Costs": [
            4, 1
          ]`);
  expect(heard).toEqual([
    { kind: "bound", lower: [3, 0] },
    { kind: "model", atoms: ["a", 'b("x, ] y")'] },
    { kind: "costs", costs: [4, 1] },
  ]);
  expect({ result, complete }).toEqual({ result: "", complete: false });
});

test("an empty model is a model", () => {
  expect(read('          "Value": [\n            \n          ]').heard).toEqual([{ kind: "model", atoms: [] }]);
});

test("the clock is the one of the whole run", () => {
  const output = new ClingoOutput(() => undefined);
  expect(output.end.clock).toEqual({ totalSeconds: 0, searchSeconds: 0 });
  const text = `  "Call": [\n    {\n      "Start": 0.001,\n      "Stop": 3.571\n    }\n  ],
  "Time": {\n    "Total": 3.572,\n    "Solve": 0.324,\n    "Model": 0.291,\n    "CPU": 0.000\n  }`;
  for (const line of text.split("\n")) output.feed(line);
  expect(output.end.clock).toEqual({ totalSeconds: 3.572, searchSeconds: 0.324 });
});

test.each([
  ["OPTIMUM FOUND", "no", true],
  ["SATISFIABLE", "yes", false],
  ["UNSATISFIABLE", "no", true],
])("%s, more: %s", (result, more, complete) => {
  const text = `  "Result": "${result}",\n  "Models": {\n    "Number": 1,\n    "More": "${more}"\n  }`;
  expect(read(text)).toEqual({ heard: [], result, complete });
});
