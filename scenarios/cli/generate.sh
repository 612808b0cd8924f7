#!/usr/bin/env bash
# Writes man pages and shell completion from the tables of --help. Usage: generate.sh KVCAST FOLDER
set -euo pipefail
kvcast=$1
folder=$2
mkdir -p "$folder"/{man1,bash,zsh,fish}
"$kvcast" --help=man >"$folder/man1/kvcast.1"
for command in $("$kvcast" --help=commands); do
    "$kvcast" "$command" --help=man >"$folder/man1/kvcast-$command.1"
done
"$kvcast" --help=bash >"$folder/bash/kvcast"
"$kvcast" --help=zsh >"$folder/zsh/_kvcast"
"$kvcast" --help=fish >"$folder/fish/kvcast.fish"
