// SPDX-License-Identifier: Apache-2.0
//
// The whole way, as a user goes it: simulate, train, evaluate, report, and the page in a browser. DFCL_BINARY and
// DFCL_CHROMIUM as in page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";

const program = process.env.DFCL_BINARY;
let session;

before(async () => {
  session = await startBrowser();
  const run = (...words) => execFileSync(program, words, { cwd: session.folder, stdio: ["ignore", "ignore", "pipe"] });
  run("simulate", "--preset", "marketing", "--rows", "12000", "--seed", "1", "-o", "trial.parquet", "--study", "study.toml", "--truth", "truth.parquet");
  for (const method of ["tsm", "dfcl-mer"]) {
    run("train", "study.toml", "--method", method, "--epochs", "2", "--seed", "1", "--quiet", "-o", `${method}.safetensors`);
  }
  run("evaluate", "study.toml", "tsm.safetensors", "dfcl-mer.safetensors", "--truth", "truth.parquet", "--resamples", "100", "--segment", "brand_type", "--quiet", "-o", "results.json");
  run("report", "results.json", "-o", "report.html", "--quiet");
});

after(() => session?.end());

test("the page of a real evaluation opens with every chart drawn and no trouble", async () => {
  const report = join(session.folder, "report.html");
  assert.ok(statSync(report).size < 1_000_000);
  for (const width of [1280, 390]) {
    const { page, trouble, close } = await session.open(report, { width, unfold: true });
    assert.deepEqual(trouble, []);
    for (const section of ["decision", "spend", "who", "sure", "appendix", "curves", "differences", "values", "calibration", "ranking", "check", "how"]) {
      assert.equal(await page.locator(`#${section}`).count(), 1, section);
    }
    assert.deepEqual(await session.emptyCharts(page), []);
    assert.ok((await session.overflow(page)) <= 0);
    assert.deepEqual(await session.violations(`file://${report}`, { width }), []);
    await close();
  }
});

test("the page shows the figures that evaluate wrote", async () => {
  const results = JSON.parse(readFileSync(join(session.folder, "results.json"), "utf8"));
  const { page, close } = await session.open(join(session.folder, "report.html"), { unfold: true });
  assert.equal(await page.locator(".verdict .sentence").innerText(), results.verdict.sentence);
  const rows = await page.locator("#values .table-frame").first().locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, 2 * results.budgets.length);
  const shown = Number(rows[0].match(/\(tsm\)\s+([\d.]+)/)[1]);
  assert.ok(Math.abs(shown - results.models[0].deployed[0].revenue.value) < 0.06, rows[0]);
  await close();
});
