# Shared by the scripts here: messages, packages, building. Sourced, with the repository's top as the working directory.
# shellcheck shell=bash

say() { printf '== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# need_packages KINDS: installs what is missing of scripts/packages whose kind is one of the letters in KINDS.
need_packages() {
	local kinds=$1 kind name missing=()
	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system: install by hand what scripts/packages lists, if the build stops"
		return 0
	fi
	while read -r kind name; do
		case "$kind" in '#'*|'') continue ;; esac
		case "$kinds" in *"$kind"*) ;; *) continue ;; esac
		dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
	done < scripts/packages
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${#missing[@]} packages with apt-get: ${missing[*]}"
	local sudo=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || die "not root and no sudo: run as root  apt-get install ${missing[*]}"
		sudo=(sudo)
	fi
	local log
	log=$(mktemp)
	if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		die "apt-get could not install the packages; its whole output is in $log"
	fi
	rm -f "$log"
}

# build DIR [configure arguments...]: configures (once for the same arguments) and builds out of tree in DIR.
build() {
	local dir=$1
	shift
	mkdir -p "$dir"
	local log=$dir/build.log top=$PWD inputs
	inputs="$(cat configure.ac m4/*.m4 Makefile.am ./*/local.mk ./*/*/local.mk tests/unit/*.mk | sha256sum)"
	if [ ! -x configure ] || [ "$(cat build/.autoreconf 2>/dev/null)" != "$inputs" ]; then
		autoreconf -i >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "autoreconf failed, see $log"; }
		mkdir -p build
		printf '%s' "$inputs" > build/.autoreconf
	fi
	local stamp="$* $inputs"
	if [ "$(cat "$dir/.configured" 2>/dev/null)" != "$stamp" ] || [ ! -f "$dir/Makefile" ]; then
		(cd "$dir" && "$top/configure" "$@") >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "configure failed, see $log"; }
		# What was built with other flags does not know that they changed.
		make -C "$dir" clean >>"$log" 2>&1
		printf '%s' "$stamp" > "$dir/.configured"
	fi
	make -C "$dir" -k -j"$(nproc)" >>"$log" 2>&1 || { grep -E '(error|warning|undefined reference):? ' "$log" | head -n 30 >&2; die "the build failed, see $log"; }
}
