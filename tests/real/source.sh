# Shared by the scripts of this directory: Debian's source packages and their tools.
# Everything goes below a directory of the caller's choice; only the apt lists and installed packages are the system's.

# What fails once is tried again, and who else installs something is waited for; nothing waits for the disk.
patient="-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o DPkg::Options::=--force-unsafe-io"

as_root() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo -n DEBIAN_FRONTEND=noninteractive "$@"
    else
        return 1
    fi
}

# need_packages PACKAGE...: installs what is missing.
need_packages() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *' installed') ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -z "$missing" ] && return 0
    # shellcheck disable=SC2086 # a list of names
    as_root apt-get $patient install -y --no-install-recommends $missing >apt.log 2>&1 && return 0
    as_root apt-get $patient update >apt.log 2>&1 &&
        as_root apt-get $patient install -y --no-install-recommends $missing >>apt.log 2>&1
}

# need_source_index: lets apt know source packages, by an entry of its own that names the places of the binary ones.
need_source_index() {
    apt-get indextargets --format '$(CREATED_BY)' | grep -q '^Sources$' && return 0
    lists=/etc/apt/sources.list.d
    for file in "$lists/debian.sources" "$lists/ubuntu.sources"; do
        [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >sources.tmp &&
            as_root cp sources.tmp "$lists/prof-deb-src.sources"
    done
    if [ -f /etc/apt/sources.list ] && grep -q '^deb ' /etc/apt/sources.list; then
        sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >sources.tmp &&
            as_root cp sources.tmp "$lists/prof-deb-src.list"
    fi
    rm -f sources.tmp
    as_root apt-get $patient update >apt.log 2>&1
    apt-get indextargets --format '$(CREATED_BY)' | grep -q '^Sources$'
}

# get_source PACKAGE: unpacks the patched source of PACKAGE as ./source, once.
get_source() {
    [ -f source/.complete ] && return 0
    need_packages dpkg-dev && need_source_index || return 1
    rm -rf source ./*.dsc ./*.tar.*
    apt-get $patient source --download-only "$1" >apt.log 2>&1 || return 1
    dpkg-source --no-check -x ./*.dsc source >>apt.log 2>&1 && touch source/.complete
}
