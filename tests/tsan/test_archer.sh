# The thread sanitizer as the tests use it: silent on a correct OpenMP program, loud on a race.
source_file="$DLS_SOURCE_DIR/tests/tsan/openmp.c"
compile() { clang -g -O1 -fopenmp -fsanitize=thread "$@" "$source_file"; }
echo 1..2

if compile -o lawful && ./lawful; then echo "ok 1 - a correct program is clean"; else echo "not ok 1 - a correct program is clean"; fi

if compile -DRACE -o racing && ./racing 2>&1 | grep -q 'ThreadSanitizer: data race'; then
    echo "ok 2 - a race is reported"
else
    echo "not ok 2 - a race is reported"
fi
