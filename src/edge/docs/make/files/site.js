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
/** The weight of one more word: more than all names of an entry together. */
const WORD = 10_000;
/** Words of questions that say nothing about their subject. */
const FILLERS = new Set(
  'a an and are be can do does for from how i in is it my of on or the to what when where which who why with'.split(
    ' ',
  ),
);
let loading;
let chosen = -1;

/** Loads the index once, as a script, because a page of a folder may not fetch files. */
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = indexUrl;
    script.onload = () =>
      resolve(
        globalThis.lapelIndex.map(([title, page, address, text, names, rank]) => {
          const inNames = `${title} ${names}`.toLowerCase();
          const inAll = `${inNames} ${page} ${text}`.toLowerCase();
          return { title, page, address, text, rank, inNames, inAll, nameWords: inNames.split(BETWEEN_WORDS) };
        }),
      );
    script.onerror = () => {
      loading = undefined; // tried again with the next key
      reject(new Error('the index of the search cannot be loaded'));
    };
    document.head.append(script);
  });
  return loading;
}

/** The words of what was typed that say what is looked for; all of them, if there are no such words. */
function wordsOf(typed) {
  const all = typed.toLowerCase().split(/\s+/);
  const words = all.map((word) => word.replace(/^["'(]+|["'),.:;?!]+$/g, '')).filter(Boolean);
  const telling = words.filter((word) => !FILLERS.has(word));
  return telling.length > 0 ? telling : words;
}

/**
 * The weight of an entry for the words; 0 if it has none of them. The number of words that it has counts most, then
 * how well its title and its other names fit, then what kind of place it is.
 */
function weightOf({ inNames, nameWords, inAll, rank }, words) {
  const has = words.filter((word) => inAll.includes(word));
  if (has.length === 0) return 0;
  let weight = has.length * WORD + rank;
  for (const word of has) {
    if (nameWords.includes(word)) weight += 60;
    else if (nameWords.some((name) => name.startsWith(word))) weight += 50;
    else if (inNames.includes(word)) weight += 20;
  }
  return weight;
}

/** The text around the first of the words. */
function around({ text }, words) {
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
  const words = wordsOf(input.value);
  if (words.length === 0) return close();
  const asked = input.value;
  const entries = await loadIndex();
  if (asked !== input.value) return; // another key was pressed meanwhile
  const found = entries
    .map((entry) => ({ entry, weight: weightOf(entry, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST);
  const items = found.map(({ entry }, index) => {
    const item = element('li', '', '');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.dataset.address = new URL(entry.address, indexUrl).href;
    item.append(element('span', 'on', entry.page), element('strong', '', entry.title));
    item.append(element('span', 'around', around(entry, words)));
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
input.addEventListener('focus', () => void loadIndex().catch(() => {}));
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
