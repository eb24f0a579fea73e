"""The programs that run checks, and which of their flags make no difference.

In a list of flags, `=` behind one says that a value belongs to it, `?` that a number may.
"""

from __future__ import annotations

from collections.abc import Sequence

from .runners import (
    Flags,
    Runner,
    covers_crates,
    covers_files,
    covers_files_here,
    covers_modules,
    covers_names,
    covers_packages,
    covers_same,
    covers_targets,
    covers_tests,
    locate_module,
    locate_nowhere,
    locate_package,
    locate_path,
)


def flags(text: str) -> Flags:
    """Flags, from a text with spaces between them."""
    found = {}
    for word in text.split():
        flag = word.rstrip("=?")
        found[flag] = word[len(flag) :]
    return found


def find_runner(words: Sequence[str]) -> Runner | None:
    """The runner that a command calls."""
    for runner in RUNNERS:
        if runner.find_name(words) is not None:
            return runner
    return None


def _pairs(flag: str, values: str) -> frozenset[str]:
    return frozenset(f"{flag} {value}" for value in values.split())


def _script_runner(manager: str, harmless: str, refused: str) -> Runner:
    names: dict[tuple[str, ...], tuple[str, ...]] = {(manager, "test"): ("test",), (manager, "run"): ()}
    if manager != "yarn":
        names[manager, "t"] = ("test",)
    if manager == "npm":
        names |= {("npm", "tst"): ("test",), ("npm", "run-script"): ()}
    return Runner(names, flags(harmless), flags(refused), covers_same, locate_nowhere, "the same script", behind={})


RUNNERS = (
    Runner(
        {("pytest",): ()},
        flags(
            "-q --quiet -v --verbose -x --exitfirst -s -l --showlocals --no-header --no-summary --full-trace --ff"
            " --failed-first --nf --new-first --cache-clear --disable-warnings --no-cov --cov-append --cov-branch"
            " --no-cov-on-fail -n= --numprocesses= --dist= --maxprocesses= -r= --tb= --color= --code-highlight="
            " --capture= --show-capture= --maxfail= --durations= --durations-min= --verbosity= --junitxml= --junit-xml="
            " --cov= --cov-report= --log-level= --log-cli-level= --randomly-seed="
        ),
        flags(
            "-k= -m= --deselect= --ignore= --ignore-glob= --collect-only --co --lf --last-failed --sw --stepwise"
            " --sw-skip --stepwise-skip --setup-plan --setup-only --setup-show --fixtures --markers --noconftest -c="
            " --config-file= --rootdir= --confcutdir= --pyargs -o= --override-ini= -W= --pythonwarnings= --reruns="
            " --only-rerun= --basetemp= --cov-config= --snapshot-update --import-mode="
            " -h --help -V --version --trace-config --debug"
        ),
        covers_tests,
        locate_path,
        "a directory covers the test files in it, a file its tests; no path is `testpaths`, or everything",
        stricter=flags("--strict --strict-markers --strict-config --cov-fail-under= --timeout= --runxfail"),
        pairs=_pairs("-p", "no:cacheprovider no:randomly no:sugar no:xdist xdist"),
        by="python",
        has_paths=True,
    ),
    Runner(
        {("unittest",): (), ("unittest", "discover"): ("discover",)},
        flags("-v --verbose -q --quiet -f --failfast -b --buffer -c --catch --locals --durations="),
        flags("-k= -p= --pattern= -t= --top-level-directory= -h --help"),
        covers_modules,
        locate_module,
        "a directory covers the files `test*.py` in it, a module its classes, a class its tests",
        naming={"-s": "", "--start-directory": ""},
        by="python",
        has_paths=True,
    ),
    Runner(
        {("cargo", "test"): (), ("cargo", "t"): ()},
        flags(
            "-q --quiet -v --verbose --no-fail-fast --offline --locked --frozen --timings --future-incompat-report"
            " --color= -j= --jobs= --message-format= --target-dir="
        ),
        flags(
            "--no-run --lib --bins --bin= --doc --test= --tests --example= --examples --bench= --benches --all-targets"
            " --exclude= --profile= --release -r --target= --config= -Z= --manifest-path= -F= --features="
            " --no-default-features --all-features -h --help"
        ),
        covers_crates,
        locate_nowhere,
        "no name of a test covers all; `--workspace` covers all packages",
        behind=flags("--nocapture --no-capture --show-output -q --quiet --color= --test-threads="),
        naming={"-p": "-p ", "--package": "-p "},
        saying={"--workspace": "--workspace", "--all": "--workspace"},
    ),
    Runner(
        {("go", "test"): ()},
        flags(
            "-v -failfast -cover -json -x -work -a -count= -p= -parallel= -covermode= -coverprofile= -coverpkg="
            " -shuffle="
        ),
        flags(
            "-run= -skip= -short -list= -c -o= -bench= -benchtime= -fuzz= -n -exec= -toolexec= -overlay= -modfile="
            " -mod= -tags= -vet= -C= -args -i -h -help"
        ),
        covers_packages,
        locate_package,
        "`./...` covers all packages below",
        stricter=flags("-race -timeout="),
        is_go=True,
    ),
    _script_runner(
        "npm",
        "-s --silent --no-progress --no-audit --no-fund --no-update-notifier --loglevel=",
        "--if-present --ignore-scripts --script-shell= --prefix= -C= -w= --workspace= -ws --workspaces"
        " --dry-run -h --help",
    ),
    _script_runner("pnpm", "", "--if-present --filter= -F= -r --recursive -h --help"),
    _script_runner("yarn", "", "--cwd= -h --help"),
    Runner(
        {("vitest", "run"): (), ("vitest",): ()},
        flags(
            "--run --silent --color --no-color --coverage --no-file-parallelism --logHeapUsage --hideSkippedTests"
            " --outputFile= --bail= --maxWorkers= --minWorkers="
        ),
        flags(
            "-t= --testNamePattern= --changed --passWithNoTests --watch -w --exclude= --shard= -u --update --project="
            " --dir= --root= -r= -c= --config= --allowOnly --retry= --dangerouslyIgnoreUnhandledErrors --mergeReports"
            " --standalone --mode= -h --help -v --version"
        ),
        covers_names,
        locate_path,
        "no name covers all; a directory covers the files in it",
        pairs=_pairs("--reporter", "default verbose dot basic tree tap json junit github-actions"),
        by="node",
        has_paths=True,
        not_started=("list", "bench", "related", "init", "typecheck", "watch", "dev", "complete"),
    ),
    Runner(
        {("jest",): ()},
        flags(
            "--silent --verbose --color --colors --no-color --ci -i --runInBand --coverage --no-coverage -b --bail"
            " --no-cache --expand -e --logHeapUsage --detectOpenHandles --json --noStackTrace -w= --maxWorkers="
            " --outputFile= --coverageReporters= --coverageDirectory="
        ),
        flags(
            "-t= --testNamePattern= --changedSince= -o --onlyChanged -f --onlyFailures --lastCommit --findRelatedTests"
            " --passWithNoTests --listTests --watch --watchAll --testPathIgnorePatterns= --testPathPattern="
            " --testPathPatterns= --shard= --selectProjects= --ignoreProjects= -c= --config= --rootDir= --roots="
            " --projects= -u --updateSnapshot --testMatch= --testRegex= --runTestsByPath --showConfig --clearCache"
            " --init --forceExit -h --help -v --version"
        ),
        covers_names,
        locate_path,
        "no name covers all; a directory covers the files in it",
        pairs=_pairs("--reporters", "default summary github-actions jest-junit"),
        by="node",
        has_paths=True,
    ),
    Runner(
        {("make",): ()},
        flags(
            "-s --silent --quiet -j? --jobs? -l? --load-average? -k --keep-going -S --no-keep-going -w"
            " --print-directory --no-print-directory -B --always-make -O --output-sync --trace"
        ),
        flags(
            "-n --dry-run --just-print --recon -q --question -t --touch -i --ignore-errors -f= --file= --makefile="
            " -o= --old-file= --assume-old= -W= --what-if= --new-file= --assume-new= -e --environment-overrides"
            " --eval= -E= -I= --include-dir= -p --print-data-base -r -R -h --help -v --version"
        ),
        covers_targets,
        locate_nowhere,
        "several targets cover each of them; `make -C DIR` is a run in DIR",
    ),
    Runner(
        {("tox",): (), ("tox", "run"): (), ("tox", "r"): ()},
        flags("-q --quiet -v --verbose -r --recreate --colored="),
        flags(
            "--notest -n -l --listenvs -a --listenvs-all --showconfig --sdistonly --devenv= -s"
            " --skip-missing-interpreters --skip-env= -x= --override= -c= --conf= --root= -f -m= --skip-pkg-install"
            " --installpkg= -h --help --version"
        ),
        covers_targets,
        locate_nowhere,
        "`-e a,b` covers each of the two",
        behind={},
        naming={"-e": ""},
        by="python",
        not_started=("list", "l", "config", "c", "quickstart", "q", "devenv", "d", "depends", "de", "exec", "e"),
    ),
    Runner(
        {("nox",): ()},
        flags("-v --verbose -r --reuse-existing-virtualenvs -R -x --stop-on-first-error --forcecolor --nocolor"),
        flags(
            "-l --list --list-sessions --install-only -k= --keywords= -t= --tags= -f= --noxfile= -p= --pythons="
            " --python= -P= --extra-pythons= --no-install --no-venv -h --help"
            " --version"
        ),
        covers_targets,
        locate_nowhere,
        "`-s a b` covers each of the two",
        behind={},
        naming={"-s": "", "--session": "", "--sessions": "", "-e": ""},
        by="python",
    ),
    Runner(
        {("ruff", "check"): ()},
        flags("-q --quiet -v --verbose -n --no-cache --output-format= --color= --no-fix"),
        flags(
            "--fix --unsafe-fixes --fix-only -e --exit-zero -s --silent --select= --ignore= --extend-select="
            " --extend-ignore= --per-file-ignores= --exclude= --extend-exclude= --config= --isolated --add-noqa"
            " --statistics --diff --show-files --show-settings -w --watch -h --help --version"
        ),
        covers_files_here,
        locate_path,
        "a directory covers the files in it; no path is the directory",
        by="python",
        has_paths=True,
    ),
    Runner(
        {("mypy",): ()},
        flags(
            "--pretty --no-color-output --color-output --show-error-codes --hide-error-codes --show-column-numbers"
            " --show-error-context --show-error-end --show-absolute-path --no-error-summary --error-summary"
            " --no-incremental --incremental -v --verbose"
        ),
        flags(
            "--exclude= --ignore-missing-imports --follow-imports= --config-file= -c= -m= -p= --module= --package="
            " --no-site-packages --ignore-errors --disable-error-code= --no-strict-optional --allow-untyped-defs"
            " --python-version= -h --help -V --version"
        ),
        covers_files,
        locate_path,
        "a directory covers the files in it",
        stricter=flags("--strict --warn-unused-ignores --disallow-untyped-defs --warn-unreachable"),
        pairs=_pairs("--cache-dir", "/dev/null .mypy_cache"),
        by="python",
        has_paths=True,
    ),
)
