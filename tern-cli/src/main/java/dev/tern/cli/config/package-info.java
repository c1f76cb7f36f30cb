/**
 * The configuration of a run: {@link dev.tern.cli.config.Config#load} reads YAML and {@code --set}
 * overrides into the engine's own options. Every key is declared once, with its kind, default,
 * condition and meaning: in {@code DataKeys}, {@code ModelKeys} or {@code TrainKeys}, by section.
 */
@NullMarked
package dev.tern.cli.config;

import org.jspecify.annotations.NullMarked;
