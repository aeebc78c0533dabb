# prof - build, test, demonstrate. Needs a C compiler and make; the wider checks are in .ci/run.
#
#   make demo       record a real program, write its trace, print the summary
#   make test       everything that needs only a C compiler (a C++ compiler is used if there is one), built and run on all
#                   processors; make -j4 test or JOBS=4: on four
#   make check      in a minute: the programs that need no implementation of their own, with few repetitions; leaves out
#                   the rest, the tool and what other compilers say
#   make test T=reader, T=reader:csv,text or T="reader chrome": some test programs, or some tests of one
#   make bench      what each macro costs; make bench-peers: and what scopes of other tools cost
#   make examples   build the examples
#   make tool       build the command-line tool, build/prof
#   make library    build/libprof.so: the implementation, to link to or to preload
#   make mpi        build/libprof_mpi.so: the same, with prof_mpi.h: by MPICC, which is mpicc
#   make reference  docs/reference.md, out of the headers; needs python3
#   make openmp     build/libprof_openmp.so: the same, with prof_openmp.h
#   make lines      build/lines: a copy of all that is compiled, whose headers name the modules of src/ to compilers and
#                   debuggers: make -C build/lines test
#   make install    copy headers, library, tool, its manual, its completion, and what CMake and pkg-config read
#                   to $(DESTDIR)$(PREFIX)
#   make uninstall  remove exactly that
#   make dist       build/dist: an archive of the headers, and one of everything; needs git and GNU tar
#   make help       print this
#
# CC, CXX, CFLAGS, LDFLAGS as usual; SANITIZE=thread, address,undefined or (clang) memory for the tests.

CC ?= cc
CXX ?= c++
PREFIX ?= /usr/local
# The tests are many programs, half of them with the whole implementation, which takes a quarter of the time at -O0.
ifeq ($(origin CFLAGS),undefined)
CFLAGS = -O2 -g
TEST_CFLAGS = -O0 -g
else
TEST_CFLAGS = $(CFLAGS)
endif
WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wshadow
SANITIZE ?=
ifneq ($(SANITIZE),)
SANITIZER = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
endif
BUILD ?= build
ALL_C = $(CC) -std=gnu99 -I. $(WARNINGS) $(CFLAGS) $(SANITIZER)
ALL_CXX = $(CXX) -std=c++11 -I. $(WARNINGS) $(CFLAGS) $(SANITIZER)
LIBS = -pthread -ldl
HEADERS = $(wildcard prof*.h) prof.hpp
COMMA = ,
SPACE = $() $()
JOBS ?= $(shell { nproc || getconf _NPROCESSORS_ONLN || sysctl -n hw.ncpu || echo 1; } 2>/dev/null)
HAVE_CXX := $(shell $(CXX) --version >/dev/null 2>&1 && echo yes)

TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
ifeq ($(HAVE_CXX),yes)
TESTS += $(patsubst tests/%.cpp,$(BUILD)/tests/%,$(wildcard tests/test_*.cpp))
endif

.PHONY: all help demo test check bench bench-peers examples tool library mpi openmp reference lines install uninstall dist clean
all: tool library examples

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# ---- headers that are assembled out of the modules in src/, where one of these is newer than when it was last done; what
# has not changed is not written, so that nothing is compiled for it

ASSEMBLED = $(patsubst src/%,%,$(wildcard src/*.h))
ifneq ($(ASSEMBLED),)
$(BUILD)/assembled: src/assemble.sh src/kinds.sh $(wildcard src/*.h src/*/*.h)
	@mkdir -p $(@D)
	@sh src/assemble.sh && touch $@
$(ASSEMBLED): $(BUILD)/assembled ;
endif

reference:
	@mkdir -p $(BUILD)
	python3 src/reference.py >$(BUILD)/reference.md && mv $(BUILD)/reference.md docs/reference.md

lines:
	sh src/assemble.sh --line $(BUILD)/lines
	cp -R Makefile bench examples lib packaging tests tools $(BUILD)/lines

# ---- the command-line tool

TOOL = $(wildcard tools/*.c)
$(BUILD)/prof $(BUILD)/tests/prof: $(TOOL) $(wildcard tools/*.h) $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $(TOOL) -o $@ $(LDFLAGS) $(LIBS)

tool: $(BUILD)/prof

# ---- the library

$(BUILD)/libprof.so: lib/libprof.c $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared $(if $(filter Darwin,$(shell uname -s)),,-Wl$(COMMA)-soname$(COMMA)libprof.so) $< -o $@ $(LDFLAGS) $(LIBS)

library: $(BUILD)/libprof.so

MPICC ?= mpicc
$(BUILD)/libprof_mpi.so: CC = $(MPICC)
$(BUILD)/libprof_mpi.so: lib/libprof_mpi.c lib/libprof.c $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared $< -o $@ $(LDFLAGS) $(LIBS)

mpi: $(BUILD)/libprof_mpi.so

$(BUILD)/libprof_openmp.so: lib/libprof_openmp.c lib/libprof.c $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared $< -o $@ $(LDFLAGS) $(LIBS)

openmp: $(BUILD)/libprof_openmp.so

# ---- demo

demo: $(BUILD)/examples/game
	@mkdir -p $(BUILD)/demo
	@$(BUILD)/examples/game

# ---- examples: each file's first comment has its build line, which examples/build.sh runs

$(BUILD)/examples/game: examples/game.c $(wildcard examples/game/*.h) $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $< -o $@ $(LDFLAGS) $(LIBS)

examples: $(HEADERS)
	sh examples/build.sh

# ---- tests

$(BUILD)/tests/%: CFLAGS = $(TEST_CFLAGS)
# Whether 20,000 lines are indented as their braces say takes gcc a third of a program's time. It is asked of implementation.o,
# of each header by tests/compile/headers.sh, and always of clang, which takes no time for it.
TEST_WARNINGS := $(WARNINGS) $(if $(findstring clang,$(CC) $(CXX)),,-Wno-misleading-indentation)
$(BUILD)/tests/%: WARNINGS = $(TEST_WARNINGS)

# Programs run at the same time: each has a folder for what it writes.
OUT = -DTRACE_FOLDER='"$(BUILD)/tests/out/$(@F)"'

$(BUILD)/tests/%: tests/%.c tests/test.h $(wildcard tests/*.h) $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $(OUT) $< $(EXTRA) -o $@ $(LDFLAGS) $(LIBS)

$(BUILD)/tests/%: tests/%.cpp tests/test.h $(wildcard tests/*.h) $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_CXX) $(OUT) $< $(EXTRA) -o $@ $(LDFLAGS) $(LIBS)

# Programs share an implementation, unless they have one of their own: for other switches, in C++, or to replace functions
# that it calls. Those that look at what is private (private.h) share another one, whose private parts are global.
OWN := $(shell grep -lE '^.(define PROF_IMPLEMENTATION|include "private.h")' tests/test_*.c tests/test_*.cpp)
SHARING = $(filter-out $(patsubst tests/%,$(BUILD)/tests/%,$(basename $(OWN))),$(TESTS))
$(BUILD)/tests/implementation.o: CFLAGS = $(TEST_CFLAGS)
$(BUILD)/tests/implementation.o: tests/implementation.c $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -c $< -o $@
$(SHARING): $(BUILD)/tests/implementation.o
$(SHARING): EXTRA = -D_GNU_SOURCE $(BUILD)/tests/implementation.o

DEFINITIONS = $(patsubst %,$(BUILD)/tests/definitions/%,$(wildcard prof*.h))
DECLARATIONS = $(patsubst %,$(BUILD)/tests/declarations/%,$(wildcard prof*.h))
$(BUILD)/tests/definitions/%.h $(BUILD)/tests/declarations/%.h: %.h tests/apart.awk
	@mkdir -p $(BUILD)/tests/definitions $(BUILD)/tests/declarations
	@for what in definitions declarations; do \
	    awk -v what=$$what -f tests/apart.awk $< >$(BUILD)/tests/$$what/$(<F).made && \
	        mv $(BUILD)/tests/$$what/$(<F).made $(BUILD)/tests/$$what/$(<F) || exit 1; done
$(BUILD)/tests/private.o: CFLAGS = $(TEST_CFLAGS)
$(BUILD)/tests/private.o: tests/private.h $(DEFINITIONS)
	$(ALL_C) -w -iquote $(BUILD)/tests/definitions -x c -c $< -o $@
# Where such a test replaces functions of libc ("#define malloc test_malloc"), its copy of that implementation calls the
# test's: instead of pread, or of pread64. Without objcopy it has an implementation of its own, and so has one that defines
# something else before private.h.
OBJCOPY := $(shell $(CC) -print-prog-name=objcopy 2>/dev/null)
HAVE_OBJCOPY := $(shell $(OBJCOPY) --version >/dev/null 2>&1 && echo yes)
REPLACES = [a-z_]+(\([a-z, ]*\))? test_
PRIVATE := $(shell awk 'FNR == 1 { own = 0 } /^.define / && !/ _GNU_SOURCE/ && !/^.define $(REPLACES)/ { own = 1 } \
    "$(HAVE_OBJCOPY)" == "" && /^.define $(REPLACES)/ { own = 1 } \
    /^.include "private.h"/ && !own { print FILENAME }' tests/test_*.c)
PRIVATE_PROGRAMS = $(filter $(patsubst tests/%.c,$(BUILD)/tests/%,$(PRIVATE)),$(TESTS))
$(PRIVATE_PROGRAMS:=.private.o): $(BUILD)/tests/%.private.o: tests/%.c $(BUILD)/tests/private.o
	$(OBJCOPY) $$(for name in $$(sed -nE 's/^.define ([a-z_]+)(\([a-z, ]*\))? test_.*/\1/p; /"private.h"/q' $<); do \
	    $(OBJCOPY:objcopy=nm) -u $(BUILD)/tests/private.o | sed -nE "s/^ *U ($$name(64)?)$$/--redefine-sym \1=test_$$name/p"; \
	done) $(BUILD)/tests/private.o $@
$(PRIVATE_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/tests/%.private.o $(DECLARATIONS)
$(PRIVATE_PROGRAMS): EXTRA = -iquote $(BUILD)/tests/declarations $@.private.o

$(BUILD)/tests/test_flaws_cpp: tests/test_flaws.c
$(BUILD)/tests/test_args_cpp: tests/test_args.c
$(BUILD)/tests/test_cpp20: tests/test_cpp.cpp

$(BUILD)/tests/test_compare: tools/compare_stats.c tools/compare.h
$(BUILD)/tests/test_fuzz: $(wildcard tests/fuzz*.[ch]) tests/mutate.h tools/recover.c tools/elf.c tools/elf.h tools/lines.c tools/inflate.h tools/tool.h
$(BUILD)/tests/test_html $(BUILD)/tests/test_xplane: tools/inflate.h
$(BUILD)/tests/test_periods: tools/top_read.c tools/top.h tools/tool.h

# As a shared library, so that its recorder and the reading program's can be in one process; -z defs refuses any libc.
$(BUILD)/tests/libfreestanding_kernel.so: tests/freestanding_kernel.c tests/freestanding_kernel.h $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -I. $(WARNINGS) -O2 -fPIC -ffreestanding -nostdlib -fno-stack-protector -shared -Wl,-z,defs $< -o $@ -lgcc
$(BUILD)/tests/test_freestanding: $(BUILD)/tests/libfreestanding_kernel.so
$(BUILD)/tests/test_freestanding: EXTRA += $(BUILD)/tests/libfreestanding_kernel.so -Wl,-rpath,'$$ORIGIN'

# A later -std wins; where the compiler does not know it the test says so.
CXX20 := $(shell $(CXX) -std=c++20 -fsyntax-only -x c++ /dev/null >/dev/null 2>&1 && echo -std=c++20)
$(BUILD)/tests/test_coroutine $(BUILD)/tests/test_cpp20: ALL_CXX += $(CXX20)

# Programs that tests start.
STARTED = $(addprefix $(BUILD)/tests/,autostart_program format_program tool_core top_program)
$(STARTED): $(BUILD)/tests/%: tests/%.c $(BUILD)/tests/implementation.o $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $< $(BUILD)/tests/implementation.o -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/test_autostart: $(BUILD)/tests/autostart_program

$(BUILD)/tests/tool_images $(BUILD)/tests/states_images $(BUILD)/tests/hot_image: $(BUILD)/tests/%: tests/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $< -o $@ $(LDFLAGS) $(LIBS)

# Ten plugins that differ in names and lines; one with a copy of the implementation, also without its symbols, one that
# calls its own functions in spite of others, two with a recorder for themselves, of which one starts by itself; a program
# without any, and one that does not show its own.
PLUGINS = $(patsubst %,$(BUILD)/tests/plugin_%.so,0 1 2 3 4 5 6 7 8 9 own small alone auto)
$(BUILD)/tests/plugin_%.so: tests/plugin.c tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared -DPLUGIN_NUMBER=$* $< -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/plugin_own.so: tests/plugin.c tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -c -DPLUGIN_NUMBER=5 -DPLUGIN_RECORDER $< -o $(@:.so=.o)
	$(CC) $(CFLAGS) $(SANITIZER) -shared $(@:.so=.o) -o $@ $(LDFLAGS) $(LIBS)
	@$(CC) $(CFLAGS) $(SANITIZER) -shared -Wl,-Bsymbolic-functions $(@:.so=.o) -o $(@D)/plugin_symbolic.so $(LDFLAGS) \
	    $(LIBS) 2>/dev/null || rm -f $(@D)/plugin_symbolic.so
$(BUILD)/tests/plugin_small.so: $(BUILD)/tests/plugin_own.so
	$(CC) $(CFLAGS) $(SANITIZER) -shared -s $(<:.so=.o) -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/plugin_auto.so: tests/plugin.c tests/plugin_more.c tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared -DPROF_STATIC -DPROF_AUTOSTART -DPLUGIN_NUMBER=7 -DPLUGIN_RECORDER $< tests/plugin_more.c \
	    -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/plugin_alone.so: tests/plugin.c tests/plugin_more.c tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -shared -DPROF_STATIC -DPLUGIN_NUMBER=7 -DPLUGIN_RECORDER $< tests/plugin_more.c -o $@ $(LDFLAGS) $(LIBS)
ifeq ($(HAVE_CXX),yes)
PLUGINS += $(BUILD)/tests/plugin_cpp.so
$(BUILD)/tests/plugin_cpp.so: tests/plugin_cpp.cpp tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_CXX) -fPIC -shared $< -o $@ $(LDFLAGS)
endif
$(BUILD)/tests/plugin_host: tests/plugin_host.c tests/plugin.h $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) $< -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/plugin_host_own: tests/plugin_host.c tests/plugin.h $(BUILD)/tests/implementation.o $(HEADERS)
	@mkdir -p $(@D)
	$(ALL_C) -DHOST_RECORDER $< $(BUILD)/tests/implementation.o -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/test_plugins: EXTRA = -rdynamic
$(BUILD)/tests/test_plugins: | $(PLUGINS) $(BUILD)/tests/plugin_host $(BUILD)/tests/plugin_host_own

# A Neuron runtime without Neuron: whole; as old ones are, with fewer functions; and inside another library.
FAKES = $(patsubst %,$(BUILD)/tests/fake_nrt/%,libnrt.so.1 other/libnrt.so.1 early/libnrt.so.1 plain/libnrt.so.1 libframework.so)
FAKE_WITHOUT_early = nrt_inspect_* nrt_sys_trace_* nrt_profile_continuous_* nrt_debug_*
FAKE_WITHOUT_plain = nrt_inspect_config_set_inspect_device_profile_mode nrt_inspect_config_set_enable_inspect_on_fail \
    nrt_sys_trace_fetch_options_* nrt_get_version nrt_get_status_as_str
$(FAKES): tests/fake_nrt.c prof_ntff.h prof.h
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -c $< -o $@.o
	$(foreach name,$(FAKE_WITHOUT_$(notdir $(@D))),objcopy -w -L '$(name)' $@.o;)
	$(CC) $(CFLAGS) $(SANITIZER) -shared -Wl,-soname,$(if $(filter %.1,$@),libnrt.so.1,$(@F)) $@.o -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/test_ntff: | $(FAKES)

# A CUDA driver and CUPTI without a GPU, in one library: whole, and with fewer functions.
FAKE_CUPTI = $(patsubst %,$(BUILD)/tests/fake_cupti/%.so,libfake libpoor libolder)
FAKE_WITHOUT_libpoor = cuDeviceGetAttribute cuptiActivityFlushAll
FAKE_WITHOUT_libolder = cuptiPmSamplingEnable
$(FAKE_CUPTI): tests/fake_cupti.c
	@mkdir -p $(@D)
	$(ALL_C) -fPIC -c $< -o $@.o
	$(foreach name,$(FAKE_WITHOUT_$(basename $(@F))),objcopy -L '$(name)' $@.o;)
	$(CC) $(CFLAGS) $(SANITIZER) -shared $@.o -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/tests/test_cuda: | $(FAKE_CUPTI)

# Scripts: those of the compilers are the same for every CFLAGS.
SCRIPTS ?= tests/rooms.sh $(wildcard tests/test_*.sh) tests/compile/quick.sh tests/compile/headers_quick.sh \
    tests/compile/refused.sh

# T=reader:csv is the program $(BUILD)/tests/test_reader or the script tests/test_reader.sh, of which one test is run.
program_of = $(firstword $(subst :, ,$(1)))
tests_of = $(patsubst $(call program_of,$(1)):%,:%,$(filter-out $(call program_of,$(1)),$(1)))
NAMED = $(foreach each,$(T),$(or $(filter %/test_$(call program_of,$(each)) %/test_$(call program_of,$(each)).sh,\
    $(TESTS) $(SCRIPTS)),$(error no tests/test_$(call program_of,$(each)): T=reader, T=reader:csv)))
CHOSEN = $(if $(T),$(NAMED),$(TESTS) $(SCRIPTS))
WITH_TESTS = $(if $(T),$(join $(NAMED),$(foreach each,$(T),$(or $(call tests_of,$(each)),:))),$(CHOSEN))

.PHONY: programs
programs: $(if $(filter %/test_format.sh,$(CHOSEN)),$(addprefix $(BUILD)/tests/,prof format_program)) $(if $(filter %/test_tool.sh %/test_run.sh %/test_flame.sh %/test_neuron.sh %/test_top.sh %/test_why.sh,$(CHOSEN)),$(addprefix $(BUILD)/tests/,prof tool_images states_images tool_core top_program)) $(if $(filter %/test_hot.sh %/test_why.sh,$(CHOSEN)),$(addprefix $(BUILD)/tests/,prof hot_image)) $(if $(filter %/test_ranks.sh,$(CHOSEN)),$(BUILD)/tests/prof) $(filter-out %.sh,$(CHOSEN))

# On all processors, unless make was told how many.
test:
	+@$(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS)) programs
	@BUILD=$(BUILD) JOBS=$(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(JOBS)) sh tests/run.sh $(WITH_TESTS)

CHECKED = $(sort $(SHARING) $(patsubst tests/%.c,$(BUILD)/tests/%,$(shell sh tests/marked.sh check)))
check:
	+@PROF_TEST_QUICK=1 $(MAKE) --no-print-directory test TESTS="$(CHECKED)" SCRIPTS=tests/rooms.sh

# What tests/server.sh and tests/xprof/capture.sh ask: with all exporters, and without.
$(BUILD)/server_program $(BUILD)/server_program_bare: tests/server_program.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -O0 -g -I. $(if $(filter %_bare,$@),-DWITHOUT_EXPORTERS) $< -o $@ $(LIBS)

# ---- benchmarks

$(BUILD)/implementation.o: bench/implementation.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -I. -O2 -c $< -o $@
$(BUILD)/bench: bench/bench.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/bench.c $(BUILD)/implementation.o -o $@ $(LIBS)
$(BUILD)/libbench.so: bench/bench.c bench/implementation.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 -fPIC -shared -DBENCH_SHARED bench/bench.c bench/implementation.c -o $@ $(LIBS)
$(BUILD)/bench_shared: bench/shared.c $(BUILD)/libbench.so
	$(CC) -O2 bench/shared.c -o $@ -L$(BUILD) -lbench -Wl,-rpath,'$$ORIGIN'
$(BUILD)/bench_threads: bench/threads.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/threads.c $(BUILD)/implementation.o -o $@ $(LIBS)
$(BUILD)/bench_modes: bench/modes.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/modes.c $(BUILD)/implementation.o -o $@ $(LIBS)

$(BUILD)/bench_cold: bench/cold.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/cold.c $(BUILD)/implementation.o -o $@ $(LIBS)

$(BUILD)/bench_pack: bench/pack.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -I. -O2 $< -o $@ $(LIBS)

$(BUILD)/bench_follow: bench/follow.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/follow.c $(BUILD)/implementation.o -o $@ $(LIBS)

$(BUILD)/bench_save: bench/save.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/save.c $(BUILD)/implementation.o -o $@ $(LIBS)

$(BUILD)/bench_dumps: bench/dumps.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 bench/dumps.c -o $@ $(LIBS)

$(BUILD)/bench_stream: bench/stream.c $(BUILD)/implementation.o
	$(CC) -std=gnu99 -I. -O2 bench/stream.c $(BUILD)/implementation.o -o $@ $(LIBS)

$(BUILD)/bench_export: bench/export.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 bench/export.c -o $@ $(LIBS)

$(BUILD)/bench_many: bench/many.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 bench/many.c -o $@ $(LIBS)

$(BUILD)/bench_samples: bench/samples.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls bench/samples.c -o $@ $(LIBS)

$(BUILD)/bench_html: bench/html.c $(HEADERS)
	$(CC) -std=gnu99 -I. -O2 bench/html.c -o $@ $(LIBS)

bench: $(addprefix $(BUILD)/,bench bench_shared bench_threads bench_modes bench_cold bench_pack bench_follow \
       bench_stream bench_dumps bench_export bench_html bench_samples bench_many bench_save)
	@echo "== ring in memory";      $(BUILD)/bench
	@echo "== ring in a file";      $(BUILD)/bench output $(BUILD)/bench.prof
	@echo "== in a shared library"; $(BUILD)/bench_shared
	@echo "== ordered clock";       $(BUILD)/bench clock ordered
	@echo "== one and two threads"; $(BUILD)/bench_threads
	@echo "== modes";               $(BUILD)/bench_modes
	@echo "== cold caches";         $(BUILD)/bench_cold 1; $(BUILD)/bench_cold 256
	@echo "== report in HTML";      $(BUILD)/bench_html
	@echo "== packing";             $(BUILD)/bench_pack $(BUILD)/bench.prof
	@echo "== followed";            $(BUILD)/bench_follow
	@echo "== many names";          $(BUILD)/bench_many
	@echo "== saves";               $(BUILD)/bench_save
	@echo "== dumps";               $(BUILD)/bench_dumps
	@echo "== samples";             $(BUILD)/bench_samples
	@echo "== streaming";           $(BUILD)/bench_stream 10000000 10 buffer 32M
	@echo "== other tools";         bash bench/peers/run.sh
	@echo "== exporters";           $(BUILD)/bench_export; $(BUILD)/bench_export 8000

bench-peers:
	bash bench/peers/run.sh

# ---- installation: each file and its place below PREFIX, which uninstall goes by as well

VERSION = $(shell sed -n 's/^.define PROF_VERSION \([0-9]*\).*/\1/p' prof.h | awk '{print int($$1 / 10000) "." int($$1 / 100) % 100 "." $$1 % 100}')
INSTALLED = $(foreach header,$(HEADERS),$(header):include/$(header)) \
    $(BUILD)/prof:bin/prof \
    $(BUILD)/libprof.so:lib/libprof.so \
    lib/wrap_waits.txt:share/prof/wrap_waits.txt \
    $(BUILD)/packaging/prof.1:share/man/man1/prof.1 \
    tools/prof-completion.bash:share/bash-completion/completions/prof \
    $(BUILD)/packaging/prof.pc:lib/pkgconfig/prof.pc \
    $(BUILD)/packaging/libprof.pc:lib/pkgconfig/libprof.pc \
    $(BUILD)/packaging/profConfig.cmake:lib/cmake/prof/profConfig.cmake \
    $(BUILD)/packaging/profConfigVersion.cmake:lib/cmake/prof/profConfigVersion.cmake
INSTALLED_FOLDERS = lib/cmake/prof share/prof # that nobody else puts anything into

SET_VERSION = mkdir -p $(@D) && sed 's/@VERSION@/$(VERSION)/' $< >$@
$(BUILD)/packaging/%: packaging/%.in prof.h
	$(SET_VERSION)
$(BUILD)/packaging/%.1: tools/%.1 prof.h
	$(SET_VERSION)

install: $(foreach file,$(INSTALLED),$(firstword $(subst :, ,$(file))))
	@for file in $(INSTALLED); do \
	    to="$(DESTDIR)$(PREFIX)/$${file#*:}"; \
	    echo "$$to"; \
	    mkdir -p "$${to%/*}" && cp "$${file%%:*}" "$$to" || exit 1; \
	done

uninstall:
	@for file in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$${file#*:}" || exit 1; done
	@for folder in $(INSTALLED_FOLDERS); do rmdir "$(DESTDIR)$(PREFIX)/$$folder" 2>/dev/null || true; done

# ---- archives of a release: the same bytes wherever they are made of a commit

TAR ?= tar
DIST = $(BUILD)/dist
# NAME FILES: what git tracks of FILES, as NAME.tar.gz with the folder NAME
archive = git ls-files -z -- $(2) | LC_ALL=C $(TAR) --null -T - --format=ustar --owner=0 --group=0 \
    --numeric-owner --mode=u+rwX,go=rX --mtime=@$$(git log -1 --format=%ct) --transform='s,^,$(1)/,' -cf $(DIST)/$(1).tar && \
    gzip -9nf $(DIST)/$(1).tar

dist: $(HEADERS)
	@git rev-parse --verify HEAD >/dev/null || { echo "make dist: needs a git checkout: it packs what git tracks" >&2; false; }
	@mkdir -p $(DIST)
	$(call archive,prof-headers-$(VERSION),prof*.h prof.hpp LICENSE README.md)
	$(call archive,prof-$(VERSION),. ':!.ci')

clean:
	rm -rf $(BUILD)
