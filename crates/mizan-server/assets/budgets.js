// Budgets as they change: a row is fetched again when its account was charged.
import { fetchPart } from './page.js';

const live = document.getElementById('live');
const source = new EventSource('/api/v1/events');
const row = (name) => document.querySelector(`[data-account="${CSS.escape(name)}"]`);
const waiting = new Map();

function say(on) {
  live.hidden = false;
  live.classList.toggle('on', on);
  live.textContent = on ? live.dataset.live : live.dataset.not;
}

source.addEventListener('open', () => say(true));
source.addEventListener('error', () => say(false));
source.addEventListener('budget', ({ data }) => {
  const { account, remaining } = JSON.parse(data);
  const shown = row(account);
  if (!shown || Number(shown.dataset.share) === (remaining.share ?? 0)) return;
  shown.dataset.share = remaining.share ?? 0;
  clearTimeout(waiting.get(account));
  waiting.set(account, setTimeout(() => renew(account), 200));
});

async function renew(account) {
  const html = await fetchPart(`/budgets/${encodeURIComponent(account)}/row`);
  const holder = document.createElement('template');
  holder.innerHTML = html;
  const fresh = holder.content.querySelector('article');
  if (!fresh) return;
  fresh.classList.add('fresh');
  row(account)?.replaceWith(fresh);
}
addEventListener('pagehide', () => source.close());
