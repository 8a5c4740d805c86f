// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser, opened from disk as a reader does, with results made by a formula. DFCL_BINARY is the
// program; DFCL_CHROMIUM the browser, by default Debian's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";
import { samples } from "./sample_results.mjs";

let session;

before(async () => {
  session = await startBrowser();
});
after(() => session?.end());

// Makes the report of some results and opens it.
async function open(name, { results = samples[name](), ...options } = {}) {
  const source = join(session.folder, `${name}.json`);
  const report = join(session.folder, `${name}.html`);
  writeFileSync(source, JSON.stringify(results));
  execFileSync(process.env.DFCL_BINARY, ["report", source, "-o", report, "--quiet"]);
  return { report, ...(await session.open(report, options)) };
}

const budgetFigures = (page) => page.locator("#budget-section tbody tr").allInnerTexts();
const drawing = (page, section) => page.locator(`${section} .chart svg`).first().evaluate((svg) => svg.innerHTML);

for (const name of Object.keys(samples)) {
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
    test(`${name} opens from disk at ${width} pixels, ${scheme}: no request, no error, nothing wider than the page`, async () => {
      const { page, trouble, report, close } = await open(name, { width, scheme });
      assert.deepEqual(trouble, []);
      assert.ok((await session.overflow(page)) <= 0, `wider than the page by ${await session.overflow(page)}`);
      assert.ok(statSync(report).size < 1_000_000);
      assert.equal(await page.locator("h1").count(), 1);
      await close();
    });
  }
}

test("every chart of three models is drawn", async () => {
  const { page, close } = await open("three");
  assert.ok((await page.locator(".chart svg").count()) >= 8);
  assert.deepEqual(await session.emptyCharts(page), []);
  await close();
});

test("every chart of one model is drawn", async () => {
  const { page, close } = await open("one");
  assert.ok((await page.locator(".chart svg").count()) >= 5);
  assert.deepEqual(await session.emptyCharts(page), []);
  assert.equal(await page.locator(".switches").count(), 0);
  await close();
});

test("every kind of free figure is drawn", async () => {
  const { page, close } = await open("free");
  assert.equal(await page.locator(".chart svg").count(), 4);
  assert.deepEqual(await session.emptyCharts(page), []);
  assert.equal(await page.locator("main section").first().locator("h2").innerText(), "Weight of the prediction loss");
  await close();
});

test("the answer stands first, with its money and interval", async () => {
  const { page, close } = await open("three");
  assert.equal(await page.title(), "Shop discounts, spring trial");
  assert.equal(await page.locator(".verdict .status").innerText(), "Launch");
  assert.match(await page.locator(".verdict .sentence").innerText(), /0\.083 EUR more .* 0\.049 to 0\.117/);
  const first = await page.locator("main > *").first().getAttribute("class");
  assert.equal(first, "answer");
  await close();
});

test("the two answers stand under the status, and models are compared with plans that need no model", async () => {
  const { page, close } = await open("three");
  assert.equal(await page.locator(".verdict .answers").innerText(), "Pays back: yes. Targeting beats random: not shown.");
  const rows = await page.locator("#baselines .table-frame").first().locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, 3 * 2 * 3);
  assert.ok(rows.some((row) => row.includes("the best single arm")));
  assert.equal(await page.locator("#curves .random").count(), 1);
  await close();
});

test("the slider moves the figures, from the keyboard too", async () => {
  const { page, trouble, close } = await open("three");
  const before = await budgetFigures(page);
  const first = await drawing(page, "#budget-section");
  await page.locator("#budget").focus();
  for (let press = 0; press < 40; ++press) await page.keyboard.press("ArrowRight");
  const after = await budgetFigures(page);
  assert.equal(after.length, 3);
  after.forEach((row, place) => assert.notEqual(row, before[place]));
  assert.notEqual(await drawing(page, "#budget-section"), first);
  assert.match(await page.locator("#budget").getAttribute("aria-valuetext"), /^0\.280\sEUR per unit, 8,410\sEUR in total$/);
  assert.deepEqual(trouble, []);
  await close();
});

test("at a budget of the study the slider shows the figures of its plan, as the table does", async () => {
  const results = samples.three();
  const { page, close } = await open("three", { results });
  await page.getByRole("button", { name: "Budget 0.400 EUR per unit" }).click();
  const point = results.models[1].deployed[2];
  const row = (await budgetFigures(page))[1];
  assert.ok(row.includes(point.revenue.value.toFixed(3)), row);
  assert.ok(row.includes(`${point.revenue.low.toFixed(3)} to ${point.revenue.high.toFixed(3)}`), row);
  assert.ok(row.includes(point.cost.value.toFixed(4)), row);
  assert.ok(row.includes(point.incremental_profit.value.toFixed(3)), row);
  const table = (await page.locator("#values .table-frame").first().locator("tbody tr").allInnerTexts()).at(-2);
  assert.ok(table.includes(point.revenue.value.toFixed(3)), table);
  assert.equal(await page.getByRole("button", { name: "Budget 0.400 EUR per unit" }).getAttribute("aria-pressed"), "true");
  await close();
});

test("totals are the figures per unit times the units", async () => {
  const { page, close } = await open("three");
  await page.getByRole("radio", { name: /total of 30,035 units/ }).check();
  const row = (await budgetFigures(page))[0];
  assert.match(row, /363,\d{3}/);
  await close();
});

test("a model that is switched off leaves the charts and tables", async () => {
  const { page, trouble, close } = await open("three");
  const lines = () => page.locator("#curves .chart svg [aria-label=area] path").count();
  const before = await lines();
  assert.equal((await budgetFigures(page)).length, 3);
  await page.getByRole("checkbox", { name: "drp" }).uncheck();
  assert.equal((await budgetFigures(page)).length, 2);
  assert.equal(await lines(), before - 1);
  assert.equal(await page.locator("#differences tbody tr").count(), 3);
  for (const box of await page.locator(".switch input").all()) await box.uncheck();
  assert.equal(await page.locator("#curves .empty").innerText(), "No model is switched on.");
  await page.getByRole("checkbox", { name: "drp" }).check();
  assert.equal((await budgetFigures(page)).length, 1);
  assert.deepEqual(trouble, []);
  await close();
});

test("hovering over a curve shows values", async () => {
  const { page, close } = await open("three");
  const svg = page.locator("#curves .chart svg").first();
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.4);
  await page.waitForFunction(() => /orders .* to .*subsidy/s.test(document.querySelector("#curves [aria-label=tip]")?.textContent ?? ""));
  await close();
});

test("who gets what follows the chosen model and budget", async () => {
  const { page, trouble, close } = await open("three");
  const before = await page.locator("#allocation figcaption").allInnerTexts();
  await page.getByRole("button", { name: "Budget 0.100 EUR per unit" }).click();
  assert.notDeepEqual(await page.locator("#allocation figcaption").allInnerTexts(), before);
  await page.locator("#allocation-model").selectOption({ label: "drp" });
  await session.drawn(page);
  assert.deepEqual(await session.emptyCharts(page), []);
  assert.deepEqual(trouble, []);
  await close();
});

test("labels are text, whatever they hold", async () => {
  const { page, trouble, close } = await open("hostile");
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await page.locator("img, b, i, script:not([id=results]) + script").count(), 0);
  assert.match(await page.locator(".verdict .sentence").innerText(), /<\/script><script>window\.harmed=1/);
  assert.deepEqual(trouble, []);
  await close();
});

test("numbers and currency are written as the study says", async () => {
  const { page, close } = await open("one");
  assert.match(await page.locator(".facts").innerText(), /30 035/);
  assert.match(await page.locator(".budget-value").innerText(), /^€0,200 per unit, €6 007 in total$/);
  await close();
});

test("dark mode is dark, and prints on white", async () => {
  const { page, close } = await open("three", { scheme: "dark" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const brightness = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
  assert.ok(brightness(await paper()) < 150, await paper());
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(brightness(await paper()), 765);
  assert.equal(await page.locator("#budget").isVisible(), false);
  assert.equal(await page.locator("#values table").first().isVisible(), true);
  await close();
});

test("every control and chart has a name for readers who cannot see it", async () => {
  const { page, close } = await open("three");
  const nameless = await page.$$eval("input, select, button, svg[role=img], [role=region]", (elements) =>
    elements
      .filter((element) => {
        const label = element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.[0]?.textContent.trim();
        return !label;
      })
      .map((element) => element.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await close();
});

test("without scripts the answer is there as text", async () => {
  const { page, close } = await open("three", { scripts: false });
  assert.match(await page.locator("noscript").innerText(), /Launch dfcl-ifd: at a budget/);
  await close();
});
