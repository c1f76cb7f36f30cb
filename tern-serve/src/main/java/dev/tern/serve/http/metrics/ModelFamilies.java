package dev.tern.serve.http.metrics;

import java.util.List;

/**
 * What is counted of models, family after family: the lines of all models stand below the name that
 * they share.
 *
 * @param page what is written to
 * @param models that are served
 */
public record ModelFamilies(Exposition page, List<ModelMetrics> models) {
  /**
   * Writes all families.
   *
   * @param none counts requests that name no model that is served
   */
  public void write(ModelMetrics none) {
    requests(none);
    scores();
    columns();
    drift();
    items();
  }

  private void requests(ModelMetrics none) {
    page.family("tern_requests_total", "counter", "Requests answered, by status.");
    models.forEach(each -> each.writeCodes(page, "tern_requests_total"));
    none.writeCodes(page, "tern_requests_total");
    page.family(
        "tern_request_duration_seconds",
        "histogram",
        "Time from the head of a request to its answer.");
    models.forEach(each -> each.writeTimes(page, "tern_request_duration_seconds"));
  }

  private void scores() {
    page.family("tern_rows_total", "counter", "Rows scored.");
    models.forEach(each -> each.writeRows(page, "tern_rows_total"));
    page.family("tern_score_duration_seconds", "histogram", "Time of scoring a request's rows.");
    models.forEach(each -> each.writeScoring(page, "tern_score_duration_seconds"));
    page.family("tern_prediction", "summary", "Predictions of the first task that are numbers.");
    models.forEach(each -> each.writePredictions(page, "tern_prediction_sum", true));
    models.forEach(each -> each.writePredictions(page, "tern_prediction_count", false));
  }

  private void columns() {
    page.family(
        "tern_checked_rows_total",
        "counter",
        "Rows whose values were looked up, of 1 request in 16.");
    models.forEach(each -> each.columns().writeRows(page, "tern_checked_rows_total", each.label()));
    page.family("tern_missing_values_total", "counter", "Of these rows, those without a value.");
    models.forEach(
        each -> each.columns().writeMissing(page, "tern_missing_values_total", each.label()));
    page.family("tern_ids_total", "counter", "Values of these rows that are ids.");
    models.forEach(each -> each.columns().writeValues(page, "tern_ids_total", each.label()));
    page.family("tern_unknown_ids_total", "counter", "Of these ids, those unknown to the model.");
    models.forEach(
        each -> each.columns().writeUnknown(page, "tern_unknown_ids_total", each.label()));
  }

  private void drift() {
    page.family("tern_prediction_psi", "gauge", "Stability index of the last 10,000 predictions.");
    models.forEach(
        each -> page.line("tern_prediction_psi", each.label(), each.drift().recent().psi()));
    page.family(
        "tern_prediction_mean", "gauge", "Mean of the first and of the last 10,000 predictions.");
    models.forEach(each -> {
      page.line(
          "tern_prediction_mean", each.label() + ",window=\"first\"", each.drift().firstMean());
      page.line(
          "tern_prediction_mean", each.label() + ",window=\"last\"", each.drift().recent().mean());
    });
  }

  private void items() {
    page.family("tern_retrieve_users_total", "counter", "Users that items were found for.");
    models.forEach(each -> each.writeFinding(page, "tern_retrieve_users_total", false));
    page.family(
        "tern_retrieve_duration_seconds", "histogram", "Time of finding a request's items.");
    models.forEach(each -> each.writeFinding(page, "tern_retrieve_duration_seconds", true));
  }
}
