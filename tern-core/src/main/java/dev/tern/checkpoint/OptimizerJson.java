package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import java.util.List;

/** An update rule and its constants as JSON. */
final class OptimizerJson {
  /** For lazy Adam: whether moments decay in steps that do not touch a row; absent for no. */
  private static final String DECAYS = "decays";

  private OptimizerJson() {}

  static Json.Obj write(Optimizer optimizer) {
    Json.Obj json =
        Json.object().put("type", optimizer.getClass().getSimpleName()).put("lr", optimizer.lr());
    switch (optimizer) {
      case Optimizer.Sgd _ -> {}
      case Optimizer.Momentum momentum -> json.put("momentum", momentum.momentum());
      case Optimizer.Nesterov nesterov -> json.put("momentum", nesterov.momentum());
      case Optimizer.Adagrad adagrad ->
          json.put("initial", adagrad.initial()).put("eps", adagrad.eps());
      case Optimizer.RowWiseAdagrad adagrad ->
          json.put("initial", adagrad.initial()).put("eps", adagrad.eps());
      case Optimizer.RmsProp rmsProp -> json.put("rho", rmsProp.rho()).put("eps", rmsProp.eps());
      case Optimizer.Adam adam -> {
        json.put("beta1", adam.beta1())
            .put("beta2", adam.beta2())
            .put("eps", adam.eps())
            .put("lazy", adam.lazy());
        if (adam.decays()) {
          json.put(DECAYS, true);
        }
      }
      case Optimizer.Ftrl ftrl ->
          json.put("beta", ftrl.beta()).put("l1", ftrl.l1()).put("l2", ftrl.l2());
    }
    return json;
  }

  /** The rule and its constants, but for the learning rate and what does not change its state. */
  static String withoutRate(Json.Obj json) {
    Json.Obj rule = Json.object();
    json.fields()
        .forEach((name, value) -> {
          if (!List.of("lr", "weightDecay", "clipNorm").contains(name)) {
            rule.put(name, value);
          }
        });
    return rule.toString();
  }

  static Optimizer read(Json.Obj json) {
    float lr = number(json, "lr");
    return switch (json.text("type")) {
      case "Sgd" -> new Optimizer.Sgd(lr);
      case "Momentum" -> new Optimizer.Momentum(lr, number(json, "momentum"));
      case "Nesterov" -> new Optimizer.Nesterov(lr, number(json, "momentum"));
      case "Adagrad" -> new Optimizer.Adagrad(lr, number(json, "initial"), number(json, "eps"));
      case "RowWiseAdagrad" ->
          new Optimizer.RowWiseAdagrad(lr, number(json, "initial"), number(json, "eps"));
      case "RmsProp" -> new Optimizer.RmsProp(lr, number(json, "rho"), number(json, "eps"));
      case "Adam" ->
          new Optimizer.Adam(
              lr,
              number(json, "beta1"),
              number(json, "beta2"),
              number(json, "eps"),
              untouched(json));
      case "Ftrl" ->
          new Optimizer.Ftrl(lr, number(json, "beta"), number(json, "l1"), number(json, "l2"));
      case String other ->
          throw new DataException("optimizer: got " + other + ", expected one that Tern knows");
    };
  }

  private static Untouched untouched(Json.Obj json) {
    if (json.has(DECAYS) && json.flag(DECAYS)) {
      return Untouched.DECAYED;
    }
    return json.flag("lazy") ? Untouched.KEPT : Untouched.UPDATED;
  }

  private static float number(Json.Obj json, String key) {
    return (float) json.number(key);
  }
}
