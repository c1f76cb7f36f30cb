/**
 * The {@code tern} command: {@link dev.tern.cli.Main} is the program, {@code Subcommand} the list
 * of its commands, {@code TrainCommand} is {@code tern train}. Commands parse arguments and print
 * results; reading, training and scoring are in the libraries. {@code Failures} turns exceptions
 * into messages and exit codes.
 *
 * <p>Families of commands have packages of their own: {@code score}, {@code data}, {@code serve},
 * {@code table}, {@code board}. They use what all commands share, and nothing of this package:
 * {@code config} reads configurations, {@code files} opens what they describe, {@code run} writes
 * run folders, {@code choice} has arguments, {@code notes} what commands say while they work.
 */
@NullMarked
package dev.tern.cli;

import org.jspecify.annotations.NullMarked;
