// Compares the log with a checkpoint that the auditor kept.
import { extendsLog, isHash } from './merkle.js';

const section = document.getElementById('extends');
const compared = document.getElementById('compared');
section.hidden = false;
section.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { size, root } = Object.fromEntries(new FormData(event.target));
  const known = { size: size.replace(/\D/g, ''), root: root.toLowerCase().match(/[0-9a-f]{64}/)?.[0] ?? '' };
  if (!known.size || !isHash(known.root)) return tell('warn', section.dataset.form);
  let proof;
  try {
    const response = await fetch(`/api/v1/ledger/proofs/consistency?before=${known.size}`);
    proof = await response.json();
    if (!response.ok) return tell('bad', proof.detail ?? section.dataset.bad);
  } catch {
    return tell('warn', document.body.dataset.network);
  }
  const good = await extendsLog(known, proof.log, proof.path);
  tell(good ? 'good' : 'bad', good ? section.dataset.good : section.dataset.bad);
});
document.querySelector('#verified, #tests')?.focus();

function tell(kind, sentence) {
  const p = document.createElement('p');
  p.className = `alert ${kind}`;
  p.textContent = sentence;
  compared.replaceChildren(p);
}
