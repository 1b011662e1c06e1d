#pragma once

// The only file that includes Node-API, so that every file of the addon has the same settings.

// Node-API 8: instance data, type tags and cleanup hooks, in every Node.js since 15.12.
#define NAPI_VERSION 8
#define NODE_ADDON_API_DISABLE_DEPRECATED
// Failed Node-API calls throw Napi::Error, and any C++ exception that leaves a callback becomes a JS exception.
#define NODE_ADDON_API_CPP_EXCEPTIONS_ALL
#define NODE_ADDON_API_CPP_EXCEPTIONS
// A JS exception that cannot be thrown because the environment is ending is dropped instead of ending the process.
#define NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS

#include <napi.h>
