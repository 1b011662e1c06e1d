#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addon_data.h"
#include "error.h"
#include "failure.h"
#include "napi_setup.h"

namespace verbatim::addon {

// A JS object that stands for a native one: the base of the addon's classes. T, the class, has
//   static constexpr const char* kName           its name in JavaScript,
//   static constexpr napi_type_tag kTag          the type tag of its objects,
//   static constexpr Napi::FunctionReference AddonData::* kConstructor
//   static std::vector<PropertyDescriptor> members().
// State is the native object. Running work shares it, so a handle can be closed or collected at any time.
template <typename T, typename State>
class Handle : public Napi::ObjectWrap<T> {
 public:
  static void define(Napi::Env env) {
    addon_data(env).*T::kConstructor = Napi::Persistent(Napi::ObjectWrap<T>::DefineClass(env, T::kName, T::members()));
  }

  // Makes a handle. JavaScript cannot construct one.
  static Napi::Object wrap(Napi::Env env, std::shared_ptr<State> state) {
    AddonData& data = addon_data(env);
    data.adopting = std::move(state);
    return (data.*T::kConstructor).New({});
  }

  // Throws a JS TypeError "`name` must be a ..." for anything but a T.
  static T* from_js(Napi::Value value, const std::string& name) {
    if (value.IsObject() && value.As<Napi::Object>().CheckTypeTag(&T::kTag)) {
      return Napi::ObjectWrap<T>::Unwrap(value.As<Napi::Object>());
    }
    throw argument_error(value.Env(), name + " must be an object of the class " + T::kName + ".");
  }

  // Hides ObjectWrap's function, which would accept any wrapped object as a T. Every method call passes its `this`
  // through here.
  static T* Unwrap(Napi::Object object) { return from_js(object, "this"); }

  explicit Handle(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<T>(info),
        state_(std::static_pointer_cast<State>(std::exchange(addon_data(info.Env()).adopting, nullptr))) {
    if (!state_) throw argument_error(info.Env(), std::string(T::kName) + " has no public constructor.");
    this->Value().TypeTag(&T::kTag);
  }

  // Throws EngineError kInvalidArgument once closed.
  const std::shared_ptr<State>& state() const {
    if (!state_) {
      throw EngineError(ErrorCode::kInvalidArgument, std::string("This ") + T::kName + " has been closed or released.");
    }
    return state_;
  }

 protected:
  // A method that frees the native object: now, or when the work that uses it ends. Idempotent.
  static Napi::ClassPropertyDescriptor<T> closing_method(const char* name) {
    const auto close = static_cast<void (T::*)(const Napi::CallbackInfo&)>(&Handle::close);
    return Napi::ObjectWrap<T>::InstanceMethod(name, close);
  }

  // Defines a read-only value that outlives close().
  void define_value(const char* name, Napi::Value value) {
    this->Value().DefineProperty(Napi::PropertyDescriptor::Value(name, value, napi_enumerable));
  }

 private:
  void close(const Napi::CallbackInfo&) { state_.reset(); }

  std::shared_ptr<State> state_;
};

}  // namespace verbatim::addon
