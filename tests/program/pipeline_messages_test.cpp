// What a mistake in a pipeline file is answered with: the place, what is allowed, the nearest right
// spelling.
#include <weir/load_pipeline.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Mistake {
  const char* name;
  std::string text;
  std::string place;               ///< "line:column", or empty: the file as a whole
  std::vector<std::string> words;  ///< each in the message
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

std::string message_of(const std::string& text, ErrorKind* kind = nullptr) {
  try {
    static_cast<void>(parse_pipeline(text, "train.yaml"));
  } catch (const Error& error) {
    if (kind != nullptr) *kind = error.kind();
    return error.what();
  }
  return "no error";
}

class PipelineMessages : public ::testing::TestWithParam<Mistake> {};

TEST_P(PipelineMessages, NameThePlaceAndTheRemedy) {
  const Mistake& mistake = GetParam();
  ErrorKind kind{};
  const std::string message = message_of(mistake.text, &kind);
  EXPECT_THAT(message,
              StartsWith("train.yaml:" + mistake.place + (mistake.place.empty() ? "" : ":")));
  EXPECT_EQ(kind, ErrorKind::usage);
  for (const std::string& words : mistake.words) EXPECT_THAT(message, HasSubstr(words));
}

/// A file with these entries, the first of them in line 3 and column 3.
std::string entries(const std::string& list) { return "weir: 1\npipeline:\n" + list; }
/// A whole pipeline with these lines behind it, the first of them in line 5.
std::string with(const std::string& lines) {
  return "weir: 1\npipeline:\n  - range: {count: 8}\n  - batch: {size: 2}\n" + lines;
}

const std::vector<Mistake> kMistakes{
    // The file as YAML.
    {"not_yaml", "weir: 1\npipeline: [\n", "3:1", {"is no YAML"}},
    {"empty", "# nothing\n", "1:1", {"is empty"}},
    {"a_list", "- weir: 1\n", "1:1", {"must be a map", "weir: 1"}},
    {"no_version", "pipeline: []\n", "1:1", {"no 'weir: 1'"}},
    {"other_version", "weir: 2\n", "1:7", {"'2' is not a version"}},
    {"two_documents", "weir: 1\n---\nweir: 1\n", "2:1", {"second document"}},
    {"duplicate_key", with("seed: 1\nseed: 2\n"), "6:1", {"'seed' is written twice", "line 5"}},
    {"duplicate_parameter",
     entries("  - batch: {size: 2, size: 3}\n"),
     "3:22",
     {"'size' is written twice"}},
    {"anchor", with("seed: &a 1\n"), "5:7", {"anchors", "variable"}},
    {"alias", "weir: 1\nx: &a 1\ny: *a\n", "2:4", {"anchors"}},
    {"tag", with("seed: !!int 1\n"), "5:7", {"tags are not taken", "tag:yaml.org,2002:int"}},
    {"key_no_text", "weir: 1\n[a]: 2\n", "2:1", {"a key must be a text"}},
    {"too_long", std::string(10U << 20U, '['), "", {"10485760 bytes", "at most 1048576"}},
    {"too_deep",
     "weir: 1\npipeline: " + std::string(1000, '[') + std::string(1000, ']'),
     "2:34",
     {"nested more than 24 deep"}},
    {"deep_block",
     "weir: 1\npipeline:\n" +
         [] {
           std::string text;
           for (int i = 0; i < 1000; ++i)
             text += std::string(static_cast<std::size_t>(i), ' ') + "-\n";
           return text;
         }(),
     "26:24",
     {"nested more than 24 deep"}},
    {"many_keys",
     [] {
       std::string text = "weir: 1\n";
       for (int i = 0; i < 2000; ++i) text += "k" + std::to_string(i) + ": 1\n";
       return text;
     }(),
     "1001:1",
     {"more than 1000 keys"}},

    // Top keys.
    {"top_key",
     with("sede: 7\n"),
     "5:1",
     {"unknown key 'sede'", "did you mean 'seed'?", "Allowed: weir"}},
    {"top_key_elsewhere", with("num_parallel_workers: 8\n"), "5:1", {"here it is 'workers'"}},
    {"top_batch_size", with("batch_size: 8\n"), "5:1", {"batch: {size: 32}"}},
    {"negative_seed", with("seed: -1\n"), "5:7", {"'-1'", "at least 0"}},
    {"bad_name", with("name: a/b\n"), "5:7", {"letters, digits"}},
    {"no_pipeline", "weir: 1\n", "1:1", {"'pipeline:', the list of operators, is missing"}},
    {"empty_pipeline", "weir: 1\npipeline: []\n", "2:11", {"list of operators"}},

    // Variables.
    {"variables_list", "weir: 1\nvariables: [1]\npipeline: []\n", "2:12", {"must be a map"}},
    {"unknown_variable",
     "weir: 1\nvariables: {size: 2}\npipeline:\n  - range: {count: \"${sise}\"}\n",
     "4:20",
     {"unknown variable 'sise'", "did you mean 'size'?", "Variables: size"}},
    {"no_variables", entries("  - range: {count: \"${n}\"}\n"), "3:20", {"Variables: none"}},
    {"open_variable", entries("  - range: {count: \"${n\"}\n"), "3:20", {"without its '}'"}},
    {"variable_type",
     "weir: 1\nvariables: {n: many}\npipeline:\n  - range: {count: \"${n}\"}\n",
     "4:20",
     {"'count' is 'many'", "a whole number"}},

    // Entries.
    {"unknown_operator",
     entries("  - range: {count: 2}\n  - decoed: {}\n"),
     "4:5",
     {"unknown operator 'decoed'", "did you mean 'decode'?", "Known: adjust_brightness, "}},
    {"torch_name",
     entries("  - range: {count: 2}\n  - RandomResizedCrop: {size: 4}\n"),
     "4:5",
     {"did you mean 'random_resized_crop'?"}},
    {"operator_elsewhere",
     entries("  - range: {count: 9}\n  - RandomEqualize: {}\n"),
     "4:5",
     {"here it is equalize: {probability: 0.5}"}},
    {"batch_operator_before_batch",
     entries("  - range: {count: 9}\n  - mixup: {}\n"),
     "4:5",
     {"mixup: works on batches: put it behind 'batch'"}},
    {"parameter_of_a_batch_operator",
     entries("  - range: {count: 9}\n  - batch: {size: 3}\n  - cutmix: {alpha: 0}\n"),
     "5:21",
     {"cutmix: 'alpha' is 0, must be a number from 0.001 to 1000"}},
    {"planned",
     entries("  - range: {count: 2}\n  - cache: {}\n"),
     "4:5",
     {"'cache' is not in this version"}},
    {"no_operator", entries("  - workers: 2\n"), "3:5", {"no operator in this entry"}},
    {"two_operators",
     entries("  - range: {count: 2}\n    batch: {size: 2}\n"),
     "4:5",
     {"'batch' is a second operator", "begin each with '- '"}},
    {"entry_is_list", entries("  - [range]\n"), "3:5", {"an entry is one operator"}},
    {"beside",
     entries("  - range: {count: 2}\n    num_parallel_workers: 4\n"),
     "4:5",
     {"unknown key 'num_parallel_workers' beside 'range'", "here it is 'workers'"}},
    {"beside_prefetch",
     entries("  - range: {count: 2}\n    prefetch_size: 4\n"),
     "4:5",
     {"'queue' beside an operator"}},
    {"beside_slip",
     entries("  - range: {count: 2}\n    wrokers: 4\n"),
     "4:5",
     {"did you mean 'workers'?", "Allowed there: name, workers"}},
    {"parameter", entries("  - range: {conut: 2}\n"), "3:13", {"unknown key 'conut'", "'count'"}},
    {"parameter_elsewhere",
     entries("  - range: {count: 2}\n  - decode: {num_workers: 2}\n"),
     "4:14",
     {"'workers'"}},
    {"buffer_size",
     entries("  - range: {count: 2}\n  - shuffle: {buffer_size: 10}\n"),
     "4:15",
     {"'buffer'"}},
    {"buffer_size_decode",
     entries("  - range: {count: 2}\n  - decode: {buffer_size: 10}\n"),
     "4:14",
     {"shuffle: {buffer: 1000}"}},
    {"batch_size",
     entries("  - range: {count: 2}\n  - batch: {batch_size: 2}\n"),
     "4:13",
     {"'size'"}},
    {"shorthand",
     entries("  - range: {count: 2}\n  - batch: 32\n"),
     "4:12",
     {"batch takes its parameters by name, as 'batch: {size: ...}'"}},
    {"missing_parameter",
     entries("  - range: {count: 2}\n  - batch: {}\n"),
     "4:5",
     {"'size' is missing"}},
    {"wrong_type",
     entries("  - range: {count: two}\n"),
     "3:20",
     {"'count' is 'two'", "whole number"}},
    {"below_range", entries("  - range: {count: 0}\n"), "3:20", {"'count' is 0", "at least 1"}},
    {"map_for_value", entries("  - range: {count: {a: 1}}\n"), "3:20", {"'count'"}},
    {"duration_unit",
     entries("  - range: {count: 2}\n  - emulate: {wait: 16}\n"),
     "4:21",
     {"unit"}},
    {"duplicate_name",
     entries("  - range: {count: 2}\n  - emulate: {wait: 1ms}\n    name: a\n"
             "  - emulate: {wait: 1ms}\n    name: a\n"),
     "7:11",
     {"'a' is already the name of the stage at train.yaml:5:11"}},
    {"stage_name", entries("  - range: {count: 2}\n    name: a+b\n"), "4:11", {"letters, digits"}},
    {"workers_zero",
     entries("  - range: {count: 2}\n    workers: 0\n"),
     "4:14",
     {"'workers' is 0"}},
    {"workers_huge",
     entries("  - range: {count: 2}\n    workers: 99999\n"),
     "4:14",
     {"'workers' is 99999", "1024"}},
    {"workers_and_cap",
     entries("  - range: {count: 2}\n    workers: 2\n    cap: 3\n"),
     "5:10",
     {"already is the cap"}},
    {"serial_workers",
     entries("  - range: {count: 2}\n    workers: 2\n    serial: true\n"),
     "5:13",
     {"a serial stage has one worker"}},
    {"workers_beside_shape",
     entries("  - range: {count: 2}\n  - shuffle: {}\n    workers: 2\n"),
     "5:5",
     {"'shuffle' is no stage with work of its own"}},
    {"columns_of_batch",
     entries("  - range: {count: 2}\n  - batch: {size: 2}\n    columns: image\n"),
     "5:5",
     {"not on columns"}},
    {"columns_twice",
     entries("  - range: {count: 2}\n  - decode: {}\n    columns: [a, a]\n"),
     "5:18",
     {"'a' stands twice"}},
    {"on_bad_sample",
     entries("  - range: {count: 2}\n    on_bad_sample: {action: ignore}\n"),
     "4:29",
     {"'ignore'", "fail, skip, replace"}},
    {"on_bad_sample_key",
     entries("  - range: {count: 2}\n    on_bad_sample: {limit: 1}\n"),
     "4:21",
     {"unknown key 'limit' in on_bad_sample", "action, max"}},

    // The chain.
    {"no_source", entries("  - decode: {}\n"), "3:5", {"begins with a source"}},
    {"second_source",
     entries("  - range: {count: 2}\n  - photos: {}\n"),
     "4:5",
     {"there is one already"}},
    {"missing_folder",
     entries("  - files: {root: no/such/folder}\n  - read: {}\n"),
     "3:5",
     {"files: ", "no/such/folder"}},
    {"ends_with_paths", entries("  - files: {root: .}\n  - shuffle: {}\n"), "3:3", {"put 'read'"}},
    {"decode_paths",
     entries("  - files: {root: .}\n  - decode: {}\n"),
     "4:5",
     {"put 'read' before it"}},
    {"read_samples",
     entries("  - range: {count: 2}\n  - read: {}\n"),
     "4:5",
     {"'files' or 'list'"}},
    {"map_after_batch",
     entries("  - range: {count: 2}\n  - batch: {size: 2}\n  - decode: {}\n"),
     "5:5",
     {"put it before 'batch'"}},
    {"batch_of_batches",
     entries("  - range: {count: 2}\n  - batch: {size: 2}\n  - batch: {size: 2}\n"),
     "5:5",
     {"already one of batches"}},
    {"empty_filter",
     entries("  - range: {count: 2}\n  - filter: {}\n"),
     "4:5",
     {"keep, label or min_size"}},
    {"filter_share",
     entries("  - range: {count: 2}\n  - filter: {keep: 2}\n"),
     "4:20",
     {"'keep' is 2"}},
    {"prefetch_nothing",
     entries("  - range: {count: 2}\n  - prefetch: {}\n"),
     "4:5",
     {"either 'batches' or 'items'"}},
    {"prefetch_batches_early",
     entries("  - range: {count: 2}\n  - prefetch: {batches: 2}\n"),
     "4:5",
     {"no batches here yet"}},
    {"shard_half",
     entries("  - range: {count: 2}\n  - shard: {rank: 0}\n"),
     "4:5",
     {"both 'rank' and 'world'"}},
    {"shard_rank",
     entries("  - range: {count: 2}\n  - shard: {rank: 2, world: 2}\n"),
     "4:19",
     {"below 'world', 2"}},
    {"classes_without_labels",
     entries("  - files: {root: ., classes: c.txt}\n  - read: {}\n"),
     "3:31",
     {"labels: parent_folder"}},

    // Sections.
    {"run_key", with("run: {epoch: 2}\n"), "5:7", {"unknown key 'epoch' in run", "'epochs'"}},
    {"run_elsewhere", with("run: {num_workers: 2}\n"), "5:7", {"here it is 'workers'"}},
    {"run_prefetch", with("run: {prefetch_size: 2}\n"), "5:7", {"here it is 'queue'"}},
    {"run_buffer", with("run: {buffer_size: 2}\n"), "5:7", {"shuffle: {buffer: 1000}"}},
    {"run_workers",
     with("run: {workers: 0}\n"),
     "5:16",
     {"'workers' is '0'", "auto or a whole number"}},
    {"run_workers_negative", with("run: {workers: -2}\n"), "5:16", {"auto or a whole number"}},
    {"run_workers_huge", with("run: {workers: 1000000}\n"), "5:16", {"from 1 to 1024"}},
    {"run_memory", with("run: {memory: 2XB}\n"), "5:15", {"'memory' is '2XB'", "2GiB"}},
    {"run_fuse", with("run: {fuse: al}\n"), "5:13", {"did you mean all?"}},
    {"run_pin", with("run: {pin: numa}\n"), "5:12", {"cache_domain", "core", "node"}},
    {"run_max", with("run: {on_bad_sample: {action: skip, max: 1.5}}\n"), "5:42", {"at most 100%"}},
    {"run_list", with("run: [1]\n"), "5:6", {"run takes its parameters by name"}},
    {"consumer_key", with("consumer: {step: 18ms}\n"), "5:12", {"did you mean 'step_time'?"}},
    {"consumer_unit", with("consumer: {step_time: 18}\n"), "5:23", {"unit"}},
    {"device", with("device: {kind: cuda}\n"), "5:16", {"not in this version"}},
    {"device_key", with("device: {depht: 3}\n"), "5:10", {"did you mean 'depth'?"}},
    {"policy", with("tuning: {policy: balanse}\n"), "5:18", {"did you mean 'balance'?", "share"}},
    {"setting", with("tuning: {settings: {windw: 100ms}}\n"), "5:28", {"window"}},
    {"setting_value", with("tuning: {settings: {window: fast}}\n"), "5:29", {"window"}},
    {"autotune", with("tuning: {autotune: yes}\n"), "5:20", {"true or false"}},
};

INSTANTIATE_TEST_SUITE_P(All, PipelineMessages, ::testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(PipelineMessagesGiven, VariableThatTheFileDoesNotHave) {
  const std::string text = "weir: 1\nvariables: {size: 2, data: photos}\npipeline: []\n";
  try {
    static_cast<void>(parse_pipeline(text, "train.yaml", {{"sise", "3"}}));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("train.yaml: has no variable 'sise' to set; did you mean "
                                        "'size'? It has: data, size"));
  }
}

TEST(PipelineMessagesGiven, VariableOfAnotherType) {
  const std::string text = "weir: 1\nvariables: {size: 2}\npipeline: []\n";
  try {
    static_cast<void>(parse_pipeline(text, "train.yaml", {{"size", "big"}}));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("variable size: 'big' was given, must be a whole number "
                                        "like its value in train.yaml:2:19"));
  }
}

TEST(PipelineMessagesGiven, FileThatIsNotThere) {
  try {
    static_cast<void>(load_pipeline("no_such.yaml"));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(), "no_such.yaml: cannot be read: No such file or directory");
  }
}

TEST(PipelineMessagesGiven, FolderInPlaceOfAFile) {
  EXPECT_THROW(static_cast<void>(load_pipeline(".")), Error);
}

}  // namespace
}  // namespace weir
