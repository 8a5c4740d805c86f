# SPDX-License-Identifier: Apache-2.0
"""dfcl compare: what it writes, that it can be killed at any moment, and what it refuses."""

import json
import re
import shutil
import signal
import statistics
import subprocess
import time

import pyarrow.parquet as pq
import pytest

QUICK = ["--set", "method.epochs=3", "--set", "network.hidden=[8]", "--resamples", "40", "--seed", "5"]
METHODS = ["--methods", "tsm,dfcl-mer,dpm"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory, run_in):
    """A folder with a trial of 3,000 shops, and the program in it."""
    folder = tmp_path_factory.mktemp("compare")
    program = run_in(folder)
    made = program(
        "simulate",
        "--preset",
        "marketing",
        "--rows",
        "3000",
        "--seed",
        "1",
        "-o",
        "trial.parquet",
        "--study",
        "study.toml",
        "--truth",
        "truth.parquet",
    )
    assert made.code == 0, made.stderr
    return program


def compare(program, folder, *flags, code=0):
    result = program("compare", "study.toml", *QUICK, "-o", folder, *flags)
    assert result.code == code, result.stderr
    return result


@pytest.fixture(scope="module")
def whole(trial):
    """Two seeds of three methods, uninterrupted."""
    result = compare(trial, "whole", *METHODS, "--seeds", "2", "--truth", "truth.parquet")
    return trial.folder / "whole", json.loads((trial.folder / "whole" / "results.json").read_text()), result


def figures_of(results, name, figure):
    entry = next(one for one in results["entries"] if one["name"] == name)
    return [one for one in entry["over_seeds"] if one["figure"] == figure]


def test_every_method_and_seed_is_trained_and_shown(whole, trial):
    folder, results, result = whole
    assert (results["kind"], results["made_by"]["verb"]) == ("comparison", "compare")
    assert [model["name"] for model in results["models"]] == ["tsm", "dfcl-mer", "dpm"]
    assert sorted(path.name for path in (folder / "models").iterdir()) == sorted(
        f"{method}-{seed}.safetensors" for method in ("tsm", "dfcl-mer", "dpm") for seed in (5, 6)
    )
    assert not list((folder / "checkpoints").iterdir())
    times = json.loads((folder / "training.json").read_text())
    assert len(times) == 6 and all(time["seconds"] > 0 and not time["resumed"] for time in times.values())
    assert "seconds" not in (folder / "results.json").read_text()
    page = (folder / "report.html").read_text()
    assert "Training time" in page and "Over training seeds" in page
    assert "Means over 2 training seeds; intervals hold their spread." in results["verdict"]["sentence"]
    assert results["verdict"]["beats_random"] in ("yes", "no", "not_shown")
    for words in (
        "over test units",
        "over 2 training seeds",
        "gain over tsm",
        "Training time",
        "dfcl-mer, seed 6 (5 of 6)",
    ):
        assert words in result.stdout + result.stderr


def test_the_screen_shows_what_the_verdict_speaks_of(whole, trial):
    """One cut of the plans: deployed, means over seeds. Two cuts beside each other once named two best methods."""
    _, results, _ = whole
    shown = trial.plain("compare", "study.toml", *QUICK, "-o", "whole", *METHODS, "--seeds", "2", "--truth", "truth.parquet", "--quiet")
    assert shown.code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 100
    assert " over control per shop, 2 seeds; 95 % intervals, each alone" in shown.stdout or " over control per unit, 2 seeds; 95 % intervals, each alone" in shown.stdout
    assert "first seed" not in shown.stdout and "gain over" not in shown.stdout
    assert "Pays back: " in shown.stdout and "Targeting beats random: " in shown.stdout
    # Of a method, the screen has the mean over seeds of what the evaluations of each seed say.
    control = results["control"]["revenue"]["value"]
    budget = results["budgets"][0]["per_unit"]
    revenue = next(one for one in figures_of(results, "dfcl-mer", "revenue") if one["budget_per_unit"] == budget)
    # A column for each budget, or where these do not fit, a row.
    heads = next(line for line in lines if "dfcl-mer" in line and "tsm" in line).split()
    cells = re.findall(r"(-?[\d,.]+) \(", lines[lines.index(next(line for line in lines if "----" in line)) + 1])
    cell = float(cells[heads.index("dfcl-mer")].replace(",", ""))
    assert cell == pytest.approx(revenue["mean"] - control, abs=0.02)
    assert "than tsm at" in shown.stdout
    assert lines[-2].startswith("results: ") and lines[-1].startswith("report: ")


def test_a_model_is_that_of_train(whole, trial):
    folder, _, _ = whole
    trained = trial("train", "study.toml", "--method", "dfcl-mer", *QUICK[:4], "--seed", "6", "-o", "plain.safetensors")
    assert trained.code == 0, trained.stderr
    assert (trial.folder / "plain.safetensors").read_bytes() == (
        folder / "models" / "dfcl-mer-6.safetensors"
    ).read_bytes()


def test_figures_over_seeds_are_means_deviations_and_paired_differences(whole, trial):
    folder, results, _ = whole
    budget = results["budgets"][2]["per_unit"]
    evaluations = {}
    for name in ("tsm", "dfcl-mer"):
        for seed in (5, 6):
            path = folder / "models" / f"{name}-{seed}.safetensors"
            shown = trial(
                "evaluate",
                "study.toml",
                path,
                "--resamples",
                "0",
                "--json",
            )
            evaluations[name, seed] = json.loads(shown.stdout)["models"][0]["deployed"][2]["revenue"]["value"]
    figure = next(one for one in figures_of(results, "dfcl-mer", "revenue") if one["budget_per_unit"] == budget)
    values = [evaluations["dfcl-mer", 5], evaluations["dfcl-mer", 6]]
    assert figure["seeds"] == [5, 6] and figure["values"] == pytest.approx(values, rel=1e-9)
    assert figure["mean"] == pytest.approx(statistics.mean(values)) and figure["sd"] == pytest.approx(
        statistics.stdev(values)
    )
    pairs = [evaluations["dfcl-mer", seed] - evaluations["tsm", seed] for seed in (5, 6)]
    half = 12.706204736 * statistics.stdev(pairs) / 2**0.5  # the 97.5 % quantile of t with one degree of freedom
    difference = figure["difference"]
    assert difference["value"] == pytest.approx(statistics.mean(pairs), abs=1e-9)
    assert difference["high"] - difference["value"] == pytest.approx(half, rel=1e-6)


def test_killed_in_the_middle_it_ends_with_the_same_bytes(whole, trial):
    folder, _, _ = whole
    command = [
        "compare",
        "study.toml",
        *QUICK,
        *METHODS,
        "--seeds",
        "2",
        "--truth",
        "truth.parquet",
        "-o",
        "killed",
        "--quiet",
    ]
    killed = trial.folder / "killed"
    stopped = 0
    for wanted in (1, 4):  # models that are there when it is killed
        process = trial.start(*command)
        deadline = time.monotonic() + 120
        while (
            len(list(killed.glob("models/*.safetensors"))) < wanted
            and time.monotonic() < deadline
            and process.poll() is None
        ):
            time.sleep(0.005)
        process.kill()
        process.wait()
        stopped += not (killed / "results.json").exists()
    assert stopped > 0, "it was faster than we could kill it"
    before = {path.name: path.stat().st_mtime_ns for path in killed.glob("models/*.safetensors")}
    assert before, "it was killed after some models"
    done = trial(*command)
    assert done.code == 0, done.stderr
    assert (killed / "results.json").read_bytes() == (folder / "results.json").read_bytes()
    assert {
        name: (killed / "models" / name).stat().st_mtime_ns for name in before
    } == before, "finished models are not trained again"
    again = trial(*command)
    assert again.code == 0
    assert (killed / "results.json").read_bytes() == (folder / "results.json").read_bytes()


WILD = "method.multipliers=[1e38]"  # too large for any gradient


def test_a_method_that_fails_is_shown_and_tried_again(trial):
    flags = ["--methods", "tsm,dfcl-mer", "--set", f'sweep.settings=["dfcl-mer wild: {WILD}"]']
    result = compare(trial, "failing", *flags)
    said = " ".join(result.stdout.split())
    assert "dfcl-mer wild, seed 5" in result.stderr and "dfcl-mer wild, seed 5: training broke down" in said
    results = json.loads((trial.folder / "failing" / "results.json").read_text())
    assert [model["name"] for model in results["models"]] == ["tsm", "dfcl-mer"]
    (failure,) = results["failures"]
    assert (failure["name"], failure["seed"]) == ("dfcl-mer wild", 5) and "broke down" in failure["message"]
    assert results["verdict"]["sentence"].endswith("dfcl-mer wild could not be trained with seed 5: nothing here is of it.")
    assert "training dfcl-mer wild" in compare(trial, "failing", *flags).stderr


def test_a_method_that_does_not_suit_the_trial_leaves_the_others_be(trial):
    result = compare(trial, "unsuited", "--methods", "tsm,drp,dfcl-mer")
    warning = "warning: drp is for trials of two arms: found 5 arms; the others go on"
    assert warning in result.stderr.split("dfcl: training")[0]
    results = json.loads((trial.folder / "unsuited" / "results.json").read_text())
    assert [model["name"] for model in results["models"]] == ["tsm", "dfcl-mer"]
    assert {failure["name"] for failure in results["failures"]} == {"drp"}


def test_without_its_reference_nothing_is_compared(trial):
    result = compare(trial, "no-reference", "--methods", "dfcl-mer,tsm", "--set", WILD, code=3)
    assert "the reference, dfcl-mer, could not be trained: training broke down" in result.stderr
    assert "training tsm" not in result.stderr and "goes on from there" not in result.stderr
    assert not (trial.folder / "no-reference" / "results.json").exists()


def test_a_sweep_tries_one_alternative_at_a_time(trial):
    text = (trial.folder / "study.toml").read_text()
    sweep = '\n[sweep]\nalpha = [0.5, 2]\nsettings = ["dfcl-mer rising: method.monotone=[\'revenue\', \'cost\']"]\n\n[compare]\nmethods = ["tsm", "dfcl-mer"]\n'
    (trial.folder / "sweep.toml").write_text(text + sweep)
    result = trial("compare", "sweep.toml", *QUICK, "-o", "swept")
    assert result.code == 0, result.stderr
    results = json.loads((trial.folder / "swept" / "results.json").read_text())
    assert [(entry["name"], entry["swept"], entry["value"]) for entry in results["entries"]] == [
        ("tsm", "", ""),
        ("dfcl-mer", "", ""),
        ("dfcl-mer alpha=0.5", "alpha", "0.5"),
        ("dfcl-mer alpha=2", "alpha", "2"),
        ("dfcl-mer rising", "settings", "rising"),
    ]
    figure = next(one for one in results["figures"] if one["id"] == "sweep-alpha")
    assert figure["panels"] and [series["name"] for series in figure["series"]] == ["tsm", "dfcl-mer"]
    assert [[point["x"] for point in series["points"]] for series in figure["series"]] == [[0.5, 2], [0.5, 2]]
    assert len({point["y"] for point in figure["series"][0]["points"]}) == 1
    settings = next(one for one in results["figures"] if one["id"] == "sweep-settings")
    assert [point["x"] for point in settings["series"][1]["points"]] == ["rising"]
    model = trial("info", "swept/models/dfcl-mer_alpha=0.5-5.safetensors")
    assert model.code == 0 and "0.5" in model.stdout


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--methods", "tsm,dfcl-mre"], ["dfcl-mre", "did you mean 'dfcl-mer'"]),
        (["--methods", "tsm,nothing-like-it"], ["nothing-like-it", "tsm-forest", "auto"]),
        (["--methods", "tsm, ,dfcl-mer"], ["--methods", "an empty text"]),
        ([], ["--methods", "no methods"]),
        (["--methods", "tsm,tsm"], ["'tsm' stands twice"]),
        (["--methods", "tsm", "--seeds", "0"], ["--seeds", "1 to 1,000"]),
        (["--methods", "tsm", "--seeds", "1.5"], ["error: --seeds", "1.5", "a whole number"]),
        (["--methods", "drp,tsm"], ["error: drp is for trials of two arms", "5 arms"]),
        (["--methods", "tsm,dfcl-mer", "--set", 'sweep.alpha=["x"]'], ["[sweep] alpha", "a number"]),
        (["--methods", "tsm,dfcl-mer", "--set", "sweep.alpha=[-1]"], ["alpha", "0 or more"]),
        (["--methods", "tsm,dfcl-mer", "--set", "sweep.multipliers=[[]]"], ["[sweep] multipliers", "one number or more"]),
        (["--methods", "tsm,dfcl-mer", "--set", 'sweep.baseline=["men"]'], ["baseline", "'men'", "none, mean or dr"]),
        (["--methods", "tsm,dfcl-mer", "--set", "sweep.alhpa=[1]"], ["alpha"]),
        (["--methods", "tsm", "--set", "sweep.alpha=[1]"], ["none of the methods uses 'alpha=1'"]),
        (["--methods", "tsm", "--set", 'sweep.settings=["split.seed=2"]'], ["split.seed=2", "same rows"]),
        (["--methods", "tsm", "--set", 'sweep.settings=["method.epochs=x"]'], ["[sweep]", "[method] epochs", "whole number"]),
        (["--methods", "tsm", "--set", 'sweep.settings=["dfcl-pl slow: method.epochs=4"]'], ["is for dfcl-pl", "not among the methods"]),
        (["--methods", "tsm", "--set", f'sweep.settings=["{"long" * 60}: method.epochs=4"]'], ["too long for a file"]),
        (["--methods", "tsm", "--segment", "no_such_column"], ["no_such_column"]),
        (["--methods", "tsm", "--truth", "absent.parquet"], ["absent.parquet"]),
        (["--methods", "tsm", "--truth", "short.csv"], ["short.csv", "arm"]),
    ],
)  # fmt: skip
def test_mistakes_are_named_before_any_training(trial, tmp_path, flags, words):
    (trial.folder / "short.csv").write_text("shop_id,revenue_0,cost_0\n1,2,0\n")
    result = trial("compare", "study.toml", *QUICK, *flags, "-o", tmp_path / "folder")
    assert result.code in (2, 3, 4), result.stderr
    for word in words:
        assert word in result.stderr
    assert "dfcl: training" not in result.stderr
    assert not (tmp_path / "folder").exists()


def test_blanks_around_commas_are_no_part_of_names(trial):
    result = compare(trial, "blanks", "--methods", "tsm , dfcl-mer")
    assert "training dfcl-mer, seed 5" in result.stderr


def test_a_truth_that_is_far_from_the_trial_is_warned_of(trial, tmp_path):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(trial.folder / "truth.parquet")
    for place, name in enumerate(table.column_names):
        if name.startswith("revenue_"):
            table = table.set_column(place, name, pc.multiply(table[name], 100.0))
    pq.write_table(table, tmp_path / "far.parquet")
    result = compare(trial, "far", "--methods", "tsm", "--truth", tmp_path / "far.parquet")
    assert "warning: --truth" in result.stderr and "truth of another trial" in result.stderr
    assert "truth" not in compare(trial, "far", "--methods", "tsm", "--truth", "truth.parquet").stderr


def test_a_budget_below_what_control_costs_is_told_before_and_after(trial, tmp_path):
    made = trial("simulate", "--preset", "criteo", "--rows", "6000", "--seed", "1", "-o", tmp_path / "trial.parquet", "--study", tmp_path / "study.toml")
    assert made.code == 0, made.stderr
    flags = [*QUICK, "--methods", "tsm", "--force", "-o", tmp_path / "folder"]
    budgets = ["--set", "budgets.share_of_max=[]", "--set", "budgets.per_unit=[0.01, 0.045]", "--include-control"]
    result = trial("compare", tmp_path / "study.toml", *flags, *budgets)
    assert "less than everyone in control costs" in result.stderr and "per_unit 0.01 " in result.stderr
    assert "per_unit 0.045" not in result.stderr
    verdict = json.loads((tmp_path / "folder" / "results.json").read_text())["verdict"]
    told = ["Control alone costs more than this budget." in detail for detail in verdict["details"][:2]]
    assert told == [True, False]
    assert verdict["status"] == "unfit" or "Everyone in control costs" in verdict["sentence"]


@pytest.mark.parametrize(
    "folder, code, words",
    [
        ("study.toml", 4, ["study.toml: is a file", "choose another name"]),
        ("/dev/full/x", 4, ["/dev/full/x: cannot make the folder"]),
        ("", 2, ["-o: is empty"]),
        ("x" * 300, 4, ["cannot make the folder"]),
        ("/proc/x", 4, ["cannot make the folder"]),
    ],
)
def test_a_place_for_no_folder_is_named(trial, folder, code, words):
    result = trial("compare", "study.toml", *QUICK, "--methods", "tsm", "-o", folder)
    assert result.code == code, result.stderr
    for word in words:
        assert word in result.stderr
    assert "filesystem error" not in result.stderr and "remove" not in result.stderr
    assert "dfcl: training" not in result.stderr


def test_a_trial_in_the_place_of_the_study_is_no_study(trial):
    for name in ("trial.parquet", "short.csv"):
        (trial.folder / "short.csv").write_text("shop_id,revenue\n1,2\n")
        for command in (["compare", name, *QUICK, "--methods", "tsm", "-o", "no"], ["train", name, "-o", "no"], ["check", name]):
            result = trial(*command)
            assert result.code == 2 and "not a study file" in result.stderr and "dfcl init" in result.stderr


def test_a_full_disk_ends_the_comparison(trial):
    result = trial.shell(f"ulimit -f 1; dfcl compare study.toml {' '.join(QUICK)} --methods tsm,dfcl-mer -o disk")
    assert result.code == 4, result.stderr
    assert "cannot write" in result.stderr and "the same command goes on" in result.stderr
    assert "training dfcl-mer" not in result.stderr


def test_one_at_a_time_works_in_a_folder(trial):
    flags = ["compare", "study.toml", "--methods", "tsm,dfcl-mer", "--seeds", "50", "--seed", "5", "-o", "busy"]
    process = trial.start(*flags, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while not (trial.folder / "busy" / "compare.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        second = trial(*flags)
        assert second.code == 4 and "busy: another compare is running here" in second.stderr
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 130 and "run the same command again to go on" in said
    finally:
        process.kill()
        process.wait()
    process = trial.start(*flags, stderr=subprocess.PIPE)  # nobody is in the way
    assert any(line.startswith("dfcl: training") for line in iter(process.stderr.readline, ""))
    process.kill()
    process.communicate()


def test_a_damaged_model_is_to_be_removed(whole, trial):
    shutil.copytree(whole[0], trial.folder / "damaged")
    model = trial.folder / "damaged" / "models" / "dfcl-mer-5.safetensors"
    model.write_bytes(model.read_bytes()[:1000])
    flags = [*METHODS, "--seeds", "2", "--truth", "truth.parquet"]
    result = compare(trial, "damaged", *flags, code=4)
    assert "dfcl-mer-5.safetensors" in result.stderr and "remove that file" in result.stderr
    model.unlink()
    compare(trial, "damaged", *flags)
    assert (trial.folder / "damaged" / "results.json").read_bytes() == (whole[0] / "results.json").read_bytes()


def test_more_methods_and_seeds_go_on_with_what_is_there(whole, trial):
    compare(trial, "grown", "--methods", "tsm,dpm")
    before = {path.name: path.stat().st_mtime_ns for path in (trial.folder / "grown" / "models").iterdir()}
    assert sorted(before) == ["dpm-5.safetensors", "tsm-5.safetensors"]
    compare(trial, "grown", *METHODS, "--seeds", "2", "--truth", "truth.parquet")
    after = {path.name: path.stat().st_mtime_ns for path in (trial.folder / "grown" / "models").iterdir()}
    assert len(after) == 6 and {name: after[name] for name in before} == before
    assert (trial.folder / "grown" / "results.json").read_bytes() == (whole[0] / "results.json").read_bytes()
    titled = compare(trial, "grown", *METHODS, "--seeds", "2", "--set", "report.title=Other")
    assert "dfcl: training" not in titled.stderr
    assert json.loads((trial.folder / "grown" / "results.json").read_text())["report"]["title"] == "Other"


def test_a_folder_of_another_comparison_is_refused(whole, trial):
    folder, results, _ = whole
    result = compare(trial, "whole", "--methods", "tsm,dfcl-pl", code=2)
    assert "another comparison: --methods was tsm,dfcl-mer,dpm, and is tsm,dfcl-pl now" in result.stderr
    result = compare(trial, "whole", "--methods", "dpm,tsm,dfcl-mer", "--seeds", "2", code=2)
    assert "--methods was" in result.stderr, "another reference is another comparison"
    result = compare(trial, "whole", *METHODS, "--seeds", "2", "--set", "method.alpha=9", code=2)
    assert "another comparison: [method] alpha was not set, and is 9.0 now" in result.stderr
    result = compare(trial, "whole", *METHODS, code=2)
    assert "--seeds was 2, and is 1 now" in result.stderr
    assert json.loads((folder / "results.json").read_text()) == results
    other = trial.folder / "papers"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    assert "not empty" in compare(trial, "papers", *METHODS, code=2).stderr
    assert [path.name for path in other.iterdir()] == ["letter.txt"]


def test_a_copied_folder_goes_on_elsewhere(whole, trial):
    shutil.copytree(whole[0], trial.folder / "copied")
    (trial.folder / "copied" / "results.json").unlink()
    compare(trial, "copied", *METHODS, "--seeds", "2", "--truth", "truth.parquet")
    assert (trial.folder / "copied" / "results.json").read_bytes() == (whole[0] / "results.json").read_bytes()
