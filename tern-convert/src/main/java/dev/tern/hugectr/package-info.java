/** Models as the files of HugeCTR: a graph in JSON, dense weights and embedding tables. */
@NullMarked
package dev.tern.hugectr;

import org.jspecify.annotations.NullMarked;
