#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "transformer/matrix_view.h"
#include "translation/ct2/file.h"

namespace verbatim::translation {

// The variables of a seq2seq transformer by their current names, whatever the file's revision calls them. It records
// which were read, so that unread ones are refused instead of ignored.
class VariableSet {
 public:
  // Throws EngineError kInvalidModel for a spec name or revision that is not a supported translation transformer.
  explicit VariableSet(const Ct2File& file);

  bool contains(std::string_view name) const { return variables_.contains(name); }
  // Marks the variable as read; null if it is missing.
  const Ct2Variable* find(std::string_view name) const;
  // Throws EngineError kInvalidModel if it is missing.
  const Ct2Variable& get(std::string_view name) const;

  // A scalar attribute `scope/name`; before revision 5 it may be `name`, shared by encoder and decoder. Empty if
  // missing.
  std::optional<float> attribute(std::string_view scope, std::string_view name) const;

  // A matrix with its scales. columns: the required number, 0 = any.
  transformer::MatrixView matrix(const std::string& name, std::size_t columns) const;
  transformer::MatrixView find_matrix(const std::string& name, std::size_t columns) const;
  // A float vector of `size` values. Throws if it is missing or of another size.
  std::vector<float> vector(const std::string& name, std::size_t size) const;
  // Empty if missing.
  std::vector<float> find_vector(const std::string& name, std::size_t size) const;

  // Throws EngineError kInvalidModel with the name of the first unread variable, unless that is a switch that is off.
  void refuse_unread() const;

  // Number of heads in specs that predate the attribute.
  std::optional<int> implied_heads() const noexcept { return implied_heads_; }

 private:
  void read_scale(const std::string& name, const Ct2Variable& weight, transformer::MatrixView& view) const;

  std::map<std::string, const Ct2Variable*, std::less<>> variables_;
  mutable std::set<const Ct2Variable*> read_;
  std::optional<int> implied_heads_;
};

}  // namespace verbatim::translation
