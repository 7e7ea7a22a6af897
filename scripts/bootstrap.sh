# Sourced by ./portolan, ./test and scripts/lint: installs packages, configures and builds.
# Every step says what it does on standard error before it takes time, and on failure what failed, why and what to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages_file=$root/packages.txt

say() { printf 'portolan: %s\n' "$*" >&2; }

# give_up EXIT_CODE STEP WHY WHAT_TO_DO
give_up() {
  say "$2 failed: $3"
  say "what to do: $4"
  exit "$1"
}

# install_packages GROUP...: installs what packages.txt lists in those groups and the machine lacks.
# A stamp newer than packages.txt means that the groups were complete before; then this costs nothing.
install_packages() {
  local groups="$*" stamp="$root/build/.packages-${*// /-}" missing=() group package why
  [ "$stamp" -nt "$packages_file" ] && return 0
  while read -r group package why; do
    case " $groups " in *" $group "*) ;; *) continue ;; esac
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] && continue
    command -v "$package" >/dev/null && continue  # a tool of that name from elsewhere will do
    missing+=("$package")
    say "needs package $package: $why"
  done <"$packages_file"
  if [ ${#missing[@]} -gt 0 ]; then
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
      command -v sudo >/dev/null || give_up 3 "installing packages" "not root, and there is no sudo" \
        "as root run: apt-get install ${missing[*]}"
      as_root=(sudo)
    fi
    say "installing ${#missing[@]} Debian packages"
    local log
    log=$(mktemp)
    if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
      local why_not
      why_not=$(grep -E '^(E|W|Err):' "$log" | head -n 3 | tr '\n' ' ')
      give_up 3 "installing packages" "${why_not:-apt-get ended with an error} (full log: $log)" \
        "check the network and the free disk space, then run the same command again"
    fi
    rm -f "$log"
  fi
  mkdir -p "$root/build" && touch "$stamp" || give_up 4 "preparing build/" "cannot write $root/build" \
    "make the folder writable or free some disk space"
}

# build_preset PRESET TARGET...: configures once, then builds.
build_preset() {
  local preset=$1 log dir=$root/build/$1
  shift
  log=$dir.log
  if [ ! -f "$dir/build.ninja" ]; then
    say "configuring $preset"
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || {
      tail -n 20 "$log" >&2
      give_up 4 "configuring $preset" "see above (full log: $log)" "remove $dir and run the same command again"
    }
  fi
  say "building $preset ($(nproc) cores)"
  cmake --build "$dir" --parallel "$(nproc)" --target "$@" >"$log" 2>&1 || {
    grep -E -m 5 -A 5 'error:|FAILED' "$log" >&2 || tail -n 20 "$log" >&2
    give_up 4 "building $preset" "see above (full log: $log)" "mend the named file, or remove $dir and run again"
  }
}
