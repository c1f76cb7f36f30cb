package dev.tern.cli.config;

import java.nio.file.Path;

/**
 * Where the run's results go.
 *
 * @param dir folder of the configuration, metrics, checkpoints and report
 */
public record RunConfig(Path dir) {}
