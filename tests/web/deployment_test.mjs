// SPDX-License-Identifier: Apache-2.0
//
// The page of a simulated online test: every chart, in a browser. DFCL_BINARY and DFCL_CHROMIUM as in
// page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";

const program = process.env.DFCL_BINARY;
const study = resolve(import.meta.dirname, "../../experiments/online.toml");
let session;

before(async () => {
  session = await startBrowser();
  const run = (...words) => execFileSync(program, words, { cwd: session.folder, stdio: ["ignore", "ignore", "pipe"] });
  const quick = ["method.epochs=2", "deploy.trial_units=800", "deploy.trial_days=3", "network.hidden=[8]"];
  run("deploy", study, "--units", "1500", "--days", "14", "--cost-drift", "0.2", ...quick.flatMap((key) => ["--set", key]), "-o", "deployed.json");
  run("report", "deployed.json", "-o", "deployed.html");
});

after(() => session?.end());

test("the page of an online test opens with every chart drawn and no trouble", async () => {
  const results = JSON.parse(readFileSync(join(session.folder, "deployed.json"), "utf8"));
  assert.ok(results.figures.length >= 2);
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
    const { page, trouble, close } = await session.open(join(session.folder, "deployed.html"), { width, scheme });
    assert.deepEqual(trouble, []);
    assert.deepEqual(await session.emptyCharts(page), []);
    assert.ok((await session.overflow(page)) <= 0);
    const text = await page.locator("main").innerText();
    for (const figure of results.figures) assert.ok(text.includes(figure.title), figure.title);
    for (const table of results.tables) assert.ok(text.includes(table.title), table.title);
    await close();
  }
});
