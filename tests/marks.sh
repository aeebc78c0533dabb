#!/bin/sh
# Programs that were marked up for others, under prof run: PyPI's nvtx and ittapi, and a C program with the headers of
# PyPI's nvidia-nvtx, or of CUDA. They go to build/marks/venv and stay there.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
[ "$(uname -s)" = Linux ] || { skip marks "no Linux"; finish; }
make -s build/tests/prof build/libprof.so || exit 1
in_work out/marks
venv=$root/build/marks/venv
unset PROF_OUTPUT PROF_MODE LD_PRELOAD NVTX_INJECTION64_PATH INTEL_LIBITTNOTIFY64
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" >pip.log 2>&1
"$venv/bin/python" -c 'import nvtx, ittapi' 2>/dev/null || "$venv/bin/python" -m pip install --quiet nvtx nvidia-nvtx ittapi >>pip.log 2>&1
run() { "$prof" run --library "$build/libprof.so" "$@"; }

# ---- C
include=$(find "$venv" /usr/local/cuda/include -name nvToolsExt.h -path '*nvtx3*' 2>/dev/null | head -n 1)
cat >program.c <<'END'
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
int main(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
    nvtxEventAttributes_t event = {0};
    nvtxRangeId_t id;
    int i;
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "pass");
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    for (i = 0; i < 5; i++) {
        printf("%d", nvtxRangePushA("frame"));
        event.payload.ullValue = (uint64_t)i;
        printf("%d", nvtxDomainRangePushEx(domain, &event));
        nvtxDomainRangePop(domain);
        printf("%d ", nvtxRangePop());
    }
    id = nvtxRangeStartW(L"request");
    fflush(stdout);
    if (!fork()) {
        nvtxMarkA("in the child");
        return 0;
    }
    wait(NULL);
    nvtxRangeEnd(id);
    return 0;
}
END
if [ -z "$include" ]; then
    skip "NVTX in C" "no nvToolsExt.h"
elif succeeds "a program of NVTX" ${CC:-cc} -O0 -w -I"${include%/nvtx3/*}" program.c -o program -ldl; then
    run -o program.csv ./program >said 2>errors
    check "its levels" "$([ "$(cat said)" = "000 000 000 000 000 " ] || cat said errors)"
    check "scopes" "$([ "$(grep -c ',scope,frame,nvtx,' program.csv)$(grep -c ',scope,pass,engine,' program.csv)" = 55 ] || cat program.csv)"
    has "payloads" program.csv '"payload=4"'
    check "a span" "$([ "$(grep -cE ',span_(begin|end),request,nvtx,' program.csv)" = 2 ] || cat program.csv)"
    has "a child" program.csv ',mark,in the child,nvtx,'
    check "without prof" "$([ "$(./program)" = "-2-2-2 -2-2-2 -2-2-2 -2-2-2 -2-2-2 " ] || ./program)"
fi

# ---- Python
cat >program.py <<'END'
import nvtx
@nvtx.annotate("work", color="green", domain="app")
def work(n): return sum(range(n))
for i in range(10): work(1000)
with nvtx.annotate("block", category="io", payload=7): work(1)
nvtx.mark("here")
r = nvtx.start_range("span")
nvtx.end_range(r)
END
if "$venv/bin/python" -c 'import nvtx' 2>/dev/null; then
    run -o python.csv "$venv/bin/python" program.py >said 2>errors
    check "nvtx of Python" "$([ "$(grep -c ',scope,work,app,' python.csv)" = 11 ] || cat python.csv errors)"
    has "a category" python.csv ',scope,block,io,'
    has "a mark" python.csv ',mark,here,nvtx,'
    has "a span" python.csv ',span_end,span,nvtx,'
else
    skip "NVTX in Python" "pip install nvtx failed, see $work/pip.log"
fi
cat >tasks.py <<'END'
import ittapi
for i in range(3):
    with ittapi.task("work", domain="app"): pass
@ittapi.task
def decorated(): return 1
decorated()
END
if "$venv/bin/python" -c 'import ittapi' 2>/dev/null; then
    run -o tasks.csv "$venv/bin/python" tasks.py >said 2>errors
    check "ittapi of Python" "$([ "$(grep -c ',scope,work,app,' tasks.csv)" = 3 ] || cat tasks.csv errors)"
    has "a function" tasks.csv ',scope,decorated,'
else
    skip "ITT in Python" "pip install ittapi failed, see $work/pip.log"
fi
finish
