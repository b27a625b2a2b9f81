// How the search of the documents ranks places. It is loaded with its engine when the search is used.

/** Words of questions that say nothing about their subject. */
const FILLERS = new Set(
  'a an and any are at be been can could do does for from get has have how i if in is it its me my of on one or our should so that the their them then there they this to was we what when where which while who whose why will with would you your'.split(
    ' ',
  ),
);

/** Words that people use, with those of the documents. */
const SYNONYMS = {
  account: ['application', 'developer'],
  apk: ['software', 'version', 'package'],
  apps: ['software', 'package'],
  broken: ['fail', 'fault'],
  ca: ['certificate'],
  camera: ['device'],
  certificate: ['tls'],
  change: ['renew', 'replace'],
  client: ['application', 'device'],
  cluster: ['node', 'nodes', 'machine'],
  cursor: ['page', 'link'],
  dead: ['missing', 'exhausted'],
  deploy: ['install', 'kubernetes'],
  docker: ['container', 'image'],
  down: ['outage', 'recover'],
  duplicate: ['twice', 'repeat', 'idempotency'],
  duplicates: ['twice', 'repeat', 'idempotency'],
  firewall: ['port', 'listen'],
  grafana: ['dashboard', 'metric'],
  helm: ['kubernetes'],
  java: ['android'],
  kotlin: ['android', 'java'],
  latency: ['p99', 'slow'],
  limits: ['bound', 'limit'],
  load: ['scale', 'benchmark'],
  lost: ['missing', 'recover', 'gone'],
  many: ['bound', 'limit', 'most'],
  maximum: ['bound', 'limit', 'most'],
  monitor: ['watching', 'metric', 'alert'],
  monitoring: ['watching', 'metric', 'alert'],
  offline: ['connect', 'wait'],
  ordering: ['order'],
  ota: ['firmware', 'software', 'rollout'],
  password: ['credential', 'secret', 'token'],
  ports: ['port', 'listen', 'settings'],
  postgres: ['postgresql'],
  provision: ['enrol', 'enrolment', 'register'],
  queue: ['order', 'wait', 'transaction'],
  requirements: ['sizing', 'memory'],
  restore: ['backup'],
  retention: ['removed', 'kept'],
  retries: ['again', 'attempt', 'repeat'],
  retry: ['again', 'attempt', 'repeat'],
  rotate: ['replace', 'renew', 'changing', 'rotation'],
  rotation: ['replace', 'renew', 'changing'],
  safely: ['safe'],
  schedule: ['window', 'start'],
  sdk: ['client', 'typescript'],
  speed: ['scale', 'benchmark', 'loop'],
  ssl: ['tls', 'certificate'],
  single: ['openid'],
  sso: ['openid'],
  staged: ['stage', 'rollout'],
  stuck: ['unfinished', 'wait'],
  throttle: ['rate', 'limit', 'bound'],
  timeout: ['seconds', 'expire'],
  ttl: ['expire', 'expirein'],
  uninstall: ['remove'],
};

const BETWEEN_WORDS = /[^\p{L}\p{N}_]+/u;
const tokenize = (text) => text.split(BETWEEN_WORDS).filter(Boolean);

/** The stem of a word, as far as plurals and the endings of verbs go; names of settings and codes stay as they are. */
function stemOf(word) {
  const term = word.toLowerCase();
  if (term.length < 5 || /[_\d]/.test(term)) return term;
  if (term.endsWith('ies')) return `${term.slice(0, -3)}y`;
  for (const ending of ['ing', 'ed', 'es', 's'])
    if (term.endsWith(ending) && term.length - ending.length >= 3 && !term.endsWith('ss'))
      return term.slice(0, -ending.length).replace(/e$/, '');
  return term.replace(/e$/, '');
}

/** The words of what was typed that say what is looked for; all of them, if there are no such words. */
function wordsOf(typed) {
  const words = tokenize(typed);
  const telling = words.filter((word) => word.length > 1 && !FILLERS.has(word.toLowerCase()));
  return telling.length > 0 ? telling : words;
}

/** How much more the words of a title say than those of a text. */
const BOOST = { title: 8, names: 16, page: 3, text: 1 };
/** How much a synonym says beside the word itself. */
const OF_SYNONYM = 0.4;
/** How much a rank of 1 weighs, beside the weight of the words. */
const OF_RANK = 1 / 20;

/** Makes the function that finds the places for what was typed, the best first. */
globalThis.lapelSearch = (entries) => {
  const engine = new globalThis.MiniSearch({
    idField: 'id',
    fields: Object.keys(BOOST),
    tokenize,
    processTerm: (term) => stemOf(term),
  });
  engine.addAll(entries.map(([title, page, , text, names], id) => ({ id, title, page, text, names })));
  const rankOf = (id) => 1 + Math.max(-0.6, entries[id][5] * OF_RANK);

  return (typed) => {
    const words = wordsOf(typed);
    const query = {
      combineWith: 'OR',
      queries: words.flatMap((word) => [
        { queries: [word], boost: BOOST, prefix: word.length > 2, fuzzy: word.length > 5 ? 0.2 : false },
        ...(SYNONYMS[word.toLowerCase()] ?? []).map((other) => ({
          queries: [other],
          boost: Object.fromEntries(Object.entries(BOOST).map(([field, weight]) => [field, weight * OF_SYNONYM])),
        })),
      ]),
    };
    const found = engine.search(query, { boostDocument: rankOf });
    return found.map(({ id }) => entries[id]);
  };
};
