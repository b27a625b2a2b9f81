import { createContext, runInContext } from 'node:vm';
import t from 'tap';
import { makeSite } from '../../src/edge/docs/make/make-site.ts';
import { QUESTIONS } from './questions.ts';

/** Of thirty questions, as many must have a right page among the first three. */
const FEWEST = 27;
type Entry = readonly [title: string, page: string, address: string];

/** The search as a page has it: both of its scripts, run in a world of their own. */
async function searchOfSite(): Promise<(typed: string) => Entry[]> {
  const site = await makeSite('9999-12');
  const world = createContext({});
  for (const name of ['search.js', 'search-index.js']) runInContext(site.get(name) ?? '', world);
  return runInContext('lapelSearch(lapelIndex)', world) as (typed: string) => Entry[];
}

const pageOf = ([, , address]: Entry): string => /([\w-]+)(?:\.html)?[^\w-]*(?:#.*)?$/.exec(address)?.[1] ?? address;

t.test('the search answers the questions of people with the right page among the first three', async (t) => {
  const search = await searchOfSite();
  const wrong: string[] = [];
  for (const [question, ...pages] of QUESTIONS) {
    const found = search(question).slice(0, 3).map(pageOf);
    if (!found.some((page) => pages.includes(page))) wrong.push(`${question}: ${found.join(', ')}`);
  }
  t.equal(QUESTIONS.length, 30);
  t.ok(QUESTIONS.length - wrong.length >= FEWEST, wrong.join('\n'));
  t.comment(`${QUESTIONS.length - wrong.length} of ${QUESTIONS.length}\n${wrong.join('\n')}`);
  t.same(search('<b>backups</b>'), search('backups'), 'what is no word is left out');
  t.same(search('zzqqxy'), []);
});
