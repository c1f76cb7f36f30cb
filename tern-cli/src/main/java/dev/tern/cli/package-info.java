/**
 * The {@code tern} command, one class for each subcommand: {@link dev.tern.cli.Main} is the
 * program, {@code TrainCommand} is {@code tern train}. Commands parse arguments and print results;
 * reading, training and scoring are in the libraries. {@code Failures} turns exceptions into
 * messages and exit codes. Of the packages below, {@code config} reads configurations, {@code run}
 * writes run folders, and {@code choice} has the arguments that commands share.
 */
@NullMarked
package dev.tern.cli;

import org.jspecify.annotations.NullMarked;
