"""The page in a real Chromium.

Served by a stand-in, or by a server that runs: LATEBIND_PAGE_URL is its address (http://127.0.0.1:8080). What needs a
server that fails or lacks a device is then left to the stand-in. With LATEBIND_PAGE_IMAGES, a folder, pictures of the
page are written there.
"""

import itertools
import json
import os
import pathlib
import re
import threading
import urllib.parse
import urllib.request

import pytest
from browser import Browser, find_chromium
from stand_in import StandIn, busy, fallback, quiet

URL = os.environ.get("LATEBIND_PAGE_URL", "").rstrip("/")
IMAGES = os.environ.get("LATEBIND_PAGE_IMAGES", "")
PHONE = {"width": 360, "height": 740}
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'&amp;{{script}}"

controlled = pytest.mark.skipif(bool(URL), reason="needs the stand-in: LATEBIND_PAGE_URL is set")


@pytest.fixture(scope="module")
def browser():
    program = find_chromium()
    if program is None:
        why = "no Chromium is installed: the page is not tested in a browser; type: scripts/setup test"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    started = Browser(program)
    yield started
    started.close()


@pytest.fixture
def server():
    """The stand-in, or None where a server was named."""
    if URL:
        yield None
        return
    suffix = ".exe" if os.name == "nt" else ""
    started = StandIn(pathlib.Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / f"lb_page_demo{suffix}")
    yield started
    started.stop()


@pytest.fixture
def address(server):
    return server.url if server else URL


@pytest.fixture
def open_page(browser):
    pages = []

    def open_one(url, **options):
        page = browser.page(**options)
        pages.append(page)
        page.open(url)
        return page

    yield open_one
    for page in pages:
        page.close()


def status_of(address):
    with urllib.request.urlopen(f"{address}/latebind/status", timeout=30) as answer:
        return json.load(answer)


def live(page):
    page.until("document.querySelector('#state').classList.contains('live')")


def test_loads_without_a_complaint_and_asks_no_other_host(address, open_page):
    page = open_page(address)
    live(page)
    page.until("document.querySelector('[data-chart] path')")
    page.evaluate("document.querySelector('#similarity').requestSubmit()")
    page.until("document.querySelector('#similarity .score')")
    assert page.complaints() == []
    hosts = {urllib.parse.urlsplit(url).netloc for url in page.requests() if not url.startswith("data:")}
    assert hosts == {urllib.parse.urlsplit(address).netloc}


def test_its_policy_refuses_other_code(address, open_page):
    page = open_page(address)
    live(page)
    page.evaluate("""
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      document.body.setAttribute("style", "color: red");
      const image = document.createElement("img");
      image.src = "http://localhost:1/image.png";
      document.body.append(image);
      0;
    """)
    page.until("['script-src-elem', 'style-src-attr', 'img-src'].every((one) => refused.includes(one))")
    assert page.evaluate("window.ran") is None


def test_shows_what_answers_and_why(address, open_page):
    page = open_page(address)
    live(page)
    model = status_of(address)["models"][0]
    text = page.text("#models")
    for part in (model["name"], model["device"], model["device_full_name"], model["precision"], model["runtime_version"]):
        assert part in text
    assert page.evaluate("document.querySelectorAll('.model:first-child .steps li').length") == len(model["steps"])
    assert page.text(".model .taken b") == model["device"]


def test_says_the_essentials_without_scripts(server, address, open_page):
    if server:
        server.status = fallback() | {"requests": busy(5)["requests"]}
    page = open_page(address, scripts=False)
    model = status_of(address)["models"][0]
    text = page.text()
    for part in (model["name"], model["device"], model["device_full_name"], model["precision"], model["runtime_version"]):
        assert part in text
    assert "JavaScript is off" in text
    assert page.text(".model .taken b") == model["device"]
    assert not page.evaluate("document.querySelector('#try').checkVisibility()")
    assert not page.evaluate("document.querySelector('.chart').checkVisibility()")
    if server:
        assert "This is a fallback: using onnxruntime:CPU" in text
        assert page.text("[data-figure=texts_per_s]") == "1,186"
    assert page.complaints() == []


@controlled
def test_long_reasons_open_without_scripts_too(server, open_page):
    page = open_page(server.url, scripts=False)
    reason = "document.querySelector('.steps details p')"
    assert not page.evaluate(f"{reason}.checkVisibility()")
    page.evaluate("document.querySelector('.steps summary').focus()")
    page.key("Enter", 13)
    assert page.evaluate(f"{reason}.checkVisibility()")


@controlled
@pytest.mark.parametrize("make", [quiet, fallback, lambda: busy(7), lambda: {}, lambda: {"models": [{}]}])
def test_scripts_draw_what_the_server_wrote(make, server, open_page):
    server.status = make()
    still = open_page(server.url, scripts=False)
    moving = open_page(server.url)
    moving.until("!['ready', 'unknown'].some((kind) => document.querySelector('#state').classList.contains(kind))")
    for part in ("#models", "#server", ".tiles .figure"):
        expression = f"document.querySelector({part!r}).outerHTML"
        assert moving.evaluate(expression) == still.evaluate(expression)
    assert moving.complaints() == []


@controlled
def test_updates_under_load_and_leaves_open_what_is_open(server, open_page):
    seconds = itertools.count()
    server.next_status = lambda: busy(next(seconds))
    page = open_page(server.url)
    live(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate("document.querySelector('.steps summary').focus()")
    before = page.text("#models .work")
    points = "document.querySelector('[data-chart=latency] .p99').getAttribute('d').split('L').length"
    first = page.evaluate(points)
    page.until(f"{points} >= {first} + 2")
    assert page.text("#models .work") != before
    assert page.evaluate("document.querySelectorAll('.bars g').length") == 40
    assert page.evaluate("[...document.querySelectorAll('details')].every((one) => one.open)")
    assert page.evaluate("document.activeElement.localName") == "summary"
    assert re.fullmatch(r"[\d,]+", page.text("[data-figure=texts_per_s]"))
    assert page.complaints() == []


@pytest.mark.skipif(not URL, reason="for a server that runs: LATEBIND_PAGE_URL")
def test_shows_the_work_of_a_server_that_runs(address, open_page):
    page = open_page(address)
    live(page)
    status = status_of(address)
    texts = status["models"][0]["totals"]["texts"]
    body = {"model": status["models"][0]["name"], "input": [f"text number {i}" for i in range(64)]}
    request = urllib.request.Request(
        f"{address}/v1/embeddings", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=60).close()
    page.until(f"Number(/([\\d,]+) texts/.exec(document.querySelector('.work').innerText.split('So far')[1])?.[1]"
               f".replaceAll(',', '')) >= {texts + 64}")
    page.until("document.querySelectorAll('.bars g').length > 0")


@controlled
def test_shows_a_fallback_that_comes_later(server, open_page):
    page = open_page(server.url)
    live(page)
    assert "no fallback" in page.text("#models")
    server.status = fallback()
    page.until("document.querySelector('.notice')")
    text = page.text("#models")
    assert "This is a fallback: using onnxruntime:CPU, because openvino:NPU: compilation failed" in text
    assert page.text(".model .device") == "onnxruntime:CPU"
    assert "no fallback" not in text


@controlled
def test_says_that_the_connection_is_lost_and_comes_back(server, open_page):
    page = open_page(server.url)
    live(page)
    server.stop()
    page.until("document.querySelector('#state').innerText.includes('Connection lost')")
    assert page.evaluate("document.title").startswith("Connection lost")
    assert "Connection lost" in page.text("#announcement")
    server.start(server.port)
    live(page)
    assert page.text("#announcement") == "Connected again."
    assert page.evaluate("document.title") == "Latebind"


@controlled
def test_asks_for_a_key_keeps_it_for_the_tab_and_sends_it(server, open_page):
    server.key = "right"
    page = open_page(server.url)
    page.until("document.querySelector('#key').checkVisibility()")
    assert not page.evaluate("document.querySelector('#content').checkVisibility()")
    assert "Authorization: Bearer KEY" in page.text()

    def use(key):
        page.evaluate("document.querySelector('#key-value').focus()")
        page.call("Input.insertText", text=key)
        page.key("Enter", 13)

    use("wrong")
    page.until("document.querySelector('#key-words').innerText.includes('did not accept')")
    use("right")
    live(page)
    assert not page.evaluate("document.querySelector('#key').checkVisibility()")
    assert page.evaluate("document.querySelector('#content').checkVisibility()")
    assert page.text(".model .device") in ("openvino:CPU", "native:CPU")
    assert page.evaluate("sessionStorage.getItem('latebind-key')") == "right"
    assert page.evaluate("localStorage.length") == 0
    page.open(server.url)
    live(page)
    page.evaluate("document.querySelector('#similarity').requestSubmit()")
    page.until("document.querySelector('#similarity .score')")
    assert server.keys_seen[-1] == "Bearer right"


@controlled
def test_rests_while_nobody_looks(server, open_page):
    hide = """
      let hidden = false;
      Object.defineProperty(document, "hidden", {get: () => hidden});
      window.pretend = (value) => { hidden = value; document.dispatchEvent(new Event("visibilitychange")); };
      window.due = new Set();
      window.underWay = 0;
      const [wait, stop, ask] = [setTimeout, clearTimeout, fetch];
      window.setTimeout = (work, ms) => {
        const number = wait(() => { due.delete(number); work(); }, ms);
        if (ms === 1000) due.add(number);
        return number;
      };
      window.clearTimeout = (number) => { due.delete(number); stop(number); };
      window.fetch = (...call) => { underWay++; return ask(...call).finally(() => underWay--); };
    """
    page = open_page(server.url, before=hide)
    live(page)
    page.until("due.size === 1")
    page.evaluate("pretend(true)")
    assert page.text("#state") == "Paused"
    assert page.evaluate("due.size") == 0
    # A question that is on its way: its answer is followed by no other.
    let_go = threading.Event()
    server.next_status = lambda: let_go.wait(60) and quiet()
    page.evaluate("pretend(false)")
    page.until("underWay === 1")
    page.evaluate("pretend(true)")
    let_go.set()
    page.until("underWay === 0")
    page.evaluate("fetch('latebind/status').then((answer) => answer.text())")
    assert page.evaluate("due.size") == 0
    asked = len(server.keys_seen)
    page.evaluate("pretend(false)")
    live(page)
    assert len(server.keys_seen) > asked


def test_compares_two_texts(address, open_page):
    page = open_page(address)
    live(page)
    page.evaluate("document.querySelector('[name=second]').value = document.querySelector('[name=first]').value")
    page.evaluate("document.querySelector('#similarity').requestSubmit()")
    page.until("document.querySelector('#similarity .score')")
    assert page.text("#similarity .score").startswith("1.000 cosine similarity")
    assert "2 texts" in page.text("#similarity .cost")


def test_searches_lines_by_keyboard(address, open_page):
    page = open_page(address)
    live(page)
    page.evaluate("document.querySelector('[name=lines]').value = 'bananas are yellow\\n\\nthe train is late\\n'")
    page.evaluate("document.querySelector('[name=query]').value = 'a late train'")
    page.evaluate("document.querySelector('[name=query]').focus()")
    page.key("Enter", 13)
    page.until("document.querySelectorAll('#search li').length === 2")
    assert page.text("#search li").startswith("the train is late")
    assert page.complaints() == []


@controlled
def test_a_refusal_is_shown_in_the_servers_words(server, open_page):
    page = open_page(server.url)
    live(page)
    page.evaluate("document.querySelector('[name=first]').value = 'refuse me'")
    page.evaluate("document.querySelector('#similarity').requestSubmit()")
    page.until("document.querySelector('#similarity .wrong')")
    assert page.text("#similarity .cost") == "Not done: too much <b>waits</b>"


@controlled
def test_names_from_outside_stay_text(server, open_page):
    status = fallback()
    status["models"][0].update(name=EVIL, device=EVIL, device_full_name=EVIL, reason=EVIL, precision=EVIL)
    status["models"][0]["steps"][0].update(device=EVIL, brief=EVIL, reason=EVIL + ".")
    status.update(version=EVIL, listen=[EVIL])
    server.status = status
    page = open_page(server.url, **PHONE)
    live(page)
    assert page.text(".model h2") == EVIL
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert page.complaints() == []


@controlled
@pytest.mark.parametrize("status", ["[]", "null", "{}", '{"models":3,"requests":null}', '{"models":[{"batches":[{}]}],"x":1}'])
def test_a_strange_status_breaks_nothing(status, server, open_page):
    page = open_page(server.url)
    live(page)
    server.status = json.loads(status)
    asked = len(server.keys_seen)
    page.until("!document.querySelector('.model .device')?.innerText.includes('openvino') || "
               "document.querySelector('#state').classList.contains('lost')")
    assert page.complaints() == []
    assert len(server.keys_seen) > asked


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scripts", [True, False])
def test_fits_a_phone(scheme, scripts, server, address, open_page):
    if server:
        server.status = fallback() | {"requests": busy(3)["requests"]}
        server.status["models"][0]["batches"] = busy(3)["models"][0]["batches"]
        server.status["models"].append(server.status["models"][0] | {"name": "x" * 200})
    page = open_page(address, scheme=scheme, scripts=scripts, **PHONE)
    if scripts:
        live(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    wide = """[...document.querySelectorAll('body *')].filter((one) => !one.closest('.scroll, .unseen, .skip') &&
      one.checkVisibility() && one.getBoundingClientRect().right > 360.5).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []


CONTRAST = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const one of document.querySelectorAll("body *")) {
    const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!hasText || !one.checkVisibility() || one.closest("svg, .unseen, .skip")) continue;
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) weak.push(`${one.localName}.${one.className} ${contrast.toFixed(2)}`);
  }
  return weak;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_is_readable_and_labelled(scheme, server, address, open_page):
    if server:
        server.status = fallback()
        server.status["models"][0]["breaker_open"] = True
    page = open_page(address, scheme=scheme)
    live(page)
    page.evaluate("document.querySelector('#similarity').requestSubmit()")
    page.until("document.querySelector('#similarity .score')")
    assert page.evaluate(CONTRAST) == []
    unnamed = """[...document.querySelectorAll('input, textarea, select, button, [role=img]')].filter(
      (one) => !one.labels?.length && !one.innerText && !one.getAttribute('aria-label')).map((one) => one.outerHTML)"""
    assert page.evaluate(unnamed) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(244, 245, 248)"
    assert dark == (scheme == "dark")


def test_nothing_jumps_when_scripts_begin(address, open_page):
    watch = """
      window.jumps = [];
      new PerformanceObserver((list) => {
        for (const jump of list.getEntries()) {
          window.jumps.push([jump.value, jump.sources.map(({node}) => node?.parentElement?.outerHTML.slice(0, 60))]);
        }
      }).observe({type: "layout-shift", buffered: true});
    """
    # So high that nothing of it is out of sight.
    page = open_page(address, before=watch, height=3000)
    live(page)
    page.until("document.querySelector('[data-chart=latency] .p99').getAttribute('d').split('L').length > 3")
    # Those too small to be seen: a figure that gets another digit.
    assert [jump for jump in page.evaluate("jumps") if jump[0] > 0.01] == []


@pytest.mark.skipif(not IMAGES, reason="pictures are made for LATEBIND_PAGE_IMAGES only")
@pytest.mark.parametrize("name", ["page-light", "page-dark", "page-phone", "page-fallback"])
def test_makes_pictures(name, server, address, open_page):
    # Two minutes in seconds.
    quick = """
      const [wait, now] = [setTimeout, performance.now.bind(performance)];
      window.setTimeout = (work, ms) => wait(work, ms === 1000 ? 50 : ms);
      performance.now = () => now() * 20;
      window.calm = () => {
        const [reached, at] = [now() * 20, now()];
        performance.now = () => reached + now() - at;
      };
    """
    sizes = {"page-dark": (1200, 1056), "page-phone": (360, 1500), "page-fallback": (1200, 640)}
    width, height = sizes.get(name, (1200, 900))
    options = {"width": width, "height": height}
    if server:
        seconds = itertools.count(20)

        def now():
            status = busy(next(seconds))
            if name == "page-fallback":
                still = fallback()["models"][0]
                status["models"][0] |= {key: still[key] for key in ("backend", "device", "runtime_version", "fallback", "reason", "steps")}
            return status

        server.next_status = now
    page = open_page(address, scheme="dark" if name == "page-dark" else "light", before=quick if server else "", **options)
    live(page)
    # The line has reached the left side.
    page.until("Number.parseFloat(document.querySelector('[data-chart=latency] .p99').getAttribute('d').slice(1)) < 5", 180)
    page.evaluate("window.calm?.()")
    for form in ("similarity", "search"):
        page.evaluate(f"document.querySelector('#{form}').requestSubmit()")
        page.until(f"document.querySelector('#{form} .meter')")
    page.evaluate("document.querySelector('.steps details')?.setAttribute('open', '')" if name == "page-fallback" else "0")
    page.evaluate("scrollTo(0, 0)")
    page.picture(pathlib.Path(IMAGES) / f"{name}.png", whole=name not in sizes)
