// SPDX-License-Identifier: Apache-2.0
//
// Bundles a page into one HTML file without references to anything outside it, or writes it as a C++ source with the page
// as one string: node build.mjs --page-html|--page-cpp|--planner-html|--planner-cpp FILE. `page` is that of dfcl report,
// `planner` that of dfcl serve.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022"],
    charset: "ascii",
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return result.outputFiles[0].text.trim();
}

const kPages = {
  page: { entry: "main.ts", style: "style.css", frame: "page.html", header: "dfcl/report/page/page_template.h", room: "report", name: "page_template" },
  planner: { entry: "planner/planner.ts", style: "planner/planner.css", frame: "planner/planner.html", header: "dfcl/serve/planner_page.h", room: "serve", name: "planner_template" },
};

async function page({ entry, style: sheet, frame }) {
  // Inside a script element, a closing tag in a string would end the element.
  const script = (await bundle(entry)).replaceAll("</script", "<\\/script");
  const style = await bundle(sheet);
  const hash = createHash("sha256").update(script).digest("base64");
  const template = readFileSync(join(here, "src", frame), "utf8").replace(/^<!--[^]*?-->\s*/, "");
  return template
    .replace("%SCRIPT_HASH%", () => hash)
    .replace("%STYLE%", () => style)
    .replace("%SCRIPT%", () => script);
}

// One literal of C++ a piece; neighbouring literals are one. Bytes beyond ASCII are written as octal escapes.
function cppLiteral(text) {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  const lines = [];
  for (let start = 0; start < bytes.length; start += 4000) {
    const piece = bytes.slice(start, start + 4000).replace(/[\\"?]/g, "\\$&");
    lines.push('"' + piece.replace(/[^\x20-\x7e]/g, (byte) => "\\" + byte.charCodeAt(0).toString(8).padStart(3, "0")) + '"');
  }
  return lines.join("\n");
}

function cppSource(text, { header, room, name }) {
  return [
    "// Made by web/build.mjs. Do not edit.",
    `#include "${header}"`,
    "",
    `namespace dfcl::${room} {`,
    "",
    `std::string_view ${name}() {`,
    `  static constexpr char kPage[] =\n${cppLiteral(text)};`,
    "  return {kPage, sizeof(kPage) - 1};",
    "}",
    "",
    `}  // namespace dfcl::${room}`,
    "",
  ].join("\n");
}

const [option, file] = process.argv.slice(2);
const [, which, form] = /^--(page|planner)-(html|cpp)$/.exec(option ?? "") ?? [];
if (!file || !which) {
  console.error("usage: node build.mjs --page-html|--page-cpp|--planner-html|--planner-cpp FILE");
  process.exit(2);
}
const text = await page(kPages[which]);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, form === "cpp" ? cppSource(text, kPages[which]) : text);
