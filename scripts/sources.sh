# Sourced. fetch_sources DIRECTORY PACKAGE...: the source packages, checked by apt's own signatures; no list or setting of the
# system changes.
fetch_sources() {
  local folder
  folder=$(realpath -m "$1")
  shift
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/sources"
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
    [ ! -f "$file" ] || sed 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$file" >"$folder/apt/sources/${file##*/}"
  done
  [ ! -f "$folder/apt/sources/sources.list" ] || mv "$folder/apt/sources/sources.list" "$folder/apt/sources/system.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$folder/apt/sources"
    -o "Dir::State::Lists=$folder/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=)
  "${apt[@]}" update || return
  (cd "$folder" && "${apt[@]}" source --download-only "$@")
}
