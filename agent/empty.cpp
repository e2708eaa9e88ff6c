// Intentionally empty; meson.build contains the reason.
