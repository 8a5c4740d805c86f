// SPDX-License-Identifier: Apache-2.0
//
// The page of a comparison with more entries than a chart can hold, and of a study with one budget, in a browser.
// DFCL_BINARY and DFCL_CHROMIUM as in page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";
import { samples } from "./sample_results.mjs";

const kSections = ["curves", "differences", "values", "calibration", "ranking"];
let session;

before(async () => {
  session = await startBrowser();
  for (const name of ["many", "budget", "three"]) {
    writeFileSync(join(session.folder, `${name}.json`), JSON.stringify(samples[name]()));
    execFileSync(process.env.DFCL_BINARY, ["report", join(session.folder, `${name}.json`), "-o", join(session.folder, `${name}.html`), "--quiet"]);
  }
});
after(() => session?.end());

const open = (name, options) => session.open(join(session.folder, `${name}.html`), { unfold: true, ...options });

async function switchAllOn(page) {
  await page.locator(".switches details").evaluate((fold) => (fold.open = true));
  for (const box of await page.locator(".switch input").all()) await box.check();
}

test("at first the methods are on, and the values tried for a setting are off", async () => {
  const { page, trouble, close } = await open("many");
  const on = await page.locator(".switch input:checked").evaluateAll((boxes) => boxes.map((box) => box.value));
  assert.deepEqual(on, ["tsm", "dfcl-mer", "dfcl-ifd"]);
  assert.equal(await page.locator(".switch input").count(), 19);
  assert.deepEqual(await session.emptyCharts(page), []);
  assert.deepEqual(trouble, []);
  await close();
});

test("values tried have a panel for each method, with a label for every value and the reference as a line", async () => {
  for (const width of [1280, 390]) {
    const { page, close } = await open("many", { width });
    for (const [figure, labels] of [["#figure-1", ["0.1", "0.5", "1", "2", "10"]], ["#figure-2", ["[0.1]", "[0.1, 0.5]", "[0.1, 0.5, 1]"]]]) {
      assert.deepEqual(await page.locator(`${figure} figcaption`).allInnerTexts(), ["dfcl-mer", "dfcl-ifd"]);
      for (const panel of await page.locator(`${figure} .chart svg`).all()) {
        assert.deepEqual(await panel.locator("[data-mark='x-axis tick label'] text").allTextContents(), labels);
        assert.ok((await panel.textContent()).includes("tsm"));
      }
    }
    await close();
  }
});

test("no two of many series look alike, and they have no bands", async () => {
  const { page, trouble, close } = await open("many");
  assert.equal(await page.locator("#curves [data-mark=area] path").count(), 3);
  await switchAllOn(page);
  assert.equal(await page.locator("#curves [data-mark=area] path").count(), 0);
  assert.match(await page.locator("#curves .note").innerText(), /while at most 3 models are on/);
  assert.match(await page.locator("#figure-0 .note").first().innerText(), /while at most 8 series are on/);
  const looks = await page.locator("#curves .key svg").evaluateAll((keys) => keys.map((key) => key.innerHTML));
  assert.equal(looks.length, 19);
  assert.equal(new Set(looks).size, 19);
  const strokes = await page.locator("#curves .chart svg g[data-mark=line]").evaluateAll((lines) => lines.map((one) => `${one.getAttribute("stroke")} ${one.getAttribute("stroke-dasharray")}`));
  assert.equal(new Set(strokes).size, 21); // and the best possible, and random
  assert.match(strokes.at(-1), /--ink/); // on top of them
  const marks = await page.locator("#figure-0 .chart svg g[data-mark=dot]").evaluateAll((dots) => dots.map((one) => one.querySelector("path, circle")?.getBBox().width ?? 0));
  assert.equal(marks.length, 19);
  assert.ok(marks.every((width) => width > 4), marks.join());
  assert.deepEqual(trouble, []);
  await close();
});

test("labels of entries that differ at their end differ", async () => {
  for (const width of [1280, 390]) {
    const { page, close } = await open("many", { width });
    await switchAllOn(page);
    for (const [section, entries] of [["#differences", 18]]) {
      const labels = await page.locator(`${section} [data-mark='y-axis tick label'] text`).allTextContents();
      assert.equal(new Set(labels).size, entries, labels.join(" | "));
    }
    await close();
  }
});

test("the last column of a wide table is in view, and names are not broken inside a word", async () => {
  const { page, close } = await open("many");
  const frame = page.locator("#table-0 .table-frame");
  assert.equal(await frame.evaluate((one) => one.scrollWidth - one.clientWidth), 0);
  const heights = await frame.locator("tbody th").evaluateAll((cells) => cells.map((cell) => cell.querySelector("span").offsetHeight));
  assert.ok(heights.every((height) => height < 24), heights.join());
  await close();
});

test("every section says what its intervals are over", async () => {
  for (const [name, words] of [["many", "Intervals over test units, models of the first training seed (1)."], ["three", "Intervals over test units."]]) {
    const { page, close } = await open(name);
    for (const section of kSections) assert.equal(await page.locator(`#${section} .scope`).innerText(), words, section);
    await close();
  }
});

test("links within the page land below the bar", async () => {
  const { page, close } = await open("many");
  await page.locator(".switches details").evaluate((fold) => (fold.open = true));
  // The page learns of the bar's new height in the next frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  for (const section of ["values", "ranking"]) {
    await page.locator(`.contents a[href='#${section}']`).evaluate((link) => link.click());
    await page.waitForTimeout(100);
    const bar = await page.locator(".controls").boundingBox();
    const heading = await page.locator(`#${section} h2`).boundingBox();
    assert.ok(heading.y >= bar.y + bar.height, `${heading.y} under ${bar.y + bar.height}`);
  }
  await close();
});

test("with one budget the series stand side by side, without lines", async () => {
  const { page, close } = await open("budget");
  const chart = page.locator("#figure-0 .chart svg");
  assert.equal(await chart.locator("[data-mark=line]").count(), 0);
  assert.deepEqual(await chart.locator("[data-mark='x-axis tick label'] text").allTextContents(), ["tsm", "dfcl-ifd", "drp"]);
  assert.match(await chart.textContent(), /budget per unit: 0\.9/);
  await close();
});

test("a budget that was not evaluated cannot be chosen", async () => {
  const { page, close } = await open("budget");
  assert.equal(await page.getByRole("button", { name: /^Budget EUR\s27,032/ }).isDisabled(), true);
  await close();
});

test("a share of a gain that may be zero is not shown", async () => {
  const { page, close } = await open("budget");
  const rows = await page.locator("#ranking .table-frame").first().locator("tbody tr").allInnerTexts();
  assert.ok(!rows.join().includes("15.26") && !rows.join().includes("12.75"), rows[0]);
  assert.match(rows[0], /–/);
  assert.match(rows[1], /0\.58/);
  assert.match(await page.locator("#ranking summary").innerText(), /why some have no AUCC/);
  await close();
});

test("budgets are shown per unit and in total", async () => {
  const { page, close } = await open("three");
  assert.match(await page.locator(".jumps").innerText(), /EUR\s3,004\s+EUR\s6,007/);
  assert.match(await page.locator("#values tbody tr").first().innerText(), /3,004 in total/);
  await close();
});
