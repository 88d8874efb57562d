#!/bin/bash
# The completions of bash and zsh know every command, option and choice that --help shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
slimgraph=${TEST_SLIMGRAPH_COMMAND:-build/release/slimgraph}
packaging/completions "$slimgraph" "$scratch"
# shellcheck disable=SC1090
source "$scratch/bash-completion/completions/slimgraph"
passed=0 failed=0

# completes "what the answer contains" WORD…: the last WORD is being typed.
completes() {
  local expected=$1 word
  shift
  COMP_WORDS=(slimgraph "$@")
  COMP_CWORD=$#
  _slimgraph || true
  for word in $expected; do
    [[ " ${COMPREPLY[*]} " == *" $word "* ]] && continue
    echo "FAILED: 'slimgraph $*' gives '${COMPREPLY[*]}', without '$word'"
    failed=$((failed + 1))
    return
  done
  passed=$((passed + 1))
}
# offers_only "the whole answer" WORD…
offers_only() {
  completes "$@"
  if [ "${COMPREPLY[*]}" != "$1" ]; then
    echo "FAILED: '${*:2}' gives '${COMPREPLY[*]}', not '$1'"
    failed=$((failed + 1))
  fi
}

offers_only pagerank pag
offers_only components compo
completes "run sweep choose" txn ""
completes "store txn help version" ""
completes "run" help txn r
offers_only "push pull" bfs g.slim --mode pu
offers_only "--mode" bfs --mod
completes "--output -o" wcc -
offers_only "" bfs g.slim --output ""  # left to the completion of files
offers_only "" bfs g
for command in bfs local convert "store apply" "txn run" "bench fabric" doctor; do
  # shellcheck disable=SC2086
  for option in $("$slimgraph" $command --help | sed -n '/^Options:/,/^$/p' |
    grep -oE '^  -[-a-z,]+' | tr ',' ' '); do
    completes "$option" $command -
  done
done
for command in $("$slimgraph" --help | sed -n '/^Subcommands:/,/^$/p' | grep -oE '^  [a-z-]+'); do
  completes "$command" ""
done
# The functions of zsh's completion are replaced by ones that print what they are given.
zsh_says() { # "answer" WORD…
  local expected=$1 said
  shift
  said=$(zsh -c 'compadd() { shift; echo "$*"; }; _files() { echo files; }
    _message() { echo "$1"; }; _describe() { local -a all=("${(@P)2}"); echo "${all[@]%%:*}"; }
    words=(slimgraph "${@:2}"); CURRENT=${#words}; source $1' zsh \
    "$scratch/zsh/site-functions/_slimgraph" "$@" 2>&1)
  if [ "$said" = "$expected" ]; then passed=$((passed + 1)); else
    echo "FAILED: zsh: 'slimgraph $*' gives '$said', not '$expected'"
    failed=$((failed + 1))
  fi
}
if command -v zsh >/dev/null; then
  zsh_says "run sweep choose" txn ""
  zsh_says "push pull auto" bfs g.slim --mode ""
  zsh_says files bfs g.slim --output ""
  zsh_says V bfs g.slim --source ""
  zsh_says "-h --help --hosts --json" help doctor -
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
