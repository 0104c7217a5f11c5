// A figure of the paper, drawn again as its parameters slide.
import { debounce, fetchPart } from './page.js';

const form = document.getElementById('figure-form');
const figure = document.getElementById('figure');
let running = null;

const soon = debounce(150, async () => {
  running?.abort();
  running = new AbortController();
  figure.classList.add('busy');
  const parameters = new URLSearchParams(new FormData(form));
  history.replaceState(null, '', `${location.pathname}?${parameters}`);
  try {
    figure.innerHTML = await fetchPart(`${location.pathname}?${parameters}`, { signal: running.signal });
    figure.classList.remove('busy');
    form.dataset.drawn = parameters;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
  }
});

for (const slider of form.querySelectorAll('[data-for]')) {
  const typed = form.elements[slider.dataset.for];
  slider.hidden = false;
  slider.addEventListener('input', () => { typed.value = slider.value; soon(); });
  typed.addEventListener('input', () => { slider.value = typed.value; soon(); });
}
form.addEventListener('submit', (event) => { event.preventDefault(); soon(); });
form.querySelector('button').hidden = true;
// Figures that take long to draw are not in the page yet.
if (!figure.querySelector('figure, .alert')) soon();
