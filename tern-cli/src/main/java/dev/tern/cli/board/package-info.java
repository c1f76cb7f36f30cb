/**
 * {@code tern board}: a web page with the curves of running and ended runs. {@link
 * dev.tern.cli.board.Board} follows the files of run folders and serves one page; training knows
 * nothing of it.
 */
@NullMarked
package dev.tern.cli.board;

import org.jspecify.annotations.NullMarked;
