/**
 * What the readers and writers of all formats share: walking over several files, threads, bytes and
 * numbers of text, output that appears whole or not at all. Formats use it; users of Tern do not.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.internal.files;
