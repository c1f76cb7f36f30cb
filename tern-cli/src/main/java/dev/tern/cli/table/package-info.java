/** {@code tern table}: looks into the embedding tables of checkpoints, writes and reads them. */
@NullMarked
package dev.tern.cli.table;

import org.jspecify.annotations.NullMarked;
