/**
 * Tern's engine: tensors, memory, kernels, autograd, embedding tables, layers, models, training and
 * the in-process predictor. Depends on the JDK only.
 */
@org.jspecify.annotations.NullMarked
module dev.tern.core {
  requires static jdk.incubator.vector;
  requires static org.jspecify;
  requires jdk.jfr;
  requires jdk.management;

  exports dev.tern.base;
  exports dev.tern.checkpoint;
  exports dev.tern.data;
  exports dev.tern.data.encode;
  exports dev.tern.data.readers;
  exports dev.tern.embedding;
  exports dev.tern.embedding.config;
  exports dev.tern.exchange;
  exports dev.tern.model;
  exports dev.tern.model.graph;
  exports dev.tern.nn;
  exports dev.tern.optim;
  exports dev.tern.predict;
  exports dev.tern.metrics;
  exports dev.tern.train;
  exports dev.tern.tensor;

  // Tools for tables, replays of logs and converters of models work on these.
  exports dev.tern.internal.checkpoint to
      dev.tern.files,
      dev.tern.convert;
  exports dev.tern.internal.ir to
      dev.tern.convert;
  exports dev.tern.internal.json to
      dev.tern.files,
      dev.tern.convert;
  exports dev.tern.internal.memory to
      dev.tern.files,
      dev.tern.convert;
  exports dev.tern.internal.remat to
      dev.tern.files;
  exports dev.tern.internal.remat.search to
      dev.tern.files;
}
