# The front door; CMake does the building. See README.md.
BUILD ?= build
JOBS  ?= $(shell nproc)
DEMO  ?= out/demo

.PHONY: all demo test deps asan tsan fuzz format format-check install clean bench

all: deps
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release $(if $(PREFIX),-DCMAKE_INSTALL_PREFIX=$(PREFIX))
	cmake --build $(BUILD) -j $(JOBS)

# Installs the Debian packages that are missing, and nothing when none is.
deps:
	scripts/install-deps.sh

demo: all
	scripts/demo.sh $(BUILD) $(DEMO)

test: all
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

bench: all
	$(BUILD)/cuzk-bench --help

# The tests again with run-time checks: addresses and undefined behaviour, then data races.
asan: deps
	cmake -S . -B $(BUILD)-asan -DCUZK_SANITIZE=address,undefined -DCUZK_VERIFY=ON
	cmake --build $(BUILD)-asan -j $(JOBS)
	ctest --test-dir $(BUILD)-asan --output-on-failure -LE slow -j $(JOBS)

tsan: deps
	cmake -S . -B $(BUILD)-tsan -DCUZK_SANITIZE=thread
	cmake --build $(BUILD)-tsan -j $(JOBS)
	ctest --test-dir $(BUILD)-tsan --output-on-failure -L threads -j $(JOBS)

# Every fuzz target for SECONDS (60) each.
fuzz:
	scripts/install-deps.sh --dev
	scripts/fuzz.sh $(or $(SECONDS),60)

format:
	clang-format-14 -i $$(git ls-files '*.c' '*.h' '*.cpp')

format-check:
	clang-format-14 --dry-run -Werror $$(git ls-files '*.c' '*.h' '*.cpp')

# Below /usr/local, or PREFIX; staged below DESTDIR when that is given.
install: all
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
