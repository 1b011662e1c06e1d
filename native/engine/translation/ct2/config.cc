#include "translation/ct2/config.h"

#include "error.h"
#include "mapped_file.h"
#include "translation/files/json_file.h"

namespace verbatim::translation {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw EngineError(ErrorCode::kInvalidModel, "config.json: " + what); }

const json* find(const json& config, const char* key) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() ? nullptr : &*found;
}

void read_string(const json& config, const char* key, std::string& value) {
  const json* found = find(config, key);
  if (!found) return;
  if (!found->is_string()) fail(std::string("\"") + key + "\" must be a string or null");
  value = found->get<std::string>();
}

bool read_flag(const json& config, const char* key) {
  const json* found = find(config, key);
  if (!found) return false;
  if (!found->is_boolean()) fail(std::string("\"") + key + "\" must be true, false or null");
  return found->get<bool>();
}

void refuse_unsupported(const json& config) {
  if (read_flag(config, "multi_query_attention")) fail("multi_query_attention is not supported");
  if (find(config, "quantization_type") && *find(config, "quantization_type") != 0) {
    fail("AWQ quantization is not supported");
  }
}

void read_json_config(const json& config, bool with_tokens, Ct2Config& result) {
  if (!config.is_object()) fail("must be an object");
  refuse_unsupported(config);
  if (const json* epsilon = find(config, "layer_norm_epsilon")) {
    if (!epsilon->is_number()) fail("\"layer_norm_epsilon\" must be a number or null");
    result.layer_norm_epsilon = epsilon->get<float>();
  }
  if (!with_tokens) return;
  read_string(config, "unk_token", result.unk_token);
  read_string(config, "bos_token", result.bos_token);
  read_string(config, "eos_token", result.eos_token);
  result.add_source_bos = read_flag(config, "add_source_bos");
  result.add_source_eos = read_flag(config, "add_source_eos");
  result.decoder_start_token.reset();
  if (find(config, "decoder_start_token")) {
    read_string(config, "decoder_start_token", result.decoder_start_token.emplace());
  }
}

void read_string_attribute(const Ct2File& file, const char* name, std::string& value) {
  const Ct2Variable* variable = file.find(name);
  if (!variable || variable->type != transformer::ElementType::kInt8) return;
  value.assign(reinterpret_cast<const char*>(variable->data.data()), variable->data.size());
}

bool read_flag_attribute(const Ct2File& file, const char* name, bool fallback) {
  const Ct2Variable* variable = file.find(name);
  return variable && variable->size() == 1 ? variable->at(0) != 0.0f : fallback;
}

// Before binary version 6 these were attributes of the model itself.
void read_attributes(const Ct2File& file, Ct2Config& result) {
  read_string_attribute(file, "unk_token", result.unk_token);
  read_string_attribute(file, "bos_token", result.bos_token);
  read_string_attribute(file, "eos_token", result.eos_token);
  result.add_source_bos = read_flag_attribute(file, "with_source_bos", false);
  result.add_source_eos = read_flag_attribute(file, "with_source_eos", false);
  result.decoder_start_token = read_flag_attribute(file, "with_target_bos", true) ? result.bos_token : result.eos_token;
  if (read_flag_attribute(file, "user_decoder_start_tokens", false)) result.decoder_start_token.reset();
}

}  // namespace

Ct2Config Ct2Config::parse(std::string_view text, Ct2Config base, bool with_tokens) {
  read_json_config(parse_json(text, "config.json"), with_tokens, base);
  return base;
}

Ct2Config Ct2Config::read(const std::filesystem::path& directory, const Ct2File& file) {
  Ct2Config config;
  const bool tokens_in_json = file.version() >= 6;
  if (!tokens_in_json) read_attributes(file, config);
  const auto path = directory / "config.json";
  if (std::filesystem::exists(path)) {
    const MappedFile text(path);
    config = parse({reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size()}, std::move(config),
                   tokens_in_json);
  } else if (tokens_in_json) {
    throw EngineError(ErrorCode::kInvalidModel, path.string() + " is missing");
  }
  return config;
}

}  // namespace verbatim::translation
