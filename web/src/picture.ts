// SPDX-License-Identifier: Apache-2.0
//
// A chart as a picture that stands alone: title, key and drawing in one SVG with its colours written out, or that as PNG.

const kSpace = "http://www.w3.org/2000/svg";
const kEdge = 16; // pixels around the picture
const kLine = 22; // height of a line of text

function element(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(kSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text) made.textContent = text;
  return made;
}

const kWritten = ["fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "text-anchor"];

// Colours of the page are variables, which a picture elsewhere does not know.
function writeOut(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  if (from instanceof SVGElement && !(from instanceof SVGStyleElement)) {
    for (const key of kWritten) {
      const value = style.getPropertyValue(key);
      if (value) to.setAttribute(key, resolved(value));
    }
    to.removeAttribute("style");
  }
  [...from.children].forEach((child, place) => {
    const other = to.children[place];
    if (other) writeOut(child, other);
  });
}

// Mixed colours as red, green and blue, which every program reads.
function resolved(value: string): string {
  if (!/^(color|oklab|oklch|lab|lch)\(/.test(value)) return value;
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return value;
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha = 255] = pen.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`;
}

// The key beside the chart, where it has one.
function drawKey(key: Element | null | undefined, top: number): { drawn: SVGElement[]; height: number } {
  if (!key) return { drawn: [], height: 0 };
  const frame = key.getBoundingClientRect();
  const ink = getComputedStyle(key).color;
  const drawn = [...key.querySelectorAll("li")].flatMap((item) => {
    const box = item.getBoundingClientRect();
    const x = kEdge + box.left - frame.left;
    const y = top + box.top - frame.top;
    const swatch = item.querySelector(".swatch");
    const symbol = item.querySelector("svg path:last-of-type");
    const mark = swatch
      ? element("rect", { x, y: y + 4, width: 12, height: 12, fill: resolved(getComputedStyle(swatch).backgroundColor) })
      : element("path", { d: symbol?.getAttribute("d") ?? "", transform: `translate(${x} ${y + 4})`, fill: symbol ? getComputedStyle(symbol).fill : ink });
    return [mark, element("text", { x: x + 18, y: y + 14, fill: ink, "font-size": 13 }, item.textContent ?? "")];
  });
  return { drawn, height: frame.height + 6 };
}

export function pictureOf(chart: Element, title: string): { svg: string; width: number; height: number } | null {
  const drawing = chart.querySelector("svg");
  if (!drawing) return null;
  const box = drawing.getBoundingClientRect();
  const page = getComputedStyle(document.body);
  const key = drawKey(chart.closest("figure")?.querySelector(".key") ?? chart.closest("section")?.querySelector(".key"), kEdge + kLine);
  const width = Math.ceil(box.width + 2 * kEdge);
  const height = Math.ceil(box.height + 2 * kEdge + kLine + key.height);
  const whole = element("svg", { xmlns: kSpace, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": page.fontFamily.replaceAll('"', "'") });
  whole.append(element("rect", { width, height, fill: page.backgroundColor }));
  whole.append(element("text", { x: kEdge, y: kEdge + 13, "font-size": 15, "font-weight": 600, fill: page.color }, title));
  whole.append(...key.drawn);
  const copy = drawing.cloneNode(true) as SVGElement;
  writeOut(drawing, copy);
  copy.querySelectorAll("style").forEach((style) => style.remove());
  copy.setAttribute("x", String(kEdge));
  copy.setAttribute("y", String(kEdge + kLine + key.height));
  copy.setAttribute("overflow", "visible");
  whole.append(copy);
  return { svg: new XMLSerializer().serializeToString(whole), width, height };
}

// Twice as many pixels as on the page, for slides.
export async function pngOf(picture: { svg: string; width: number; height: number }): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * picture.width;
  canvas.height = 2 * picture.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}
