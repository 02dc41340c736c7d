# Record what R packages print for external clustering metrics.
#
# Needs R with the packages clusterCrit 1.3.0, mclust 6.0.0 and jsonlite. To rerun:
#
#     Rscript observe.R clustercrit mclust [FOLDER]
#
# The labelings are those of sklearn.json in the same folder, so run observe.py first; its
# docstring describes the file format. FOLDER is where files are read and written, by default
# the current one. Labels are handed over as integers from 1. An "error" is always "error"
# here: R's conditions have no class that tells one cause from another.

libraries <- list(
  clustercrit = list(
    package = "clusterCrit",
    precision = "binary32",
    functions = c(
      "fowlkes_mallows" = "Folkes_Mallows",
      "hubert_normalized" = "Hubert",
      "hubert_raw" = "Russel_Rao",
      "jaccard" = "Jaccard",
      "kulczynski" = "Kulczynski",
      "pair_f" = "Czekanowski_Dice",
      "pair_precision" = "Precision",
      "pair_recall" = "Recall",
      "rand" = "Rand",
      "rogers_tanimoto" = "Rogers_Tanimoto",
      "sokal_sneath_1" = "Sokal_Sneath1",
      "sokal_sneath_2" = "Sokal_Sneath2",
      "x:mcnemar" = "McNemar",
      "x:phi" = "Phi"
    )
  ),
  mclust = list(
    package = "mclust",
    precision = "binary64",
    functions = c(
      "adjusted_rand" = "mclust::adjustedRandIndex(labels_true, labels_pred)",
      "x:class_error" = "mclust::classError(labels_pred, labels_true)$errorRate"
    )
  )
)
libraries$clustercrit$functions[] <- sprintf(
  'clusterCrit::extCriteria(labels_true, labels_pred, "%s")[[1]]',
  libraries$clustercrit$functions
)
libraries$clustercrit$functions[["x:concordance"]] <-
  "as.vector(t(clusterCrit::concordance(labels_true, labels_pred)))"

# Shortest decimal form that reads back as the same double.
encode_number <- function(x) {
  if (is.nan(x) || is.na(x)) return('"nan"')
  if (is.infinite(x)) return(if (x > 0) '"inf"' else '"-inf"')
  for (digits in 1:17) {
    text <- sprintf("%.*g", digits, x)
    if (as.numeric(text) == x) return(text)
  }
}

encode <- function(values) {
  numbers <- vapply(values, encode_number, "")
  if (length(numbers) == 1) numbers else sprintf("[%s]", paste(numbers, collapse = ","))
}

quoted <- function(text) {
  vapply(text, function(x) as.character(jsonlite::toJSON(x, auto_unbox = TRUE)), "")
}

object <- function(names, texts) {
  sprintf("{%s}", paste(quoted(names), texts, sep = ":", collapse = ","))
}

observe <- function(expression, labels_true, labels_pred) {
  tryCatch(
    encode(eval(parse(text = expression))),
    error = function(condition) '{"error":"error"}'
  )
}

labels_text <- function(labels) sprintf("[%s]", paste(labels, collapse = ","))

write_library <- function(name, cases, folder) {
  library <- libraries[[name]]
  functions <- library$functions[order(names(library$functions), method = "radix")]
  lines <- vapply(cases, function(case) {
    truth <- as.integer(unlist(case$labels_true)) + 1L
    predicted <- as.integer(unlist(case$labels_pred)) + 1L
    values <- vapply(functions, observe, "", labels_true = truth, labels_pred = predicted)
    object(
      c("labels_pred", "labels_true", "values"),
      c(labels_text(predicted - 1L), labels_text(truth - 1L), object(names(functions), values))
    )
  }, "")
  head <- object(
    c("functions", "library", "precision", "version"),
    c(
      object(names(functions), quoted(functions)),
      quoted(name),
      quoted(library$precision),
      quoted(as.character(utils::packageVersion(library$package)))
    )
  )
  text <- paste0(
    sub("}$", "", head), ',"cases":[\n', paste(lines, collapse = ",\n"), "\n]}\n"
  )
  cat(text, file = file.path(folder, paste0(name, ".json")))
}

arguments <- commandArgs(trailingOnly = TRUE)
chosen <- intersect(arguments, names(libraries))
folder <- c(setdiff(arguments, chosen), ".")[1]
cases <- jsonlite::fromJSON(file.path(folder, "sklearn.json"), simplifyVector = FALSE)$cases
for (name in chosen) write_library(name, cases, folder)
