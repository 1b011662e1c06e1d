if(VERBATIM_SANITIZE)
  add_compile_options(-fsanitize=${VERBATIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${VERBATIM_SANITIZE})
endif()
