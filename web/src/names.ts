// SPDX-License-Identifier: Apache-2.0
//
// Methods in plain words, by their code; a test compares the codes with those that `dfcl train` knows.
const kNames: Record<string, string> = {
  auto: "best mix of models",
  tsm: "two-stage network",
  "tsm-boost": "boosted trees",
  "tsm-forest": "causal forest",
  "dfcl-pl": "policy-learning network",
  "dfcl-mer": "policy-learning network with temperature",
  "dfcl-ifd": "decision-focused network",
  "dfcl-ifd-softmax": "decision-focused network on softmax",
  drm: "direct ranking network",
  drp: "direct efficiency network",
  dpm: "marginal efficiency network",
  cn: "monotone network",
};

export const kMethodCodes = Object.keys(kNames);

// Empty where the code is not known.
export function plainName(code: string): string {
  return Object.hasOwn(kNames, code) ? (kNames[code] ?? "") : "";
}
