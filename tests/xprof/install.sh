#!/bin/sh
# install.sh FOLDER: XProf in a virtual environment, if it is not there yet. To put a pip of its own there takes 3 s of a
# processor: where the system's can install into another environment (22.3 and later), it does.
[ ! -x $1/bin/xprof ] || exit 0
rm -rf $1
if python3 -m venv --without-pip $1 && python3 -m pip --python $1/bin/python --version; then
    pip="python3 -m pip --python $1/bin/python"
else
    python3 -m venv --clear $1 || exit
    pip="$1/bin/python -m pip"
fi
$pip install --no-compile --quiet xprof==2.24.2
