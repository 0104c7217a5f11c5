// What every page has: copy buttons, and how parts of pages are fetched.

/** Shows the copy buttons of a part of the page. */
export function copies(root) {
  for (const button of root.querySelectorAll('button.copy')) {
    button.hidden = false;
    if (button.dataset.ready) continue;
    button.dataset.ready = 'yes';
    button.addEventListener('click', async () => {
      const text = button.parentElement.querySelector('code, pre').textContent;
      try { await navigator.clipboard.writeText(text); } catch { return select(button); }
      const before = button.textContent;
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = before; }, 1500);
    });
  }
}

/** Where the clipboard is not allowed, the text is selected instead. */
function select(button) {
  const range = document.createRange();
  range.selectNodeContents(button.parentElement.querySelector('code, pre'));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

/** A part of a page from this server, or a sentence about why not. */
export async function fetchPart(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { 'X-Fragment': '1', ...options.headers } });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return alert(document.body.dataset.network);
  }
  if (response.redirected && new URL(response.url).pathname === '/sign-in') {
    return alert(document.body.dataset.signedOut, `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  const kind = response.headers.get('content-type') ?? '';
  const text = await response.text();
  if (!kind.startsWith('text/html')) return alert(problem(text));
  // A whole page where a part was expected is a problem page: its content is shown.
  if (!/^<!doctype/i.test(text)) return text;
  const page = new DOMParser().parseFromString(text, 'text/html');
  return page.querySelector('main .alone')?.innerHTML ?? alert(document.body.dataset.network);
}

function problem(text) {
  try { return JSON.parse(text).detail; } catch { return document.body.dataset.network; }
}

function alert(sentence, address) {
  const p = document.createElement('p');
  p.className = 'alert warn';
  p.textContent = sentence;
  if (address) {
    const link = document.createElement('a');
    link.href = address;
    link.append(...p.childNodes);
    p.append(link);
  }
  return p.outerHTML;
}

/** Runs an action after a pause of its calls. */
export function debounce(wait, action) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(action, wait); };
}

/** A number with the given significant digits. */
export function short(number, digits = 3) {
  return String(Number(number.toPrecision(digits)));
}

copies(document);
