/**
 * {@code tern table}: looks into the embedding tables of checkpoints, writes and reads them. Also
 * the argument by which all commands choose a checkpoint.
 */
@NullMarked
package dev.tern.cli.table;

import org.jspecify.annotations.NullMarked;
