// The search of the documents, copy buttons, and one choice of a language for all examples. Pages can be read without it.
const own = document.currentScript;
const indexUrl = new URL(own.dataset.index, location.href);

// --- Search ---

const box = document.querySelector('.search');
const input = box.querySelector('input');
const list = box.querySelector('ul');
const MOST = 20;
const AROUND = 60;
const BETWEEN_WORDS = /[^\p{L}\p{N}_]+/u;
let loading;
let chosen = -1;

/** Loads a script, because a page of a folder may not fetch files. */
function loadScript(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL(name, indexUrl);
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${name} cannot be loaded`));
    document.head.append(script);
  });
}

/** Loads the index and its engine once. */
function loadSearch() {
  loading ??= Promise.all([loadScript(indexUrl), loadScript('search.js')]).then(
    () => globalThis.lapelSearch(globalThis.lapelIndex),
    (error) => {
      loading = undefined; // tried again with the next key
      throw error;
    },
  );
  return loading;
}

/** The text around the first of the words. */
function around(text, words) {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - AROUND);
  const start = places.length === 0 ? 0 : from;
  return `${start > 0 ? '... ' : ''}${text.slice(start, start + 2 * AROUND + 20)}`;
}

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const isOpen = () => !list.hidden;

function close() {
  list.hidden = true;
  chosen = -1;
  input.setAttribute('aria-expanded', 'false');
  input.removeAttribute('aria-activedescendant');
}

function choose(index) {
  const items = [...list.querySelectorAll('[role=option]')];
  if (items.length === 0) return;
  chosen = (index + items.length) % items.length;
  for (const [at, item] of items.entries()) item.setAttribute('aria-selected', String(at === chosen));
  items[chosen].scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', items[chosen].id);
}

function open(item) {
  close();
  input.blur();
  location.href = item.dataset.address;
}

async function search() {
  const asked = input.value;
  if (asked.trim() === '') return close();
  const find = await loadSearch();
  if (asked !== input.value) return; // another key was pressed meanwhile
  const words = asked
    .toLowerCase()
    .split(BETWEEN_WORDS)
    .filter((word) => word.length > 2);
  const found = find(asked).slice(0, MOST);
  const items = found.map(([title, page, address, text], index) => {
    const item = element('li', '', '');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.dataset.address = new URL(address, indexUrl).href;
    item.append(element('span', 'on', page), element('strong', '', title));
    item.append(element('span', 'around', around(text, words)));
    return item;
  });
  const nothing = element('li', 'nothing', 'Nothing found.');
  nothing.setAttribute('aria-disabled', 'true');
  list.replaceChildren(...(items.length > 0 ? items : [nothing]));
  list.hidden = false;
  input.setAttribute('aria-expanded', 'true');
  choose(0);
}

box.hidden = false;
input.addEventListener('focus', () => void loadSearch().catch(() => {}));
input.addEventListener('input', () => void search().catch(() => {}));
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') close();
  if (!isOpen()) return;
  if (event.key === 'ArrowDown') choose(chosen + 1);
  else if (event.key === 'ArrowUp') choose(chosen - 1);
  else if (event.key === 'Enter') {
    const item = list.querySelectorAll('[role=option]')[chosen];
    if (item) open(item);
  } else return;
  event.preventDefault();
});
// The press of the mouse must not take the focus, which would close the list before the click.
list.addEventListener('mousedown', (event) => event.preventDefault());
list.addEventListener('click', ({ target }) => {
  const item = target.closest('[role=option]');
  if (item) open(item);
});
input.addEventListener('blur', close);
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});

// --- Copy buttons ---

for (const pre of document.querySelectorAll('main pre')) {
  if (!navigator.clipboard) break; // the page has no secure origin
  const frame = element('div', 'copied', '');
  if (pre.dataset.of) frame.dataset.of = pre.dataset.of;
  pre.replaceWith(frame);
  const button = element('button', '', 'Copy');
  button.type = 'button';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1500);
  });
  frame.append(pre, button);
}

// --- Examples ---

// The language that is chosen for one call is shown for all calls of the page.
document.addEventListener('change', ({ target }) => {
  const { sample } = target.dataset;
  if (!sample) return;
  const before = target.getBoundingClientRect().top;
  for (const other of document.querySelectorAll(`input[data-sample="${sample}"]`)) other.checked = true;
  scrollBy(0, target.getBoundingClientRect().top - before); // the chosen one stays where it is
});
