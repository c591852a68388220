#pragma once

/// Everything a program needs: streams, sources, operators, loaders.
#include <weir/batch_operators.hpp>
#include <weir/loader.hpp>
#include <weir/mask_files.hpp>
#include <weir/operators.hpp>
#include <weir/options.hpp>
#include <weir/sources.hpp>
#include <weir/stream.hpp>
