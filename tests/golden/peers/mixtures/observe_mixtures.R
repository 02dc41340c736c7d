# Record what mclust and MASS compute for Gaussian mixtures and discriminant analysis.
#
# Needs R 4.2.2 with mclust 6.0.0, MASS 7.3-58.2, mixtools 2.0.0 and jsonlite 1.8.4 (Debian 12:
# r-base-core r-cran-mclust r-cran-mass r-cran-mixtools r-cran-jsonlite). To rerun:
#
#     Rscript observe_mixtures.R mclust masslda [FOLDER]
#     Rscript observe_mixtures.R mixtools [FOLDER]
#
# FOLDER is where the files are written, by default the current one. observe_mixtures.py reads its
# data and start labels from mclust.json, so run this first; "mixtools" reads multinomial.json, so
# run multinomial_mixture.py before it. Nothing here is random: a rerun with the same versions and
# the same BLAS writes the same bytes, another BLAS may change last digits.
#
# mclust.json
#   data, classes     rows of R's faithful and iris; the species of iris as 0, 1, 2
#   starts            labels per data set and number of components: Lloyd's k-means on the rows
#                     as they are, from the means of equal slices of the first column's order
#   first             weights and means after the first M-step: all models share them
#   runs              one line per data set, G and model: "em" is me() from the one-hot labels to
#                     convergence, "step" is one mstep() followed by one estep() (for G > 1)
#   defaults          Mclust(data) with every default
#   tables            mclustBIC and mclustICL for G = 1..9, null where mclust has NA
#   vve_trajectory    log-likelihood of iris, G = 3, after 1, 2, ..., 40 rounds of VVE
#   degenerate        loglik (or the warning) of me() on data that makes components collapse
# Matrices are lists of rows; a mean or a covariance comes once per component; rows of
# "posteriors" are those of "rows" (0-based). A failed run has "log_likelihood": null and "why".
#
# How to read the figures of mclust:
# - me() starts with an M-step on z. After `iterations` rounds it returns the parameters of the
#   last M-step with the log-likelihood and posteriors of the E-step after it, so `iterations`
#   M-steps from the labels are comparable number by number. One round equals mstep() + estep().
# - tol[1] stops when |l - l_before| / (1 + |l|) <= tol[1], l the log-likelihood of all rows. The
#   last difference is "error": the distance to the limit is about error / (1 - rate), not error.
# - VEI, VEV, VEE, EVE and VVE have M-steps that iterate: tol[2] and itmax[2] bound these inner
#   loops. VEI and VEV stop on the largest change of scale or shape relative to 1 + value, VEE on
#   the relative change of its objective, EVE and VVE on that of sum_k tr(W_k D A_k^-1 D'). VEI
#   starts its first inner loop from scale 1 and shape 1, EVE and VVE from the identity and
#   equal shapes, VEV from the sum of the ordered eigenvalues; all these carry what they have
#   over to the next M-step, while VEE starts again from scale 1. EVE and VVE alternate two
#   majorisations of Browne and McNicholas. Here tol[2] = 1e-12 in "em" and 0 in "step" (so the
#   inner loop ends where nothing changes, or after itmax[2] = 10000 rounds: "inner" is then
#   negative).
# - VVE is not maximum likelihood in mclust: the shapes that enter the majorisations have
#   determinant 1 and no scale divides them, so the orientation found minimises
#   sum_k |diag(D' W_k D)|^(1/d), which is the criterion of EVE, instead of
#   sum_k n_k log |diag(D' W_k D)|. In "step" VVE has the orientation of EVE to 1e-7 and the
#   log-likelihood of "vve_trajectory" falls 29 times. A right VVE M-step has a larger expected
#   log-likelihood than the one recorded: vve.json (vve_step.py) has it. (The routine is the same
#   in 6.1.3.) With the thirteen other models the log-likelihood never fell by more than 1e-8 in
#   40 rounds from any start of this file.
# - The sign of BIC and ICL is opposite to the usual: 2 loglik - df log n, larger is better.
#   ICL = BIC + 2 sum_i log max_k z_ik (the entropy of the classification, not of z).
# - The singularity test depends on the unit of the data: spherical and diagonal models fail when
#   a scale or shape is <= eps = 2.2e-16, EEE and VVV when the smallest over 1 + the largest
#   diagonal element of a Cholesky factor is <= sqrt(eps), VEE, EVE and VVE when an eigenvalue,
#   scale or shape is <= or < sqrt(eps). A component is empty when its sum of z is <= sqrt(eps).
#   The warning does not always name the cause: VVI says "mixing proportion fell below threshold"
#   where a variance is 0, VEE, EVE, VVE and EVV say "singular covariance" of an empty component.
# - df counts G - 1 weights, G d means and nVarParams(model, d, G).
#
# masslda.json: lda() and qda() of MASS on the iris of mclust.json, posteriors by predict() with its
# default "plug-in". method "moment" (the default) divides the pooled scatter by n - K and the
# scatter of a group by n_k - 1; "mle" divides by n and n_k. "covariances" are inverted from the
# scaling that qda returns, so they carry its rounding. lda() judges columns before anything else:
# a within-group standard deviation < 1e-4 is an error, whatever the unit of the column.
#
# mixtools.json: multmixEM() from the start of multinomial.json with maxit = iteration and
# epsilon = 0. Its log-likelihood includes the multinomial coefficients and is the one before the
# last M-step, so it belongs to the parameters of one round earlier; its last column of theta is
# recomputed as 1 minus the others, which can be negative; and when the log-likelihood falls by a
# rounding error it restarts from a random point ("restarts" > 0: not comparable).

library(jsonlite)

# Shortest decimal form that reads back as the same double.
number <- function(x) {
  if (is.na(x)) return("null")
  if (is.infinite(x)) return(if (x > 0) '"inf"' else '"-inf"')
  if (x == round(x) && abs(x) < 1e15) return(sprintf("%.0f", x))
  for (digits in 1:17) {
    text <- sprintf("%.*g", digits, x)
    if (as.numeric(text) == x) return(text)
  }
}
listed <- function(texts) sprintf("[%s]", paste(texts, collapse = ","))
numbers <- function(values) listed(vapply(as.vector(values), number, ""))
rows <- function(matrix) listed(apply(unname(matrix), 1, numbers))
stack <- function(array) {
  listed(vapply(seq_len(dim(array)[3]), function(k) rows(matrix(array[, , k], dim(array)[1])), ""))
}
quoted <- function(text) as.character(toJSON(text, auto_unbox = TRUE))
object <- function(...) {
  parts <- Filter(Negate(is.null), list(...))
  keys <- vapply(names(parts), quoted, "")
  sprintf("{%s}", paste(keys, unlist(parts), sep = ":", collapse = ","))
}
objects <- function(texts) do.call(object, as.list(texts))
lines <- function(texts) sprintf("[\n%s\n]", paste(texts, collapse = ",\n"))
# The sections of a file start on lines of their own.
sections <- "data|starts|first|runs|defaults|tables|vve_trajectory|degenerate|cases"
save <- function(text, folder, name) {
  broken <- gsub(sprintf(',"(%s)":', sections), ',\n"\\1":', text)
  cat(sub("{", "{\n", broken, fixed = TRUE), "\n", file = file.path(folder, name), sep = "")
}

datasets <- list(faithful = as.matrix(datasets::faithful), iris = as.matrix(datasets::iris[, 1:4]))
classes <- as.integer(datasets::iris$Species) - 1L
largest <- list(faithful = 4, iris = 3)
shown <- list(faithful = c(1, 48, 140, 211), iris = c(50, 70, 77, 133))

start_labels <- function(x, groups) {
  if (groups == 1) return(rep(1L, nrow(x)))
  slice <- ceiling(groups * rank(x[, 1], ties.method = "first") / nrow(x))
  centres <- rowsum(x, slice) / as.vector(table(slice))
  unname(kmeans(x, centres, iter.max = 1000, algorithm = "Lloyd")$cluster)
}
one_hot <- function(labels, groups) 1 * outer(labels, seq_len(groups), "==")

parameters <- function(fit) {
  list(
    weights = numbers(if (is.null(fit$pro)) 1 else fit$pro),
    means = rows(t(fit$mean)),
    covariances = stack(fit$variance$sigma)
  )
}

# Rounds and last relative change: a list for EVV, a vector for the others.
outer_info <- function(fit) as.numeric(unlist(attr(fit, "info")))[1:2]
iterative <- c("VEI", "VEV", "VEE", "EVE", "VVE")
why <- function(fit) {
  text <- attr(fit, "WARNING")
  if (is.null(text)) "not finite" else text
}

run_em <- function(x, model, z, show) {
  control <- mclust::emControl(tol = c(1e-10, 1e-12), itmax = c(10000, 10000))
  fit <- mclust::me(x, model, z, control = control)
  if (is.na(fit$loglik)) return(object(log_likelihood = "null", why = quoted(why(fit))))
  info <- outer_info(fit)
  do.call(object, c(
    list(
      iterations = number(info[1]),
      error = number(info[2]),
      inner = if (model %in% iterative) number(attr(attr(fit, "info"), "inner")[1]),
      log_likelihood = number(fit$loglik),
      bic = number(mclust::bic(model, fit$loglik, nrow(x), ncol(x), ncol(z)))
    ),
    parameters(fit$parameters),
    if (ncol(z) > 1) list(posteriors = rows(fit$z[show + 1, , drop = FALSE]))
  ))
}

run_step <- function(x, model, z, show) {
  control <- mclust::emControl(tol = c(0, 0), itmax = c(1, 10000))
  fit <- mclust::mstep(x, model, z, control = control)
  if (anyNA(fit$parameters$mean)) return(object(log_likelihood = "null", why = quoted(why(fit))))
  after <- do.call(mclust::estep, c(list(data = x), fit))
  do.call(object, c(
    list(
      inner = if (model %in% iterative) number(attr(fit, "info")[1]),
      log_likelihood = number(after$loglik)
    ),
    parameters(fit$parameters)["covariances"],
    list(posteriors = rows(after$z[show + 1, , drop = FALSE]))
  ))
}

mclust_runs <- function(starts) {
  grid <- expand.grid(
    model = mclust::mclust.options("emModelNames"), components = 1:4,
    data = names(datasets), stringsAsFactors = FALSE
  )
  grid <- grid[grid$components <= unlist(largest[grid$data]), ]
  mapply(function(model, components, data) {
    x <- datasets[[data]]
    z <- one_hot(starts[[data]][[components]], components)
    object(
      data = quoted(data), model = quoted(model), components = components,
      df = number(mclust::nMclustParams(model, ncol(x), components)),
      em = run_em(x, model, z, shown[[data]]),
      step = if (components > 1) run_step(x, model, z, shown[[data]])
    )
  }, grid$model, grid$components, grid$data)
}

# Weights and means of the first M-step, which are the same for every model.
first_means <- function(x, labels) {
  groups <- max(labels)
  do.call(object, parameters(mclust::mstep(x, "EII", one_hot(labels, groups))$parameters)[1:2])
}

# Log-likelihood after 1, 2, ... rounds of VVE: it falls, see above.
vve_trajectory <- function(labels) {
  numbers(vapply(1:40, function(rounds) {
    control <- mclust::emControl(tol = c(0, 1e-14), itmax = c(rounds, 1000))
    mclust::me(datasets$iris, "VVE", one_hot(labels, 3), control = control)$loglik
  }, 0))
}

mclust_default <- function(x) {
  fit <- mclust::Mclust(x, verbose = FALSE)
  do.call(object, c(
    list(
      model = quoted(fit$modelName), components = fit$G, df = number(fit$df),
      log_likelihood = number(fit$loglik), bic = number(fit$bic), icl = number(fit$icl)
    ),
    parameters(fit$parameters),
    list(classification = numbers(fit$classification - 1))
  ))
}

mclust_tables <- function(x) {
  table_of <- function(values) {
    objects(sapply(colnames(values), function(model) numbers(values[, model]), simplify = FALSE))
  }
  bic <- mclust::mclustBIC(x, verbose = FALSE)
  object(bic = table_of(bic), icl = table_of(mclust::mclustICL(x, verbose = FALSE)))
}

degenerate_cases <- function() {
  blob <- function(n) cbind((seq_len(n) * 7) %% n, (seq_len(n)^2 * 3) %% n) / 4
  two <- rep(1:2, c(10, 10))
  far <- blob(20) + 100 * (two == 2)
  # The second component is ten copies of one row.
  copies <- far
  copies[11:20, ] <- rep(c(120, 130), each = 10)
  list(
    list(name = "constant column", x = cbind(far[, 1], 3), labels = two, components = 2),
    list(name = "collinear columns", x = far[, 1] %o% c(1, 2), labels = two, components = 2),
    list(name = "one component of equal rows", x = copies, labels = two, components = 2),
    list(name = "all rows equal", x = matrix(1.5, 6, 2), labels = rep(1:2, 3), components = 2),
    list(name = "component of one row", x = far, labels = c(rep(1, 19), 2), components = 2),
    list(name = "K = n", x = blob(4), labels = 1:4, components = 4),
    list(name = "K > n", x = blob(4), labels = 1:4, components = 5),
    list(name = "empty component", x = far, labels = two, components = 3),
    list(name = "n < d", x = t(blob(6))[, 1:5], labels = c(1, 1), components = 1),
    list(name = "unit 1e-5", x = far * 1e-5, labels = two, components = 2),
    list(name = "unit 1e-9", x = far * 1e-9, labels = two, components = 2),
    list(name = "unit 1e9", x = far * 1e9, labels = two, components = 2),
    list(name = "two components with equal z", x = far, labels = NULL, components = 2)
  )
}

mclust_degenerate <- function(case) {
  z <- if (is.null(case$labels)) {
    matrix(1 / case$components, nrow(case$x), case$components)
  } else {
    one_hot(case$labels, case$components)
  }
  outcome <- function(model) {
    tryCatch({
      fit <- mclust::me(case$x, model, z, control = mclust::emControl(itmax = c(1000, 1000)))
      if (is.na(fit$loglik)) object(warning = quoted(why(fit))) else number(fit$loglik)
    }, error = function(condition) object(error = quoted(conditionMessage(condition))))
  }
  models <- mclust::mclust.options("emModelNames")
  object(
    case = quoted(case$name), rows = rows(case$x), components = case$components,
    labels = if (is.null(case$labels)) "null" else numbers(case$labels - 1),
    outcomes = objects(sapply(models, outcome, simplify = FALSE))
  )
}

head_of <- function(package) {
  list(
    library = quoted(package), version = quoted(as.character(packageVersion(package))),
    r = quoted(paste(R.version$major, R.version$minor, sep = ".")),
    precision = quoted("binary64")
  )
}

observe_mclust <- function(folder) {
  suppressPackageStartupMessages(library(mclust))
  mclust::mclust.options(warn = FALSE)
  starts <- Map(function(x, most) {
    groups <- as.character(seq_len(most))
    sapply(groups, function(g) start_labels(x, as.integer(g)), simplify = FALSE)
  }, datasets, largest)
  text <- do.call(object, c(head_of("mclust"), list(
    tolerance = numbers(c(1e-10, 1e-12)), itmax = numbers(c(10000, 10000)),
    rows = objects(lapply(shown, numbers)),
    classes = object(iris = numbers(classes)),
    data = objects(lapply(datasets, rows)),
    starts = objects(lapply(starts, function(found) {
      objects(lapply(found, function(labels) numbers(labels - 1)))
    })),
    first = objects(Map(function(x, found) {
      objects(lapply(found, function(labels) first_means(x, labels)))
    }, datasets, starts)),
    runs = lines(mclust_runs(starts)),
    defaults = objects(lapply(datasets, mclust_default)),
    tables = objects(lapply(datasets, mclust_tables)),
    vve_trajectory = vve_trajectory(starts$iris[["3"]]),
    degenerate = lines(vapply(degenerate_cases(), mclust_degenerate, ""))
  )))
  save(text, folder, "mclust.json")
}

# Posteriors and estimates of lda and qda on iris; then what they say about poor data.
observe_masslda <- function(folder) {
  x <- unname(datasets$iris)
  groups <- datasets::iris$Species
  show <- c(0, 50, 70, 77, 83, 106, 133, 134)
  # prior = c(1, 1, 2) / 4 shows that the prior enters the posterior, not the estimates.
  settings <- expand.grid(
    prior = c("proportions", "1:1:2"), method = c("moment", "mle"),
    rule = c("lda", "qda"), stringsAsFactors = FALSE
  )
  cases <- mapply(function(rule, method, prior) {
    given <- list(x, groups, method = method)
    if (prior == "1:1:2") given$prior <- c(1, 1, 2) / 4
    fit <- do.call(getExportedValue("MASS", rule), given)
    # The metric: scaling' covariance scaling = identity, so covariance = (scaling scaling')^-1.
    covariances <- if (rule == "qda") {
      array(apply(fit$scaling, 3, function(s) solve(tcrossprod(s))), c(4, 4, 3))
    }
    object(
      rule = quoted(rule), method = quoted(method), prior = numbers(fit$prior),
      means = rows(fit$means),
      covariances = if (rule == "qda") stack(covariances),
      posteriors = rows(predict(fit, x[show + 1, ])$posterior),
      errors = number(sum(predict(fit, x)$class != groups))
    )
  }, settings$rule, settings$method, settings$prior)
  poor <- lapply(degenerate_cases(), function(case) {
    if (is.null(case$labels) || length(unique(case$labels)) < 2) return(NULL)
    outcome <- function(rule) {
      said <- NULL
      result <- tryCatch(
        withCallingHandlers(
          {
            fit <- do.call(getExportedValue("MASS", rule), list(case$x, factor(case$labels)))
            rows(unname(predict(fit, case$x[1:2, ])$posterior))
          },
          warning = function(condition) {
            said <<- conditionMessage(condition)
            invokeRestart("muffleWarning")
          }
        ),
        error = function(condition) object(error = quoted(conditionMessage(condition)))
      )
      object(posteriors = result, warning = if (!is.null(said)) quoted(said))
    }
    object(case = quoted(case$name), lda = outcome("lda"), qda = outcome("qda"))
  })
  text <- do.call(object, c(head_of("MASS"), list(
    rows = numbers(show), cases = lines(cases),
    degenerate = lines(unlist(poor))
  )))
  save(text, folder, "masslda.json")
}

# The multinomial mixture of multinomial.json by another hand.
observe_mixtools <- function(folder) {
  known <- fromJSON(file.path(folder, "multinomial.json"), simplifyVector = TRUE)
  cases <- vapply(c(1, 2, 10, 100), function(rounds) {
    set.seed(1)
    capture.output(fit <- mixtools::multmixEM(
      known$counts, known$start$weights, known$start$probabilities,
      maxit = rounds, epsilon = 0
    ))
    object(
      iteration = number(rounds), restarts = number(fit$restarts),
      rounds = number(length(fit$all.loglik)), log_likelihood = number(fit$loglik),
      weights = numbers(fit$lambda), probabilities = rows(fit$theta)
    )
  }, "")
  text <- do.call(object, c(head_of("mixtools"), list(cases = lines(cases))))
  save(text, folder, "mixtools.json")
}

arguments <- commandArgs(trailingOnly = TRUE)
observers <- list(mclust = observe_mclust, masslda = observe_masslda, mixtools = observe_mixtools)
chosen <- intersect(arguments, names(observers))
folder <- c(setdiff(arguments, chosen), ".")[1]
for (name in chosen) observers[[name]](folder)
