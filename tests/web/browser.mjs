// SPDX-License-Identifier: Apache-2.0
//
// A browser and a folder for the tests of the page. DFCL_CHROMIUM is the browser, by default Debian's.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packages = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = packages("playwright-core");
const kPlaces = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export async function startBrowser() {
  assert.ok(process.env.DFCL_BINARY, "DFCL_BINARY must name the program");
  const executablePath = process.env.DFCL_CHROMIUM ?? kPlaces.find((path) => existsSync(path));
  assert.ok(executablePath, "no Chromium: run tools/setup.sh, or set DFCL_CHROMIUM");
  const folder = mkdtempSync(join(tmpdir(), "dfcl-page-"));
  const browser = await chromium.launch({ executablePath });

  // Opens a report from disk, with its appendix if wanted; `trouble` collects what must not happen.
  async function open(report, { width = 1280, scheme = "light", scripts = true, unfold = false } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: scripts, acceptDownloads: true });
    const page = await context.newPage();
    const trouble = [];
    page.on("console", (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (request.url() !== `file://${report}` && !/^(data|blob):/.test(request.url())) trouble.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${report}`);
    if (unfold) await page.locator("#appendix > details").evaluateAll((folds) => folds.forEach((fold) => (fold.open = true)));
    if (scripts) await drawn(page);
    return { page, trouble, close: () => context.close() };
  }

  async function end() {
    await browser.close();
    rmSync(folder, { recursive: true });
  }

  // Serious violations that axe finds with everything unfolded; its script is injected past the page's policy.
  async function violations(address, { width = 1280, scheme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(address);
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
    await drawn(page);
    await page.evaluate(readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8"));
    const found = await page.evaluate(async () => (await window.axe.run(document)).violations.map(({ id, impact, nodes }) => ({ id, impact, example: nodes[0].html.slice(0, 120) })));
    await context.close();
    return found.filter(({ impact }) => impact === "serious" || impact === "critical");
  }

  return { folder, browser, open, end, drawn, emptyCharts, overflow, violations };
}

// Charts are drawn when their width is known.
function drawn(page) {
  return page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => !chart.checkVisibility() || chart.childElementCount > 0));
}

function emptyCharts(page) {
  return page.$$eval(".chart", (charts) =>
    charts.filter((chart) => chart.checkVisibility() && chart.querySelectorAll("svg path, svg rect, svg line").length < 3).map((chart) => chart.textContent),
  );
}

// By how many pixels the page is wider than the window.
function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}
