/**
 * The configuration of a run: {@link dev.tern.cli.config.Config#load} reads YAML and {@code --set}
 * overrides into typed records. Every key stands once, in {@link dev.tern.cli.config.Keys}: its
 * kind, default, condition and meaning. Reading data, building models and training are elsewhere.
 */
@NullMarked
package dev.tern.cli.config;

import org.jspecify.annotations.NullMarked;
