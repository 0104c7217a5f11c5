// Verifies a receipt in the page: the root is computed here, from the leaf up.
import { extendsLog, isHash, rootOf } from './merkle.js';

const proof = document.getElementById('proof');
const form = document.getElementById('verify');
const verdict = document.getElementById('verdict');
const words = (text) => (text ? text.split(' ') : []);

form.hidden = false;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { position, size, leaf, root, path, thenSize, thenRoot, consistency } = proof.dataset;
  const computed = await rootOf(position, size, leaf, words(path));
  const say = form.dataset;
  verdict.replaceChildren();
  const p = document.createElement('p');
  const code = document.createElement('code');
  code.dir = 'ltr';
  code.id = 'computed';
  code.textContent = computed ?? '–';
  p.append(`${say.computed}: `, code);
  verdict.append(p);
  tell(computed === root, say.good, say.bad);
  if (thenSize !== size) {
    const grown = await extendsLog({ size: thenSize, root: thenRoot }, { size, root }, words(consistency));
    tell(grown, say.extendsGood, say.extendsBad);
  }
  const typed = document.getElementById('trusted').value.toLowerCase().match(/[0-9a-f]{64}/)?.[0];
  if (document.getElementById('trusted').value.trim()) {
    if (typed && isHash(typed)) tell([computed, thenRoot].includes(typed) && computed === root, say.trustedGood, say.trustedBad);
    else tell(false, '', say.trustedForm);
  }
});

function tell(good, yes, no) {
  const p = document.createElement('p');
  p.className = `alert ${good ? 'good' : 'bad'}`;
  p.setAttribute('role', 'status');
  p.textContent = good ? yes : no;
  verdict.append(p);
}
