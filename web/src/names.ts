// SPDX-License-Identifier: Apache-2.0
//
// Methods in plain words, by their code: the titles of dfcl/train/methods.cpp. A test compares the codes with those that
// `dfcl train` knows.
const kNames: Record<string, string> = {
  auto: "weighted stack of methods",
  tsm: "network, two stages",
  "tsm-boost": "boosted trees",
  "tsm-forest": "causal forest",
  "dfcl-pl": "network with policy loss",
  "dfcl-mer": "network with smoothed policy loss",
  "dfcl-ifd": "network with finite-difference loss",
  "dfcl-ifd-softmax": "network with softmax finite-difference loss",
  drm: "direct ranking network",
  drp: "direct efficiency network",
  dpm: "marginal efficiency network",
  cn: "monotone network",
};

// Empty where the code is not known.
export function plainName(code: string): string {
  return Object.hasOwn(kNames, code) ? (kNames[code] ?? "") : "";
}
