// Live pages: says when the socket is gone, polls meanwhile, and keeps the reader's place while parts are swapped.
// It stores nothing and builds no HTML: all parts come rendered and escaped from the server.
(function () {
  "use strict";
  var POLL_MS = 3000;
  // A socket that is only being opened, or reconnects at once, is not worth a notice.
  var GRACE_MS = 2500;
  var GOING_AWAY = [1000, 1001, 1006, 1011, 1012, 1013];

  var root = document.querySelector("[data-live]");
  if (!root) return;
  var lost = root.querySelector("[data-live-lost]");
  var refused = root.querySelector("[data-live-refused]");
  var poll = root.querySelector("[data-live-poll]");
  var timer = null;
  var grace = null;
  var isRefused = false;

  function pollOnce() {
    if (!document.hidden) htmx.trigger(poll, "live:poll");
  }
  function connected() {
    clearTimeout(grace);
    clearInterval(timer);
    grace = timer = null;
    lost.hidden = true;
  }
  function disconnected() {
    if (isRefused || grace || timer) return;
    grace = setTimeout(function () {
      grace = null;
      lost.hidden = false;
      pollOnce();
      timer = setInterval(pollOnce, POLL_MS);
    }, GRACE_MS);
  }

  root.addEventListener("htmx:wsConnecting", disconnected);
  root.addEventListener("htmx:wsOpen", connected);
  root.addEventListener("htmx:wsClose", function (event) {
    var code = event.detail.event.code;
    if (GOING_AWAY.indexOf(code) < 0) {
      isRefused = true;
      connected();
      refused.hidden = false;
      return;
    }
    disconnected();
    // The extension does not come back from these two by itself.
    if (code === 1000 || code === 1001) {
      setTimeout(event.detail.socketWrapper.reconnect, 1000 + Math.random() * 2000);
    }
  });

  // A swap replaces elements: give the focus and the scroll position back to those with the same id.
  var place = null;
  function remember() {
    var active = document.activeElement;
    place = { focus: active && root.contains(active) ? active.id : "" };
  }
  function restore() {
    if (!place || !place.focus) return;
    var again = document.getElementById(place.focus);
    if (again && document.activeElement !== again) again.focus({ preventScroll: true });
    place = null;
  }
  var inMessage = false;
  root.addEventListener("htmx:wsBeforeMessage", function () {
    inMessage = true;
    remember();
  });
  root.addEventListener("htmx:wsAfterMessage", function () {
    inMessage = false;
    restore();
  });
  root.addEventListener("htmx:beforeSwap", remember);
  root.addEventListener("htmx:afterSettle", restore);

  // The socket must not take away a button whose answer is on its way: the answer would find no page to go to.
  root.addEventListener("htmx:oobBeforeSwap", function (event) {
    if (inMessage && event.detail.target.querySelector(".htmx-request")) event.detail.shouldSwap = false;
  });
  // A button that was pressed is replaced by the next one: so is the focus.
  var isActing = false;
  root.addEventListener("htmx:beforeRequest", function (event) {
    isActing = Boolean(event.detail.elt.closest("#session-actions"));
  });
  root.addEventListener("htmx:afterRequest", function () {
    if (!isActing) return;
    isActing = false;
    if (document.activeElement && document.activeElement !== document.body) return;
    var next = document.querySelector("#session-actions button, #session-actions a");
    if (next) next.focus({ preventScroll: true });
  });
})();
