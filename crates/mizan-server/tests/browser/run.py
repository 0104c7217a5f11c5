#!/usr/bin/env python3
"""The pages in a real browser: what visitors do with them, and what pages must not do.

    run.py --mizan target/release/mizan                   tests
    run.py --mizan target/release/mizan --pictures DIR    and pictures of every page
"""

import argparse
import json
import os
import re
import sys
import unittest
from urllib.parse import quote, urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import merkle  # noqa: E402
from chromium import Chromium  # noqa: E402
from server import Server  # noqa: E402

BY_WARD = "SELECT ward, COUNT(*) AS n\nFROM visits\nGROUP BY ward"
MOST_BYTES = 300_000
PICTURES = None
SERVER = None
BROWSER = None


class Pages(unittest.TestCase):
    """One story per test; each begins with an empty browser."""

    def setUp(self):
        self.all = []

    def tearDown(self):
        for page in self.all:
            strangers = [url for url in page.requests if urlsplit(url).scheme in ("http", "https") and not url.startswith(SERVER.url)]
            self.assertEqual(strangers, [], "requests to other places")
            self.assertEqual([error for error in page.errors if not self.expected(error)], [], "errors in the console")
            page.close()

    @staticmethod
    def expected(error):
        # A browser reports every refused request as an error of the network.
        return error.startswith("network:") and re.search(r"status of (401|404|409|422)", error)

    def page(self, **options):
        page = BROWSER.page(**options)
        self.all.append(page)
        return page

    def signed_in(self, role="analyst", path="/", **options):
        page = self.page(**options)
        page.go(f"{SERVER.url}/sign-in?next={quote(path)}")
        page.run(f"document.querySelector('#token').value = '{SERVER.tokens[role]}'")
        page.run("document.querySelector('form.stack').submit()")
        page.wait("document.readyState === 'complete' && document.querySelector('.who') !== null")
        return page

    def test_signing_in_and_out(self):
        page = self.page()
        page.go(f"{SERVER.url}/ask?sql=SELECT%201")
        self.assertIn("/sign-in?next=", page.run("location.href"))
        page.fill("#token", "mizan_wrong")
        page.click("form.stack button")
        page.wait("document.querySelector('.alert.bad') !== null")
        page.fill("#token", SERVER.tokens["analyst"])
        page.click("form.stack button")
        page.wait("location.pathname === '/ask'")
        self.assertEqual(page.run("document.querySelector('#sql').value"), "SELECT 1")
        page.click(".tools form button")
        page.wait("location.pathname === '/sign-in'")
        page.go(f"{SERVER.url}/budgets")
        self.assertEqual(page.run("location.pathname"), "/sign-in")

    def test_a_question_is_priced_asked_and_proved(self):
        page = self.signed_in(path="/ask")
        page.fill("#sql", BY_WARD)
        page.fill("#epsilon", "0.2")
        page.wait("document.querySelector('#quote .priced') !== null && !document.querySelector('#quote.busy')")
        priced = page.text("#quote")
        self.assertIn("ε 0.2", priced)
        self.assertRegex(priced, r"± \d+")
        # The slider changes the quote, and reads no data.
        page.fill("#epsilon-slider", "-1")
        page.wait("document.querySelector('#quote').innerText.includes('ε 0.1')")
        key = page.run("document.querySelector('#key').value")
        self.assertRegex(key, r"^[0-9a-f]{32}$")
        page.run("document.querySelector('#spend').click(); document.querySelector('#spend').click()")
        page.wait("document.querySelector('#answer table') !== null")
        self.assertEqual(page.run("document.querySelectorAll('#answer tbody tr').length"), 5)
        self.assertTrue(page.run("document.querySelector('#answer svg') !== null"))
        self.assertRegex(page.run("document.querySelector('#answer section').dataset.id"), r"^[0-9a-f]{32}$")
        self.assertNotEqual(page.run("document.querySelector('#key').value"), key)
        first = page.text("#answer table")
        # The same form again: the same answer, and no charge.
        page.run(f"document.querySelector('#key').value = '{key}'")
        page.click("#spend")
        page.wait("document.querySelector('#answer .alert.good') !== null")
        self.assertEqual(page.text("#answer table"), first)
        # Its receipt.
        page.click("#answer .title a")
        page.wait("location.pathname.startsWith('/receipts/') && document.querySelector('#verify') !== null && !document.querySelector('#verify').hidden")
        shown = page.text("main")
        for words in ("amina", "SELECT ward, COUNT(*) AS n", "visits"):
            self.assertIn(words, shown)
        root = page.text("#root")
        page.fill("#trusted", root)
        page.click("#verify button")
        page.wait("document.querySelectorAll('#verdict .alert').length >= 2")
        self.assertEqual(page.text("#computed"), root)
        self.assertEqual(page.run("document.querySelectorAll('#verdict .alert.bad').length"), 0)
        # A proof that was tampered with fails.
        page.run("{const p = document.querySelector('#proof'); p.dataset.leaf = p.dataset.leaf.replace(/^./, c => c === '0' ? '1' : '0')}")
        page.click("#verify button")
        page.wait("document.querySelector('#verdict .alert.bad') !== null")

    def test_a_question_outlives_its_session(self):
        page = self.signed_in(path="/ask")
        sql, epsilon = "SELECT COUNT(*) AS n FROM visits", "0.03"
        page.fill("#sql", sql)
        page.fill("#epsilon", epsilon)
        kept = "[document.querySelector('#sql').value, document.querySelector('#epsilon').value, document.querySelector('#key').value].join()"
        before = page.run(kept)
        # A form of an earlier session comes back with the CSRF token of this one.
        page.run("document.getElementsByName('csrf').forEach(field => { field.value = '0'; })")
        page.click("#spend")
        page.wait("document.querySelector('#answer .again') !== null && !document.querySelector('#spend').disabled")
        self.assertEqual(page.run(kept), before)
        # No session: after the sign-in the query is there unchanged.
        page.call("Network.clearBrowserCookies")
        page.click("#spend")
        page.wait("document.querySelector('#answer a[href^=\"/sign-in\"]') !== null && !document.querySelector('#spend').disabled")
        page.click("#answer a[href^='/sign-in']")
        page.wait("document.querySelector('#token') !== null")
        page.fill("#token", SERVER.tokens["analyst"])
        page.click("form.stack button")
        page.wait("location.pathname === '/ask' && document.querySelector('#again')?.hidden === false")
        self.assertEqual(page.run(kept), before)
        # A reload before the answer changes nothing.
        page.go(f"{SERVER.url}/ask")
        page.wait("document.querySelector('#again')?.hidden === false")
        self.assertEqual(page.run(kept), before)
        page.click("#spend")
        page.wait("document.querySelector('#answer table') !== null")
        self.assertTrue(page.run("document.querySelector('#again').hidden"))
        page.go(f"{SERVER.url}/ask")
        page.wait("document.querySelector('.editor.on') !== null")
        self.assertEqual(page.run("document.querySelector('#sql').value"), "")
        # Another user of the tab does not see the query.
        page.run("sessionStorage.setItem('mizan-question', JSON.stringify({who: 'x', address: '/ask', fields: {sql: 'SELECT 1'}}))")
        page.go(f"{SERVER.url}/ask")
        page.wait("document.querySelector('.editor.on') !== null")
        self.assertEqual(page.run("document.querySelector('#sql').value"), "")
        page.errors = [error for error in page.errors if "status of 403" not in error]

    def test_a_question_outlives_its_session_without_scripts(self):
        page = self.signed_in(path="/ask", script=False)
        key = page.run("document.querySelector('#key').value")
        page.run("document.querySelector('#sql').value = 'SELECT COUNT(*) AS n FROM visits'")
        page.run("document.querySelector('#ask [name=csrf]').value = '0'")
        page.run("document.querySelector('#spend').click()")
        page.wait("document.querySelector('#again')?.hidden === false")
        self.assertEqual(page.run("document.querySelector('#key').value"), key)
        page.call("Network.clearBrowserCookies")
        # The server redirects the query to the sign-in page.
        page.run("document.querySelector('#spend').click()")
        page.wait("document.querySelector('#token') !== null")
        page.run(f"document.querySelector('#token').value = '{SERVER.tokens['analyst']}'")
        page.run("document.querySelector('form.stack').submit()")
        page.wait("location.pathname === '/ask' && document.querySelector('#again')?.hidden === false")
        self.assertEqual(page.run("document.querySelector('#key').value"), key)
        self.assertEqual(page.run("document.querySelector('#sql').value"), "SELECT COUNT(*) AS n FROM visits")
        page.run("document.querySelector('#spend').click()")
        page.wait("document.querySelector('#answer table') !== null")
        page.errors = [error for error in page.errors if "status of 403" not in error]

    def test_a_mistake_is_marked_where_it_is(self):
        page = self.signed_in(path="/ask")
        page.fill("#sql", "SELECT ward,\n  COUNT(*) AS n FROM visitz GROUP BY ward")
        page.wait("document.querySelector('#quote .wrong') !== null")
        self.assertEqual(page.run("[...document.querySelectorAll('#shown mark')].map(m => m.textContent).join('')"), "visitz")
        self.assertIn("^", page.text("#quote .place"))
        self.assertEqual(page.run("document.querySelector('#sql').getAttribute('aria-invalid')"), "true")
        # Running it anyway fails and charges nothing.
        page.click("#spend")
        page.wait("document.querySelector('#answer .failed, #answer.failed, .answer.failed') !== null")
        page.fill("#sql", BY_WARD)
        page.wait("document.querySelector('#quote .priced') !== null")
        self.assertEqual(page.run("document.querySelectorAll('#shown mark').length"), 0)

    def test_a_budget_refuses(self):
        page = self.signed_in(path="/ask")
        page.fill("#sql", BY_WARD)
        page.fill("#epsilon", "50")
        page.wait("document.querySelector('#quote [data-fits=no]') !== null")
        page.click("#spend")
        page.wait("document.querySelector('.answer.refused') !== null")
        self.assertIn("Nothing was charged", page.text("#answer"))

    def test_without_scripts(self):
        page = self.signed_in(path="/ask", script=False)
        page.run("document.querySelector('#sql').value = 'SELECT COUNT(*) AS n FROM visits'")
        page.run("document.querySelector('#price').click()")
        page.wait("document.querySelector('#quote .priced') !== null")
        page.run("document.querySelector('#spend').click()")
        page.wait("document.querySelector('#answer table') !== null")
        page.go(f"{SERVER.url}/laboratory?expression=gaussian(2)&all=1")
        page.wait("document.querySelectorAll('.chart svg').length >= 4")

    def test_budgets_change_as_they_are_spent(self):
        page = self.signed_in("owner", "/budgets")
        page.wait("document.querySelector('#live.on') !== null")
        before = page.run("document.querySelector('[data-account=visits]').dataset.share")
        SERVER.run("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.05")
        page.wait(f"document.querySelector('[data-account=visits]').dataset.share < {before}")
        page.wait("document.querySelector('[data-account=visits].fresh') !== null")
        page.click("[data-account=visits] h2 a")
        page.wait("document.querySelector('.chart svg') !== null && document.querySelector('table tbody tr') !== null")

    def test_the_laboratory_follows_its_sliders(self):
        page = self.signed_in(path="/laboratory")
        page.fill("#expression", "4 * gaussian(10)")
        page.wait("document.querySelector('#lab').dataset.drawn?.includes('gaussian')")
        page.wait("document.querySelectorAll('.chart svg').length >= 4")
        before = page.text(".huge")
        self.assertEqual(page.run("document.querySelectorAll('#parameters input').length"), 2)
        page.fill("#parameters label:nth-child(2) input", "0.7")
        page.wait("document.querySelector('#expression').value.includes('5.01')")
        page.wait(f"document.querySelector('.huge').innerText !== {before!r}")
        number = lambda text: float(re.search(r"[\d.]+", text).group())
        self.assertGreater(number(page.text(".huge")), number(before))
        page.run("document.querySelector('details.copies').open = true")
        self.assertIn("mizan account '4 * gaussian(5.01)'", page.text("details.copies"))
        page.fill("#expression", "gausian(1)")
        page.wait("document.querySelector('#summary .place') !== null")
        for number in (1, 2, 3):
            page.go(f"{SERVER.url}/laboratory/figures/{number}")
            page.wait("document.querySelector('#figure svg') !== null")
        page.fill("[data-for=gaussian]", "5")
        page.wait("document.querySelector('#figure-form').dataset.drawn?.includes('gaussian=5')")

    def test_the_audit(self):
        page = self.signed_in("auditor", "/audit")
        root, size = page.text("#root"), page.text(".facts .big")
        page.fill("#extends [name=size]", size)
        page.fill("#extends [name=root]", root)
        SERVER.run("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.02")
        page.click("#extends button")
        page.wait("document.querySelector('#compared .alert.good') !== null")
        page.fill("#extends [name=root]", "0" * 64)
        page.click("#extends button")
        page.wait("document.querySelector('#compared .alert.bad') !== null")
        page.click("form[action='/audit/verify'] button")
        page.wait("document.querySelector('#verified .alert.good') !== null")
        page.click("form[action='/audit/self-tests'] button")
        page.wait("document.querySelectorAll('#tests li.good').length === 6", seconds=60)

    def test_proofs_are_verified_as_the_definitions_say(self):
        page = self.page()
        page.go(f"{SERVER.url}/sign-in")
        found = page.run(f"({PROOFS})({json.dumps(merkle.cases())})")
        self.assertEqual(found, {"wrong": [], "checked": 17 * 18, "believed": 0})

    def test_what_is_not_for_a_role_is_a_page_that_says_so(self):
        page = self.signed_in("analyst", "/budgets")
        page.go(f"{SERVER.url}/audit")
        self.assertIn("role does not allow", page.text("h1"))
        page.go(f"{SERVER.url}/nothing-here")
        self.assertIn("Not found", page.text("h1"))
        self.assertEqual(page.run("document.querySelectorAll('nav a[href=\"/audit\"]').length"), 0)
        page.errors = [error for error in page.errors if "status of 403" not in error]

    def test_arabic_is_right_to_left_but_for_mathematics(self):
        page = self.signed_in(path="/ask", language="ar-EG,ar;q=0.9")
        self.assertEqual(page.run("[document.documentElement.lang, document.documentElement.dir].join()"), "ar,rtl")
        page.fill("#sql", BY_WARD)
        page.wait("document.querySelector('#quote .priced') !== null")
        for selector in ("#sql", "#shown"):
            self.assertEqual(page.run(f"getComputedStyle(document.querySelector('{selector}')).direction"), "ltr")
        self.assertIsNone(re.search("[٠-٩۰-۹]", page.text()), "Latin digits")
        page.click(".tools a[hreflang=en]")
        page.wait("document.documentElement.lang === 'en'")
        self.assertEqual(page.run("location.pathname"), "/ask")
        page.go(f"{SERVER.url}/laboratory")
        self.assertEqual(page.run("document.documentElement.lang"), "en")

    def test_arabic_pages_have_no_english(self):
        page = self.signed_in("owner", "/budgets", language="ar")
        sql = quote(BY_WARD)
        mistakes = quote("SELECT nothing FROM visits")
        for path in (
            "/budgets", "/budgets/visits", f"/ask?sql={sql}", f"/ask?sql={mistakes}", f"/ask?sql={quote('SELECT MEDIAN(cost) AS m FROM visits')}",
            "/receipts", "/receipts?receipt=nothing", "/laboratory", "/laboratory?expression=gausian(1)", "/laboratory/figures/1",
            "/laboratory/figures/2", "/laboratory/figures/3", "/laboratory/figures/3?gaussian=nothing", "/audit", "/nothing-here",
        ):
            page.go(SERVER.url + path)
            if "/figures/" in path:
                page.wait("document.querySelector('#figure svg, #figure .alert') !== null", seconds=60)
            elif path.startswith("/laboratory"):
                page.wait("document.querySelector('#lab').dataset.drawn !== undefined", seconds=60)
            page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            self.assertEqual(page.run(ENGLISH), [], path)
            page.errors = [error for error in page.errors if "status of 400" not in error]
        # An answer, a refusal and an error.
        page.go(f"{SERVER.url}/ask?sql={sql}")
        page.fill("#epsilon", "0.01")
        receipt = None
        for epsilon, shown in (("0.01", "#answer table"), ("60", ".answer.refused")):
            page.fill("#epsilon", epsilon)
            page.click("#spend")
            page.wait(f"document.querySelector('{shown}') !== null && !document.querySelector('#quote.busy')")
            page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            self.assertEqual(page.run(ENGLISH), [], shown)
            receipt = receipt or page.run("document.querySelector('#answer .title a').href")
        page.fill("#sql", "SELECT * FROM visits")
        page.click("#spend")
        page.wait("document.querySelector('.answer.failed') !== null")
        self.assertEqual(page.run(ENGLISH), [])
        # The message of the library is there too, marked as English.
        self.assertRegex(page.text(".answer.failed .original"), "[a-z]{3}")
        # The derivation of its cost.
        page.go(receipt)
        self.assertEqual(page.run(ENGLISH), [])
        self.assertNotRegex(page.text("tbody"), r"\b(times|all of|group of)\b")

    def test_with_the_keyboard_alone(self):
        page = self.page()
        page.go(f"{SERVER.url}/sign-in")
        page.wait("document.activeElement.id === 'token'")
        page.type(SERVER.tokens["analyst"])
        page.key("Enter")
        page.wait("document.querySelector('.who') !== null")
        page.key("Tab")
        self.assertEqual(page.run("document.activeElement.className"), "skip")
        page.key("Enter")
        page.wait("document.activeElement.id === 'content'")
        page.go(f"{SERVER.url}/ask")
        page.tab_to("it.id === 'sql'")
        page.type("SELECT COUNT(*) AS n FROM visits")
        page.tab_to("it.name === 'spend_by'")
        page.key("ArrowDown")
        self.assertEqual(page.run("document.activeElement.value"), "epsilon")
        page.tab_to("it.id === 'epsilon-slider'")
        page.key("ArrowLeft")
        page.wait("document.querySelector('#quote .priced') !== null && !document.querySelector('#quote.busy')")
        page.tab_to("it.id === 'spend'")
        seen = "(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))"
        self.assertTrue(page.run(seen), "the focus is seen")
        page.key("Enter")
        page.wait("document.querySelector('#answer table') !== null && document.activeElement.id === 'answer'")
        page.tab_to("it.getAttribute('href')?.startsWith('/receipts/')")
        # All the way round: nothing traps the focus.
        page.tab_to("it === document.body || it.className === 'skip'", most=120)

    def test_every_page_is_light_quick_and_fits(self):
        page = self.signed_in("owner", "/budgets")
        for path in ("/budgets", "/budgets/visits", "/ask?sql=" + quote(BY_WARD), "/receipts", "/laboratory", "/laboratory/figures/1", "/laboratory/figures/2", "/laboratory/figures/3", "/audit", "/api/reference"):
            page.call("Network.clearBrowserCache")
            page.bytes.clear()
            page.go(SERVER.url + path)
            if path == "/laboratory":
                page.wait("document.querySelector('#lab').dataset.drawn !== undefined")
            page.wait("document.fonts.status === 'loaded'")
            weight = sum(size for url, size in page.bytes.items() if url and "/api/v1/events" not in url)
            self.assertLess(weight, MOST_BYTES, path)
            print(f"  {path.split('?')[0]}: {weight / 1000:.0f} kB, first byte after {page.first_byte.get(SERVER.url + path, 0):.0f} ms")
            for width in (1240, 768, 360):
                page.resize(width)
                over = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.assertLessEqual(over, 0, f"{path} at {width}")
            page.resize(1240)

    def test_arabic_fits_too(self):
        page = self.signed_in("owner", "/budgets", language="ar")
        for path in ("/budgets", "/budgets/visits", "/ask?sql=" + quote(BY_WARD), "/receipts", "/laboratory", "/laboratory/figures/2", "/audit", "/nothing-here"):
            page.go(SERVER.url + path)
            if path == "/laboratory":
                page.wait("document.querySelector('#lab').dataset.drawn !== undefined", seconds=60)
            for width in (1240, 768, 360):
                page.resize(width)
                over = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.assertLessEqual(over, 0, f"{path} at {width}: {page.run(BEYOND)}")
                self.assertEqual(page.run(FIRST), [], f"{path} at {width}")
            page.resize(1240)

    def test_colours_have_contrast(self):
        for scheme in ("light", "dark"):
            page = self.signed_in("owner", "/ask?sql=" + quote(BY_WARD), scheme=scheme)
            page.wait("document.querySelector('#quote .priced') !== null")
            for path in (None, "/budgets", "/laboratory", "/audit"):
                if path:
                    page.go(SERVER.url + path)
                    page.wait("document.querySelector('h1') !== null")
                poor = page.run(CONTRAST)
                self.assertEqual(poor, [], f"{scheme} {path}")


# Every proof leads to its root, and none does with a flipped bit, a hash more or less, or
# another size.
PROOFS = """
async ({inclusion, consistency}) => {
  const assets = document.querySelector('script').src.replace('page.js', 'merkle.js');
  const {rootOf, extendsLog} = await import(assets);
  const turned = (hash) => (hash[0] === '0' ? '1' : '0') + hash.slice(1);
  const found = {wrong: [], checked: 0, believed: 0};
  for (const [position, size, leaf, path, root] of inclusion) {
    found.checked += 1;
    if (await rootOf(position, size, leaf, path) !== root) found.wrong.push(['inclusion', position, size]);
    const lies = [[position, size, turned(leaf), path], [position, size, leaf, [...path, leaf]]];
    for (let i = 0; i < path.length; i += 1) {
      lies.push([position, size, leaf, path.with(i, turned(path[i]))], [position, size, leaf, path.toSpliced(i, 1)]);
    }
    for (const lie of lies) if (await rootOf(...lie) === root) found.believed += 1;
  }
  for (const [before, after, path] of consistency) {
    found.checked += 1;
    if (!await extendsLog(before, after, path)) found.wrong.push(['consistency', before.size, after.size]);
    const lies = [[{...before, root: turned(before.root)}, after, path], [before, {...after, root: turned(after.root)}, path], [before, after, [...path, after.root]]];
    for (let i = 0; i < path.length; i += 1) {
      lies.push([before, after, path.with(i, turned(path[i]))], [before, after, path.toSpliced(i, 1)]);
    }
    for (const lie of lies) if (await extendsLog(...lie)) found.believed += 1;
  }
  return found;
}
"""

# Latin words in Arabic sentences, except names, code and what is marked.
ENGLISH = """
(() => {
  const names = new Set('mizan sql select count sum avg group ctrl enter javascript rfc sha curl rust english json utc renyi zcdp cdp numeric basic advanced optimal pure exact gaussian concentrated'.split(' '));
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    const inside = walker.currentNode.parentElement;
    if (inside.closest('script, style, noscript, code, pre, textarea, [lang=en], .code, time, .who, table.numbers tbody td, .form, .answer .chart')) continue;
    if (inside.closest('bdi') && !/ [a-z]+ [a-z]+ /.test(text)) continue;
    // What is filled in has a direction of its own, in characters.
    const own = text.replace(/[\\u2066-\\u2068][^\\u2069]*\\u2069/g, '');
    for (const [word] of own.matchAll(/[A-Za-z]{3,}/g)) if (!names.has(word.toLowerCase())) found.add(`${word} in ${inside.tagName}.${inside.className}: ${text.trim().slice(0, 60)}`);
  }
  return [...found];
})()
"""

# Elements that overflow the window.
BEYOND = """
[...document.querySelectorAll('body *')].filter((e) => { const box = e.getBoundingClientRect(); return box.left < -1 || box.right > document.documentElement.clientWidth + 1; }).slice(0, 5).map((e) => `${e.tagName}.${e.className}`).join(', ')
"""

# Tables that scroll and do not show their first column.
FIRST = """
[...document.querySelectorAll('.scroll')].filter((e) => e.offsetParent).filter((e) => { const first = e.querySelector('th').getBoundingClientRect(); const box = e.getBoundingClientRect(); return first.left < box.left - 1 && first.right > box.left || first.right < box.left + 1 || first.left > box.right - 1; }).map((e) => e.getAttribute('aria-label'))
"""

# The contrast of every text with its background; WCAG 2.2 AA.
CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); if (c[3] > 250) return c; } return [255, 255, 255]; };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility?.({visibilityProperty: true}) || e.closest('textarea, svg, :disabled, noscript, [aria-hidden], .skip')) continue;
    const style = getComputedStyle(e);
    const ink = rgba(style.color);
    if (ink[3] < 250) continue;
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)} ${e.textContent.trim().slice(0, 30)}`);
  }
  return [...poor];
})()
"""


def pictures(folder):
    """Every page in both languages, light and dark, wide and narrow."""
    os.makedirs(folder, exist_ok=True)
    story = Pages()
    story.setUp()
    for language, code in (("en", "en-US"), ("ar", "ar")):
        for scheme in ("light", "dark"):
            name = lambda page: f"{folder}/{page}-{language}-{scheme}.png"
            page = story.page(language=code, scheme=scheme)
            page.go(f"{SERVER.url}/sign-in")
            page.picture(name("sign-in"), whole=False)
            page = story.signed_in("owner", "/budgets", language=code, scheme=scheme)
            page.wait("document.querySelector('#live.on') !== null")
            page.picture(name("budgets"))
            page.go(f"{SERVER.url}/budgets/visits")
            page.picture(name("budget"))
            page.go(f"{SERVER.url}/ask")
            page.fill("#sql", BY_WARD)
            page.fill("#epsilon", "0.08")
            page.wait("document.querySelector('#quote .priced') !== null && !document.querySelector('#quote.busy')")
            page.click("#spend")
            page.wait("document.querySelector('#answer table') !== null && !document.querySelector('#quote.busy')")
            page.run("document.activeElement.blur()")
            page.picture(name("ask"))
            link = page.run("document.querySelector('#answer .title a').href")
            page.fill("#sql", "SELECT ward,\n  COUNT(*) AS n\nFROM visitz\nGROUP BY ward")
            page.wait("document.querySelector('#quote .wrong') !== null")
            page.picture(name("mistake"), whole=False)
            page.fill("#sql", BY_WARD)
            page.fill("#epsilon", "9")
            page.wait("document.querySelector('#quote [data-fits=no]') !== null")
            page.click("#spend")
            page.wait("document.querySelector('.answer.refused') !== null")
            page.picture(name("refused"))
            page.go(link)
            page.click("#verify button")
            page.wait("document.querySelector('#verdict .alert') !== null")
            page.picture(name("receipt"))
            page.go(f"{SERVER.url}/laboratory")
            page.wait("document.querySelector('#lab').dataset.drawn !== undefined", seconds=60)
            page.picture(name("laboratory"))
            page.go(f"{SERVER.url}/laboratory/figures/2")
            page.wait("document.querySelector('#figure svg') !== null", seconds=60)
            page.picture(name("figure"))
            page.go(f"{SERVER.url}/receipts")
            page.picture(name("receipts"), whole=False)
            page.go(f"{SERVER.url}/audit")
            page.click("form[action='/audit/verify'] button")
            page.wait("document.querySelector('#verified') !== null")
            page.picture(name("audit"))
            page.go(f"{SERVER.url}/nothing")
            page.picture(name("problem"), whole=False)
            page.resize(390, 844)
            page.go(f"{SERVER.url}/ask?sql=" + quote(BY_WARD))
            page.picture(name("narrow"))
            page.fill("#epsilon", "0.02")
            page.click("#spend")
            page.wait("document.querySelector('#answer table') !== null && !document.querySelector('#quote.busy')")
            page.picture(name("narrow-answer"))
            for path in ("budgets", "budgets/visits", "receipts", "laboratory", "laboratory/figures/2", "audit", "nothing", "api/reference"):
                page.go(f"{SERVER.url}/{path}")
                if path == "laboratory":
                    page.wait("document.querySelector('#lab').dataset.drawn !== undefined", seconds=60)
                elif "figures" in path:
                    page.wait("document.querySelector('#figure svg') !== null", seconds=60)
                page.picture(name(f"narrow-{path.replace('/', '-')}"))
            page.go(link)
            page.picture(name("narrow-receipt"))
            page = story.page(language=code, scheme=scheme)
            page.resize(390, 844)
            page.go(f"{SERVER.url}/sign-in")
            page.picture(name("narrow-sign-in"), whole=False)


def main():
    global SERVER, BROWSER
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mizan", default="target/release/mizan")
    parser.add_argument("--pictures")
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    SERVER, BROWSER = Server(arguments.mizan), Chromium()
    try:
        if arguments.pictures:
            pictures(arguments.pictures)
            return 0
        loader = unittest.defaultTestLoader
        if arguments.tests:
            suite = unittest.TestSuite(Pages(name) for name in arguments.tests)
        else:
            suite = loader.loadTestsFromTestCase(Pages)
        done = unittest.TextTestRunner(verbosity=2).run(suite)
        return 0 if done.wasSuccessful() else 1
    finally:
        BROWSER.close()
        SERVER.close()


if __name__ == "__main__":
    sys.exit(main())
