#!/bin/sh
# Installs delegate and the programs beside it from a release. `sh install.sh --help` explains it.
#
# Each version lies whole in a folder of its own below DIR/.delegation-layer; DIR/delegate is a link into it. The link is
# replaced in one step, and only after the archive's checksum was right and its program ran. So there is the old version or
# the new one at any moment, also when this script is killed.
set -eu
# Bytes are bytes, and ranges are those of ASCII.
LC_ALL=C
export LC_ALL

# Where the releases lie; written here when a release is made.
RELEASE_URL=

usage() {
	cat <<'END'
Installs delegate from a release.

  sh install.sh [--version V] [--install-dir DIR]

  --version V        Such as 0.1.0. Default: the latest. Environment: DELEGATE_VERSION.
  --install-dir DIR  An absolute path. Default: ~/.local/bin. Environment: DELEGATE_INSTALL_DIR.

DELEGATE_RELEASE_URL names the place of the releases, for a mirror: PLACE/latest/download/FILE and
PLACE/download/vVERSION/FILE, by https, or by http from this machine.
What has the name of a program and was not put there by this installer is left alone, and nothing is
installed; DELEGATE_REPLACE=1 replaces it.
Linux and macOS, amd64 and arm64. Exit codes: 0 installed, 1 not installed, 2 the call was wrong.
END
}

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	exit 1
}

misused() {
	printf 'install.sh: %s\n(sh install.sh --help explains the call)\n' "$1" >&2
	exit 2
}

# Removes what is not finished, whatever ends the script.
clean_up() {
	[ -z "$work" ] || rm -rf "$work"
	if [ -n "$staged" ]; then
		rm -rf "$staged"
		# Goes only when nothing was ever installed in it.
		rmdir "$store" 2>/dev/null || true
	fi
}

# The platform as releases name it.
platform() {
	system=$(uname -s)
	processor=$(uname -m)
	case $system in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "there is no release for $system; Linux and macOS are supported" ;;
	esac
	case $processor in
	x86_64 | amd64) processor=amd64 ;;
	aarch64 | arm64) processor=arm64 ;;
	*) fail "there is no release for the processor $processor; amd64 and arm64 are supported" ;;
	esac
	printf '%s-%s\n' "$system" "$processor"
}

# fetch URL FILE. A release on this machine leads nowhere else, and one by https to nothing else; wget alone knows no way to say
# the second.
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl --fail --silent --show-error --location --max-redirs "$redirects" --proto "=$protocols" --proto-redir =https \
			--connect-timeout 30 --speed-limit 1 --speed-time 60 --output "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		if [ "$redirects" = 0 ]; then
			wget -q -t 2 -T 60 --max-redirect=0 -O "$2" "$1"
		else
			wget -q -t 2 -T 60 -O "$2" "$1"
		fi
	elif [ -n "${DELEGATE_NODE:-}" ]; then
		# The npm package runs this script where there may be neither.
		# shellcheck disable=SC2016 # JavaScript, not a text of the shell.
		"$DELEGATE_NODE" -e '
			const [redirects, url, file] = process.argv.slice(-3);
			fetch(url, { redirect: redirects === "0" ? "error" : "follow" }).then(async (answer) => {
				if (!answer.ok) throw new Error(`${url}: HTTP ${answer.status}`);
				if (new URL(answer.url).protocol !== new URL(url).protocol) throw new Error(`${url} leads to ${answer.url}`);
				require("fs").writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
			}).catch((fault) => { console.error(String(fault.cause ?? fault)); process.exit(1); });
		' "$redirects" "$1" "$2"
	else
		fail "curl or wget is needed to download"
	fi || fail "could not download $1"
}

# The SHA-256 of a file.
digest() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum <"$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 <"$1"
	else
		openssl dgst -sha256 -r <"$1"
	fi | cut -c 1-64
}

# A word for a POSIX shell.
quoted() {
	printf "'"
	printf '%s' "$1" | sed "s/'/'\\\\''/g"
	printf "'"
}

# Refuses to replace what has the name of a program and is not ours. Ours is a link into the folder beside it, or the same
# program as a file.
demand_ours() {
	[ ! -d "$directory/$1" ] || fail "$directory/$1 is a directory"
	[ -e "$directory/$1" ] || [ -L "$directory/$1" ] || return 0
	[ "$replace" != 1 ] || return 0
	if [ -L "$directory/$1" ]; then
		case $(readlink "$directory/$1") in
		.delegation-layer/*/bin/"$1") return 0 ;;
		esac
	elif cmp -s "$directory/$1" "$staged/whole/bin/$1"; then
		return 0
	fi
	fail "$directory/$1 was not put there by this installer; move it away, or set DELEGATE_REPLACE=1. Nothing was installed"
}

# A link at DIR/NAME, in one step. What may not be replaced was refused before.
link() {
	ln -s ".delegation-layer/$folder/bin/$1" "$staged/$1"
	mv -f "$staged/$1" "$directory/$1" || fail "could not put $directory/$1 in place"
}

main() {
	version=${DELEGATE_VERSION:-}
	directory=${DELEGATE_INSTALL_DIR:-}
	url=${DELEGATE_RELEASE_URL:-$RELEASE_URL}
	replace=${DELEGATE_REPLACE:-}
	work=
	store=
	staged=
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --install-dir)
			[ $# -gt 1 ] || misused "$1 needs a value"
			[ -n "$2" ] || misused "the value of $1 is empty"
			if [ "$1" = --version ]; then version=$2; else directory=$2; fi
			shift 2
			;;
		-h | --help)
			usage
			exit 0
			;;
		*) misused "what is $1?" ;;
		esac
	done
	version=${version#v}
	case $version in
	*[!0-9A-Za-z.+-]* | [!0-9]*) misused "$version is no version; one looks like 0.1.0" ;;
	esac
	[ -n "$directory" ] || directory=${HOME:?is not set; use --install-dir}/.local/bin
	while [ "${directory%/}" != "$directory" ] && [ "$directory" != / ]; do
		directory=${directory%/}
	done
	case $directory in
	/*) ;;
	*) misused "--install-dir $directory is no absolute path" ;;
	esac
	url=${url%/}
	protocols=https
	redirects=10
	case $url in
	*@*) misused "DELEGATE_RELEASE_URL must not hold a user" ;;
	'') misused "where are the releases? DELEGATE_RELEASE_URL must name the place" ;;
	https://*) ;;
	http://127.0.0.1:* | http://localhost:* | http://\[::1\]:*)
		protocols=http
		redirects=0
		;;
	*) misused "DELEGATE_RELEASE_URL $url is no https:// address" ;;
	esac
	platform=$(platform)
	command -v sha256sum >/dev/null 2>&1 || command -v shasum >/dev/null 2>&1 || command -v openssl >/dev/null 2>&1 ||
		fail "sha256sum, shasum or openssl is needed to check the download"
	if [ -e "$directory" ]; then
		[ -d "$directory" ] || fail "$directory is no directory"
		[ -w "$directory" ] || fail "$directory can not be written; choose another one with --install-dir"
	fi

	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	work=$(mktemp -d "${TMPDIR:-/tmp}/delegation-layer.XXXXXX") || fail "no temporary directory can be made"

	# The list of checksums names the archive, and so the latest version.
	place=$url/latest/download
	[ -z "$version" ] || place=$url/download/v$version
	fetch "$place/checksums.txt" "$work/checksums.txt"
	# A mirror may have turned it into a text of another system.
	line=$(sed "s/$(printf '\r')\$//" "$work/checksums.txt" |
		grep -E "^[0-9a-f]{64}  delegation-layer-[0-9A-Za-z.+-]*-$platform\.tar\.gz\$" || true)
	[ -n "$line" ] || fail "the release at $place has no archive for $platform"
	[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "$place/checksums.txt names several archives for $platform"
	expected=${line%% *}
	stem=${line##* }
	stem=${stem%.tar.gz}
	found=${stem#delegation-layer-}
	found=${found%-"$platform"}
	[ -z "$version" ] || [ "$version" = "$found" ] || fail "$place holds the version $found"
	version=$found

	printf 'downloading delegate %s for %s\n' "$version" "$platform"
	fetch "$url/download/v$version/$stem.tar.gz" "$work/archive.tar.gz"
	actual=$(digest "$work/archive.tar.gz")
	[ "$actual" = "$expected" ] || fail "the checksum of $stem.tar.gz is wrong: $actual instead of $expected; nothing was installed"
	mkdir "$work/tree"
	tar -xzf "$work/archive.tar.gz" -C "$work/tree" || fail "the archive can not be unpacked"
	# A link could lead out of the folder that is to hold the version whole.
	[ -z "$(find "$work/tree" -type l)" ] || fail "the archive holds a link; nothing was installed"
	for program in "$work/tree/$stem"/bin/*; do
		case ${program##*/} in
		delegate | delegate-run | delegation-*) ;;
		*) fail "the archive holds a program of another name, ${program##*/}; nothing was installed" ;;
		esac
	done
	for program in delegate delegate-run; do
		[ -f "$work/tree/$stem/bin/$program" ] || fail "the archive holds no $program"
	done

	# From here on in the directory itself, where one rename puts things in place.
	store=$directory/.delegation-layer
	mkdir -p "$store" || fail "$store can not be made; choose another directory with --install-dir"
	# What an installer left that was killed without a word.
	find "$store" -maxdepth 1 -name '.staged.*' -mtime +1 -exec rm -rf {} +
	staged=$(mktemp -d "$store/.staged.XXXXXX") || fail "$store can not be written"
	cp -R "$work/tree/$stem" "$staged/whole" || fail "the programs could not be copied to $store"
	"$staged/whole/bin/delegate" version >"$work/version.txt" 2>&1 || {
		cat "$work/version.txt" >&2
		fail "the program does not run on this machine; nothing was installed"
	}
	for program in "$staged"/whole/bin/*; do
		demand_ours "${program##*/}"
	done

	# The name tells the content. What has it already is the same, or somebody damaged it.
	folder=$version-$(printf '%s' "$expected" | cut -c 1-12)
	if [ -d "$store/$folder" ] && ! diff -r "$staged/whole" "$store/$folder" >/dev/null 2>&1; then
		mv "$store/$folder" "$staged/damaged"
	fi
	if [ ! -d "$store/$folder" ]; then
		mv "$staged/whole" "$store/$folder" || fail "$store/$folder could not be put in place"
		# Another installer was faster, and ours went into its folder.
		rm -rf "$store/$folder/whole"
	fi
	# delegate comes last, and takes the others from the folder that it lies in.
	for program in "$store/$folder"/bin/*; do
		[ "${program##*/}" = delegate ] || link "${program##*/}"
	done
	link delegate

	printf 'installed %s\n' "$(sed -n 1p "$work/version.txt")"
	for program in "$store/$folder"/bin/*; do
		printf '  %s\n' "$directory/${program##*/}"
	done
	[ ! -d "$store/$folder/share" ] || printf 'completions and man pages: %s\n' "$store/$folder/share"
	for other in "$store"/*; do
		if [ "$other" != "$store/$folder" ]; then
			printf 'another version is kept for the turns that it admitted: %s\n' "$other"
		fi
	done
	case :${PATH:-}: in
	*:"$directory":*)
		first=$(command -v delegate || true)
		if [ "$first" != "$directory/delegate" ]; then
			printf 'PATH finds another one first: %s\n' "$first"
		fi
		;;
	*)
		printf 'It is not on your PATH. Put this line into the profile of your shell:\n'
		# shellcheck disable=SC2016 # The reader's shell expands it.
		printf '  export PATH=%s:"$PATH"\n' "$(quoted "$directory")"
		;;
	esac
}

main "$@"
