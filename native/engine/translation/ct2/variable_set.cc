#include "translation/ct2/variable_set.h"

#include <array>
#include <cmath>
#include <utility>

#include "error.h"

namespace verbatim::translation {
namespace {

constexpr std::uint32_t kNewestRevision = 7;

[[noreturn]] void fail(const std::string& what) { throw EngineError(ErrorCode::kInvalidModel, "model.bin: " + what); }

void replace(std::string& text, std::string_view from, std::string_view to) {
  const auto position = text.find(from);
  if (position != std::string::npos) text.replace(position, from.size(), to);
}

// Revision 1 has the variable names of OpenNMT-tf's graph.
std::string name_of_revision_1(std::string name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kRenames{{
      {"transformer/", ""},
      {":0", ""},
      {"w_embs", "embeddings/weight"},
      {"kernel", "weight"},
      {"LayerNorm", "layer_norm"},
      {"dense", "projection"},
      {"conv1d_", "linear_"},
      {"conv1d", "linear_0"},
  }};
  for (const auto& [from, to] : kRenames) replace(name, from, to);
  if (name.starts_with("encoder") || name.find("masked_multi_head") != std::string::npos) {
    replace(name, "masked_", "");
    replace(name, "multi_head", "self_attention");
  } else {
    replace(name, "multi_head", "attention");
  }
  return name;
}

std::optional<int> heads_of_spec(const Ct2File& file) {
  const std::string& spec = file.spec_name();
  const bool is_current = spec == "TransformerSpec";
  if (is_current && file.revision() > kNewestRevision) {
    fail("TransformerSpec revision " + std::to_string(file.revision()) + " is newer than " +
         std::to_string(kNewestRevision) + ", the newest one supported");
  }
  if (is_current) return std::nullopt;
  if (spec.empty() || spec == "TransformerBase") return 8;
  if (spec == "TransformerBig") return 16;
  fail("spec \"" + spec + "\" is not a translation model; TransformerSpec, TransformerBase and TransformerBig are");
}

// Converters write these whether or not their feature is on.
bool is_harmless(std::string_view name) {
  for (const std::string_view known : {"unk_token", "bos_token", "eos_token", "with_source_bos", "with_source_eos",
                                       "with_target_bos", "user_decoder_start_tokens"}) {
    if (name == known) return true;
  }
  return name.ends_with("alibi_use_positive_positions") || name.ends_with("embeddings_merge");
}

}  // namespace

VariableSet::VariableSet(const Ct2File& file) : implied_heads_(heads_of_spec(file)) {
  const auto present_name = [&](const std::string& name) {
    return file.revision() == 1 ? name_of_revision_1(name) : name;
  };
  for (const auto& [name, variable] : file.variables()) variables_.emplace(present_name(name), &variable);
  for (const auto& [alias, name] : file.aliases()) variables_.emplace(present_name(alias), file.find(name));
}

const Ct2Variable* VariableSet::find(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return nullptr;
  read_.insert(found->second);
  return found->second;
}

const Ct2Variable& VariableSet::get(std::string_view name) const {
  const Ct2Variable* variable = find(name);
  if (!variable) fail(std::string(name) + " is missing");
  return *variable;
}

std::optional<float> VariableSet::attribute(std::string_view scope, std::string_view name) const {
  const std::string full = std::string(scope) + "/" + std::string(name);
  const Ct2Variable* variable = find(full);
  if (!variable) variable = find(name);
  if (!variable) return std::nullopt;
  if (variable->size() != 1) fail(full + " must be a scalar");
  const float value = variable->at(0);
  if (!std::isfinite(value)) fail(full + " is not a finite number");
  return value;
}

transformer::MatrixView VariableSet::matrix(const std::string& name, std::size_t columns) const {
  const Ct2Variable& weight = get(name);
  if (weight.shape.size() != 2 || weight.shape[0] == 0 || weight.shape[1] == 0) fail(name + " must be a matrix");
  transformer::MatrixView view;
  view.type = weight.type;
  view.rows = weight.shape[0];
  view.columns = weight.shape[1];
  view.data = weight.data;
  if (columns != 0 && view.columns != columns) {
    fail(name + " has " + std::to_string(view.columns) + " columns, expected " + std::to_string(columns));
  }
  if (view.type == transformer::ElementType::kInt32) fail(name + " has type int32, which no weight may have");
  read_scale(name, weight, view);
  return view;
}

void VariableSet::read_scale(const std::string& name, const Ct2Variable& weight, transformer::MatrixView& view) const {
  if (weight.type != transformer::ElementType::kInt8 && weight.type != transformer::ElementType::kInt16) return;
  const Ct2Variable* const scales = find(name + "_scale");
  if (!scales) {
    if (weight.type == transformer::ElementType::kInt8) fail(name + " is int8 but " + name + "_scale is missing");
    // The oldest int16 models have one fixed scale.
    view.default_scale = 1000.0f;
    return;
  }
  const std::size_t size = scales->size();
  if (size != 1 && (weight.type == transformer::ElementType::kInt16 || size != view.rows)) {
    fail(name + "_scale has " + std::to_string(size) + " values for " + std::to_string(view.rows) + " rows");
  }
  for (std::size_t i = 0; i < size; ++i) {
    const float scale = scales->at(i);
    if (!std::isfinite(scale) || scale <= 0.0f) fail(name + "_scale holds a value that is not positive");
  }
  view.scales = scales->data;
  view.scale_type = scales->type;
}

transformer::MatrixView VariableSet::find_matrix(const std::string& name, std::size_t columns) const {
  return contains(name) ? matrix(name, columns) : transformer::MatrixView{};
}

std::vector<float> VariableSet::vector(const std::string& name, std::size_t size) const {
  const Ct2Variable& variable = get(name);
  if (variable.size() != size) {
    fail(name + " has " + std::to_string(variable.size()) + " values, expected " + std::to_string(size));
  }
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = variable.at(i);
  return values;
}

std::vector<float> VariableSet::find_vector(const std::string& name, std::size_t size) const {
  return contains(name) ? vector(name, size) : std::vector<float>{};
}

void VariableSet::refuse_unread() const {
  for (const auto& [name, variable] : variables_) {
    if (read_.contains(variable) || is_harmless(name)) continue;
    const bool is_off_switch = variable->is_scalar() && variable->size() == 1 && variable->at(0) == 0.0f;
    if (!is_off_switch) fail(name + " belongs to a feature that is not supported");
  }
}

}  // namespace verbatim::translation
