/**
 * The commands that score rows of files: {@code tern evaluate}, {@code tern predict} and {@code
 * tern retrieve}, and the files that they read and write.
 */
@NullMarked
package dev.tern.cli.score;

import org.jspecify.annotations.NullMarked;
