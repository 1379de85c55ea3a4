# Installs R packages into the project's own library and prints the source of each:
#
#   Rscript r_bridge/install.R LIBRARY [PACKAGE ...]
#
# Installed packages are left unchanged. The sources are tried in this order: the repositories
# configured in this R, the archive of its CRAN mirror, and the author's own repository.
# Packages that could not be installed are recorded in the library with the reason, for use in
# reports. Exits with status 1 if a required package is missing.

oldest <- c(
  DALEX = "2.5.3", vip = "0.4.0", hstats = "1.2.2", iml = "0.11.4", pdp = "0.8.0",
  xplainfi = "1.2.0", checkmate = "2.3.0"
)
authors <- c(
  vip = "https://bgreenwell.r-universe.dev", fastshap = "https://bgreenwell.r-universe.dev"
)
# Left CRAN in 2026; audits run without them and report that.
optional <- c("vip", "fastshap")
everything <- c("DALEX", "pdp", optional)

# The version of a package that R would load; NULL if it is missing or too old.
version_here <- function(package) {
  path <- find.package(package, quiet = TRUE)
  if (!length(path)) {
    return(NULL)
  }
  version <- packageVersion(package, dirname(path[1]))
  if (package %in% names(oldest) && version < oldest[[package]]) NULL else version
}

# The packages in some repositories; none for one that does not respond.
offered_by <- function(repositories) {
  nothing <- matrix(
    character(), 0, 2,
    dimnames = list(NULL, c("Version", "Repository"))
  )
  tryCatch(
    suppressWarnings(available.packages(repos = repositories)),
    error = function(e) nothing
  )
}

# A local repository with the newest archived version of a package, so that its dependencies are
# found in the usual repositories.
archive_of <- function(package, mirror) {
  folder <- paste0(contrib.url(mirror, "source"), "/Archive/", package, "/")
  listing <- tryCatch(
    suppressWarnings(readLines(folder)),
    error = function(e) character()
  )
  name <- paste0(package, "_[0-9][-.0-9]*[.]tar[.]gz")
  files <- unique(unlist(regmatches(listing, gregexpr(name, listing))))
  if (!length(files)) {
    return(NULL)
  }
  versions <- numeric_version(gsub(paste0("^", package, "_|[.]tar[.]gz$"), "", files))
  newest <- files[order(versions, decreasing = TRUE)[1]]
  repository <- tempfile("archive")
  contrib <- file.path(repository, "src", "contrib")
  dir.create(contrib, recursive = TRUE)
  download.file(paste0(folder, newest), file.path(contrib, newest), quiet = TRUE)
  tools::write_PACKAGES(contrib, type = "source")
  structure(paste0("file://", repository), folder = folder)
}

# Tries one source after the other; returns the successful one as `origin`, or the reason of
# failure as `reason`.
install_from <- function(package, offered, repositories, library) {
  sources <- list(
    "the repositories of this R" = function() repositories,
    "the CRAN archive" = function() archive_of(package, repositories[["CRAN"]]),
    "its author's repository" = function() {
      if (package %in% names(authors)) authors[[package]]
    }
  )
  reason <- if (nrow(offered)) "no repository offers it" else "no repository answered"
  for (source in names(sources)) {
    address <- tryCatch(sources[[source]](), error = function(e) NULL)
    if (is.null(address)) next
    here <- if (identical(address, repositories)) offered else offered_by(address)
    if (!package %in% rownames(here)) next
    # A package in both is taken from the repository where it was found first.
    others <- offered[!rownames(offered) %in% rownames(here), , drop = FALSE]
    columns <- intersect(colnames(here), colnames(others))
    install.packages(
      package, library, repositories,
      available = rbind(here[, columns, drop = FALSE], others[, columns, drop = FALSE]),
      quiet = TRUE, Ncpus = max(1, parallel::detectCores(), na.rm = TRUE)
    )
    folder <- c(attr(address, "folder"), here[package, "Repository"])[1]
    origin <- paste0(source, " (", folder, ")")
    if (!is.null(version_here(package))) return(list(origin = origin))
    reason <- paste("it could not be installed from", origin)
  }
  list(reason = reason)
}

# Records why packages could not be installed, one per line; removes those that are now installed.
remember <- function(reasons, library) {
  file <- file.path(library, "importance-audit-not-had")
  lines <- if (file.exists(file)) readLines(file) else character()
  lines <- lines[!sub(": .*", "", lines) %in% names(reasons)]
  reasons <- reasons[nzchar(reasons)]
  lines <- c(lines, if (length(reasons)) paste0(names(reasons), ": ", reasons))
  if (!length(lines)) return(unlink(file))
  # Errors of a library that cannot be written to were reported before.
  try(writeLines(enc2utf8(lines), file, useBytes = TRUE), silent = TRUE)
}

main <- function(arguments) {
  if (!length(arguments)) {
    stop("usage: Rscript install.R LIBRARY [PACKAGE ...]", call. = FALSE)
  }
  packages <- if (length(arguments) > 1) arguments[-1] else everything
  # Without a folder, the user's own library, as in R.
  folder <- if (nzchar(arguments[1])) arguments[1] else Sys.getenv("R_LIBS_USER")
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  library <- normalizePath(folder)
  .libPaths(c(library, .libPaths()))
  # Without a configured mirror, use the first one in R's own list.
  if (!isTRUE(grepl("^[a-z]+:", getOption("repos")["CRAN"]))) {
    chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
  }
  repositories <- getOption("repos")

  is_absent <- function(package) is.null(version_here(package))
  absent <- Filter(is_absent, packages)
  offered <- if (length(absent)) offered_by(repositories)
  reasons <- character()
  for (package in packages) {
    found <- if (package %in% absent) {
      install_from(package, offered, repositories, library)
    } else {
      list(origin = dirname(find.package(package)))
    }
    # If no repository responded today, later attempts may succeed.
    is_final <- !is.null(found$reason) && nrow(offered)
    reasons[package] <- if (is_final) found$reason else ""
    if (is.null(found$origin)) {
      cat(package, " could not be had: ", found$reason, ". ",
        if (package %in% optional) "Audits run without it.\n" else "Is there a network?\n",
        sep = ""
      )
    } else {
      cat(package, format(version_here(package)), "from", found$origin, "\n")
    }
  }
  remember(reasons, library)
  quit(status = if (length(setdiff(Filter(is_absent, packages), optional))) 1L else 0L)
}

main(commandArgs(trailingOnly = TRUE))
