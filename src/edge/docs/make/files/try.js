// Makes the calls of the forms in the reference. All requests go to the address that this page was loaded from.
const base = new URL('..', location.href).href.replace(/\/$/, '');
/** The most characters of an answer that are shown: a stream has no end. */
const MOST_SHOWN = 65_536;

let token;
let applicationId = '';

const tokenPart = document.getElementById('token');
for (const part of document.querySelectorAll('details.try')) part.hidden = false;

const tell = (form, text) => {
  form.querySelector('[role=status]').textContent = text;
};
const show = (element, text) => {
  element.textContent = text;
  element.hidden = false;
};

/** A JSON text with line breaks. One with a number that JavaScript would round stays as it came. */
function readable(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

async function getToken(form) {
  const { client_id: id, client_secret: secret, scope } = Object.fromEntries(new FormData(form));
  const answer = await fetch(`${base}/api/v1/authenticate`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
  const text = await answer.text();
  if (!answer.ok) return tell(form, `${answer.status}: ${text}`);
  const { access_token: given, expires_in: seconds } = JSON.parse(text);
  token = given;
  applicationId = id;
  for (const input of document.querySelectorAll('input[name=applicationId]')) input.value ||= applicationId;
  tell(form, `This page has a token for ${Math.round(seconds / 60)} minutes.`);
}

function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = form.dataset.token === 'needed' ? { authorization: `Bearer ${token}` } : {};
  for (const { name, value, dataset } of form.querySelectorAll('input')) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === '') continue;
    else if (dataset.in === 'query') query.append(name, value);
    else headers[name] = value;
  }
  const area = form.querySelector('textarea');
  const body = area && area.value.trim() !== '' ? area.value : undefined;
  if (body !== undefined) headers['content-type'] = area.dataset.type;
  const address = `${base}${path}${query.size === 0 ? '' : `?${query}`}`;
  return { address, method: form.dataset.method, headers, body };
}

async function send(form) {
  if (form.dataset.token === 'needed' && !token) {
    tokenPart.open = true;
    tokenPart.scrollIntoView();
    tokenPart.querySelector('input').focus();
    return tell(form, 'Get a token first, at the top of this page.');
  }
  const stop = form.querySelector('.stop');
  if (!stop.hidden) return; // a second press must not send a command twice
  const { address, method, headers, body } = requestOf(form);
  const stopped = new AbortController();
  stop.onclick = () => stopped.abort();
  stop.hidden = false;
  show(form.querySelector('.sent'), `${method} ${address}${body === undefined ? '' : `\n\n${body}`}`);
  const shown = form.querySelector('.answer');
  shown.hidden = true;
  tell(form, 'The service is asked ...');
  try {
    const answer = await fetch(address, { method, headers, body, signal: stopped.signal });
    tell(form, `${answer.status} ${answer.statusText}`);
    const head = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    let text = '';
    show(shown, `${head}\n`);
    const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader(); // Safari has no `for await` for it
    for (let piece = await pieces?.read(); piece?.done === false; piece = await pieces.read()) {
      text = (text + piece.value).slice(0, MOST_SHOWN);
      show(shown, `${head}\n\n${text}`);
      if (text.length === MOST_SHOWN) stopped.abort();
    }
    show(shown, `${head}\n\n${readable(text)}`);
  } catch (error) {
    if (!stopped.signal.aborted) tell(form, `No answer: ${error.message}`);
  } finally {
    stop.hidden = true;
  }
}

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  const done = form.parentElement === tokenPart ? getToken(form) : send(form);
  done.catch((error) => tell(form, error.message));
});
