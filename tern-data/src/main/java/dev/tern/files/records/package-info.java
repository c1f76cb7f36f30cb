/** Files of HugeCTR to batches and back: Norm and Raw. */
@org.jspecify.annotations.NullMarked
package dev.tern.files.records;
