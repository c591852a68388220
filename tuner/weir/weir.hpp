#pragma once

/// Everything a program needs: streams, sources, operators, loaders.
#include <weir/loader.hpp>
#include <weir/operators.hpp>
#include <weir/options.hpp>
#include <weir/sources.hpp>
#include <weir/stream.hpp>
