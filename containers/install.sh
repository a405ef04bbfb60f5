#!/bin/sh
# Install the pinned environment with what clusters need: containers/install.sh FOLDER
# Both container recipes do no more than run this. It needs nothing but Python, and leaves the checkout as it is.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$1
checkout=$(cd "$(dirname "$0")/.." && pwd)
python=$(command -v "${PYTHON:-python3}") || { echo "$0: no ${PYTHON:-python3}" >&2; exit 1; }

"$python" -m venv "$folder"
install() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@"
}
# Every file that is fetched has a digest that the repository knows, and none is built or runs code of its own here.
install --require-hashes --only-binary :all: --requirement "$checkout/requirements.txt"
# The build uses what was installed just now, and fetches nothing.
install --no-index --no-build-isolation "$checkout"
"$folder/bin/snakemake" --version
