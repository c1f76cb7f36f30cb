/**
 * Requests over HTTP and gRPC to a server in a process of its own: their times, and its CPU time;
 * damaged requests.
 */
@NullMarked
package dev.tern.bench.serve;

import org.jspecify.annotations.NullMarked;
