# SPDX-License-Identifier: Apache-2.0
"""Expected values for the tests beside this file, from numpy and scipy (1.17): not run by the tests."""
import numpy as np
from scipy import stats

rows = np.array([[2.1, 1.0], [3.4, 0.2], [1.9, 2.2], [4.4, 1.1], [5.0, 0.3], [3.1, 2.4], [6.2, 1.9], [4.8, 0.7],
                 [5.9, 2.8], [2.7, 1.5], [3.3, 0.9], [4.1, 2.0], [5.2, 1.2], [2.2, 0.1], [6.6, 2.5]])
arm = np.repeat([0, 1, 2], 5)
print("analysis of variance", stats.f_oneway(*[rows[arm == k, 0] for k in range(3)]).pvalue)

treated, rest = rows[arm == 1], rows[arm != 1]
n1, n0, size = len(treated), len(rest), 2
within = ((n1 - 1) * np.cov(treated.T) + (n0 - 1) * np.cov(rest.T)) / (n1 + n0 - 2)
shift = treated.mean(0) - rest.mean(0)
t2 = n1 * n0 / (n1 + n0) * shift @ np.linalg.solve(within, shift)
print("Hotelling", stats.f.sf((n1 + n0 - size - 1) / ((n1 + n0 - 2) * size) * t2, size, n1 + n0 - size - 1))

control = np.array([1.0, 3, 2, 5, 4, 9])
other = np.array([2, 2.5, 7, 11, 3, 8, 4.5, 6])
mean = control.mean()


def interval(value, variance, degrees):
    margin = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
    return value, value - margin, value + margin


print("mean", interval(mean, control.var(ddof=1) / 6, 5))
welch = stats.ttest_ind(other, control, equal_var=False)
print("Welch", welch.pvalue, welch.confidence_interval(0.95))
cluster = np.array([0, 0, 1, 1, 1, 2])
parts = np.array([(control[cluster == k] - mean).sum() / 6 for k in range(3)])
print("by cluster", interval(mean, 3 / 2 * (parts**2).sum(), 2))
weight = 1 / np.array([0.5, 0.25, 0.5, 0.25, 0.5, 0.2])
weighted = (weight * control).sum() / weight.sum()
parts = weight * (control - weighted) / weight.sum()
print("weighted", interval(weighted, 6 / 5 * (parts**2).sum(), 5))
print("51 to 49", stats.chi2.sf(40, 1))
