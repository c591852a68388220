// The object library that owns the tests' precompiled header needs one source; it is empty.
