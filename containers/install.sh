#!/bin/sh
# Install the pinned environment with what clusters need: containers/install.sh FOLDER
# Both container recipes do no more than run this. It needs Python 3.11 or newer, and leaves the checkout as it is.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$1
checkout=$(cd "$(dirname "$0")/.." && pwd)
python=$(command -v "${PYTHON:-python3}") || { echo "$0: no ${PYTHON:-python3}" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/tools"
"$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check uv

# uv writes its lock file beside pyproject.toml.
mkdir -p "$work/project/config"
cp -r "$checkout/pyproject.toml" "$checkout/README.md" "$checkout/LICENSE" "$checkout/src" "$work/project"
cp -r "$checkout/config/systems" "$checkout/config/design_choices.yaml" "$work/project/config"
UV_PROJECT_ENVIRONMENT=$folder "$work/tools/bin/uv" sync --quiet --project "$work/project" --python "$python" \
    --group cluster --no-editable --link-mode copy
"$folder/bin/snakemake" --version
