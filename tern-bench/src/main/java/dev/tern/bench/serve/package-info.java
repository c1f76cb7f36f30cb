/** Requests over HTTP to a server in a process of its own: their times, and its CPU time. */
@NullMarked
package dev.tern.bench.serve;

import org.jspecify.annotations.NullMarked;
