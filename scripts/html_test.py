#!/usr/bin/env python3
"""Looks at the pages of symcache in a real browser.

    scripts/html_test.py [--firefox] PROGRAM CRASH_LOG DEBUG_DIR [SCREENSHOT_DIR]
    scripts/html_test.py [--firefox] --core PAGE [SCREENSHOT_DIR]    the page of a core with several threads

Drives chromium through chromedriver, or Firefox by itself: nothing is loaded from elsewhere and no text
from outside is run, colours have contrast in both schemes, pages read without their script and fit a
phone, the search finds, keys work, rows unfold, links lead to lines and editors, and large pages open
fast. Prints "ok: WHAT" for each check; exit status 1 if one fails, 77 without the browser.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

failed = 0


def check(what, ok, detail=""):
    global failed
    print("%s: %s%s" % ("ok" if ok else "FAILED", what, "" if ok else " (%s)" % (detail,)))
    failed += not ok


class Chromium:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            port = re.search(r"on port (\d+)", line)
            if port and "started successfully" in line:
                break
        self.base = "http://127.0.0.1:%s/session" % port.group(1)
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-quic"]
        caps = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"browser": "ALL"}}}}
        self.base += "/" + self.post("", caps)["sessionId"]

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        r = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(r, timeout=120) as answer:
            return json.load(answer)["value"]

    def post(self, path, body):
        return self.request("POST", path, body)

    def open(self, path):
        os.stat(re.split("[?#]", path)[0])  # the page of an error would pass as well
        self.post("/url", {"url": "file://" + path})

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def keys(self, text):
        self.post("/actions", {"actions": [{"type": "key", "id": "k", "actions": [
            a for c in text for a in ({"type": "keyDown", "value": c}, {"type": "keyUp", "value": c})]}]})

    def log(self):
        return self.post("/se/log", {"type": "browser"})

    def emulate(self, width=None, dark=None, media=""):
        """The width of the window, the scheme, and for which medium; nothing: the browser's own."""
        if width:
            self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        else:
            self.cdp("Emulation.clearDeviceMetricsOverride")
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[] if dark is None else [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripting(self, on):
        self.cdp("Emulation.setScriptExecutionDisabled", value=not on)

    def evaluate(self, expression):
        """Also where pages may not run scripts."""
        return self.cdp("Runtime.evaluate", expression=expression)["result"].get("value")

    def pdf(self):
        return base64.b64decode(self.cdp("Page.printToPDF")["data"])

    def cdp(self, command, **params):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": params})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.request("GET", "/screenshot")))

    def click(self, x, y):
        self.post("/actions", {"actions": pointer(x, y)})

    def close(self):
        self.request("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Firefox:
    """The same over Marionette, which Firefox has in itself: nothing but firefox-esr is needed."""
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.profile, "user.js"), "w") as f:
            f.write('user_pref("marionette.port", %d);\nuser_pref("app.update.enabled", false);\n'
                    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                    'user_pref("network.captive-portal-service.enabled", false);\n'
                    'user_pref("services.settings.server", "data:,");\n' % port)
        self.program = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile",
             self.profile, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.profile))
        for _ in range(600):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
                break
            except OSError:
                time.sleep(0.1)
        self.id = 0
        self.receive()
        self.send("WebDriver:NewSession", {})
        self.send("WebDriver:SetWindowRect", {"width": 1300, "height": 1000})

    def receive(self):
        head = b""
        while not head.endswith(b":"):
            head += self.socket.recv(1)
        text = b""
        while len(text) < int(head[:-1]):
            text += self.socket.recv(1 << 20)
        return json.loads(text)

    def send(self, command, params):
        self.id += 1
        text = json.dumps([0, self.id, command, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(error["message"])
        return result.get("value") if isinstance(result, dict) else result

    def open(self, path):
        self.send("WebDriver:Navigate", {"url": "file://" + path})

    def run(self, script, *args):
        return self.send("WebDriver:ExecuteScript", {"script": script, "args": list(args), "newSandbox": True})

    def chrome(self, script, *args):
        self.send("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.run("const c = gBrowser.selectedBrowser.browsingContext; " + script, *args)
        finally:
            self.send("Marionette:SetContext", {"value": "content"})

    def keys(self, text):
        self.send("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "k", "actions": [
            a for c in text for a in ({"type": "keyDown", "value": c}, {"type": "keyUp", "value": c})]}]})

    def click(self, x, y):
        self.send("WebDriver:PerformActions", {"actions": pointer(x, y)})

    def log(self):
        return [{"level": "SEVERE", "message": m} for m in self.chrome(
            "const all = Services.console.getMessageArray().map(String).filter(m => /file:.*html/.test(m));"
            "Services.console.reset(); return all")]

    def emulate(self, width=None, dark=None, media=""):
        self.chrome("c.fullZoom = 1")
        self.send("WebDriver:SetWindowRect", {"width": max(width or 1300, 800), "height": 1000})
        self.chrome("c.prefersColorSchemeOverride = arguments[0]; c.mediumOverride = arguments[1]",
                    "none" if dark is None else "dark" if dark else "light", media)
        if width and width < 800:  # narrower than its window can be
            self.chrome("c.fullZoom = arguments[0]", self.run("return innerWidth") / width)

    def scripting(self, on):
        self.chrome("c.allowJavascript = arguments[0]", on)

    def evaluate(self, expression):
        return self.chrome("""
            const actor = c.currentWindowGlobal.getActor("MarionetteCommands");
            return actor.executeScript("return " + arguments[0], [], { sandboxName: "system" })""", expression)

    def pdf(self):
        return base64.b64decode(self.send("WebDriver:Print", {}))

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("WebDriver:TakeScreenshot", {"full": False})))

    def close(self):
        self.send("Marionette:Quit", {"flags": ["eForceQuit"]})
        self.program.wait()
        shutil.rmtree(self.profile)


def pointer(x, y):
    return [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": [
        {"type": "pointerMove", "duration": 0, "x": x, "y": y}, {"type": "pointerDown", "button": 0},
        {"type": "pointerUp", "button": 0}]}]


# The lowest contrast of text on what is behind it, and where.
CONTRAST = r"""
const seen = new Set(), rgb = c => c.match(/[\d.]+/g).map(Number);
const lum = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
let worst = [99];
for (const e of document.querySelectorAll("body, body *")) {
    if (!Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    let back = e, color = rgb(getComputedStyle(e).color);
    while (back && (rgb(getComputedStyle(back).backgroundColor)[3] ?? 1) === 0) back = back.parentElement;
    const under = back ? rgb(getComputedStyle(back).backgroundColor) : [255, 255, 255];
    const [x, y] = [lum(color.slice(0, 3)), lum(under.slice(0, 3))].sort((a, b) => b - a);
    const ratio = (x + .05) / (y + .05);
    if (ratio < worst[0]) worst = [ratio, e.tagName + "." + e.className + " " + e.textContent.slice(0, 20)];
}
return worst"""
WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
UNNAMED = "return [...document.querySelectorAll('button, input, nav, section')].filter(e => !(e.ariaLabel ||" \
    " e.getAttribute('aria-labelledby') || e.labels?.length || e.textContent.trim())).map(e => e.outerHTML)"
SHOWN = "return [...document.querySelectorAll('.b li')].filter(l => l.checkVisibility() && l.offsetHeight &&" \
    " getComputedStyle(l).visibility === 'visible').length"
HOSTILE = b"<script>document.title='pwned'</script>\"'&<img src=x onerror=alert(1)>"


def settled(b, script):
    time.sleep(0.4)  # the search waits a moment for more keys
    return b.run(script)


def count(b):
    return settled(b, "return document.getElementById('n').textContent")


def look(b, page, name, shots, dark=False, width=1400):
    """The checks that hold for all pages, in one scheme and width."""
    b.emulate(width, dark)
    b.open(page)
    b.run("for (const d of document.querySelectorAll('details')) d.open = true")
    what = "%s, %d pixels, %s" % (name, width, "dark" if dark else "light")
    ratio, where = b.run(CONTRAST)
    check("%s: contrast" % what, ratio >= 4.5, (ratio, where))
    wide, there = b.run(WIDTHS)
    check("%s: nothing leaves the screen" % what, wide <= there, wide)
    if shots:
        b.screenshot(os.path.join(shots, "%s-%d-%s.png" % (name, width, "dark" if dark else "light")))


def look_all(b, page, name, shots):
    with open(page, "rb") as f:
        html = f.read().decode()
    for kind in "style", "script":
        inside = re.findall("<%s>(.*?)</%s>" % (kind, kind), html, re.S)
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        check("%s: the policy names the hash of the one %s" % (name, kind),
              len(inside) == 1 and "%s-src 'sha256-%s'" % (kind, digest) in html, digest)
    size = sum(len(m) for m in re.findall("<(?:style|script)>(.*?)</(?:style|script)>", html, re.S))
    check("%s: style and script have 16 KB at the most" % name, size <= 16384, size)
    for width, dark in (1400, False), (1400, True), (400, False), (400, True):
        look(b, page, name, shots, dark=dark, width=width)
    b.emulate()
    b.open(page)
    check("%s: nothing is loaded" % name, b.run("return performance.getEntriesByType('resource').length") == 0)
    check("%s: what is clicked has a name" % name, not b.run(UNNAMED), b.run(UNNAMED))
    b.scripting(False)
    b.open(page)
    dead = b.evaluate("[...document.querySelectorAll('[data-k], .find')].filter("
                      "e => e.checkVisibility() && !e.closest('th')).length")
    check("%s: without the script nothing is dead" % name, dead == 0, dead)
    styled = b.evaluate("[...document.querySelectorAll('*')].filter(e =>"
                        " [...e.attributes].some(a => a.name === 'style' || a.name.startsWith('on'))).length")
    check("%s: no style attributes, no handlers" % name, styled == 0, styled)
    b.scripting(True)
    problems = [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")]
    check("%s: the browser has no complaint" % name, not problems, problems)


def main():
    make_browser = Chromium
    if sys.argv[1:2] == ["--firefox"]:
        make_browser = Firefox
        del sys.argv[1]
    core = sys.argv[1:2] == ["--core"]
    if len(sys.argv) < (3 if core else 4):
        sys.exit(__doc__)
    for program in ("firefox-esr",) if make_browser is Firefox else ("chromedriver", "chromium"):
        if not shutil.which(program):
            print("skipped: %s is not installed" % program)
            sys.exit(77)
    if core:
        b = make_browser()
        try:
            test_core(b, os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]) if sys.argv[3:] else None)
        finally:
            b.close()
        sys.exit(failed > 0)
    program, log, debug = map(os.path.abspath, sys.argv[1:4])
    shots = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory() as folder:
        b = make_browser()
        try:
            test_log(b, program, log, debug, shots, folder)
            test_groups(b, program, log, debug, shots, folder)
            test_long_names(b, program, debug, folder)
            test_large(b, program, log, debug, folder)
            test_profile(b, program, shots, folder)
        finally:
            b.close()
    sys.exit(failed > 0)


def make(program, debug, folder, name, *options):
    page = os.path.join(folder, name)
    with open(page, "wb") as f:
        subprocess.run([program, "filter", "--format", "html", "--debug-file-directory", debug, *options],
                       stdout=f, stderr=subprocess.DEVNULL, check=True, env=dict(os.environ, XDG_CACHE_HOME=folder))
    return page


def test_log(b, program, log, debug, shots, folder):
    evil = os.path.join(folder, "evil.log")
    with open(log, "rb") as f:
        text = f.read() + b"\n"
    text += (HOSTILE + b"\n{{{module:9:<b onmouseover=alert(1)>\"x:elf:99}}}\n{{{mmap:0x70000000:0x1000:load:9:rx:0}}}\n"
             b"{{{symbol:</span><script>document.title='pwned'</script>}}}\n"
             b"</main></div><h1>out</h1> &lt; &amp; ' \x00\x01L\x7f\xff \x1b[2J\n"
             b"\x1b[31mred\x1b[1m bold {{{symbol:main}}} on\x1b[0m off\n"
             b"{{{bt:x\" onclick=\"alert(1)}}}\n{{{dumpfile:<i>:\"<u>}}}\nSIGSEGV <b>\x01E\n{{{bt:0:0x70000001:ra:<i>}}}\n")
    with open(evil, "wb") as f:
        f.write(text)
    page = make(program, debug, folder, "log.html", "--link", "vscode://file{path}:{line}:{column}",
                "--map-path", "/src=/home/me/my src#1", evil)
    look_all(b, page, "log", shots)
    b.open(page)
    lines = text.count(b"\n")
    check("a line of the page for each line of the log",
          b.run("return document.querySelectorAll('.b > li').length") == lines)
    title = b.run("return document.title")
    check("log text is not run", title.startswith("evil.log: SIGSEGV") and "pwned" not in title, title)
    check("log text makes no elements", not b.run("return document.querySelectorAll('main img, main script,"
          " main div > h1, [onclick], [onmouseover]').length"))
    shown = b.run("return Array.from(document.querySelectorAll('.b > li')).map(l => l.textContent.replace(/\\n$/, ''))")
    check("text is shown as it was", shown[0] == text.split(b"\n")[0].decode() and
          "</main></div><h1>out</h1> &lt; &amp; ' \u2400\u2401L\u2421\ufffd \u241b[2J" in shown)
    check("colours", b.run("return document.querySelectorAll('.c1').length") == 2 and
          b.run("return document.querySelectorAll('.bo.c1').length") == 1)
    check("lines are numbered as in the log", b.run("return [...document.querySelectorAll('.b')].every((b, i, all) =>"
          " b.children[0].value === 1 + all.slice(0, i).reduce((n, p) => n + p.childElementCount, 0))"))

    check("the head says what crashed", b.run("return document.querySelector('#head b.bad').textContent") == "SIGSEGV" and
          b.run("return document.querySelector('#head').getBoundingClientRect().top <"
                " document.querySelector('#log').getBoundingClientRect().top"))
    check("backtraces are listed", b.run("return document.querySelectorAll('#o a').length") == 2)
    check("and lead to their lines", b.run("return [...document.querySelectorAll('#o a')].every(a =>"
          " document.getElementById(a.hash.slice(1)).matches('li.f'))"))
    check("inlined frames are folded under their row", b.run("const d = document.querySelector('.in');"
          " return !d.open && d.querySelectorAll('.r').length") == 2)
    check("the program's own is told from the system's", b.run("return document.querySelectorAll('.r.o').length") > 2 and
          b.run("return document.querySelectorAll('.r.x').length") >= 2)
    tip = "return getComputedStyle(document.querySelector('.v'), '::after').content"
    check("a value is silent", b.run(tip) == "none", b.run(tip))
    b.run("document.querySelector('.v').focus()")
    shown = b.run(tip).replace("attr(data-s)", b.run("return document.querySelector('.v').dataset.s"))
    check("a value with the focus shows what lies there", "inner" in shown, shown)

    b.run("document.activeElement.blur()")
    b.keys("/")
    check("/ goes to the search", b.run("return document.activeElement.id") == "q")
    b.keys("OUTER")
    check("the search counts, whatever the case", re.fullmatch(r"\d+ of [2-9]", count(b)), count(b))
    b.keys("\ue007\ue007\ue007")
    check("it opens what is folded", settled(b, "return document.querySelector('.in').open"))
    check("and marks words without touching the page", b.run("return CSS.highlights.get('hit').size") > 1 and
          b.run("return CSS.highlights.get('cur').size") == 1)
    b.run("document.querySelector('[data-k=o]').click()")
    check("only the lines found are shown", 0 < b.run(SHOWN) < 6, b.run(SHOWN))
    b.run("document.querySelector('[data-k=o]').click(); document.getElementById('q').focus()")
    b.keys("\ue00c")
    check("Escape ends the search", count(b) == "" and b.run(SHOWN) > 10)
    b.keys("b")
    check("b goes to the backtrace", b.run("return document.querySelector('.now').id") == "L9" and
          b.run("return document.activeElement.className").startswith("f"))
    b.keys("j")
    check("j goes to the next line", b.run("return document.querySelector('.now') ==="
          " document.getElementById('L9').nextElementSibling"))
    b.keys("k")
    copied = b.run("let t = ''; navigator.clipboard.writeText = x => { t = x; return Promise.resolve(); };"
                   "document.querySelector('[data-k=c]').click(); return t").splitlines()
    check("a backtrace is copied as text, inlined frames included", len(copied) == 7 and
          copied[0].split() == ["#0", "0x0000000010401000", "inner", "/src/crash.c:19:2", "(crash+0x401000)"] and
          copied[1].split()[:3] == ["in", "0x0000000010401000", "middle"] and copied[6].strip().startswith("#4"), copied)
    b.run("document.querySelector('.in').open = false")
    b.keys("u")
    once = b.run("return document.querySelector('.in').open")
    b.keys("u")
    check("u unfolds and folds", once and not b.run("return document.querySelector('.in').open"))
    check("addresses are out of the way", not b.run("return document.querySelector('.r small s').checkVisibility()"))
    b.keys("a")
    check("until a", b.run("return document.querySelector('.r small s').checkVisibility()"))
    b.keys("a")
    b.keys("l")
    check("l names the line", b.run("return location.hash") == "#L9")
    opened = b.run("let u; window.open = x => { u = x; }; document.querySelector('#L9 cite').click(); return u")
    check("a place opens in the editor, where --map-path says", opened ==
          "vscode://file/home/me/my%20src%231/crash.c:19:2", opened)
    b.run("localStorage['symcache.link'] = 'javascript:alert(1)//{path}'")
    opened = b.run("let u = 'none'; window.open = x => { u = x; }; document.querySelector('#L9 cite').click(); return u")
    check("but no script does", opened == "none", opened)
    b.run("localStorage.clear()")
    b.keys("?")
    check("? shows the keys", b.run("return document.getElementById('h').checkVisibility()"))
    b.run("document.getElementById('f-keys').click(); document.activeElement.blur()")
    b.keys("?")
    was = b.run("return document.querySelector('.now').id")
    b.keys("j")
    check("keys can be switched off", b.run("return document.querySelector('.now').id") == was)
    b.run("localStorage.clear()")
    b.open(page + "?again#L10")
    check("an address with a line's number goes there", b.run("return document.querySelector('.now') ==="
          " document.getElementById('L9').nextElementSibling"))
    rows = b.run("return Array.from(document.querySelectorAll('#modules tr:has(.bad) code:first-child')).map(t => t.textContent)")
    check("modules without symbols are listed", "libgone.so" in rows, rows)
    b.keys("m")
    check("m opens the modules", b.run("return document.querySelector('#modules').open"))
    b.emulate(media="print")
    check("printed, nothing is folded but modules, and there are no controls", b.run(
        "return document.querySelector('.in .r').checkVisibility()") and not b.run(
        "return document.querySelector('.bar').checkVisibility()"))
    check("it prints", b.pdf().startswith(b"%PDF"))
    b.emulate()

    two = make(program, debug, folder, "two.html", log, evil)
    b.open(two + "#L2.9")
    check("lines of the second input have its number", b.run("return document.querySelector('.now').id") == "L2.9")


def test_groups(b, program, log, debug, shots, folder):
    evil = os.path.join(folder, "<img src=x onerror=alert(1)>.log")
    with open(log, "rb") as f:
        text = f.read()
    table = b"".join(l for l in text.splitlines(keepends=True) if re.search(rb"{{{(module|mmap):", l))
    with open(evil, "wb") as f:
        f.write(table + b"{{{module:9:<b>:elf:99}}}\n{{{mmap:0x70000000:0x1000:load:9:rx:0}}}\n")
        for i in range(3):
            f.write(b"{{{bt:0:0x70000001:ra:<i>}}}\n{{{bt:1:0x10401027:ra}}}\n\n")
    named = os.path.join(folder, "javascript:alert(1)")
    with open(named, "wb") as f:
        f.write(b"SIGSEGV <i>\n" + text)
    pages = os.path.join(folder, "pages")
    make(program, debug, folder, "none.html", "-o", pages, "--group", evil, named, log)
    page = os.path.join(pages, "groups.html")
    look_all(b, page, "groups", shots)
    b.open(page)
    check("groups: a row for each", b.run("return document.querySelectorAll('tbody tr').length") == 2)
    links = b.run("return [...document.querySelectorAll('td a')].map(a => a.href)")
    check("groups: places link to lines of pages", links and all(
        re.fullmatch(r"file:///.*\.html#L\d+", l) and os.path.exists(urllib.parse.unquote(l[7:].split("#")[0])) for l in links), links)
    check("groups: what they are called by", b.run("return document.querySelector('summary .bad').textContent") == "SIGSEGV")
    check("groups: names from outside make no elements", not b.run(
        "return document.querySelectorAll('td img, td i, li b b').length"))
    first = "return document.querySelector('tbody tr').id"
    was = b.run(first)
    b.keys("1")
    check("groups: 1 sorts by their number", b.run(first) != was and b.run(
        "return document.querySelector('th').ariaSort") == "ascending")
    b.keys("/outer")
    check("groups: the search counts groups and stacks", count(b) == "1 of 2 groups, 2 stacks", count(b))
    check("groups: and shows the functions found alone", b.run(
        "return [...document.querySelectorAll('tbody tr:not([hidden]) li')].filter(l => l.offsetHeight).length") == 1)
    b.keys("\ue00c")
    b.keys("u")
    check("groups: u unfolds", settled(b, "return [...document.querySelectorAll('tbody details')].every(d => d.open)"))


def test_long_names(b, program, debug, folder):
    """Names from outside that are wider than the screen: of folders, logs, modules, crashes, tags."""
    long = "n" * 200
    inner = os.path.join(folder, long)
    os.mkdir(inner)
    log = os.path.join(inner, "l" * 200 + ".log")
    with open(log, "w") as f:
        f.write("{{{module:9:/%s/%s:elf:99}}}\n{{{mmap:0x70000000:0x1000:load:9:rx:0}}}\n{{{pc:0x70000004}}}"
                "{{{data:0x70000004}}}{{{symbol:%s}}}{{{hexdump:%s:99}}}\n{{{dumpfile:%s:%s}}}\nSIGSEGV %s\n"
                "{{{bt:0:0x70000001:ra:%s}}}\n{{{bt:1:0x5:ra}}}\n\n%s: error\n%s\n" % (7 * (long,) + (long, long, long)))
    pages = os.path.join(folder, "long")
    make(program, debug, folder, "none.html", "-o", pages, "--group", log)
    for page in os.path.join(pages, "groups.html"), os.path.join(pages, os.path.basename(log) + ".html"):
        for width in 1400, 400:
            look(b, page, "long names, " + ("groups" if page.endswith("groups.html") else "log"), None, width=width)


def test_core(b, page, shots):
    look_all(b, page, "core", shots)
    b.open(page)
    check("core: names from outside make no elements", not b.run("return document.querySelectorAll('img').length"))
    check("core: the thread that died is open, no other", b.run(
        "return [...document.querySelectorAll('details.t')].map(d => +d.open).join('')").strip("0") == "1" and
        b.run("return document.querySelector('details.t').open"))
    tid = b.run("return [...document.querySelectorAll('details.t')].at(-1).id")
    b.open(page + "?again#" + tid)
    check("core: #T and its number open a thread", b.run("return document.getElementById('%s').open" % tid) and
          b.run("return document.querySelector('.now').closest('details.t').id") == tid)
    b.keys("B")
    check("core: B goes to the stack before", b.run("return document.querySelector('.now').closest('details.t').id") != tid)
    copied = b.run("let t = ''; navigator.clipboard.writeText = x => { t = x; return Promise.resolve(); };"
                   "document.querySelector('[data-k=c]').click(); return t").splitlines()
    check("core: a stack is copied as text", copied[0].split()[0] == "#0" and copied[0].split()[1].startswith("0x"), copied)
    b.keys("/on_poll")
    check("core: the search finds a function in a stack that is folded", re.fullmatch(r"\d+ of [1-9]", count(b)) and
          b.run("return document.querySelector('.now').closest('details.t').open"), count(b))


def test_large(b, program, log, debug, folder):
    with open(log, "rb") as f:
        text = f.read() + b"\n"
    table = [l for l in text.splitlines(keepends=True) if re.search(rb"{{{(module|mmap):", l)]
    frame = next(l for l in text.splitlines(keepends=True) if b"{{{bt:0:" in l)
    other = next(l for l in text.splitlines(keepends=True) if b"{{{bt:1:" in l)
    big = os.path.join(folder, "big.log")
    with open(big, "wb") as f:
        f.writelines(table)
        for i in range(6250):
            for j in range(4):
                f.write(b"[%05d] request %d served in %d us\n" % (i, i * 7919 % 1000003, i * 31 % 997))
            for j in range(4):
                f.write((other if j else frame).replace(b"bt:0:", b"bt:%d:" % j).replace(b"bt:1:", b"bt:%d:" % j))
        f.write(HOSTILE + b" {{{bt:0:0x70000001:ra:<i>}}} &lt;\n")
    page = make(program, debug, folder, "big.html", big)
    begin = time.time()
    b.open(page)
    took = time.time() - begin
    there = "document.querySelectorAll('.b > li').length"
    check("50,000 lines open", b.run("return " + there) < 20000 and took < 10, took)
    b.run("document.getElementById('q').focus()")
    b.keys("request 99")
    with open(big, "rb") as f:
        want = sum(b"request 99" in line for line in f)
    check("they are searched", count(b).endswith(" of %d" % want), (count(b), want))
    b.keys("\ue007")
    check("Enter goes to a line that was not laid out", settled(b,
          "const r = document.querySelector('.now').getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight"))
    b.run("document.querySelector('[data-k=o]').click()")
    b.keys("\ue008\ue007")
    check("the last of those found alone is shown", settled(b, "const r = document.querySelector('.now')"
          ".getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight && r.height > 5"))
    b.run("document.querySelector('[data-k=o]').click(); document.getElementById('q').focus()")
    b.keys("\ue00c")
    b.open(page + "?again#L30011")
    line = "const l = document.querySelector('.now'); return l && l.parentNode.children[0].value" \
        " + [...l.parentNode.children].indexOf(l)"
    check("an address leads into a part", b.run(line) == 30011, b.run(line))
    b.keys("b")
    check("b leads on", b.run(line) == b.run(line) // 8 * 8 + 2 and b.run(line) > 30011, b.run(line))
    b.run("document.activeElement.blur()")
    # From line to line, over the end of a part, down and up.
    over = b.run("return document.querySelector('.now').closest('.c').nextElementSibling.dataset.f")
    b.open(page + "?last#L%d" % (int(over) - 1))
    b.keys("j")
    down = b.run(line)
    b.keys("k")
    check("j and k lead over the end of a part", (down, b.run(line)) == (int(over), int(over) - 1), (down, b.run(line)))
    b.keys("u")
    b.run("location.hash = '#L49001'")
    check("what is unfolded is so in parts that come later", settled(b, "return document.querySelector('.now')"
          ".closest('.c').querySelectorAll('.in:not([open])').length") == 0)
    b.run("dispatchEvent(new Event('beforeprint'))")
    lines = b.run("return " + there)
    check("all lines are there when it is printed", lines == 50000 + len(table) + 1, lines)
    check("what was searched of a part is what it says", b.run("return [...document.querySelectorAll('.c')].every("
          "c => c.text && c.text === [...c.querySelectorAll('.b')].map(l => l.textContent).join(''))"))
    b.scripting(False)
    b.open(page)
    lines = b.evaluate(there)
    check("all lines are there without the script", lines == 50000 + len(table) + 1, lines)
    b.scripting(True)
    with open(big, "wb") as f:
        f.writelines(b"%d\n" % i for i in range(5632))
    b.open(make(program, debug, folder, "plain.html", big))
    b.pdf()
    check("which happens by itself", b.run("return " + there) == 5632)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    return varint(number << 3) + varint(value) if isinstance(value, int) else \
        varint(number << 3 | 2) + varint(len(value)) + value


def pprof(types, samples):
    """A profile of samples: a stack of functions, outermost first, "^" before inlined ones; values."""
    strings, functions, locations, out = {b"": 0}, {}, {}, b""

    def text(s):
        return strings.setdefault(s if isinstance(s, bytes) else s.encode(), len(strings))

    for t, unit in types:
        out += field(1, field(1, text(t)) + field(2, text(unit)))
    for stack, values in samples:
        at = []  # locations: functions, innermost first
        for name in stack:
            inlined, name = name.startswith("^"), name.lstrip("^")
            f = functions.setdefault(name, len(functions) + 1)
            at = [(f,) + at[0]] + at[1:] if inlined else [(f,)] + at
        ids = [locations.setdefault(l, len(locations) + 1) for l in at]
        out += field(2, b"".join(field(1, i) for i in ids) + b"".join(field(2, v) for v in values))
    for l, i in locations.items():
        out += field(4, field(1, i) + b"".join(field(4, field(1, f) + field(2, 7)) for f in l))
    for name, i in functions.items():
        out += field(5, field(1, i) + field(2, text(name)) + field(4, text("/src/%s.cc" % name[:9])) + field(5, 12))
    return out + b"".join(field(6, s) for s in strings)


def make_profile(program, folder, name, data):
    source, page = os.path.join(folder, name), os.path.join(folder, "profile.html")
    with open(source, "wb") as f:
        f.write(data)
    subprocess.run([program, "profile", "--format", "html", source,
                    "--link", "vscode://file{path}:{line}", "-o", page], check=True, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, XDG_CACHE_HOME=folder))
    return page


BOX = """const r = document.querySelector('canvas').getBoundingClientRect();
return [r.left + r.width * arguments[0], r.top + 19 * arguments[1] + 9].map(Math.round)"""


def click(b, x, row):
    x, y = b.run(BOX, x, row)
    b.click(x, y)


def test_profile(b, program, shots, folder):
    evil = HOSTILE.decode() + "</script><!-- \x01 \u2028"
    data = pprof([("calls", "count"), (evil, "nanoseconds")], [
        (["main", "shop::work(int)", "^shop::sum(std::vector<int, std::allocator<int>>)"], (30, 10 ** 9)),
        (["main", "shop::work(int)", "malloc"], (5, 3 * 10 ** 9)),
        (["main", "shop::work(int)", "shop::work(int)", "malloc"], (5, 10 ** 6)), (["main", evil], (10, 2 * 10 ** 9))])
    page = make_profile(program, folder, "<img src=x onerror=alert(1)>.pb", data)
    look_all(b, page, "profile", shots)
    b.open(page)
    told = "return document.querySelector('#d h2').textContent"
    part = "return [...document.querySelectorAll('#d dt')].find(e => e.textContent === '%s').nextElementSibling.textContent"
    check("profile: names from outside make no elements", not b.run("return document.querySelectorAll("
          "'img, td script, h2 script, option script').length") and "pwned" not in b.run("return document.title"))
    check("profile: the last of the values is shown", b.run(part % "total") == "6.00 s · 100.0 %", b.run(part % "total"))
    title = b.run("return document.querySelector('h1').textContent")
    check("profile: and is the title", title.startswith("6.00 s"), title)
    click(b, .2, 2)
    check("profile: a click zooms in, largest first", b.run(told) == "shop::work(int)" and
          b.run(part % "total").startswith("4.00 s · 66.7 %"), b.run(part % "total"))
    check("profile: recursion counts once", b.run(part % "function").startswith("4.00 s · 66.7 %"), b.run(part % "function"))
    b.keys("g\ue015")
    check("profile: arrows move to the callee that has most", b.run(told) == "malloc", b.run(told))
    b.keys("\ue014")
    check("profile: and to its neighbour, which is inlined", b.run(told).startswith("shop::sum(") and
          b.run(part % "inlined") == "into its caller", b.run(told))
    opened = b.run("let u; window.open = x => { u = x; }; document.querySelector('#d cite').click(); return u")
    check("profile: a place opens in the editor", opened == "vscode://file/src/shop::sum.cc:12", opened)
    b.keys("s")
    check("profile: s shows callers and callees", b.run("return document.querySelector('#crumbs').textContent")
          .startswith("all functions"))
    b.keys("w")
    b.run("const s = document.querySelector('select'); s.value = 0; s.onchange()")
    check("profile: another value", b.run(part % "total") == "50 · 100.0 %", b.run(part % "total"))
    b.run("document.activeElement.blur()")
    b.keys("/SHOP::SUM")
    check("profile: the search sums what is below those found", count(b) == "60.0 %", count(b))
    rows = "return [...document.querySelectorAll('#top tbody tr')].map(r => r.cells[2].textContent)"
    check("profile: the table has those found alone, by their short names", b.run(rows) == ["shop::sum"], b.run(rows))
    b.keys("\ue007")
    check("profile: Enter goes there", b.run(told).startswith("shop::sum("))
    b.keys("\ue00c")
    check("profile: Escape shows all", count(b) == "" and len(b.run(rows)) == 3, b.run(rows))
    b.run("document.querySelector('#bt').click()")
    check("profile: sorted by totals", b.run(rows)[0] == "main", b.run(rows))
    b.keys("i")
    check("profile: i turns it over", b.run("return document.querySelector('[data-k=i]').textContent") == "Icicle")
    b.run("localStorage.clear()")

    samples = [(["main"] + ["f%d" % (i * 31 % 997 + j * i % 13) for j in range(8)] + ["^g%d" % i, "h%d" % (i % 7)], (i % 50 + 1,))
               for i in range(12000)]
    page = make_profile(program, folder, "large.pb", pprof([("samples", "count")], samples))
    begin = time.time()
    b.open(page)
    took = time.time() - begin
    nodes = b.run("return JSON.parse(document.querySelector('#profile').textContent).tree.length / 3")
    check("profile: 100,000 nodes open in 2 s", nodes > 90000 and took < 2, (nodes, took))
    b.keys("/g1199")
    stacks = b.run("return document.querySelector('#head').textContent")
    check("profile: numbers are grouped", "12,000 stacks" in stacks, stacks)
    check("profile: and are searched", re.fullmatch(r"[\d.]+ %", count(b)), count(b))


if __name__ == "__main__":
    main()
