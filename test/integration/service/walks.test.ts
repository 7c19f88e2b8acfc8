import { expect, it } from "vitest";
import { startProgram } from "../../support/built-program.ts";

it("no walk is more than 3 % above the table of src/README.md", async () => {
  const { ended, output } = startProgram([process.execPath, "test/tooling/walks.ts", "--check"], {});
  const code = await ended;
  expect(output.stdout).toMatch(/\| lines +\|/u);
  expect({ code, grown: output.stderr.split("\n").filter((line) => line.includes("the table has")) }).toEqual({
    code: 0,
    grown: [],
  });
});
