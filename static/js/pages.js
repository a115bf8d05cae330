// Small helps for all pages. Nothing here is needed to read or to act: forms work without it.
(function () {
  "use strict";
  // A form that was sent once is not sent twice by a double click.
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.dataset.sending) {
      event.preventDefault();
      return;
    }
    if (form.method === "post" && !form.hasAttribute("hx-post")) {
      form.dataset.sending = "yes";
    }
  });
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form[data-sending]").forEach(function (form) {
      delete form.dataset.sending;
    });
  });
})();
