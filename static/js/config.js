// The new-session page: says when its estimate could not be refreshed, and marks the fields whose errors came while
// somebody typed. It builds no HTML and stores nothing; the page works without it.
(function () {
  "use strict";
  var preview = document.getElementById("preview");
  var failed = document.getElementById("estimate-failed");
  if (!preview || !failed) return;

  document.body.addEventListener("htmx:afterRequest", function (event) {
    if (event.detail.elt.closest(".config")) failed.hidden = event.detail.successful;
  });
  document.body.addEventListener("htmx:afterSettle", function () {
    document.querySelectorAll("[data-errors-of]").forEach(function (slot) {
      var field = document.getElementById(slot.dataset.errorsOf);
      if (!field) return;
      if (slot.querySelector(".errorlist")) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    });
  });
})();
