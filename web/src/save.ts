// SPDX-License-Identifier: Apache-2.0
//
// Files that the reader asks for, made in the page: nothing leaves the machine.
import { h } from "./dom";

export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// "Extra sales by spend" as extra-sales-by-spend.
export function fileName(title: string, ending: string): string {
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  return `${words || "dfcl"}.${ending}`;
}

// A small button that says for a moment what it did.
export function action(label: string, name: string, act: () => string | Promise<string>): HTMLButtonElement {
  const button = h("button", { type: "button", class: "action", "aria-label": name }, label);
  button.addEventListener("click", () => {
    const say = (done: string) => {
      button.textContent = done;
      announce(`${name}: ${done}`);
      setTimeout(() => (button.textContent = label), 1800);
    };
    void Promise.resolve()
      .then(act)
      .then(say, (problem: unknown) => {
        console.warn(name, problem);
        say("failed");
      });
  });
  return button;
}

// Says a sentence to readers who cannot see the page.
export function announce(sentence: string): void {
  let region = document.getElementById("said");
  if (!region) {
    region = h("div", { id: "said", class: "visually-hidden", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  region.textContent = sentence;
}
