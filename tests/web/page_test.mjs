// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser, opened from disk as a reader does, with results made by a formula. DFCL_BINARY is the
// program; DFCL_CHROMIUM the browser, by default Debian's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
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
  execFileSync(process.env.DFCL_BINARY, ["report", source, "-o", report, "--overwrite", "--quiet"]);
  return { report, ...(await session.open(report, options)) };
}

const tiles = (page) => page.locator("#decision .tile .big").allInnerTexts();
const against = (page) => page.locator("#decision tbody tr").allInnerTexts();
const models = (page) => page.locator("#models tbody tr").allInnerTexts();
const drawing = (page, section) => page.locator(`${section} .chart svg`).first().evaluate((svg) => svg.innerHTML);

for (const name of Object.keys(samples)) {
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
    test(`${name} opens from disk at ${width} pixels, ${scheme}: no request, no error, nothing wider than the page`, async () => {
      const { page, trouble, report, close } = await open(name, { width, scheme });
      assert.deepEqual(trouble, []);
      assert.ok((await session.overflow(page)) <= 0, `wider than the page by ${await session.overflow(page)}`);
      const most = 450_000 + 50_000 * (samples[name]().models?.length ?? 0); // as docs/report.md says
      assert.ok(statSync(report).size < most, `${statSync(report).size} bytes`);
      assert.equal(await page.locator("h1").count(), 1);
      await close();
    });
  }
}

test("every chart of three models is drawn", async () => {
  const { page, close } = await open("three", { unfold: true });
  assert.ok((await page.locator(".chart svg").count()) >= 8);
  assert.deepEqual(await session.emptyCharts(page), []);
  await close();
});

test("every chart of one model is drawn", async () => {
  const { page, close } = await open("one", { unfold: true });
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

test("millions are written short and stay inside their tiles, on a phone too", async () => {
  const results = samples.three();
  results.trial.units = 900_000_000;
  const { page, close } = await open("millions", { results, width: 390 });
  assert.ok((await tiles(page)).slice(0, 3).every((text) => /^[+\u2212]?(EUR\u00a0)?[\d.]+\u00a0(M|bn)$/.test(text)), (await tiles(page)).join("; "));
  const wider = await page.locator(".tile .big").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
  assert.deepEqual(wider, []);
  assert.match(await page.locator("#spend .chart svg").first().innerHTML(), />\d+(\.\d+)?\u00a0(M|bn)<|>\d+(\.\d+)?&nbsp;(M|bn)</);
  await close();
});

test("where the revenue is called spend, what is spent is called cost", async () => {
  const results = samples.three();
  results.report.revenue_name = "spend";
  const { page, close } = await open("named", { results });
  const names = await page.locator("#decision .tile dt").allInnerTexts();
  assert.equal(new Set(names).size, names.length, names.join("; "));
  assert.ok(names.includes("Extra spend") && /cost$/i.test(names[0]), names.join("; "));
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
  const { page, close } = await open("three", { unfold: true });
  assert.equal(await page.locator(".verdict .answers").innerText(), "Pays back: yes. Targeting beats random: not shown.");
  const rows = await page.locator("#baselines .table-frame").first().locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, 3 * 2 * 3);
  assert.ok(rows.some((row) => row.includes("the best single arm")));
  assert.equal(await page.locator("#curves .random").count(), 1);
  await close();
});

test("what is recommended is what is selected, in totals", async () => {
  const results = samples.three();
  const { page, close } = await open("three", { results });
  const plan = results.models[1].deployed[1];
  const units = results.trial.units;
  const total = (value) => Math.round(value * units).toLocaleString("en-US");
  assert.match(await page.locator("#decision .lead").innerText(), /The plan of the answer above: network with finite-difference loss \(dfcl-ifd\), budget EUR\s6,007 \(EUR\s0\.2 per unit\)\./);
  const roi = Math.round(100 * plan.roi.value);
  assert.deepEqual((await tiles(page)).map((text) => text.replace(/\s/g, " ")), [`EUR ${total(plan.incremental_cost.value)}`, `+${total(plan.incremental_revenue.value)}`, `+EUR ${total(plan.incremental_profit.value)}`, `+${roi} %`]);
  const rows = await against(page);
  assert.equal(rows.length, 3);
  assert.match(rows[1], /The same money at random/);
  assert.match(rows[2], /One arm for everyone/);
  await close();
});

test("the slider stops only at budgets that were evaluated, from the keyboard too", async () => {
  const results = samples.three();
  const { page, trouble, close } = await open("three", { results });
  const stops = [...new Set([...results.models[1].curve, ...results.models[1].deployed].map((point) => Number(point.budget_per_unit.toFixed(9))))].sort((a, b) => a - b);
  const input = page.locator("#budget");
  assert.equal(Number(await input.getAttribute("max")), stops.length - 1);
  const before = await tiles(page);
  const first = await drawing(page, "#spend");
  await input.focus();
  const seen = [];
  for (let press = 0; press < 3; ++press) {
    await page.keyboard.press("ArrowRight");
    seen.push(await page.locator(".budget-value").innerText());
  }
  const start = stops.indexOf(0.2);
  seen.forEach((text, press) => assert.match(text, new RegExp(`\\(EUR\\s${String(stops[start + 1 + press]).replace(".", "\\.")} per unit\\)`)));
  assert.notDeepEqual(await tiles(page), before);
  assert.notEqual(await drawing(page, "#spend"), first);
  assert.equal(await input.getAttribute("aria-valuetext"), seen.at(-1));
  await page.getByRole("button", { name: "Back to the plan of the answer" }).click();
  assert.deepEqual(await tiles(page), before);
  assert.deepEqual(trouble, []);
  await close();
});

test("break-even and the marginal return are in words", async () => {
  const { page, close } = await open("three");
  const text = await page.locator("#spend .findings").innerText();
  // The multiplier is 3 / (1 + 4 b), a unit of revenue is worth 0.4: break-even at b = 0.05, evaluated at 0.04.
  assert.match(text, /Break-even: by the predictions, more money pays back up to a budget of EUR\s1,201 \(EUR\s0\.04 per unit\), and not beyond\./);
  assert.match(text, /Marginal return at the chosen budget: EUR\s1 more is predicted to bring 1\.667 orders, worth EUR\s0\.67: it does not pay back\./);
  await close();
});

test("at a budget of the study the slider shows the figures of its plan, as the table does", async () => {
  const results = samples.three();
  const { page, close } = await open("three", { results, unfold: true });
  await page.getByRole("radio", { name: "per unit" }).check();
  await page.getByRole("button", { name: "Budget EUR 0.4" }).click();
  const point = results.models[1].deployed[2];
  const row = (await models(page))[1];
  assert.ok(row.includes(point.incremental_revenue.value.toFixed(3)), row);
  assert.ok(row.includes(point.incremental_cost.value.toFixed(4)), row);
  assert.ok(row.includes(point.incremental_profit.value.toFixed(3)), row);
  const table = (await page.locator("#values .table-frame").first().locator("tbody tr").allInnerTexts()).at(-2);
  assert.ok(table.includes(point.revenue.value.toFixed(3)), table);
  assert.equal(await page.getByRole("button", { name: "Budget EUR 0.4" }).getAttribute("aria-pressed"), "true");
  await close();
});

test("a model that is switched off leaves the charts and tables of the appendix", async () => {
  const { page, trouble, close } = await open("three", { unfold: true });
  const lines = () => page.locator("#curves .chart svg [data-mark=area] path").count();
  const before = await lines();
  assert.equal((await models(page)).length, 3);
  await page.getByRole("checkbox", { name: "drp" }).uncheck();
  assert.equal((await models(page)).length, 2);
  assert.equal(await lines(), before - 1);
  assert.equal(await page.locator("#differences tbody tr").count(), 3);
  for (const box of await page.locator(".switch input").all()) await box.uncheck();
  assert.equal(await page.locator("#curves .empty").innerText(), "No model is switched on.");
  await page.getByRole("checkbox", { name: "drp" }).check();
  assert.equal((await models(page)).length, 1);
  assert.deepEqual(trouble, []);
  await close();
});

// What the reader gets for a click on a button.
async function saved(page, name) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).first().click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path()) };
}

test("charts can be saved as SVG and PNG, with their colours written out", async () => {
  const { page, trouble, close } = await open("three");
  const svg = await saved(page, "Save as SVG: Profit and extra orders by spend");
  assert.equal(svg.name, "profit-and-extra-orders-by-spend.svg");
  const drawing = svg.text.toString();
  assert.match(drawing, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.ok(!/var\(|color-mix|<script|<style/.test(drawing));
  assert.ok((drawing.match(/<path/g) ?? []).length >= 3);
  const png = await saved(page, "Save as PNG: Profit and extra orders by spend");
  assert.deepEqual([...png.text.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  assert.ok(png.text.readUInt32BE(16) > 1500 && png.text.length > 20_000);
  assert.deepEqual(trouble, []);
  await close();
});

test("every table can be saved as CSV, figures in full and intervals in columns of their own", async () => {
  const results = samples.three();
  const { page, trouble, close } = await open("three", { results, unfold: true });
  assert.equal(await page.locator("table").count(), await page.getByRole("button", { name: /^Save as CSV/, includeHidden: true }).count());
  const { name, text } = await saved(page, /^Save as CSV: Against plans that need no model/);
  assert.match(name, /^against-plans-that-need-no-model.*\.csv$/);
  const [head, first] = text.toString().split("\r\n");
  assert.match(head, /^Plan,spend,"spend, low","spend, high",extra orders,/);
  const plan = results.models[1].deployed[1];
  const cells = first.slice(first.indexOf('",') + 2).split(",");
  assert.ok(Math.abs(Number(cells[0]) - plan.incremental_cost.value * results.trial.units) < 0.01, first);
  assert.ok(Math.abs(Number(cells[1]) - plan.incremental_cost.low * results.trial.units) < 0.01, first);
  assert.deepEqual(trouble, []);
  await close();
});

test("labels that a spreadsheet would run stand behind an apostrophe in CSV", async () => {
  const results = samples.free();
  results.tables = [{ title: "Formulas", columns: ["what", "value"], rows: [["=1+1", "-2.5"], ["@sum", "a,b"]] }];
  const { page, close } = await open("free", { results });
  const { text } = await saved(page, "Save as CSV: Formulas");
  assert.equal(text.toString(), 'what,value\r\n\'=1+1,-2.5\r\n\'@sum,"a,b"\r\n');
  await close();
});

for (const name of Object.keys(samples)) {
  test(`axe finds no serious violation on the page of ${name}`, async () => {
    const { report, close } = await open(name);
    for (const [width, scheme] of [[1440, "light"], [390, "dark"]]) assert.deepEqual(await session.violations(`file://${report}`, { width, scheme }), []);
    await close();
  });
}

test("hovering over a curve shows values", async () => {
  const { page, close } = await open("three", { unfold: true });
  const svg = page.locator("#curves .chart svg").first();
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.4);
  await page.waitForFunction(() => /orders .* to .*subsidy/s.test(document.querySelector("#curves [aria-label=tip]")?.textContent ?? ""));
  await close();
});

test("who gets it follows the chosen model and budget", async () => {
  const { page, trouble, close } = await open("three");
  const before = await page.locator("#who figcaption").allInnerTexts();
  const lead = await page.locator("#who .lead").innerText();
  await page.getByRole("button", { name: /^Budget EUR\s3,004/ }).click();
  assert.notDeepEqual(await page.locator("#who figcaption").allInnerTexts(), before);
  assert.notEqual(await page.locator("#who .lead").innerText(), lead);
  await page.locator("#model").selectOption({ label: "direct efficiency network (drp)" });
  await session.drawn(page);
  assert.match(await page.locator("#decision .lead").innerText(), /Another plan than that of the answer: direct efficiency network/);
  assert.deepEqual(await session.emptyCharts(page), []);
  assert.deepEqual(trouble, []);
  await close();
});

test("the rule is drawn as a tree at the chosen budget, uplift by tenths and effects by segment beside it", async () => {
  const { page, close } = await open("three");
  const tree = page.locator("#who .tree");
  assert.match((await tree.innerText()).replace(/\s+/g, " "), /orders more than 2\? yes: city is Paris\? yes: 10 20 % of all no: 5 35 % of all no: 0 \(control\) 45 % of all/);
  assert.match(await page.locator("#who").innerText(), /At a budget of 0\.2, the rule is not shown to differ/);
  await page.getByRole("button", { name: /^Budget EUR\s3,004/ }).click();
  assert.match(await page.locator("#who").innerText(), /At a budget of 0\.1, the rule is not shown to differ/);
  const deciles = page.locator("#who figure", { hasText: "by tenths of the units" });
  assert.equal(await deciles.locator("svg [data-mark=bar] rect").count(), 10);
  await deciles.locator("select").selectOption({ label: "\u201c5\u201d against control" });
  assert.equal(await deciles.locator("svg [data-mark=bar] rect").count(), 10);
  assert.equal(await page.locator("#who figcaption", { hasText: /^Effects/ }).count(), 2);
  await close();
});

test("without rules, tenths and effects there is nothing in their place", async () => {
  const results = samples.three();
  results.models.forEach((model) => {
    delete model.uplift;
    delete model.policy_trees;
  });
  delete results.effects;
  const { page, trouble, close } = await open("three", { results });
  assert.equal(await page.locator(".tree, #ranking-curves").count(), 0);
  assert.ok(!(await page.locator("#who").innerText()).includes("tenths"));
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
  assert.match(await page.locator(".budget-value").innerText(), /^€6 007 \(€0,2 per unit\)$/);
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
  assert.equal(await page.locator("#decision table").first().isVisible(), true);
  assert.equal(await page.locator("#appendix").isVisible(), false);
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

test("every method that the program knows has a name in plain words", async () => {
  const help = execFileSync(process.env.DFCL_BINARY, ["train", "--help"]).toString();
  const results = samples.one();
  const codes = ["tsm", "tsm-boost", "tsm-forest", "dfcl-pl", "dfcl-mer", "dfcl-ifd", "dfcl-ifd-softmax", "drm", "drp", "dpm", "cn"];
  for (const code of codes) assert.ok(help.includes(code), code);
  results.models = codes.map((code) => ({ ...results.models[0], name: code, method: code }));
  const { page, close } = await open("one", { results });
  const titles = await page.locator("#model option").allInnerTexts();
  assert.equal(titles.length, codes.length);
  titles.forEach((title, place) => assert.ok(title.endsWith(` (${codes[place]})`), title));
  await close();
});
