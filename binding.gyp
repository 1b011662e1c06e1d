{
  "targets": [
    {
      "target_name": "verbatim",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake_js",
          "inputs": ["CMakeLists.txt"],
          "outputs": ["build/Release/verbatim.node"],
          "action": ["npx", "--no-install", "cmake-js", "compile", "--target", "verbatim"]
        }
      ]
    }
  ]
}
