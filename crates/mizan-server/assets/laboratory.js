// The laboratory as a parameter slides: numbers of the event become sliders, and
// every part of the page is drawn again by the server.
import { copies, debounce, fetchPart, short } from './page.js';

const form = document.getElementById('lab');
const expression = document.getElementById('expression');
const holder = document.getElementById('parameters');
const NAMES = {
  gaussian: ['σ', 'Δ'], 'discrete-gaussian': ['σ', 'Δ'], laplace: ['λ', 'Δ'], 'discrete-laplace': ['λ', 'Δ'],
  rr: ['p', 'k'], exponential: ['ε'], pure: ['ε'], approximate: ['ε', 'δ'], rdp: ['α', 'ε'], zcdp: ['ρ'], cdp: ['μ', 'τ'],
  gdp: ['μ'], tree: ['σ', 'n', 'Δ'], matrix: ['σ', '‖C‖'], poisson: ['q'], 'without-replacement': ['n', 'm'],
  shuffle: ['n'], group: ['s'],
};
let running = null;

/** The numbers of an event, with their positions and names. */
function numbersOf(text) {
  const found = [];
  const calls = [];
  for (const token of text.matchAll(/([a-z][a-z-]*)\s*\(|([a-z_]+)\s*=|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[(),]/gi)) {
    const [whole, name, named] = token;
    if (name) calls.push({ name: name.toLowerCase(), at: 0 });
    else if (named) calls.at(-1) && (calls.at(-1).named = named);
    else if (whole === '(') calls.push({ name: '', at: 0 });
    else if (whole === ')') calls.pop();
    else if (whole === ',') { if (calls.at(-1)) { calls.at(-1).at += 1; calls.at(-1).named = null; } }
    else {
      const call = calls.at(-1);
      const times = /^\s*\*/.test(text.slice(token.index + whole.length));
      const label = times ? 'n' : call?.named ?? NAMES[call?.name]?.[call.at] ?? '';
      found.push({ from: token.index, to: token.index + whole.length, value: Number(whole), label, call: times ? '' : call?.name ?? '', times });
    }
  }
  return found.filter((one) => one.value > 0).slice(0, 8);
}

/** Sliders span a factor of 100 on a logarithmic scale; probabilities stay below 1. */
function sliders() {
  const found = numbersOf(expression.value);
  holder.hidden = found.length === 0;
  holder.replaceChildren(...found.map((one, place) => {
    const label = document.createElement('label');
    const name = document.createElement('bdi');
    const input = document.createElement('input');
    const value = document.createElement('output');
    const probability = one.label === 'p' || one.label === 'q';
    const whole = one.times || ['n', 'm', 's', 'k'].includes(one.label);
    name.textContent = `${one.label}${one.call ? ` ${one.call}` : ''}`;
    name.className = 'code';
    name.dir = 'ltr';
    value.textContent = short(one.value);
    value.className = 'code';
    input.type = 'range';
    input.setAttribute('aria-label', `${holder.dataset.label}: ${name.textContent}`);
    if (one.label === 'p') [input.min, input.max, input.step] = [0.5, 0.995, 0.005];
    else [input.min, input.max, input.step] = [Math.log10(one.value) - 1, Math.min(Math.log10(one.value) + 1, probability ? 0 : 99), 0.01];
    input.value = one.label === 'p' ? one.value : Math.log10(one.value);
    input.addEventListener('input', () => {
      const raw = one.label === 'p' ? Number(input.value) : 10 ** Number(input.value);
      const next = whole ? String(Math.max(1, Math.round(raw))) : short(probability ? Math.min(raw, 1) : raw);
      value.textContent = next;
      const now = numbersOf(expression.value)[place];
      if (now) expression.value = expression.value.slice(0, now.from) + next + expression.value.slice(now.to);
      soon();
    });
    label.append(name, input, value);
    return label;
  }));
}

async function draw() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const parameters = new URLSearchParams(new FormData(form));
  if (!expression.value.trim()) return;
  history.replaceState(null, '', `/laboratory?${parameters}`);
  await Promise.all(['summary', 'profile', 'composition'].map(async (name) => {
    const place = document.getElementById(name);
    const open = place.querySelector('details.copies')?.open;
    place.classList.add('busy');
    try {
      place.innerHTML = await fetchPart(`/laboratory/${name}?${parameters}`, { signal });
      place.classList.remove('busy');
      if (open !== undefined) place.querySelector('details.copies')?.toggleAttribute('open', open);
      copies(place);
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
  }));
  form.dataset.drawn = parameters;
}
const soon = debounce(150, draw);

for (const [field, slider] of [['delta', 'delta-slider'], ['baseline', 'baseline-slider']]) {
  const [typed, slid] = [document.getElementById(field), document.getElementById(slider)];
  const follow = () => { if (Number(typed.value) > 0) slid.value = Math.log10(Number(typed.value)); };
  slid.hidden = false;
  slid.addEventListener('input', () => {
    const value = 10 ** Number(slid.value);
    typed.value = value < 0.001 ? Number(value.toPrecision(2)).toExponential().replace('e-', 'e-') : short(value, 2);
    soon();
  });
  typed.addEventListener('input', () => { follow(); soon(); });
  follow();
}
expression.addEventListener('input', () => { sliders(); soon(); });
form.addEventListener('submit', (event) => { event.preventDefault(); sliders(); draw(); });
for (const link of document.querySelectorAll('[data-expression]')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    expression.value = link.dataset.expression;
    sliders();
    draw();
  });
}
document.getElementById('compute').hidden = true;
sliders();
draw();
