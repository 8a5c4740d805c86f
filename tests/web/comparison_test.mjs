// SPDX-License-Identifier: Apache-2.0
//
// The page of a real comparison with sweeps: every chart it holds, in a browser. DFCL_BINARY and DFCL_CHROMIUM as in
// page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";

const program = process.env.DFCL_BINARY;
let session;

before(async () => {
  session = await startBrowser();
  const run = (...words) => execFileSync(program, words, { cwd: session.folder, stdio: ["ignore", "ignore", "pipe"] });
  run("simulate", "--preset", "marketing", "--rows", "3000", "--seed", "1", "-o", "trial.parquet", "--study", "study.toml", "--truth", "truth.parquet");
  appendFileSync(join(session.folder, "study.toml"), "\n[sweep]\nalpha = [0.1, 1, 10]\nmultipliers = [[0.1], [0.1, 0.5]]\n");
  run("compare", "study.toml", "--methods", "tsm,dfcl-ifd,drp", "--seeds", "2", "--truth", "truth.parquet", "--resamples", "50", "--set", "method.epochs=2", "--set", "network.hidden=[8]", "--quiet", "-o", "compared");
});

after(() => session?.end());

test("the page of a comparison opens with every chart drawn and no trouble", async () => {
  const report = join(session.folder, "compared", "report.html");
  assert.ok(statSync(report).size < 1_500_000); // seven models
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
    const { page, trouble, close } = await session.open(report, { width, scheme, unfold: true });
    assert.deepEqual(trouble, []);
    assert.deepEqual(await session.emptyCharts(page), []);
    assert.ok((await session.overflow(page)) <= 0);
    await close();
  }
});

test("published figures, sweeps, times and failures are on the page", async () => {
  const results = JSON.parse(readFileSync(join(session.folder, "compared", "results.json"), "utf8"));
  assert.deepEqual(results.figures.map((figure) => figure.id), ["revenue-by-budget", "sweep-alpha", "sweep-multipliers"]);
  const { page, close } = await session.open(join(session.folder, "compared", "report.html"), { unfold: true });
  const text = await page.locator("main").innerText();
  for (const figure of results.figures) assert.ok(text.includes(figure.title), figure.title);
  for (const words of ["Over training seeds", "Training time", "Not trained", "is for trials of two arms", "dfcl-ifd alpha=0.1"]) {
    assert.ok(text.includes(words), words);
  }
  assert.equal(await page.locator("#curves").count(), 1);
  assert.deepEqual(await page.locator("main > section").evaluateAll((sections) => sections.slice(0, 2).map((one) => one.id)), ["decision", "models"]);
  await close();
});
