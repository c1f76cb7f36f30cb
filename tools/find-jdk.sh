# Sourced by ./tern, ./format and .ci/run: find_jdk prints the folder of a JDK that can build and
# run Tern, or says on stderr what to install and fails.

# True when folder $1 is a JDK 25 from 25.0.3 on; 25.0.0 to 25.0.2 can corrupt memory (JDK-8377811).
is_jdk() {
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  jdk_version=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$1/release")
  case $jdk_version in
    25.0.0* | 25.0.1 | 25.0.1.* | 25.0.2 | 25.0.2.*) return 1 ;;
    25.*) return 0 ;;
    *) return 1 ;;
  esac
}

find_jdk() {
  for jdk in "${TERN_JAVA_HOME:-}" "${JAVA_HOME:-}" "${JAVA25_HOME:-}"; do
    if [ -n "$jdk" ] && is_jdk "$jdk"; then
      printf '%s\n' "$jdk"
      return 0
    fi
  done
  jdk=$(command -v java 2>/dev/null) && jdk=$(readlink -f "$jdk" 2>/dev/null) || jdk=
  for jdk in "${jdk%/bin/java}" /usr/lib/jvm/* /usr/java/* /opt/* /opt/java/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home /opt/homebrew/opt/openjdk@25 \
    "${HOME:-/nonexistent}"/.sdkman/candidates/java/* "${HOME:-/nonexistent}"/.jdks/* \
    "${HOME:-/nonexistent}"/Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if [ -n "$jdk" ] && is_jdk "$jdk"; then
      printf '%s\n' "$jdk"
      return 0
    fi
  done
  cat >&2 <<'MESSAGE'
tern: found no JDK 25 (25.0.3 or a later 25.0.x); install one, for example
  Debian, Ubuntu   apt install temurin-25-jdk     (https://adoptium.net/installation/linux)
  SDKMAN           sdk install java 25.0.3-tem
  macOS            brew install --cask temurin@25
or set TERN_JAVA_HOME to the folder of one.
MESSAGE
  return 1
}
