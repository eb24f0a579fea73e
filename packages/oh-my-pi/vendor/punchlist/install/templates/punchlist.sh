#!/bin/sh
# Starts the punchlist in the folder `vendor` beside this one (punchlist.cli), with a Python 3.11 or newer. Which one that is
# gets found out once, and is remembered in the state directory.
program=$0
while [ -L "$program" ]; do # a link to this file, as in ~/bin
    target=$(readlink "$program")
    case $target in
    /*) program=$target ;;
    *) program=$(dirname "$program")/$target ;;
    esac
done
case $program in
*/*) root=${program%/*}/.. ;;
*) root=.. ;;
esac
case ${XDG_STATE_HOME-} in
/*) state=$XDG_STATE_HOME/punchlist ;;
*) state=${HOME:+$HOME/.local/state/punchlist} ;;
esac
known=$state/plugin-python

start() { # start PYTHON ARGUMENT...
    python=$1
    shift
    if [ -w "$root/vendor" ] || [ -z "$state" ]; then
        exec "$python" -E -P "$root/bin/start.py" "$@"
    fi
    exec "$python" -E -P -X "pycache_prefix=$state/pycache" "$root/bin/start.py" "$@"
}

if [ -n "$state" ] && [ -r "$known" ] && read -r python <"$known" && [ -f "$python" ] && [ -x "$python" ]; then
    start "$python" "$@"
fi

# The Python behind one in a virtual environment stays when that is removed.
ask='import sys
v = sys.version_info
if v < (3, 11):
    print("%d.%d.%d" % v[:3])
    sys.exit(1)
import sqlite3
print(getattr(sys, "_base_executable", "") or sys.executable)'

old=
for name in python3 python3.14 python3.13 python3.12 python3.11 python \
    /opt/homebrew/bin/python3 /usr/local/bin/python3 "$HOME"/.local/bin/python3.1[1-9] \
    "$HOME"/.pyenv/versions/3.1[1-9]*/bin/python3 "$HOME"/.local/share/uv/python/cpython-3.1[1-9]*/bin/python3; do
    python=$(command -v "$name" 2>/dev/null) || continue
    case $python in
    /usr/bin/python3) [ -d /System/Library ] && continue ;; # of macOS: too old, and it may ask to install something
    esac
    if found=$("$python" -E -c "$ask" 2>/dev/null) && [ -x "$found" ]; then
        if [ -n "$state" ]; then
            (umask 077 && mkdir -p "$state" && printf '%s\n' "$found" >"$known.$$" && mv -f "$known.$$" "$known") 2>/dev/null ||
                rm -f "$known.$$" 2>/dev/null
        fi
        start "$found" "$@"
    fi
    case $found in
    [23].*.*) [ -n "$old" ] || old=" (${name##*/} is $found)" ;;
    esac
done

why="punchlist needs Python 3.11 or newer, or uv, and found neither$old. Install one of them and start the agent again."
for uvx in uvx "$HOME/.local/bin/uvx" "$HOME/.cargo/bin/uvx" /opt/homebrew/bin/uvx; do
    if command -v "$uvx" >/dev/null 2>&1; then
        if [ "${1-}" != hook ] || "$uvx" --quiet --from "$root" punchlist --version >/dev/null 2>&1; then
            exec env "$uvx" --quiet --from "$root" punchlist "$@"
        fi
        why="punchlist needs Python 3.11 or newer, and found none$old; uv could not bring one. Install Python and start the agent again."
    fi
done

if [ "${1-}" != hook ]; then
    printf '%s\n' "$why" >&2
    exit 1
fi
case $(cat) in # a hook never gets in the way; the user is told once a session
*'"SessionStart"'*) printf '{"systemMessage": "%s"}\n' "$why" ;;
esac
