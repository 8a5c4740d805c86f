// SPDX-License-Identifier: Apache-2.0
//
// A browser and a folder for the tests of the page. DFCL_CHROMIUM is the browser, by default Debian's.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const kPlaces = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export async function startBrowser() {
  assert.ok(process.env.DFCL_BINARY, "DFCL_BINARY must name the program");
  const executablePath = process.env.DFCL_CHROMIUM ?? kPlaces.find((path) => existsSync(path));
  assert.ok(executablePath, "no Chromium: run tools/setup.sh, or set DFCL_CHROMIUM");
  const folder = mkdtempSync(join(tmpdir(), "dfcl-page-"));
  const browser = await chromium.launch({ executablePath });

  // Opens a report from disk; `trouble` collects what must not happen.
  async function open(report, { width = 1280, scheme = "light", scripts = true } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: scripts });
    const page = await context.newPage();
    const trouble = [];
    page.on("console", (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (request.url() !== `file://${report}`) trouble.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${report}`);
    if (scripts) await drawn(page);
    return { page, trouble, close: () => context.close() };
  }

  async function end() {
    await browser.close();
    rmSync(folder, { recursive: true });
  }

  return { folder, open, end, drawn, emptyCharts, overflow };
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
