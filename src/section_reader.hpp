#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/bad_sample_policy.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/parameters.hpp>

#include "src/variables.hpp"
#include "src/yaml_node.hpp"

namespace weir::detail {

/// Keys with their values, as Parameters takes them.
using Written = std::map<std::string, Value, std::less<>>;

/// The values of `map`, leaving out the keys in `nested`, which the caller reads himself. Throws
/// Error(usage) when it is no map; `what` names it.
[[nodiscard]] Written written_values(const YamlNode& map, const Variables& variables,
                                     std::string_view what,
                                     std::span<const std::string> nested = {});

/// Throws for a key of `map` that is not in `allowed`, naming ours where it is known from
/// elsewhere, else the nearest one.
void check_keys(const YamlNode& map, std::string_view what, std::span<const std::string> allowed);

/// `skip`, or `{action: skip, max: 1%}`. `quarantine` takes the key of that name, where it is
/// allowed.
[[nodiscard]] BadSamplePolicy read_bad_sample_policy(const YamlNode& node,
                                                     const Variables& variables,
                                                     std::string* quarantine = nullptr);

// The sections of a pipeline file; each puts into `pipeline` what it says.
void read_run(const YamlNode& node, const Variables& variables, Pipeline& pipeline);
void read_consumer(const YamlNode& node, const Variables& variables, Pipeline& pipeline);
void read_tuning(const YamlNode& node, const Variables& variables, Pipeline& pipeline);
/// Only checks: no device in this version.
void read_device(const YamlNode& node, const Variables& variables);

}  // namespace weir::detail
