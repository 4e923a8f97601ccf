#!/usr/bin/env python3
"""Looks at pages of `symcache filter --format html` in a real browser.

    scripts/html_test.py PROGRAM CRASH_LOG DEBUG_DIR [SCREENSHOT_DIR]

Drives chromium through chromedriver: nothing is loaded from elsewhere and no log
text is run, the search finds, keys work, frames unfold, values show what lies
there, both colour schemes are applied, and a page of 100,000 lines has few elements
and lays out those in sight alone, which is what makes it quick.
Prints "ok: WHAT" for each check; exit status 1 if one fails, 77 without a browser.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

failed = 0


def check(what, ok, detail=""):
    global failed
    print("%s: %s%s" % ("ok" if ok else "FAILED", what, "" if ok else " (%s)" % (detail,)))
    failed += not ok


class Browser:
    def __init__(self, dark=False):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            port = re.search(r"on port (\d+)", line)
            if port and "started successfully" in line:
                break
        self.base = "http://127.0.0.1:%s/session" % port.group(1)
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-quic"]
        if dark:
            args += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
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
        self.post("/url", {"url": "file://" + path})

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def keys(self, text):
        self.post("/actions", {"actions": [{"type": "key", "id": "k", "actions": [
            a for c in text for a in ({"type": "keyDown", "value": c}, {"type": "keyUp", "value": c})]}]})

    def log(self):
        return self.post("/se/log", {"type": "browser"})

    def cdp(self, command, **params):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": params})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.request("GET", "/screenshot")))

    def close(self):
        self.request("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


# Is what the first frame is inlined in shown?
UNFOLDED = "return document.querySelector('samp div').offsetHeight > 10"
SHOWN = "return Array.from(document.querySelectorAll('li')).filter(l => l.checkVisibility() && l.offsetHeight &&" \
    " getComputedStyle(l).visibility === 'visible').length"


def count(b):
    time.sleep(0.4)  # the search waits a moment for more keys
    return b.run("return document.getElementById('count').textContent")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    if not shutil.which("chromedriver") or not shutil.which("chromium"):
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(77)
    program, log, debug = map(os.path.abspath, sys.argv[1:4])
    shots = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory() as folder:
        test(program, log, debug, shots, folder)
    sys.exit(failed > 0)


def make(program, debug, folder, name, log):
    page = os.path.join(folder, name)
    with open(page, "wb") as f:
        subprocess.run([program, "filter", "--format", "html",
                        "--debug-file-directory", debug, log], stdout=f, stderr=subprocess.DEVNULL, check=True,
                       env=dict(os.environ, XDG_CACHE_HOME=folder))
    return page


def test(program, log, debug, shots, folder):
    evil = os.path.join(folder, "evil.log")
    with open(log, "rb") as f:
        text = f.read() + b"\n"
    text += (b"<script>document.title='pwned'</script>\n<img src=x onerror=\"document.title='pwned'\">\n"
             b"{{{module:9:<b onmouseover=alert(1)>\"x:elf:99}}}\n{{{symbol:</span><script>document.title='pwned'"
             b"</script>}}}\n</main></div><h1>out</h1> &lt; &amp; ' \x00\x01\x7f\xff \x1b[2J\n"
             b"\x1b[31mred\x1b[1m bold {{{symbol:main}}} on\x1b[0m off\n"
             b"{{{bt:x\" onclick=\"alert(1)}}}\n{{{dumpfile:<i>:\"<u>}}}\n")
    with open(evil, "wb") as f:
        f.write(text)
    page = make(program, debug, folder, "evil.html", evil)
    with open(page, "rb") as f:
        html = f.read().decode()
    script = re.search(r"<script>(.*?)</script>\n</body>", html, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    check("the policy names the script's hash", "script-src 'sha256-%s'" % digest in html, digest)

    b = Browser()
    b.open(page)
    lines = text.count(b"\n")
    check("a line of the page for each line of the log",
          b.run("return document.querySelectorAll('li').length") == lines)
    check("log text is not run", b.run("return document.title") == evil, b.run("return document.title"))
    check("log text makes no elements",
          b.run("return document.querySelectorAll('main img, main script, main h1, main b, main i, main u').length") == 0)
    check("nothing is loaded", b.run("return performance.getEntriesByType('resource').length") == 0)
    shown = b.run("return Array.from(document.querySelectorAll('li')).map(l => l.textContent.replace(/\\n$/, ''))")
    check("text is shown as it was", shown[0] == text.split(b"\n")[0].decode() and
          shown[-4] == "</main></div><h1>out</h1> &lt; &amp; ' \u2400\u2401\u2421\ufffd \u241b[2J", shown[-4])
    check("colours", b.run("return document.querySelectorAll('.c1').length") == 2 and
          b.run("return document.querySelectorAll('.bo.c1').length") == 1)

    check("inlined frames are folded", b.run("return document.querySelectorAll('samp button').length") == 1 and
          not b.run(UNFOLDED))
    b.run("document.querySelector('samp button').focus()")
    b.keys("\ue007")
    check("Enter unfolds a frame", b.run(UNFOLDED) and
          b.run("return document.querySelector('samp button').getAttribute('aria-expanded')") == "true")
    b.keys(" ")
    check("and the space bar folds it", not b.run(UNFOLDED))
    b.run("document.querySelector('samp div').dispatchEvent(new Event('beforematch', {bubbles: true}))")
    check("the browser's own search unfolds it", b.run(UNFOLDED) and b.run(
        "return document.querySelector('samp button').getAttribute('aria-expanded')") == "true")
    tip = "return getComputedStyle(document.querySelector('.v'), '::after').content"
    check("a value is silent", b.run(tip) == "none", b.run(tip))
    b.run("document.querySelector('.v').focus()")
    check("a value with the focus shows what lies there", "inner" in b.run(tip), b.run(tip))
    if shots:
        b.screenshot(os.path.join(shots, "light.png"))

    b.run("document.activeElement.blur()")
    b.keys("/")
    check("/ goes to the search", b.run("return document.activeElement.id") == "query")
    b.keys("is not in any")
    check("the search counts", count(b) == "1 line", count(b))
    b.keys("\ue007")
    check("Enter goes to the line", count(b) == "1 of 1 line" and
          b.run("return document.querySelectorAll('li.now').length") == 1, count(b))
    b.run("document.getElementById('only').click()")
    check("only the lines found are shown", b.run(SHOWN) == 1, b.run(SHOWN))
    b.keys("\ue00c")
    b.run("document.getElementById('query').focus()")
    b.keys("\ue00c")
    check("Escape ends the search", count(b) == "" and b.run(SHOWN) > 10)
    was = b.run(SHOWN)
    b.run("document.getElementById('maps').click()")
    maps = b.run("return document.querySelectorAll('.m').length")
    check("modules and maps are shown when wanted", maps > 0 and b.run(SHOWN) == was + maps, was)
    rows = b.run("return Array.from(document.querySelectorAll('#modules td.none')).map(t => "
                 "t.parentNode.firstChild.textContent)")
    check("modules without symbols are listed", rows == ["libgone.so"], rows)
    b.run("document.activeElement.blur()")
    b.keys("b")
    check("b goes to the backtrace", b.run("return document.querySelector('.now samp').textContent")[:3] == "#0 " and
          b.run("return document.activeElement.tagName") == "BUTTON")
    b.run("document.activeElement.blur()")
    b.keys("u")
    once = b.run(UNFOLDED)
    b.keys("u")
    check("u unfolds and folds", once != b.run(UNFOLDED))
    copied = b.run("let t = ''; navigator.clipboard.writeText = x => { t = x; return Promise.resolve(); };"
                   "document.getElementById('copy').click(); return t").splitlines()
    check("a backtrace is copied as text, inlined frames included",
          len(copied) == 7 and "#0  " in copied[0] and "inlined" not in copied[0] and
          copied[1].strip().startswith("in middle") and "#4  " in copied[6], copied)
    b.run("document.querySelectorAll('samp button[aria-expanded=true]').forEach(e => e.click())")
    b.cdp("Emulation.setEmulatedMedia", media="print")
    check("printing unfolds", b.run(UNFOLDED) and not b.run(
        "return document.querySelector('header').offsetHeight"))
    if shots:
        b.screenshot(os.path.join(shots, "print.png"))
    b.cdp("Emulation.setEmulatedMedia", media="")
    b.cdp("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
    check("400 pixels are wide enough", b.run(
        "return document.documentElement.scrollWidth <= innerWidth"))
    if shots:
        b.screenshot(os.path.join(shots, "narrow.png"))
    b.cdp("Emulation.clearDeviceMetricsOverride")
    b.keys("m")
    check("m opens the modules", b.run("return document.getElementById('modules').open"))
    b.keys("?")
    check("? lists the keys", b.run("return document.getElementById('help').open"))
    b.keys("\ue00c")
    b.run("document.querySelector('li').dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: 5}))")
    check("a click on its number names a line", b.run("return location.hash") == "#1", b.run("return location.hash"))
    b.cdp("Emulation.setScriptExecutionDisabled", value=True)
    b.open(page)
    all_shown = b.cdp("Runtime.evaluate", expression=(SHOWN + "+ (" + UNFOLDED + ")").replace("return ", ""))
    check("without the script all is shown", all_shown["result"].get("value") == lines + 1, all_shown)
    b.cdp("Emulation.setScriptExecutionDisabled", value=False)
    light = b.run("return getComputedStyle(document.body).backgroundColor")
    problems = [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")]
    check("the browser has no complaint", not problems, problems)

    log_lines = text.splitlines(keepends=True)
    frame = next(l for l in log_lines if b"{{{bt:2:" in l)
    big = os.path.join(folder, "big.log")
    with open(big, "wb") as f:
        f.write(text)
        f.writelines(l for l in log_lines if re.search(rb"{{{(module|mmap):", l))
        for i in range(50000):
            f.write(b"[%05d] 1234.5678> request %d served in %d us\n" % (i, i * 7919 % 1000003, i * 31 % 997))
            f.write(frame)
    page_of_big = make(program, debug, folder, "big.html", big)
    b.open(page_of_big)
    elements = b.run("return document.getElementsByTagName('*').length")
    check("a frame takes four elements, any other line one", 5 * 50000 < elements < 5 * 50000 + 1000, elements)
    check("an address with a line's number goes there", b.run(
        "location.hash = '#90001'; return document.querySelectorAll('li').item(90000).textContent") in
        b.run("return document.querySelector('.now').textContent"))
    b.run("document.getElementById('query').focus()")
    b.keys("request")
    found = count(b)
    check("100,000 lines are searched", found == "50000 lines", found)
    marked = b.run("return document.querySelectorAll('.hit').length")
    check("those in sight are marked, no others", 0 < marked < 2000, marked)
    check("what is not in sight is not laid out", not b.run(
        "return document.querySelector('.b:last-child li').checkVisibility({contentVisibilityAuto: true})"))
    b.keys(" 99")
    found = count(b)
    with open(big, "rb") as f:
        want = sum(b"request 99" in line for line in f)
    check("and it has found what is there", found == "%d lines" % want, found)
    b.keys("\ue007")
    check("Enter goes to a line that was not laid out, and marks it", b.run(
        "const l = document.querySelector('.now'), r = l.getBoundingClientRect(); return l.matches('.hit') &&"
        " l.textContent.includes('request 99') && r.top > 0 && r.bottom < innerHeight"))
    b.close()

    b = Browser(dark=True)
    b.open(page)
    dark = b.run("return getComputedStyle(document.body).backgroundColor")
    check("dark and light differ", dark != light, dark)
    if shots:
        b.run("document.querySelector('samp button').click(); document.querySelector('#modules').open = true")
        b.screenshot(os.path.join(shots, "dark.png"))
    b.close()


if __name__ == "__main__":
    main()
