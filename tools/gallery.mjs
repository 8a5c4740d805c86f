// SPDX-License-Identifier: Apache-2.0
//
// The pictures of docs/gallery.md: node tools/gallery.mjs, after `make demo` (whose files it opens) and in a checkout whose page is
// built. DFCL_CHROMIUM names the browser, DFCL_BINARY the program, DFCL_DEMO the demo's folder.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(checkout, "web/package.json"))("playwright-core");
const program = process.env.DFCL_BINARY ?? join(checkout, "build/release/bin/dfcl");
const demo = process.env.DFCL_DEMO ?? join(checkout, "demo");
const folder = join(checkout, "docs/gallery");
mkdirSync(folder, { recursive: true });

function serve() {
  const words = ["serve", "compared/models/auto-1.safetensors", "trial.parquet", "--per-revenue", "0.4", "--no-browser"];
  const child = spawn(program, words, { cwd: demo, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve) => child.stdout.on("data", (data) => resolve({ address: String(data).trim(), end: () => child.kill("SIGINT") })));
}

const browser = await chromium.launch({ executablePath: process.env.DFCL_CHROMIUM ?? "/usr/bin/chromium-headless-shell" });

async function picture(name, address, { width = 1200, height = 820, scheme = "light", act = async () => {}, at = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForTimeout(700);
  await act(page);
  if (at) await page.locator(at).scrollIntoViewIfNeeded();
  if (at) await page.evaluate((place) => document.querySelector(place)?.scrollIntoView(), at);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}

const report = `file://${join(demo, "compared/report.html")}`;
await picture("report", report);
await picture("report-spend", report, { at: "#spend" });
await picture("report-who", report, { at: "#who", scheme: "dark" });
await picture("report-phone", report, { width: 390, height: 780 });
const served = await serve();
await picture("serve", served.address, {
  act: async (page) => {
    await page.getByRole("button", { name: "Compare with this plan" }).click();
    await page.waitForTimeout(600);
    await page.locator("#budget-slider").focus();
    for (let step = 0; step < 12; ++step) await page.keyboard.press("PageDown");
    await page.waitForTimeout(800);
  },
});
served.end();
await browser.close();
