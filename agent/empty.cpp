// Nothing: meson.build says when it is compiled.
