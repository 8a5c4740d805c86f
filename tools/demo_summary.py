# SPDX-License-Identifier: Apache-2.0
"""Five lines on a comparison, for `make demo`: python3 demo_summary.py results.json"""

import json
import sys

results = json.load(open(sys.argv[1]))
place = len(results["budgets"]) // 2
budget, reference = results["budgets"][place]["per_unit"], results["models"][0]
revenue, cost = results["report"]["revenue_name"], results["report"]["cost_name"]
print(f"  {results['verdict']['sentence']}")
print(
    f"  Without discounts a shop makes {results['control']['revenue']['value']:.2f} {revenue}; "
    f"figures below are at a budget of {budget:.3f} {cost} a shop."
)
for model in results["models"]:
    plan = model["deployed"][place]
    gain, share = plan["incremental_revenue"], plan.get("share_of_oracle")
    best = f", {100 * share:.0f} % of the best possible" if share is not None else ""
    print(
        f"  {model['name']}: {gain['value']:+.3f} {revenue} a shop ({gain['low']:+.3f} to {gain['high']:+.3f}) "
        f"for {plan['cost']['value']:.3f} {cost}{best}"
    )
