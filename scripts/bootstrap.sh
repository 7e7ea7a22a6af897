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

# with_lock FILE WHAT COMMAND...: runs the command while no other launcher holds FILE, and says so if it has to wait.
# The lock ends when this process and all that it started and left behind have ended: a compiler may outlive a launcher.
with_lock() {
  local file=$1 what=$2 status lock
  shift 2
  mkdir -p "$(dirname "$file")" || give_up 4 "preparing build/" "cannot write $root/build" "make the folder writable"
  exec {lock}>"$file" || give_up 4 "locking $file" "cannot write it" "make the folder writable"
  if ! flock -n "$lock"; then
    say "waiting for another $what to end"
    flock "$lock"
  fi
  "$@"
  status=$?
  exec {lock}>&-
  return $status
}

# install_packages GROUP...: installs what packages.txt lists in those groups and the machine lacks.
# A stamp newer than packages.txt means that the groups were complete before; then this costs nothing.
install_packages() {
  [ "$root/build/.packages-${*// /-}" -nt "$packages_file" ] ||
    with_lock "$root/build/packages.lock" "installation of packages" install_locked "$@"
}

install_locked() {
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
    # Without the lock: a package may start a service, which would hold it for ever.
    if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 {lock}>&-; then
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

# build_preset PRESET PARTS TARGET...: configures if needed, then builds. PARTS are options that the build directory is to
# have on beside those that it has (TESTS, BENCH, or '' for none): they add targets and change none, so that every
# launcher shares the objects of the others. One build at a time works in a directory.
build_preset() { with_lock "$root/build/$1.lock" "build of '$1'" build_locked "$@"; }

build_locked() {
  local preset=$1 dir=$root/build/$1 log=$root/build/$1.log started target
  configure_locked "$1" "$2"
  shift 2
  started=$(mktemp "$dir/.started.XXXXXX") || give_up 4 "building $preset" "cannot write $dir" "free some disk space"
  say "building $preset ($(nproc) cores)"
  if ! run_ninja "$dir" "$log" "$@"; then
    rm -f "$started"
    [ -t 2 ] && log="see above" || log="see above (full log: $log)"
    give_up 4 "building $preset" "$log" "mend the named file, or remove $dir and run again"
  fi
  # What ./portolan compares the sources with: when this build began.
  for target in "$@"; do touch -r "$started" "$dir/.built-$target"; done
  rm -f "$started"
}

# configure_preset PRESET PARTS: only that, so that what CMake writes is up to date.
configure_preset() { with_lock "$root/build/$1.lock" "build of '$1'" configure_locked "$@"; }

configure_locked() {
  local preset=$1 parts=$2 dir=$root/build/$1 log=$root/build/$1.log part missing=() step=(cmake --preset "$1")
  for part in $parts; do
    grep -qsx "PORTOLAN_$part:BOOL=ON" "$dir/CMakeCache.txt" || missing+=("-DPORTOLAN_$part=ON")
  done
  if [ ! -f "$dir/build.ninja" ] || [ ${#missing[@]} -gt 0 ]; then
    say "configuring $preset${parts:+ with ${parts,,}}"
    step+=("${missing[@]}")
  else
    step=(ninja -C "$dir" build.ninja)  # again if a file of CMake's changed
  fi
  (cd "$root" && "${step[@]}") >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    give_up 4 "configuring $preset" "see above (full log: $log)" "remove $dir and run the same command again"
  }
}

# run_ninja DIR LOG TARGET...: on a terminal ninja shows how far it is; elsewhere a line says so now and then.
run_ninja() {
  local dir=$1 log=$2 next=$((SECONDS + 20)) line
  shift 2
  if [ -t 2 ]; then
    NINJA_STATUS='portolan: building [%f/%t, %e s] ' ninja -C "$dir" -j "$(nproc)" "$@" >&2
    return
  fi
  NINJA_STATUS='[%f/%t, %e s] ' ninja -C "$dir" -j "$(nproc)" "$@" 2>&1 | while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    case $line in
      \[*) [ $SECONDS -ge $next ] && { say "building ${line%%]*}]"; next=$((SECONDS + 20)); } ;;
    esac
  done 3>"$log"
  [ "${PIPESTATUS[0]}" -eq 0 ] && return
  grep -E -m 5 -A 5 'error:|FAILED' "$log" >&2 || tail -n 20 "$log" >&2
  return 1
}
