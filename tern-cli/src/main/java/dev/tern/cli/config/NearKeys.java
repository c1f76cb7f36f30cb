package dev.tern.cli.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Finds the key that a name may have meant which is none. */
final class NearKeys {
  /** Letters from which on a name at one edit is taken for a slip of the keyboard. */
  private static final int LONG = 4;

  /** Names that other programs have for a key, in small letters without marks between words. */
  private static final Map<String, String> HABITS = new HashMap<>();

  static {
    habits("train.optimizer.lr", "lr", "learningrate", "eta", "stepsize", "baselr");
    habits("train.optimizer", "optim", "optimiser", "opt");
    habits("train.batch", "batchsize", "minibatch", "bs", "perdevicebatchsize");
    habits(
        "train.lanes",
        "accumulation",
        "gradientaccumulation",
        "gradientaccumulationsteps",
        "accumulategradbatches",
        "microbatches");
    habits("train.epochs", "epoch", "nepochs", "numepochs", "maxepochs", "niter", "iterations");
    habits("train.l2", "l2reg", "l2regularization", "reg", "regularization", "lambda");
    habits("train.early_stop", "earlystopping", "patience", "earlystoppingrounds");
    habits("train.seed", "randomstate", "randomseed", "rngseed");
    habits("train.clip_norm", "clip", "clipgradnorm", "gradientclip", "gradclip", "maxgradnorm");
    habits("train.schedule", "scheduler", "lrscheduler", "lrschedule");
    habits("train.schedule.warmup_steps", "warmup", "nwarmupsteps", "numwarmupsteps");
    habits("train.evaluate_every", "evalevery", "validateevery", "evalsteps", "evalinterval");
    habits("train.checkpoint_every", "saveevery", "savesteps", "checkpointing");
    habits("train.threads", "njobs", "nthreads", "nthread", "numthreads");
    habits("train.memory", "memorylimit", "maxmemory");
    habits(
        "model.embedding",
        "embeddingdim",
        "embeddingsize",
        "embeddings",
        "embeddim",
        "embsize",
        "embdim",
        "dim",
        "latentdim",
        "factors",
        "nfactors");
    habits(
        "model.hidden",
        "hiddenunits",
        "hiddenlayers",
        "hiddensizes",
        "hiddendim",
        "dnnhiddenunits",
        "layers",
        "mlp");
    habits("model.dropout", "dropoutrate", "droprate", "dnndropout", "dropoutp");
    habits("model.type", "modeltype", "arch", "architecture", "network");
    habits("data.delimiter", "sep", "delim", "fielddelimiter", "fielddelim");
    habits("data.columns", "header", "names", "columnnames", "colnames", "schema");
    habits("data.label.column", "target", "targetcolumn", "labelcolumn", "labelcol", "y");
    habits("data.label.positive", "poslabel", "positiveclass", "positivelabel");
    habits("data.skip_lines", "skiprows", "skipheader");
    habits("data.missing_values", "navalues", "nullvalues", "nullvalue", "nanvalues");
    habits("data.quotes", "quote", "quotechar", "quoting");
    habits("data.escapes", "escape", "escapechar");
    habits("data.bad_records", "onbadlines", "errorbadlines");
    habits("data.threads", "numworkers", "workers", "numparallelcalls");
    habits("data.train", "traindata", "training", "trainfile", "trainpath", "files", "path");
    habits("data.eval", "validation", "valid", "val", "test", "evaldata", "valdata", "testdata");
    habits("data.dense.columns", "densefeatures", "numerical", "numericcolumns", "continuous");
    habits("data.dense.transform", "normalize", "scaler", "standardize", "scaling");
    habits("data.sparse.columns", "sparsefeatures", "categorical", "catfeatures", "categories");
    habits("data.sparse.buckets", "hashbuckets", "numbuckets", "hashbucketsize", "vocabsize");
    habits("data.sparse.min_count", "minfreq", "mincount", "frequencythreshold");
    habits("run.dir", "output", "outputdir", "outdir", "savedir", "logdir", "modeldir");
  }

  private NearKeys() {}

  private static void habits(String key, String... names) {
    for (String name : names) {
      HABITS.put(name, key);
    }
  }

  /** The names of {@link #HABITS} with the key that each stands for. */
  static Map<String, String> habits() {
    return Map.copyOf(HABITS);
  }

  /**
   * What {@code path} may have meant of {@code names}, keys and sections: a slip in a name of its
   * section, what other programs call so, the name deeper in the section, a name of the section
   * that is less near, the name elsewhere, a path that is near.
   */
  static Optional<String> of(String path, Collection<String> names) {
    int dot = path.lastIndexOf('.');
    String prefix = path.substring(0, dot + 1);
    String last = path.substring(dot + 1);
    List<String> siblings =
        names.stream()
            .filter(n -> n.startsWith(prefix) && n.indexOf('.', prefix.length()) < 0)
            .map(n -> n.substring(prefix.length()))
            .toList();
    return Names.nearest(last, siblings, last.length() < LONG ? 0 : 1)
        .map(prefix::concat)
        .or(() -> Optional.ofNullable(HABITS.get(bare(last))))
        .or(() -> shortest(names, n -> n.startsWith(prefix) && n.endsWith("." + last)))
        .or(() -> Names.nearest(last, siblings, last.length() / 3).map(prefix::concat))
        .or(() -> shortest(names, n -> n.endsWith("." + last)))
        .or(() -> Names.nearest(path, names, path.length() / 3));
  }

  private static String bare(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[-_ ]", "");
  }

  private static Optional<String> shortest(Collection<String> names, Predicate<String> wanted) {
    return names.stream()
        .filter(wanted)
        .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
  }
}
