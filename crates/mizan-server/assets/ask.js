// The query page: syntax colours, the quote as the analyst types, and the button that
// charges once per form.
import { copies, debounce, fetchPart, short } from './page.js';

const WORDS = new Set('select from where group by having order asc desc limit offset as on join inner left right full outer cross using and or not in is null like between case when then else end distinct with union all true false cast interval exists'.split(' '));
const TOKENS = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|([A-Za-z_][A-Za-z0-9_]*)(\s*\()?/gi;

// Where a query that was sent and not answered is kept, until it is answered or the tab closes.
const KEPT = 'mizan-question';

const form = document.getElementById('ask');
if (form) begin();

function begin() {
  const sql = document.getElementById('sql');
  const shown = document.querySelector('#shown code');
  const quote = document.getElementById('quote');
  const answer = document.getElementById('answer');
  const spend = document.getElementById('spend');
  const slider = document.getElementById('epsilon-slider');
  const epsilon = document.getElementById('epsilon');
  const accuracy = document.getElementById('accuracy');
  const choose = (name) => { form.elements.spend_by.value = name; };
  let wrong = null;
  let pricing = null;

  document.getElementById('price').hidden = true;
  document.querySelector('.editor').classList.add('on');
  document.querySelector('.slider').classList.add('on');

  function paint() {
    shown.replaceChildren(...highlight(sql.value, wrong));
    shown.parentElement.scrollTop = sql.scrollTop;
  }

  async function price() {
    pricing?.abort();
    if (!sql.value.trim()) return;
    pricing = new AbortController();
    quote.classList.add('busy');
    try {
      const html = await fetchPart('/ask/quote', { method: 'POST', body: new URLSearchParams(new FormData(form)), signal: pricing.signal });
      quote.innerHTML = html;
      mark(quote.firstElementChild);
      quote.classList.remove('busy');
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
  }

  // The position of an error, in characters from the beginning.
  function mark(element) {
    const { line, column, length } = element?.dataset ?? {};
    wrong = null;
    if (line) {
      const lines = sql.value.split('\n').slice(0, Number(line) - 1);
      const before = lines.reduce((sum, text) => sum + [...text].length + 1, 0);
      wrong = { from: before + Number(column) - 1, length: Math.max(1, Number(length)) };
    }
    sql.toggleAttribute('aria-invalid', Boolean(wrong));
    if (wrong) sql.setAttribute('aria-invalid', 'true');
    paint();
  }

  // After a new sign-in, or a reload before the answer, the form keeps its key: the query is
  // charged once. Another user of this tab does not see it.
  const again = document.getElementById('again');
  const who = document.querySelector('.who')?.textContent;
  const address = location.pathname + location.search;
  function keep() {
    const { csrf, ...fields } = Object.fromEntries(new FormData(form));
    // Without storage the query runs all the same.
    try { sessionStorage.setItem(KEPT, JSON.stringify({ who, address, fields })); } catch { /* not kept */ }
  }
  function forget() {
    try { sessionStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
  }
  function restore() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(KEPT)); } catch { /* nothing was kept */ }
    if (kept?.who !== who || answer.firstElementChild || (sql.value && kept.address !== address)) return;
    for (const [name, value] of Object.entries(kept.fields)) if (form.elements[name]) form.elements[name].value = value;
    again.hidden = false;
    quote.replaceChildren();
  }

  const soon = debounce(250, price);
  sql.addEventListener('input', () => { wrong = null; paint(); soon(); });
  sql.addEventListener('scroll', () => { shown.parentElement.scrollTop = sql.scrollTop; });
  new ResizeObserver(paint).observe(sql);
  sql.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(spend);
    }
  });
  slider.addEventListener('input', () => { epsilon.value = short(10 ** Number(slider.value), 2); choose('epsilon'); soon(); });
  const slide = () => { const value = Number(epsilon.value); if (value > 0) slider.value = Math.log10(value); };
  epsilon.addEventListener('input', () => { choose('epsilon'); slide(); soon(); });
  accuracy.addEventListener('input', () => { choose('accuracy'); soon(); });
  for (const radio of form.elements.spend_by) {
    radio.addEventListener('change', () => {
      if (radio.value === 'epsilon' && !epsilon.value) epsilon.value = short(10 ** Number(slider.value), 2);
      if (radio.value === 'accuracy' && !accuracy.value) accuracy.focus(); else soon();
    });
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (spend.disabled) return;
    const words = spend.textContent;
    spend.disabled = true;
    spend.textContent = form.dataset.asking;
    const body = new URLSearchParams(new FormData(form));
    body.set('act', 'ask');
    keep();
    try {
      answer.innerHTML = await fetchPart('/ask', { method: 'POST', body });
      const section = answer.firstElementChild;
      // The next query gets a new key; one that failed on the way keeps its key.
      if (section?.dataset.key) form.elements.key.value = section.dataset.key;
      if (form.elements.key.value !== body.get('key')) forget();
      again.hidden = true;
      // The session changed: the forms of the page take its CSRF token.
      if (section?.dataset.csrf) for (const field of document.getElementsByName('csrf')) field.value = section.dataset.csrf;
      mark(section);
      copies(answer);
      answer.focus({ preventScroll: true });
      answer.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
      if (!section?.dataset.line) price();
    } finally {
      spend.disabled = false;
      spend.textContent = words;
    }
  });

  document.addEventListener('click', ({ target }) => { if (target.closest('a[href^="/sign-in"]')) keep(); });
  for (const link of document.querySelectorAll('[data-sql]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      sql.value = link.dataset.sql;
      wrong = null;
      paint();
      price();
      sql.focus();
    });
  }

  restore();
  slide();
  if (!(Number(epsilon.value) > 0)) slider.value = -1;
  mark(answer.firstElementChild ?? quote.firstElementChild);
  if (sql.value && !quote.querySelector('.priced, .wrong')) price();
}

/** Pieces of text with classes; the error is marked. */
function highlight(text, wrong) {
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(TOKENS)) {
    if (found.index > at) pieces.push([text.slice(at, found.index), '']);
    const [whole, comment, string, , number, word, call] = found;
    const kind = comment ? 'c' : string ? 's' : number ? 'n' : word && WORDS.has(word.toLowerCase()) ? 'k' : word && call ? 'f' : '';
    const own = word ?? whole;
    pieces.push([own, kind]);
    if (own.length < whole.length) pieces.push([whole.slice(own.length), '']);
    at = found.index + whole.length;
  }
  pieces.push([text.slice(at) + '\n', '']);
  // Positions count characters, not UTF-16 code units.
  const ends = wrong && [offset(text, wrong.from), offset(text, wrong.from + wrong.length)];
  const nodes = [];
  let from = 0;
  for (const [piece, kind] of pieces) {
    const to = from + piece.length;
    const cuts = ends ? [from, ...ends.filter((cut) => cut > from && cut < to), to] : [from, to];
    for (let i = 0; i + 1 < cuts.length; i += 1) {
      const part = text.slice(cuts[i], cuts[i + 1]) || (cuts[i] >= text.length ? ' \n' : '');
      const inside = ends && cuts[i] >= ends[0] && cuts[i] < ends[1];
      nodes.push(node(part, kind, inside));
    }
    from = to;
  }
  return nodes;
}

function offset(text, characters) {
  return [...text].slice(0, characters).join('').length;
}

function node(text, kind, inside) {
  if (!kind && !inside) return document.createTextNode(text);
  const element = document.createElement(inside ? 'mark' : 'span');
  if (kind) element.className = kind;
  element.textContent = text;
  return element;
}
