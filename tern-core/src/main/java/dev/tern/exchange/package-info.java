/**
 * The transport between the workers of one training. A {@link dev.tern.exchange.Mesh} connects
 * ranks to each other and moves off-heap memory between them: messages, broadcasts, gathers,
 * scatters, sums that have the same bits however fast who is, and exchanges of everybody with
 * everybody. It knows nothing of tensors or tables.
 */
package dev.tern.exchange;
