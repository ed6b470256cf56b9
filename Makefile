# The commands of the project. CMake builds; this file only says what to ask of it.
.DEFAULT_GOAL := help
.PHONY: help build install run test soak bench check format clean

PREFIX ?= /usr/local
DESTDIR ?=
STAGES ?=
HOURS ?= 2
sources := find src tests bench -name node_modules -prune -o -name '*.cc' -print -o -name '*.h' -print

help: ## show this list
	@sed -n 's/^\([a-z-]*\): ## /\1\t/p' Makefile | expand -t 12

build: ## build build/postino, the program as users get it
	@tools/bootstrap build
	@cmake --preset release -Wno-dev >/dev/null
	@cmake --build --preset release --target postino

install: ## put the program into PREFIX/bin (/usr/local/bin), below DESTDIR if that is set; build it if it is missing
	@test -x build/postino || $(MAKE) --no-print-directory build
	install -D -m 755 build/postino "$(DESTDIR)$(PREFIX)/bin/postino"

run: ## build, then serve the REST API on 127.0.0.1:8080 and DynamoDB's on 127.0.0.1:8000, mail going to the sandbox
	@$(MAKE) --no-print-directory build
	@build/postino serve --sample

test: ## everything that must hold before a change goes in (STAGES="release asan" runs some of it)
	@tools/bootstrap build test
	@tools/test $(STAGES)

bench: ## build and run the benchmarks, beside Postfix, and dynalite where npm can get it
	@tools/bootstrap build bench
	@cmake --preset release -Wno-dev >/dev/null
	@cmake --build --preset release --target $$(ninja -C build -t targets all | sed -nE 's/^(bench_[a-z0-9_]+): (phony|CXX_EXECUTABLE.*)$$/\1/p')
	@for program in $$(find build -maxdepth 1 -name 'bench_*' -type f -executable | sort); do \
	  echo "== $$program"; "$$program" $$(tools/bench-peers "$$program") || exit 1; done

check: ## formatting, tidiness, warnings as errors, clang-tidy
	@tools/bootstrap build check
	@$(sources) | sort | xargs -r clang-format --dry-run -Werror
	@tools/tidy
	@cmake --preset check -Wno-dev >/dev/null
	@cmake --build --preset check

format: ## format all C++ sources
	@tools/bootstrap build check
	@$(sources) | xargs -r clang-format -i

soak: ## the same tests of chance for HOURS (2): kills, power losses, races, random operations, fuzzing; prints figures
	@tools/bootstrap build test
	@tools/soak $(HOURS)

clean: ## remove everything that was built
	rm -rf build
