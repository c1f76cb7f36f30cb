package dev.tern.serve;

import java.util.Optional;

/**
 * An output that is asked for.
 *
 * @param binary whether it is to be a binary tensor; empty where the request says it for all
 */
record InferOutput(String name, Optional<Boolean> binary) {}
