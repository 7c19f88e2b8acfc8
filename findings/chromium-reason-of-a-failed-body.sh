#!/usr/bin/env bash
# Chromium 153 (@sparticuz/chromium 153.0.0, npm): text() and json() of a Response whose stream fails reject with
# "TypeError: Failed to fetch", whatever error the stream failed with. A reader and pipeTo() of the same stream give that error.
# Needs Node with npm, and the shared libraries of a headless browser (on Debian those of the package chromium).
#
# Expected: the error of the stream. "Consume body" (Fetch, section 5.3, Body mixin) rejects its promise with the error that it is given,
# and "fully read" (section 2.2.4, Bodies) gives it the exception that reading all bytes of the stream failed with. Node 20 does so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @sparticuz/chromium@153.0.0 playwright-core@1.55.0 >/dev/null
cat >run.mjs <<'JS'
import chromium from "@sparticuz/chromium";
import { chromium as browsers } from "playwright-core";

const failing = async () => {
  const stream = () => new ReadableStream({ start: (controller) => controller.error(new RangeError("too large")) });
  const reason = (promise) => promise.then(() => "no error", String);
  return {
    text: await reason(new Response(stream()).text()),
    json: await reason(new Response(stream()).json()),
    reader: await reason(new Response(stream()).body.getReader().read()),
    pipe: await reason(new Response(stream()).body.pipeTo(new WritableStream())),
  };
};
const browser = await browsers.launch({ executablePath: await chromium.executablePath(), args: chromium.args, headless: true });
try {
  const page = await browser.newPage();
  const [here, there] = [await failing(), await page.evaluate(`(${failing})()`)];
  console.log(`Node ${process.versions.node}:`, here);
  console.log(`Chromium ${browser.version()}:`, there);
  const kept = "RangeError: too large";
  const isAsSeen =
    Object.values(here).every((each) => each === kept) &&
    [there.reader, there.pipe].every((each) => each === kept) &&
    [there.text, there.json].every((each) => each === "TypeError: Failed to fetch");
  if (!isAsSeen) throw new Error("the behaviour has changed");
} finally {
  await browser.close();
}
JS
HOME="$folder" TMPDIR="$folder" node run.mjs
